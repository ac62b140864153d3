"""The work of one delivery: what its handlers have read, and what they want changed, as one batch of operations.

Nothing reaches the store before all handlers have finished, so a message is done whole or not at all, and may be tried
again when somebody else was faster. Messages that handlers send each other belong to the same work.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ugs.actors.reading import NodeReader
from ugs.events import Event
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, Update
from ugs.graph.model import EDGES, Edge, Node
from ugs.graph.queries import history
from ugs.graph.versions import changed_properties
from ugs.graph.walk import BY_SEQUENCE, Direction, touching
from ugs.values import check_value

if TYPE_CHECKING:
    from ugs.system import System


class Link(Struct, frozen=True):
    """An edge as actors see it; a new one has its real id only when the work is done."""

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


def link_of(edge: Edge) -> Link:
    return Link(edge.id, edge.source, edge.target, edge.type, edge.properties)


class Known(Struct):
    """A node as the work knows it, its own changes included."""

    id: str
    type: str | None
    properties: dict[str, Any]
    before: Node | None = None
    """The stored node; None when it is new, or when the actor has outlived it."""
    gone: bool = False

    @property
    def state(self) -> str | None:
        """What the node says about its state."""
        state = self.properties.get("state")
        return state if isinstance(state, str) else None


def known(node: Node) -> Known:
    return Known(node.id, node.type, node.properties, node)


class Work:
    """Reads and changes of one delivery."""

    def __init__(self, system: System, reader: NodeReader) -> None:
        self.system, self._reader = system, reader
        self.taken: dict[str, Known] = {}
        """Nodes whose actors take part; they must not be changed by anybody else meanwhile."""
        self.links: list[Link] = []
        self.unlinked: set[str] = set()

    # ── reading ──────────────────────────────────────────────────────────────

    async def nodes(self, ids: Collection[str]) -> dict[str, Known]:
        """The nodes that exist among these ids."""
        wanted = [id for id in ids if id not in self.taken]
        stored = await self._reader.nodes(wanted) if wanted else {}
        found = {id: known(node) for id, node in stored.items()}
        return found | {id: self.taken[id] for id in ids if id in self.taken and not self.taken[id].gone}

    async def take(self, id: str) -> Known | None:
        """The node whose actor is about to handle a message."""
        found = (await self.nodes([id])).get(id)
        if found is not None:
            self.taken[id] = found
        return found

    async def edges(self, ids: Collection[str], way: Direction, type: str | None = None) -> list[Link]:
        """Edges of nodes by age, those included that the work adds."""
        async with self.system.session() as session:
            stored = await session.fetch(
                EDGES, touching(sorted(set(ids)), way, None if type is None else [type]), BY_SEQUENCE
            )
        links = [link_of(edge) for edge in stored if edge.id not in self.unlinked]
        return links + [link for link in self.links if _touches(link, ids, way) and type in (None, link.type)]

    async def history(self, id: str, last: int) -> list[Event]:
        """The newest events of a node, oldest of them first."""
        async with self.system.session() as session:
            return await history(session, last, id)

    # ── changing ─────────────────────────────────────────────────────────────

    def add_node(self, id: str, type: str, properties: dict[str, Any]) -> None:
        self.taken[id] = Known(id, type, properties)

    def add_link(self, source: str, target: str, type: str | None, properties: dict[str, Any]) -> Link:
        # Nobody can write this name into a payload, since nobody can guess it.
        link = Link(f"$edge_{token_hex(8)}", source, target, type, properties)
        self.links.append(link)
        return link

    def remove_link(self, id: str) -> None:
        kept = [link for link in self.links if link.id != id]
        if len(kept) == len(self.links):
            self.unlinked.add(id)
        self.links = kept

    def mark(self) -> tuple[dict[str, Known], list[Link], set[str]]:
        """What is wanted so far, to come back to."""
        return deepcopy(self.taken), [*self.links], set(self.unlinked)

    def back_to(self, mark: tuple[dict[str, Known], list[Link], set[str]]) -> None:
        """Forget what was wanted since the mark; nodes keep their place in the hands of those who hold them."""
        before, self.links, self.unlinked = mark
        for id in [id for id in self.taken if id not in before]:
            if self.taken[id].before is None:
                del self.taken[id]
        for id, node in self.taken.items():
            then = before.get(id) or known_before(node)
            node.properties, node.gone = then.properties, then.gone

    def operations(self) -> list[Operation]:
        """The changes as commands of the graph; nothing when nothing is wanted."""
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


def known_before(node: Known) -> Known:
    """The node as it is stored."""
    return node if node.before is None else known(node.before)


def _operation(node: Known) -> Operation:
    """How the node gets its new properties; an update without any only guards its version."""
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


def _touches(link: Link, ids: Collection[str], way: Direction) -> bool:
    leaves, arrives = link.source in ids, link.target in ids
    if way is Direction.BOTH:
        return leaves or arrives
    return leaves if way is Direction.OUTGOING else arrives
