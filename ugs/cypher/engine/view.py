"""The graph interface of the engine, and its implementation over a storage session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from ugs.cypher.values.codec import LABELS, stored_labels
from ugs.cypher.values.entities import DEFAULT_TYPE, Node, Relationship
from ugs.graph.model import EDGES, NODES, Edge
from ugs.identity import is_identifier
from ugs.reads.filters import EVERYTHING, Compare, Op, Property, Where, all_of, any_of, eq, in_
from ugs.reads.pattern import Match, Pattern, PreparedPattern
from ugs.reads.plan import Order, Page
from ugs.storage import Session
from ugs.tables import Table

FIRST_PAGE, LAST_PAGE = 256, 8192
MAX_MATCHES, MAX_IN_PROCESS_MATCHES = 100_000, 1_000_000
"""More matches than this come step by step, so that they never have to be held all at once; those of a store that is
near are mostly references to what is held anyway."""
IN_PROCESS_ENDS = IN_PROCESS_ROWS = 2_000
"""How many nodes a store in this process is asked about at once, and how many rows are made values at once."""
Value = TypeVar("Value", Node, Relationship)
FIELD = "properties_text"
BY_ID = ""
"""The key of a condition on the id of an element, which is not a property."""


class Condition(Struct, frozen=True):
    """A property condition `key op value`; a store may return too many nodes for it, never too few."""

    key: str
    op: Op
    value: Any


class Wanted(Struct, frozen=True):
    """A node scan: all of these labels and all of these conditions."""

    labels: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    any_labels: tuple[tuple[str, ...], ...] = ()
    """Of each of these groups at least one label; a view may ignore them, the engine checks them again."""


class GraphView(Protocol):
    """The graph interface of the engine; every method fetches many elements at once."""

    @property
    def joins(self) -> bool:
        """Whether whole patterns can be pushed down."""

    @property
    def matches_single_nodes(self) -> bool:
        """Whether patterns of a single node can be pushed down."""

    @property
    def supports_unless(self) -> bool:
        """Whether a pattern can be matched on the condition that labels are types."""

    @property
    def max_matches(self) -> int:
        """Maximum number of matches of a pushed-down pattern."""

    async def nodes(self, wanted: Wanted) -> list[Node]: ...

    def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]: ...

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]: ...

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]: ...

    async def count(self, wanted: Wanted) -> int: ...

    async def position(self) -> int: ...

    async def match(self, question: PreparedPattern, texts: Sequence[str]) -> list[Match] | None: ...

    def explain_match(self, pattern: Pattern) -> list[str]: ...

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
    def matches_single_nodes(self) -> bool:
        """Whether the store answers patterns of a single node."""
        return self.joins and self.session.matches_single_nodes

    @property
    def supports_unless(self) -> bool:
        """Whether a question may leave it to the store to make sure that labels are types."""
        return self.joins and self.session.supports_unless

    @property
    def max_matches(self) -> int:
        return MAX_IN_PROCESS_MATCHES if self.session.in_process else MAX_MATCHES

    async def nodes(self, wanted: Wanted) -> list[Node]:
        rows = await self.session.fetch(NODES, await self._scan_filter(wanted))
        return [node for node in await _convert_rows(as_node, rows) if has_all_labels(node, wanted.labels)]

    async def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]:
        async for rows in growing_pages(self.session, NODES, await self._scan_filter(wanted)):
            yield [node for node in map(as_node, rows) if has_all_labels(node, wanted.labels)]

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]:
        known = sorted(id for id in ids if is_identifier(id))
        found: list[Node] = []
        size = IN_PROCESS_ROWS if self.session.in_process else len(known) or 1
        for start in range(0, len(known), size):
            some = known[start : start + size]
            if self._nodes is EVERYTHING:
                rows = await self.session.find_many(NODES, some)
            else:
                rows = await self.session.fetch(NODES, all_of(in_("id", some), self._nodes))
            found += await _convert_rows(as_node, rows)
            if len(known) > size:
                await asyncio.sleep(0)
        return found

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]:
        wanted = sorted(ids)
        rows: list[Edge] = []
        # A store in this process is asked for some at a time, so that others have the event loop in between.
        size = IN_PROCESS_ENDS if self.session.in_process else len(wanted) or 1
        for start in range(0, len(wanted), size):
            ends = in_("source" if outgoing else "target", wanted[start : start + size])
            where = all_of(ends, edge_where(types), self._edges)
            rows += await self.session.fetch(EDGES, where, (Order("seq"),))
            if len(wanted) > size:
                await asyncio.sleep(0)
        if len(wanted) > size:
            rows.sort(key=lambda row: row.seq)  # the order of every other store
        return await _convert_rows(as_relationship, rows)

    async def count(self, wanted: Wanted) -> int:
        """About how many nodes a scan would meet, for planning: by type alone, since that has an index."""
        types = [eq("type", label) for label in wanted.labels]
        return await self.session.estimate_count(NODES, all_of(*types, self._nodes))

    async def position(self) -> int:
        """Where the log ends, for stores whose sessions see commits between two answers; elsewhere always 0."""
        return (await self.session.head()).position if self.session.in_process else 0

    async def match(self, question: PreparedPattern, texts: Sequence[str]) -> list[Match] | None:
        return await self.session.match_prepared(question, texts)

    def explain_match(self, pattern: Pattern) -> list[str]:
        return self.session.explain_match(pattern)

    async def labels_are_types(self) -> bool:
        """Whether no node has labels beside its type, so that the type alone decides."""
        if self._plain is None or self.session.in_process:  # where asking is cheap, others may have committed meanwhile
            self._plain = not await self.session.has_key(NODES, FIELD, LABELS)
        return self._plain

    async def _scan_filter(self, wanted: Wanted) -> Where:
        """What a scan asks for; where it costs nothing to know that labels are types, it asks for the type alone."""
        if wanted.labels and self.session.in_process:
            await self.labels_are_types()
        return self._where(wanted)

    def _where(self, wanted: Wanted) -> Where:
        return all_of(node_where(wanted, bool(self._plain)), self._nodes)


async def _convert_rows(convert: Callable[[Any], Value], rows: Sequence[Any]) -> list[Value]:
    """The rows as values of a query; others have the event loop in between where they are many."""
    if len(rows) <= IN_PROCESS_ROWS:
        return list(map(convert, rows))
    found: list[Value] = []
    for start in range(0, len(rows), IN_PROCESS_ROWS):
        found += map(convert, rows[start : start + IN_PROCESS_ROWS])
        await asyncio.sleep(0)
    return found


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
    labels = [eq("type", label) if plain else label_filter(label) for label in wanted.labels]
    groups = [any_label_filter(group, plain) for group in wanted.any_labels]
    return all_of(*labels, *groups, *map(element_filter, wanted.conditions))


def edge_where(types: Sequence[str] | None) -> Where:
    """The edges of these types."""
    return EVERYTHING if types is None else type_filter(types)


def element_filter(condition: Condition) -> Where:
    """What a condition says about a node or an edge."""
    if condition.key == BY_ID:
        return Compare("id", condition.op, condition.value)
    return Property(FIELD, condition.key, condition.op, condition.value)


def label_filter(label: str) -> Where:
    """Nodes that may have the label: as their type, or in their list of further labels."""
    return any_of(eq("type", label), Property(FIELD, LABELS, Op.EXISTS))


def any_label_filter(labels: tuple[str, ...], plain: bool) -> Where:
    """Nodes that may have one of these labels."""
    typed = in_("type", labels)
    return typed if plain else any_of(typed, Property(FIELD, LABELS, Op.EXISTS))


def type_filter(types: Sequence[str]) -> Where:
    """Edges of these relationship types; those without a type count as the default one."""
    named = eq("type", types[0]) if len(types) == 1 else in_("type", types)
    return any_of(named, eq("type", None)) if DEFAULT_TYPE in types else named


def has_all_labels(node: Node, labels: tuple[str, ...]) -> bool:
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
