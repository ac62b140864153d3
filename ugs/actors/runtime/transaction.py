"""The transaction of one delivery: what its handlers have read, and their changes, as one batch of operations.

Nothing reaches the store before all handlers have finished, so a message is handled atomically, and may be tried
again after a concurrent change. Messages between handlers belong to the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from secrets import token_hex
from typing import Any

from msgspec import Struct

from ugs.actors.runtime.node_loader import NodeReader
from ugs.events import Event
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, Update
from ugs.graph.events import ELEMENTS
from ugs.graph.model import EDGES, Edge, Node
from ugs.graph.queries import history
from ugs.graph.traversal import BY_SEQUENCE, Direction, touching
from ugs.graph.versions import changed_properties
from ugs.storage import Storage
from ugs.values import check_value


class ActorEdge(Struct, frozen=True):
    """An edge as actors see it; a new one has a temporary id until the transaction is stored."""

    id: str
    source: str
    target: str
    type: str | None
    properties: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The edge with exactly the keys of seed 003."""
        return {
            "id": self.id,
            "fromId": self.source,
            "toId": self.target,
            "type": self.type,
            "properties": self.properties,
        }


def link_of(edge: Edge) -> ActorEdge:
    return ActorEdge(edge.id, edge.source, edge.target, edge.type, edge.properties)


class NodeState(Struct):
    """A node with the changes of the transaction."""

    id: str
    type: str | None
    properties: dict[str, Any]
    before: Node | None = None
    """The stored node; None if it is new or deleted."""
    gone: bool = False

    @property
    def state(self) -> str | None:
        """The property `state`, if it is text."""
        state = self.properties.get("state")
        return state if isinstance(state, str) else None


def _node_state(node: Node) -> NodeState:
    return NodeState(node.id, node.type, node.properties, node)


class Transaction:
    """Reads and changes of one delivery."""

    def __init__(self, storage: Storage, reader: NodeReader) -> None:
        self._storage, self._reader = storage, reader
        self.taken: dict[str, NodeState] = {}
        """Nodes whose actors take part; a concurrent change of one makes the commit fail."""
        self.links: list[ActorEdge] = []
        self.unlinked: set[str] = set()

    # ── reading ──────────────────────────────────────────────────────────────

    async def nodes(self, ids: Collection[str]) -> dict[str, NodeState]:
        """The nodes that exist among these ids."""
        wanted = [id for id in ids if id not in self.taken]
        stored = await self._reader.nodes(wanted) if wanted else {}
        found = {id: _node_state(node) for id, node in stored.items()}
        return found | {id: self.taken[id] for id in ids if id in self.taken and not self.taken[id].gone}

    def now(self) -> int:
        """The store's time in milliseconds."""
        return self._storage.clock.now()

    async def take(self, id: str) -> NodeState | None:
        """The node whose actor is about to handle a message."""
        found = (await self.nodes([id])).get(id)
        if found is not None:
            self.taken[id] = found
        return found

    async def edges(self, ids: Collection[str], way: Direction, type: str | None = None) -> list[ActorEdge]:
        """Edges of nodes by age, with those that the transaction adds."""
        async with self._storage.session() as session:
            stored = await session.fetch(
                EDGES, touching(sorted(set(ids)), way, None if type is None else [type]), BY_SEQUENCE
            )
        links = [link_of(edge) for edge in stored if edge.id not in self.unlinked]
        return links + [link for link in self.links if _touches(link, ids, way) and type in (None, link.type)]

    async def history(self, id: str, last: int) -> list[Event]:
        """The newest events of a node, oldest of them first."""
        async with self._storage.session() as session:
            return await history(session, last, id, ELEMENTS)

    # ── changing ─────────────────────────────────────────────────────────────

    def add_node(self, id: str, type: str, properties: dict[str, Any]) -> None:
        self.taken[id] = NodeState(id, type, properties)

    def add_link(self, source: str, target: str, type: str | None, properties: dict[str, Any]) -> ActorEdge:
        # Random, so that no payload can contain this name.
        link = ActorEdge(f"$edge_{token_hex(8)}", source, target, type, properties)
        self.links.append(link)
        return link

    def remove_link(self, id: str) -> None:
        remaining = [link for link in self.links if link.id != id]
        if len(remaining) == len(self.links):
            self.unlinked.add(id)
        self.links = remaining

    def mark(self) -> tuple[dict[str, NodeState], list[ActorEdge], set[str]]:
        """A savepoint of the changes so far."""
        return deepcopy(self.taken), [*self.links], set(self.unlinked)

    def roll_back_to(self, mark: tuple[dict[str, NodeState], list[ActorEdge], set[str]]) -> None:
        """Undo the changes since a savepoint; `NodeState` objects keep their identity, since handlers refer to them."""
        before, self.links, self.unlinked = mark
        for id in [id for id in self.taken if id not in before]:
            if self.taken[id].before is None:
                del self.taken[id]
        for id, node in self.taken.items():
            then = before.get(id) or stored_state(node)
            node.properties, node.gone = then.properties, then.gone

    def operations(self) -> list[Operation]:
        """The changes as commands of the graph; empty without changes."""
        nodes = [_operation(node) for node in self.taken.values() if not node.gone]
        edges: list[Operation] = [Delete(id=id, kind="edge") for id in sorted(self.unlinked)]
        edges += [
            AddEdge(id=link.id, source=link.source, target=link.target, type=link.type, properties=link.properties)
            for link in self.links
        ]
        ends = [
            Delete(id=node.id, kind="node", expected_version=node.before.version)
            for node in self.taken.values()
            if node.gone and node.before is not None
        ]
        changed = edges or ends or any(not _is_guard(operation) for operation in nodes)
        return [*nodes, *edges, *ends] if changed else []


def stored_state(node: NodeState) -> NodeState:
    """The node as it is stored."""
    return node if node.before is None else _node_state(node.before)


def _operation(node: NodeState) -> Operation:
    """The operation that stores the node; an update without properties only checks its version."""
    if node.before is None:
        return AddNode(id=node.id, type=node.type, properties=node.properties)
    check_value(node.properties, "properties")
    changed, removed = changed_properties(node.before.properties, node.properties)
    return Update(
        id=node.id,
        kind="node",
        properties=changed,
        remove=tuple(removed),
        expected_version=node.before.version,
    )


def _is_guard(operation: Operation) -> bool:
    return isinstance(operation, Update) and not operation.properties and not operation.remove


def _touches(link: ActorEdge, ids: Collection[str], way: Direction) -> bool:
    leaves, arrives = link.source in ids, link.target in ids
    if way is Direction.BOTH:
        return leaves or arrives
    return leaves if way is Direction.OUTGOING else arrives
