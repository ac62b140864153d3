"""Messages, and the addresses they are sent to.

An address is known by identity alone: it cannot be forged, copied or stored, and only the actor system that created
it delivers to it. (The kernel's `@(id)` texts are references to nodes by id, which any client may write.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Protocol
from uuid import uuid4

from msgspec import Struct, field

Answer = dict[str, Any]
"""The answer to a message: `success`, fields of the message type, and `error` if it was refused."""


class Message(Struct, frozen=True):
    """A request to an actor."""

    type: str
    payload: Mapping[str, Any] = {}
    id: str = field(default_factory=lambda: str(uuid4()))


class Deliverer(Protocol):
    """The actor system that created an address and delivers its messages."""

    async def send(self, address: Address, message: Message | Mapping[str, Any]) -> Answer: ...


class Address:
    """The address of one actor."""

    __slots__ = ("__weakref__", "_last", "_node", "_system")

    def __init__(self, system: Deliverer, last: dict[str, Any], node: str | None = None) -> None:
        self._system = system
        self._last = last
        self._node = node

    async def send(self, message: Message | Mapping[str, Any]) -> Answer:
        """Deliver a message and wait for the answer, a refusal included."""
        return await self._system.send(self, message)

    def __repr__(self) -> str:
        return f"<Address of {self._node or 'nobody yet'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an address cannot be copied or stored; keep the id of its node instead")


def as_message(given: Message | Mapping[str, Any]) -> Message:
    """A message, also when it comes as a mapping with `type` and `payload`."""
    if isinstance(given, Message):
        return given
    return Message(str(given["type"]), given.get("payload") or {}, str(given.get("id") or uuid4()))


def strip_addresses(value: Any) -> Any:
    """The payload with every address replaced by the id of its node."""
    if isinstance(value, Address):
        return value._node
    if isinstance(value, Mapping):
        return {key: strip_addresses(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strip_addresses(item) for item in value]
    return value
