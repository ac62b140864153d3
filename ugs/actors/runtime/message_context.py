"""The context of one message: the node it is for, and the changes its handler makes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any
from uuid import uuid4

from ugs.actors.addresses import Answer, Message, strip_addresses
from ugs.actors.errors import Refused
from ugs.actors.runtime.transaction import ActorEdge, NodeState, Transaction
from ugs.events import Event
from ugs.graph.traversal import Direction
from ugs.identity import Principal

MAX_MESSAGE_DEPTH = 32
"""The greatest depth of nested messages; ends cycles of actors."""

Deliver = Callable[[str, Message, "MessageContext"], Awaitable[Answer]]


class MessageContext:
    """One message at one node: read, change, send. Changes are stored when the whole delivery is done."""

    def __init__(
        self,
        node: NodeState,
        message: Message,
        principal: Principal,
        work: Transaction,
        deliver: Deliver,
        depth: int = 0,
    ) -> None:
        self.node, self._work, self._deliver = node, work, deliver
        self.message = message
        self.principal = principal
        self.depth = depth

    @property
    def id(self) -> str:
        """The id of the node."""
        return self.node.id

    @property
    def type(self) -> str | None:
        """The type of the node."""
        return self.node.type

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of the node, with the changes of this delivery."""
        return self.node.properties

    @property
    def state(self) -> str | None:
        """The property `state`, when it is text."""
        return self.node.state

    @property
    def created(self) -> int | None:
        """When the node was created; None while it is new, or after its deletion."""
        return None if self.node.before is None else self.node.before.created

    @property
    def now(self) -> int:
        """The time in milliseconds."""
        return self._work.now()

    # ── reading ──────────────────────────────────────────────────────────────

    async def edges(self, way: Direction = Direction.BOTH, type: str | None = None) -> list[ActorEdge]:
        """The node's edges by age; a loop is one edge."""
        return await self.edges_of([self.id], way, type)

    async def edges_of(
        self, ids: Collection[str], way: Direction = Direction.BOTH, type: str | None = None
    ) -> list[ActorEdge]:
        """The edges of several nodes in one read."""
        return await self._work.edges(ids, way, type)

    async def nodes(self, ids: Collection[str]) -> dict[str, NodeState]:
        """The nodes that exist among these ids, in one read."""
        return await self._work.nodes(ids)

    async def history(self, last: int = 20) -> list[Event]:
        """The newest events of the node, oldest of them first."""
        return await self._work.history(self.id, last)

    # ── changing ─────────────────────────────────────────────────────────────

    def update(self, properties: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Set properties; others are kept."""
        self._alive()
        self.properties.update(properties or {}, **more)

    def remove(self, *keys: str) -> None:
        """Remove properties."""
        self._alive()
        for key in keys:
            self.properties.pop(key, None)

    def create(self, type: str, properties: Mapping[str, Any], id: str | None = None) -> str:
        """Create a node and return its id."""
        self._alive()
        new_id = id or f"{type}_{uuid4().hex[:16]}"
        self._work.add_node(new_id, type, dict(properties))
        return new_id

    def link(
        self, target: str, type: str | None, properties: Mapping[str, Any] | None = None, source: str | None = None
    ) -> ActorEdge:
        """Create an edge from this node, or from another source."""
        self._alive()
        return self._work.add_link(source or self.id, target, type, dict(properties or {}))

    def unlink(self, edge_id: str) -> None:
        """Remove an edge."""
        self._alive()
        self._work.remove_link(edge_id)

    def delete(self) -> None:
        """Remove the node with its edges."""
        self._alive()
        self.node.gone = True

    def _alive(self) -> None:
        if self._work.taken.get(self.id) is not self.node or self.node.gone:
            raise Refused(f"Node not found: {self.id}")

    # ── sending ──────────────────────────────────────────────────────────────

    async def send(self, id: str, type: str, payload: Mapping[str, Any] | None = None) -> Answer:
        """Send a message to another actor, or this one; its changes are rolled back with this delivery."""
        if self.depth >= MAX_MESSAGE_DEPTH:
            raise Refused(f"Messages lead to messages more than {MAX_MESSAGE_DEPTH} levels deep")
        return await self._deliver(id, Message(type, strip_addresses(payload or {})), self)
