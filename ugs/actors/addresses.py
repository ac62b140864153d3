"""Messages, and the addresses they are sent to.

An address is known by identity alone: it cannot be made up, copied or stored, and only the actor system that made it
delivers to it. (The kernel's `@(id)` texts are something else: they name a node and anybody may write them.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

from msgspec import Struct, field

if TYPE_CHECKING:
    from ugs.actors.system import ActorSystem

Answer = dict[str, Any]
"""What an actor says to a message: `success`, and whatever belongs to the message; `error` when it refused."""


class Message(Struct, frozen=True):
    """Something an actor is asked to do."""

    type: str
    payload: Mapping[str, Any] = {}
    id: str = field(default_factory=lambda: str(uuid4()))


class Address:
    """Where one actor is reached."""

    __slots__ = ("__weakref__", "_last", "_node", "_system")

    def __init__(self, system: ActorSystem, last: dict[str, Any], node: str | None = None) -> None:
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


def without_addresses(value: Any) -> Any:
    """A payload in which every address has become the id of its node."""
    if isinstance(value, Address):
        return value._node
    if isinstance(value, Mapping):
        return {key: without_addresses(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_addresses(item) for item in value]
    return value
