"""How an actor type says which messages it handles, and how a message finds its handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import Struct

from ugs.actors.addresses import Answer
from ugs.actors.errors import Refused
from ugs.actors.turn import Turn
from ugs.values import check_value

Method = TypeVar("Method", bound=Callable[..., Awaitable[Answer | None]])


class Handler(Struct, frozen=True):
    """A method that handles one message type, and the shape of the payload it takes."""

    method: str
    takes: Any


def handles(type: str, takes: Any = dict[str, Any]) -> Callable[[Method], Method]:
    """Mark a method as the handler of a message type; the payload arrives checked, as `takes`."""

    def marked(method: Method) -> Method:
        method.__dict__["handles"] = (type, takes)
        return method

    return marked


class Behaviour:
    """What all nodes of a type answer; it keeps nothing itself, since everything is in the node."""

    messages: ClassVar[dict[str, Handler]] = {}

    def __init_subclass__(cls) -> None:
        own = {
            method.handles[0]: Handler(name, method.handles[1])
            for name, method in vars(cls).items()
            if hasattr(method, "handles")
        }
        cls.messages = {**cls.messages, **own}

    async def receive(self, turn: Turn) -> Answer:
        """Handle the message of a turn; a refusal is raised."""
        handler = self.messages.get(turn.message.type)
        if handler is None:
            raise Refused(f"Unknown message type: {turn.message.type}")
        answer = await getattr(self, handler.method)(turn, _shaped(turn, handler.takes))
        check_value(answer, "answer")
        if answer is not None and answer.get("success") is False:
            # However it is said, a refusal changes nothing.
            raise Refused(**{"error": "Actor message failed", **answer})
        return {"success": True, **(answer or {})}


def _shaped(turn: Turn, takes: Any) -> Any:
    try:
        return msgspec.convert(turn.message.payload, takes)
    except msgspec.ValidationError as error:
        raise Refused(f"Invalid payload for {turn.message.type}: {error}") from error


class Payload(Struct, frozen=True, rename="camel"):
    """The base of payload shapes: fields in the seeds' camelCase."""
