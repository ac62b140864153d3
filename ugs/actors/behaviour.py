"""Declaring which messages an actor type handles, and dispatch of messages to handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import Struct

from ugs.actors.addresses import Answer
from ugs.actors.errors import Refused
from ugs.actors.runtime.message_context import MessageContext
from ugs.support.shape_errors import describe_shape_error
from ugs.values import check_value

Method = TypeVar("Method", bound=Callable[..., Awaitable[Answer | None]])


class Handler(Struct, frozen=True):
    """A method that handles one message type, and the shape of the payload it takes."""

    method: str
    takes: Any


def handles(type: str, takes: Any = dict[str, Any]) -> Callable[[Method], Method]:
    """Mark a method as the handler of a message type; the payload arrives checked, as `takes`."""

    def mark(method: Method) -> Method:
        method.__dict__["handles"] = (type, takes)
        return method

    return mark


class Behaviour:
    """The handlers of a node type; stateless, since all state is in the node."""

    messages: ClassVar[dict[str, Handler]] = {}

    def __init_subclass__(cls) -> None:
        own = {
            method.handles[0]: Handler(name, method.handles[1])
            for name, method in vars(cls).items()
            if hasattr(method, "handles")
        }
        cls.messages = {**cls.messages, **own}

    async def receive(self, context: MessageContext) -> Answer:
        """Handle the message of a context; a refusal is raised."""
        handler = self.messages.get(context.message.type)
        if handler is None:
            raise Refused(f"Unknown message type: {context.message.type}")
        answer = await getattr(self, handler.method)(context, _convert_payload(context, handler.takes))
        check_value(answer, "answer")
        if answer is not None and answer.get("success") is False:
            # An answer with `success: false` is a refusal too, and changes nothing.
            raise Refused(**{"error": "Actor message failed", **answer})
        return {"success": True, **(answer or {})}


def _convert_payload(context: MessageContext, takes: Any) -> Any:
    try:
        return msgspec.convert(context.message.payload, takes)
    except msgspec.ValidationError as error:
        raise Refused(f"Invalid payload for {context.message.type}: {describe_shape_error(error)}") from error


class Payload(Struct, frozen=True, rename="camel"):
    """The base of payload shapes: fields in the seeds' camelCase."""
