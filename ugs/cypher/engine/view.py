"""The graph as the engine sees it, and the view of it that any storage session gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any, Protocol

from msgspec import Struct

from ugs.catalog import Table
from ugs.cypher.values.entities import DEFAULT_TYPE, Node, Relationship
from ugs.cypher.values.stored import LABELS, stored_labels
from ugs.graph.model import EDGES, NODES
from ugs.identity import is_identifier
from ugs.reads.pattern import Match, Pattern, Question
from ugs.reads.plan import Order, Page
from ugs.reads.where import EVERYTHING, Compare, Op, Property, Where, all_of, any_of, eq, in_
from ugs.storage import Session

FIRST_PAGE, LAST_PAGE = 256, 8192
MOST_MATCHES, MOST_NEAR = 100_000, 1_000_000
"""More matches than this come step by step, so that they never have to be held all at once; those of a store that is
near are mostly references to what is held anyway."""
FIELD = "properties_text"
BY_ID = ""
"""The key of a condition on the id of an element, which is no property."""


class Condition(Struct, frozen=True):
    """A property that a node must have: `key op value`. It may let too much through, never too little."""

    key: str
    op: Op
    value: Any


class Wanted(Struct, frozen=True):
    """Which nodes a scan is after: all of these labels and all of these conditions."""

    labels: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


class GraphView(Protocol):
    """What the engine asks of a graph; each question is about many elements at once."""

    @property
    def joins(self) -> bool:
        """Whether whole patterns may be asked for."""

    @property
    def matches_alone(self) -> bool:
        """Whether single nodes may be asked for as patterns."""

    @property
    def answers_unless(self) -> bool:
        """Whether patterns may be asked for on a condition."""

    @property
    def most_matches(self) -> int:
        """How many matches of a pattern may be asked for at once."""

    async def nodes(self, wanted: Wanted) -> list[Node]: ...

    def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]: ...

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]: ...

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]: ...

    async def count(self, wanted: Wanted) -> int: ...

    async def position(self) -> int: ...

    async def match(self, question: Question, texts: Sequence[str]) -> list[Match] | None: ...

    def match_statements(self, pattern: Pattern) -> list[str]: ...

    async def labels_are_types(self) -> bool: ...


class StoredGraph:
    """Nodes and edges of a session, as far as the caller may see them."""

    def __init__(self, session: Session, nodes: Where = EVERYTHING, edges: Where = EVERYTHING) -> None:
        self.session = session
        self._nodes = nodes
        self._edges = edges
        self._plain: bool | None = None

    @property
    def joins(self) -> bool:
        """A store that can join is asked to, unless the caller sees only a part: then every step must be looked at."""
        whole = self._nodes is EVERYTHING and self._edges is EVERYTHING
        return whole and type(self.session).match is not Session.match

    @property
    def orders_joins(self) -> bool:
        """Whether the store finds the best order of a pattern by itself."""
        return self.joins and self.session.orders_joins

    @property
    def matches_alone(self) -> bool:
        """Whether the store answers patterns of a single node."""
        return self.joins and self.session.matches_alone

    @property
    def answers_unless(self) -> bool:
        """Whether a question may leave it to the store to make sure that labels are types."""
        return self.joins and self.session.answers_unless

    @property
    def most_matches(self) -> int:
        return MOST_NEAR if self.session.near else MOST_MATCHES

    async def nodes(self, wanted: Wanted) -> list[Node]:
        rows = await self.session.fetch(NODES, await self._scanned(wanted))
        return [node for node in map(as_node, rows) if has_labels(node, wanted.labels)]

    async def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]:
        async for rows in growing_pages(self.session, NODES, await self._scanned(wanted)):
            yield [node for node in map(as_node, rows) if has_labels(node, wanted.labels)]

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]:
        known = sorted(id for id in ids if is_identifier(id))
        if not known:
            return []
        if self._nodes is EVERYTHING:
            rows = await self.session.find_many(NODES, known)
        else:
            rows = await self.session.fetch(NODES, all_of(in_("id", known), self._nodes))
        return [as_node(row) for row in rows]

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]:
        ends = in_("source" if outgoing else "target", sorted(ids))
        where = all_of(ends, edge_where(types), self._edges)
        return [as_relationship(row) for row in await self.session.fetch(EDGES, where, (Order("seq"),))]

    async def count(self, wanted: Wanted) -> int:
        """About how many nodes a scan would meet, for planning: by type alone, since that has an index."""
        types = [eq("type", label) for label in wanted.labels]
        return await self.session.about(NODES, all_of(*types, self._nodes))

    async def position(self) -> int:
        """Where the log ends, for stores whose sessions see commits between two answers; elsewhere always 0."""
        return (await self.session.head()).position if self.session.near else 0

    async def match(self, question: Question, texts: Sequence[str]) -> list[Match] | None:
        return await self.session.match_again(question, texts)

    def match_statements(self, pattern: Pattern) -> list[str]:
        return self.session.match_statements(pattern)

    async def labels_are_types(self) -> bool:
        """Whether no node has labels beside its type, so that the type alone decides."""
        if self._plain is None or self.session.near:  # where asking is cheap, others may have committed meanwhile
            self._plain = not await self.session.has_key(NODES, FIELD, LABELS)
        return self._plain

    async def _scanned(self, wanted: Wanted) -> Where:
        """What a scan asks for; where it costs nothing to know that labels are types, it asks for the type alone."""
        if wanted.labels and self.session.near:
            await self.labels_are_types()
        return self._where(wanted)

    def _where(self, wanted: Wanted) -> Where:
        return all_of(node_where(wanted, bool(self._plain)), self._nodes)


async def growing_pages(session: Session, table: Table, where: Where) -> AsyncIterator[list[Any]]:
    """Rows in pages that grow: whoever needs a few rows waits for a few only."""
    size, after = FIRST_PAGE, None
    while True:
        rows = await session.fetch(table, where, page=Page(limit=size, after=after))
        yield rows
        if len(rows) < size:
            return
        after, size = (table.key_of(rows[-1]),), min(size * 4, LAST_PAGE)


def node_where(wanted: Wanted, plain: bool = False) -> Where:
    """The nodes that are wanted, and perhaps a few more; `plain`: labels are types and nothing else."""
    labels = [eq("type", label) if plain else labelled(label) for label in wanted.labels]
    return all_of(*labels, *map(on_element, wanted.conditions))


def edge_where(types: Sequence[str] | None) -> Where:
    """The edges of these types."""
    return EVERYTHING if types is None else of_types(types)


def on_element(condition: Condition) -> Where:
    """What a condition says about a node or an edge."""
    if condition.key == BY_ID:
        return Compare("id", condition.op, condition.value)
    return Property(FIELD, condition.key, condition.op, condition.value)


def labelled(label: str) -> Where:
    """Nodes that may have the label: as their type, or in their list of further labels."""
    return any_of(eq("type", label), Property(FIELD, LABELS, Op.EXISTS))


def of_types(types: Sequence[str]) -> Where:
    """Edges of these relationship types; those without a type count as the default one."""
    named = eq("type", types[0]) if len(types) == 1 else in_("type", types)
    return any_of(named, eq("type", None)) if DEFAULT_TYPE in types else named


def has_labels(node: Node, labels: tuple[str, ...]) -> bool:
    return all(label in node.labels for label in labels)


def as_node(row: Any) -> Node:
    return Node(row.id, node_labels(row.type, row.properties_text), row.properties_text, row)


def node_labels(type: str | None, text: str) -> tuple[str, ...]:
    """The labels of a node: its type, and those among its properties."""
    further = stored_labels(text)
    own = () if type is None else (type,)
    return tuple(dict.fromkeys(own + further)) if further else own


def as_relationship(row: Any) -> Relationship:
    return Relationship(row.id, row.type or DEFAULT_TYPE, row.source, row.target, row.properties_text, row)
