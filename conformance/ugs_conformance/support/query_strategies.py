"""Random rows and random questions about them, awkward on purpose: what separates one store from another."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st

from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.reads.aggregation import Aggregation, Value
from ugs.reads.filters import EVERYTHING, NOTHING, Compare, Has, Linked, Not, Op, Property, Where, all_of, any_of
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.reads.sort_keys import FIRST, LAST, SortKey
from ugs.tables import Kind, Table
from ugs.values import to_text

IDS = ["a", "B", "a_1", "a-1", "user:a", "project:a", "scratch:b", "_z", "zz", "Zz"]
EDGE_IDS = ["e1", "e2", "E3", "user:e", "e-4", "e_5", "edge_6", "edge_10"]
TYPES = ["task", "Task", "t%", "t_", "Ü b", "日本", "🚀", "t'x", 't"x', "t\\x", "`t`", "task "]
KEYS = ["k", "K", "a.b", "a b", "a'b", 'a"b', "$k", "ключ", "a%", "k\\", "0", "@type"]
TEXTS = [
    "",
    "x",
    "X",
    "ab",
    "a%b",
    "a_b",
    "a\\b",
    "é",
    "e\u0301",
    "z🚀",
    "\uffff",
    "\U00010000",
    "@(a)",
    "@(zz:2)",
    "null",
]
NUMBERS = [0, 1, -1, 1.0, 0.5, -0.5, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 1e300, 5e-324, -0.0, 1e15, 10]
WORDS = ["task", "x", "ab", "é", "a", "a_1", "user:a", "zz", "@(a)", "@(zz)", "b", "e", "none"]

scalars = st.one_of(st.sampled_from(TEXTS), st.sampled_from(NUMBERS), st.booleans(), st.none())
values = st.one_of(
    scalars,
    scalars,
    st.lists(scalars, max_size=3),
    st.dictionaries(st.sampled_from(KEYS), scalars, max_size=2),
    st.just([[1.0], {"k": [None]}]),
)
properties = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)
moments = st.sampled_from([1, 2, 10, 1_769_020_454_093, 2**53])
weights = st.sampled_from([1, 0, -1, 2, 0.5, 1e300, -0.25, 10])
kinds = st.one_of(st.none(), st.sampled_from(TYPES))


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=8))
    return [
        Node(
            id,
            draw(kinds),
            to_text(draw(properties)),
            None if (data := draw(values)) is None else to_text(data),
            draw(moments),
            draw(moments),
            draw(st.integers(1, 3)),
        )
        for id in ids
    ]


@st.composite
def edges(draw: st.DrawFn) -> list[Edge]:
    ids = draw(st.lists(st.sampled_from(EDGE_IDS), unique=True, max_size=8))
    ends = st.sampled_from(IDS)
    return [
        Edge(
            id,
            draw(ends),
            draw(ends),
            draw(kinds),
            draw(weights),
            to_text(draw(properties)),
            draw(moments),
            draw(moments),
            draw(st.integers(1, 3)),
            draw(st.integers(1, 5)),
        )
        for id in ids
    ]


@cache
def column_values(table: Table, name: str) -> st.SearchStrategy[Any]:
    """Values that a column may have, or nearly."""
    if name in ("id", "source", "target"):
        return st.sampled_from([*IDS, *EDGE_IDS, "user:", ":", "", "a%"])
    if name == "type":
        return st.sampled_from([*TYPES, "ta", "", "%", "_"])
    kind = table.field(name).kind
    return weights if kind is Kind.REAL else st.sampled_from([0, 1, 2, 3, 10, 1_769_020_454_093, 2**53])


@cache
def columns(table: Table) -> list[str]:
    return [field.name for field in table.fields if field.kind is not Kind.JSON]


def relations(table: Table) -> list[str]:
    """The relations between nodes and edges; features may add others to tables of their own."""
    return sorted(name for name, relation in table.relations.items() if relation.table in ("nodes", "edges"))


ORDERED = [Op.LT, Op.LE, Op.GT, Op.GE]
TEXTUAL = [Op.CONTAINS, Op.STARTS, Op.ENDS]


@cache
def comparisons(table: Table) -> st.SearchStrategy[Where]:
    """A column against a value."""
    return _comparisons(table)


@st.composite
def _comparisons(draw: st.DrawFn, table: Table) -> Where:
    name = draw(st.sampled_from(columns(table)))
    value = column_values(table, name)
    ops = [Op.EQ, Op.NE, Op.IN, Op.EXISTS, *ORDERED] + (TEXTUAL if table.field(name).kind is Kind.TEXT else [])
    op = draw(st.sampled_from(ops))
    if op is Op.EXISTS:
        return Compare(name, op)
    if op is Op.IN:
        return Compare(name, op, tuple(draw(st.lists(st.one_of(value, st.none()), max_size=3))))
    return Compare(name, op, draw(st.one_of(value, st.none()) if op in (Op.EQ, Op.NE) else value))


@st.composite
def property_conditions(draw: st.DrawFn) -> Where:
    key, op = draw(st.sampled_from(KEYS)), draw(st.sampled_from(list(Op)))
    if op is Op.EXISTS:
        return Property("properties_text", key, op)
    if op is Op.IN:
        return Property("properties_text", key, op, tuple(draw(st.lists(values, max_size=3))))
    return Property("properties_text", key, op, draw(st.sampled_from(TEXTS) if op in TEXTUAL else values))


@cache
def conditions(table: Table, deep: int = 2) -> st.SearchStrategy[Where]:
    """Conditions on the rows of a table."""
    leaf = st.one_of(
        comparisons(table),
        comparisons(table),
        property_conditions(),
        property_conditions(),
        st.sampled_from(WORDS).map(Has),
        st.sampled_from([EVERYTHING, NOTHING]),
    )
    if deep == 0:
        return leaf
    inner = conditions(table, deep - 1)
    many = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        leaf,
        leaf,
        links(table, deep - 1),
        inner.map(Not),
        many.map(lambda parts: all_of(*parts)),
        many.map(lambda parts: any_of(*parts)),
    )


SORT_KEYS = [SortKey("properties_text", key, missing).name for key in KEYS[:4] for missing in (FIRST, LAST)]
"""Computed columns that rows can be sorted by."""

GRAPH = {table.name: table for table in (NODES, EDGES)}


def relations_of(table: Table) -> list[str]:
    """Relations between nodes and edges; those to other features' tables are for their own tests."""
    return sorted(name for name, relation in table.relations.items() if relation.table in GRAPH)


@cache
def links(table: Table, deep: int) -> st.SearchStrategy[Where]:
    """Conditions on rows at the other end of a relation."""
    return st.sampled_from(relations_of(table)).flatmap(
        lambda name: conditions(GRAPH[table.relations[name].table], max(deep - 1, 0)).map(
            lambda where: Linked(name, where)
        )
    )


@cache
def orders(table: Table, *counts: str) -> st.SearchStrategy[tuple[Order, ...]]:
    """Orders by columns, and by these counts."""
    one = st.builds(Order, st.sampled_from([*columns(table), *counts]), st.booleans())
    return st.lists(one, max_size=2, unique_by=lambda order: order.field).map(tuple)


@cache
def counted_orders(table: Table) -> st.SearchStrategy[tuple[Order, ...]]:
    """Orders that lead by a count, or have one behind a column."""
    count = st.builds(Order, st.sampled_from(sorted(table.counts)), st.booleans())
    return st.tuples(orders(table), count, orders(table)).map(_once_each)


def _once_each(parts: tuple[Any, ...]) -> tuple[Order, ...]:
    before, count, after = parts
    return tuple({part.field: part for part in (*before[:1], count, *after)}.values())


@cache
def pages(*per: str) -> st.SearchStrategy[Page]:
    """Parts of the rows, also so many for each value of a column."""
    limits = st.one_of(st.none(), st.integers(0, 4))
    return st.builds(Page, limits, st.none(), st.booleans(), st.sampled_from([None, *per]))


@cache
def aggregations(table: Table) -> st.SearchStrategy[Aggregation]:
    """Aggregates of columns and properties, in groups or not."""
    property_value = st.builds(Value, st.just("properties_text"), st.sampled_from(KEYS))
    value = st.one_of(st.sampled_from(columns(table)).map(Value), property_value, property_value)
    some = st.lists(value, max_size=2, unique=True).map(tuple)
    return st.builds(Aggregation, some, some, some, st.one_of(st.none(), st.integers(0, 3)))


@cache
def reads(table: Table, deep: int = 2) -> st.SearchStrategy[Read]:
    """Plans, nested as deep as it says."""
    order = orders(table, *table.counts, *SORT_KEYS)
    aggregates = st.dictionaries(st.sampled_from(["one", "other"]), aggregations(table), max_size=1)
    plain = st.builds(Read, st.just(table), conditions(table, 1), order, pages(), total=st.booleans())
    aggregated = st.builds(
        Read, st.just(table), conditions(table, 1), order, pages(), total=st.booleans(), aggregates=aggregates
    )
    flat = st.one_of(plain, plain, aggregated).map(_with_counts)
    if deep == 0:
        return flat
    inner = reads(EDGES if table is NODES else NODES, deep - 1)
    nested = st.sampled_from(relations_of(table)).flatmap(nested_in(inner))
    return st.builds(_with_nest, flat, st.lists(nested, max_size=2))


def _with_counts(plan: Read) -> Read:
    """The plan on a table that is seen with what its order counts."""
    return msgspec.structs.replace(plan, table=plan.table.counting(part.field for part in plan.order))


def nested_in(inner: st.SearchStrategy[Read]) -> Callable[[str], st.SearchStrategy[Nested]]:
    return cache(lambda relation: st.builds(Nested, st.just(relation), inner))


def _with_nest(plan: Read, nests: list[Nested]) -> Read:
    return plan.nested(**{f"{nest.relation}_{number}": nest for number, nest in enumerate(nests)})
