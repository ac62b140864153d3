"""Rows stored together are stored as they would be one by one, with the same indexes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ugs.feature_registry import CATALOG
from ugs.graph.model import Edge, Node
from ugs_backends.memory.tables.table import MemoryTable, make_tables

IDS = st.sampled_from([f"n{number}" for number in range(8)])
MOMENTS = st.integers(1, 3)
TYPES = st.none() | st.sampled_from(["knows", "likes"])
TEXTS = st.sampled_from(["{}", '{"since":2001}', '{"text":"%s"}' % ("x" * 60)])
WEIGHTS = st.sampled_from([0.0, -0.0, 1, 1.0, 2.5, -2.5, 0.1, 1e300, 7])

nodes = st.builds(Node, IDS, TYPES, TEXTS, st.none() | TEXTS, MOMENTS, MOMENTS, MOMENTS)
edges = st.builds(
    Edge, st.sampled_from([f"e{number}" for number in range(12)]), IDS, IDS, TYPES, WEIGHTS, TEXTS, MOMENTS, MOMENTS,
    MOMENTS, st.integers(1, 99),
)  # fmt: skip


def exactly(row: Any) -> list[Any]:
    """Everything about a row, the sign of a zero and the type of a number included."""
    return [(name, repr(getattr(row, name))) for name in row.__struct_fields__]


def seen(table: MemoryTable) -> tuple[Any, ...]:
    """The rows and what is beside them."""
    table.settle()
    beside = {
        (field, value): [exactly(row) for row in index.rows(value)]
        for field, index in table.always.items()
        for value in index.postings
    }
    return {key: exactly(row) for key, row in table.rows.items()}, beside


@given(st.lists(st.lists(nodes, max_size=6), max_size=3), st.lists(st.lists(edges, max_size=12), max_size=3))
def test_together_and_one_by_one_leave_the_same(node_lots: list[list[Node]], edge_lots: list[list[Edge]]) -> None:
    together, singly = make_tables(CATALOG), make_tables(CATALOG)
    for name, lots in (("nodes", node_lots), ("edges", edge_lots)):
        for rows in filter(None, lots):
            columns = [list(column) for column in zip(*map(values, rows), strict=True)]
            together[name].put_many(columns)
            for row in rows:
                singly[name].put(type(row)(*values(row)))
    for name in ("nodes", "edges"):
        assert seen(together[name]) == seen(singly[name])


def values(row: Any) -> list[Any]:
    return [getattr(row, name) for name in row.__struct_fields__]


def test_many_under_one_value_stand_in_the_order_in_which_they_came() -> None:
    tables = make_tables(CATALOG)
    made = [
        Edge(f"e{number % 7}_{number}", "a", f"b{number % 3}", None, 1.0, "{}", 1, 1, 1, number)
        for number in range(200)
    ]
    for start in (0, 40, 45, 150):
        rows = made[start : {0: 40, 40: 45, 45: 150, 150: 200}[start]]
        tables["edges"].put_many([list(column) for column in zip(*map(values, rows), strict=True)])
        tables["edges"].settle()
    assert [row.id for row in tables["edges"].column("source").rows("a")] == [row.id for row in made]
    assert [row.id for row in tables["edges"].column("target").rows("b1")] == [row.id for row in made[1::3]]


def test_edges_are_stored_with_the_names_of_their_nodes() -> None:
    """One text for all who have it, whether the node came just before, long before or never."""
    tables, apart = make_tables(CATALOG), "".join
    for settled in (False, True):
        node = Node(apart(["n", str(settled)]), None, "{}", None, 1, 1, 1)
        tables["nodes"].put_many([[value] for value in values(node)])
        if settled:
            tables["nodes"].settle()
        edges = [
            Edge(f"e{settled}{end}", apart(["n", str(settled)]), apart(["no", "body"]), None, 1.0, "{}", 1, 1, 1, 1)
            for end in range(2)
        ]
        tables["edges"].put_many([list(column) for column in zip(*map(values, edges), strict=True)])
        ((_, first), (_, second)) = list(tables["edges"].rows.items())[-2:]
        assert first.source is second.source is tables["nodes"].rows[node.id].id
        assert first.target is second.target
