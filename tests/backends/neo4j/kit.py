"""What the tests of the Neo4j store share: rows by hand, plain Cypher, the reference's answers, random questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st

from ugs.changes import TableWrites, Writes
from ugs.events import Event, event_id, seal
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.reads.filters import (
    EVERYTHING,
    NOTHING,
    All,
    Any_,
    Compare,
    Has,
    Linked,
    Not,
    Op,
    Property,
    Where,
    all_of,
    any_of,
    in_,
    matcher,
)
from ugs.reads.plan import WHOLE, Nested, Order, Page, Read, full_order, paged, place_of
from ugs.tables import Relation, Row, Table
from ugs.values import to_text
from ugs_backends.neo4j.storage import Neo4jStorage

State = Mapping[Table, Sequence[Row]]


def node(id: str, type: str | None = "task", properties: Any = None, data: Any = None, **more: Any) -> Node:
    text = to_text(properties or {})
    made = Node(id, type, text, None if data is None else to_text(data), 1, 1, 1)
    return msgspec.structs.replace(made, **more)


def edge(id: str, source: str, target: str, type: str | None = "blocks", properties: Any = None, **more: Any) -> Edge:
    made = Edge(id, source, target, type, 1, to_text(properties or {}), 1, 1, 1, more.pop("seq", 1))
    return msgspec.structs.replace(made, **more)


def events(count: int, after: int = 0, crc: str = "00000000", **fields: Any) -> list[Event]:
    """Sealed events that continue a log."""
    made = []
    for position in range(after + 1, after + count + 1):
        given = {"type": "NodeAdded", "data": to_text({"id": f"n{position}"}), "element": f"n{position}", **fields}
        event = seal(Event(position=position, id=event_id(position, position), timestamp=position, **given), crc)
        crc = event.crc or crc
        made.append(event)
    return made


async def write(storage: Neo4jStorage, writes: Writes, events: Sequence[Event] = ()) -> None:
    async with storage.session(write=True) as session:
        await session.append(events, writes)


async def insert(storage: Neo4jStorage, *rows: Node | Edge) -> None:
    """Store nodes and edges."""
    nodes = [row for row in rows if isinstance(row, Node)]
    edges = [row for row in rows if isinstance(row, Edge)]
    await write(storage, {NODES: TableWrites(inserts=nodes), EDGES: TableWrites(inserts=edges)})


async def update(storage: Neo4jStorage, table: Table, before: Row, after: Row) -> None:
    await write(storage, {table: TableWrites(updates=[after], before={table.key_of(before): before})})


async def delete(storage: Neo4jStorage, *rows: Node | Edge) -> None:
    writes = {NODES: TableWrites(), EDGES: TableWrites()}
    for row in rows:
        changed = writes[NODES if isinstance(row, Node) else EDGES]
        changed.deletes.append(row.id)
        changed.before[row.id] = row
    await write(storage, writes)


async def rows(storage: Neo4jStorage, table: Table = NODES, where: Where = EVERYTHING) -> list[Row]:
    async with storage.session() as session:
        return await session.fetch(table, where)


async def cypher(storage: Neo4jStorage, text: str, **parameters: Any) -> list[list[Any]]:
    """What a Neo4j user gets; `:UGSNode` and the like mean the labels of this test's namespace."""
    labels = {name: storage.names.label(name) for name in ("node", "edge", "missing_node", "event", "log")}
    for plain in ("UGSNode", "UGSEdge", "UGSMissingNode", "UGSEvent", "UGSLog"):
        name = {"UGSMissingNode": "missing_node"}.get(plain, plain.removeprefix("UGS").lower())
        text = text.replace(f":{plain}", f":{labels[name]}")
    connection = storage._connection
    assert connection is not None
    return await connection.run(text, **parameters)


# ── the reference ────────────────────────────────────────────────────────────


def expected(state: State, table: Table, where: Where, order: tuple[Order, ...] = (), page: Page = WHOLE) -> list[Row]:
    """What `fetch` must answer, by the reference functions of the kernel."""
    holds = matcher(unlinked(state, table, where), table.words)
    return paged([row for row in state[table] if holds(row)], table, order, page)


def unlinked(state: State, table: Table, where: Where) -> Where:
    if isinstance(where, Linked):
        relation = table.relations[where.relation]
        found = expected(state, CATALOG.target(relation), where.where)
        ties = {getattr(row, relation.remote) for row in found} - {None}
        return in_(relation.local, ties) if ties else NOTHING
    if isinstance(where, Not):
        return Not(unlinked(state, table, where.part))
    if isinstance(where, All | Any_):
        return type(where)(tuple(unlinked(state, table, part) for part in where.parts))
    return where


# ── random states and questions ──────────────────────────────────────────────

IDS = [*"abcdefghijk", "user:a", "A", "_z"]
EDGE_IDS = [*(f"e{at}" for at in range(12)), "edge_1"]
TYPE_NAMES = ["t", "task", "UGSNode", "ba`ck", "sla\\u0060sh", "é", "\ue000", "\uffff", "\U0001f600", "two words"]
KEYS = ["p", "q", "id", "_x", "_type", "type", "ba`ck", "\\u0060", "naïve", 'a"b', "k.e/y", "\U0001f600", "$p0"]
SCALARS = [
    None, True, False, 0, 1, 1.0, -0.0, 2.5, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63), 1e300,
    "", "1", "x", "Xy", "true", "\ue000", "\uffff", "\U0001f600", "a\U0001f600", "é", "@(a)", 'quo"te', "back\\slash",
]  # fmt: skip
NESTED = [[], [1], [1, 2.0], ["x", "y"], [None], [True, 1], {}, {"p": 1}, {"p": {"q": "x"}}, [["x"]], ["@(b)"]]
VALUES = st.sampled_from(SCALARS + NESTED)
PROPERTIES = st.dictionaries(st.sampled_from([*KEYS, *["p", "q"] * 5]), VALUES, min_size=1, max_size=4)
TYPES = st.sampled_from([None, None, None, *TYPE_NAMES])
WORDS = ["a", "x", "xy", "user:a", "task", "@(a)", "@(b)", "1", "nowhere", "two", '"', "a OR b", "*", ""]
WEIGHTS = [0, 1, -2, 0.5, -0.0, 2**53, 2**70, 1e300]


@st.composite
def nodes(draw: st.DrawFn, id: str) -> Node:
    data = draw(VALUES)
    times = draw(st.sampled_from([0, 1, 2, 2**62])), draw(st.integers(0, 3))
    return node(id, draw(TYPES), draw(PROPERTIES), data, created=times[0], modified=times[1])


@st.composite
def edges(draw: st.DrawFn, id: str) -> Edge:
    ends = draw(st.sampled_from(IDS)), draw(st.sampled_from(IDS))
    weight = draw(st.sampled_from(WEIGHTS))
    return edge(id, *ends, draw(TYPES), draw(PROPERTIES), weight=weight, seq=draw(st.integers(0, 3)))


@st.composite
def states(draw: st.DrawFn) -> dict[Table, list[Row]]:
    absent = draw(st.sets(st.sampled_from([*IDS, *EDGE_IDS]), max_size=4))
    return {
        NODES: [draw(nodes(id)) for id in sorted(set(IDS) - absent)],
        EDGES: [draw(edges(id)) for id in sorted(set(EDGE_IDS) - absent)],
    }


COLUMNS: dict[str, list[Any]] = {
    "id": IDS + EDGE_IDS,
    "type": TYPE_NAMES,
    "source": IDS,
    "target": IDS,
    "weight": [*WEIGHTS, True, 2**70 + 1],
    "created": [0, 1, 1.5, 2**62, 2.0**62, 2**64, True],
    "modified": [0, 1, 2, 1.0],
    "seq": [0, 1, 2],
    "properties_text": ["{}", '{"p":1}'],
}
TEXTUAL = [Op.CONTAINS, Op.STARTS, Op.ENDS]


def graph_relations(table: Table) -> list[Relation]:
    """The relations between nodes and edges; features add others, to tables that these tests leave empty."""
    return [relation for relation in table.relations.values() if relation.table in ("nodes", "edges")]


@st.composite
def wheres(draw: st.DrawFn, table: Table, depth: int = 2) -> Where:
    kind = draw(st.sampled_from(KINDS if depth else KINDS[:6]))
    if kind == "column":
        return draw(columns(table))
    if kind == "property":
        op = draw(st.sampled_from([*Op]))
        value = draw(st.lists(VALUES, max_size=3) if op is Op.IN else VALUES)
        return Property("properties_text", draw(st.sampled_from([*KEYS, *["p", "q"] * 5])), op, value)
    if kind == "has":
        return Has(draw(st.sampled_from(WORDS)))
    if kind == "everything":
        return EVERYTHING
    if kind == "linked":
        relation = draw(st.sampled_from(graph_relations(table)))
        return Linked(relation.name, draw(wheres(CATALOG.target(relation), depth - 1)))
    if kind == "not":
        return Not(draw(wheres(table, depth - 1)))
    parts = draw(st.lists(wheres(table, depth - 1), max_size=3))
    return (all_of if kind == "all" else any_of)(*parts)


KINDS = ["column", "column", "property", "property", "has", "everything", "linked", "not", "all", "any"]


@st.composite
def columns(draw: st.DrawFn, table: Table) -> Where:
    field = draw(st.sampled_from([name for name in COLUMNS if name in table.names]))
    value = st.sampled_from(COLUMNS[field])
    is_text = isinstance(COLUMNS[field][0], str)
    op = draw(st.sampled_from([*(op for op in Op if op not in TEXTUAL), *(TEXTUAL if is_text else [])]))
    if op in (Op.EQ, Op.NE):
        value = st.one_of(value, st.sampled_from([None, 1, "x", 1.5]))
    return Compare(
        field, op, tuple(draw(st.lists(st.one_of(value, st.none()), max_size=3))) if op is Op.IN else draw(value)
    )


def orders(table: Table) -> st.SearchStrategy[tuple[Order, ...]]:
    part = st.builds(Order, st.sampled_from(table.names), st.booleans())
    return st.lists(part, max_size=2, unique_by=lambda order: order.field).map(tuple)


@st.composite
def questions(draw: st.DrawFn, state: State) -> tuple[Table, Where, tuple[Order, ...], Page]:
    """A table, a condition, an order and a page, which may start at one of the rows or between them."""
    table = draw(st.sampled_from([NODES, EDGES]))
    order = draw(orders(table))
    places = [*[None] * len(state[table]), *(place_of(row, full_order(table, order)) for row in state[table])]
    per = draw(st.sampled_from([None, None, "type", *(["source", "weight"] if table is EDGES else ["created"])]))
    limit = draw(st.sampled_from([None, 0, 1, 2, 5]))
    page = Page(limit, draw(st.sampled_from(places)), draw(st.booleans()), per)
    where = draw(st.one_of(wheres(table), st.just(EVERYTHING)))
    if per == "source" and draw(st.booleans()):
        where = all_of(in_("source", IDS[:5]), where)
    return table, where, order, page


@st.composite
def plans(draw: st.DrawFn, table: Table, state: State, depth: int = 2) -> Read:
    order = draw(orders(table))
    nest = {}
    for at, relation in enumerate(draw(st.lists(st.sampled_from(graph_relations(table)), max_size=2)) if depth else ()):
        nest[f"r{at}"] = Nested(relation.name, draw(plans(CATALOG.target(relation), state, depth - 1)))
    places = [*[None] * 3 * len(state[table]), *(place_of(row, full_order(table, order)) for row in state[table])]
    page = Page(draw(st.sampled_from([None, 0, 1, 2, 5])), draw(st.sampled_from(places)), draw(st.booleans()))
    where = draw(st.one_of(wheres(table, 1), st.just(EVERYTHING)))
    return Read(table, where, order, page, nest, draw(st.booleans()))
