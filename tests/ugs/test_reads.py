"""The reference meaning of filters, orders, pages and plans."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.changes import TableWrites
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.reads.filters import (
    EVERYTHING,
    NOTHING,
    Compare,
    Has,
    Linked,
    Not,
    Op,
    Property,
    Where,
    all_of,
    any_of,
    eq,
    in_,
    matcher,
    mentions,
)
from ugs.reads.level_executor import execute_by_levels
from ugs.reads.plan import Nested, Order, Page, Read, full_order, paged, place_of
from ugs.values import to_text
from ugs_conformance.support.reference_store import Reference


def node(id: str, type: str | None = None, created: int = 0, **properties: Any) -> Node:
    return Node(id, type, to_text(properties), None, created, created, 1)


def edge(id: str, source: str, target: str, seq: int = 0) -> Edge:
    return Edge(id, source, target, None, 1, to_text({}), 0, 0, 1, seq)


ROW = node("b", None, 5, n=1, t="text", nothing=None, yes=True, list=[1, 2.0])


@pytest.mark.parametrize(
    ("where", "meant"),
    [
        (EVERYTHING, True),
        (NOTHING, False),
        (eq("type", None), True),
        (Compare("type", Op.NE, "t"), True),
        (Compare("type", Op.LT, "z"), False),
        (Not(Compare("type", Op.LT, "z")), True),
        (Compare("type", Op.EXISTS), False),
        (in_("type", ["t", None]), True),
        (in_("id", []), False),
        (Compare("id", Op.STARTS, ""), True),
        (Compare("type", Op.CONTAINS, ""), False),
        (Compare("created", Op.GE, 5), True),
        (Property("properties_text", "n", Op.EQ, 1.0), True),
        (Property("properties_text", "yes", Op.EQ, 1), False),
        (Property("properties_text", "nothing", Op.EQ, None), True),
        (Property("properties_text", "missing", Op.EQ, None), False),
        (Property("properties_text", "missing", Op.NE, 1), True),
        (Property("properties_text", "nothing", Op.EXISTS), True),
        (Property("properties_text", "t", Op.GT, 0), False),
        (Property("properties_text", "n", Op.LT, 1.5), True),
        (Property("properties_text", "yes", Op.GE, True), False),
        (Property("properties_text", "list", Op.EQ, [1.0, 2]), True),
        (Property("properties_text", "list", Op.CONTAINS, "1"), False),
        (Property("properties_text", "t", Op.ENDS, "xt"), True),
        (Property("properties_text", "n", Op.IN, ("1", 1.0)), True),
        (Property("properties_text", "n", Op.IN, ("1", 2.0)), False),
        (Property("properties_text", "missing", Op.IN, (None, "n")), False),
        (Has("text"), True),
        (Has("nobody"), False),
        (any_of(), False),
        (all_of(), True),
        (all_of(eq("id", "b"), any_of(eq("type", "x"), Has("b"))), True),
    ],
)
def test_the_meaning_of_every_condition(where: Where, meant: bool) -> None:
    assert matcher(where, NODES.words)(ROW) is meant
    assert matcher(~where, NODES.words)(ROW) is not meant


def test_conditions_combine_without_needless_layers() -> None:
    one, two, three = eq("id", "a"), eq("id", "b"), eq("id", "c")

    assert (one & two & three) == all_of(one, two, three)
    assert all_of(EVERYTHING, one) == one
    assert mentions(Not(any_of(one, Linked("outgoing"))), Linked)
    with pytest.raises(TypeError):
        matcher(Linked("outgoing"))


ROWS = [node("a", "x", 3), node("B", None, 1), node("c", "x", 2), node("d", "y", 1)]


def shown(order: tuple[Order, ...] = (), **page: Any) -> str:
    return "".join(row.id for row in paged(ROWS, NODES, order, Page(**page)))


def test_nothing_comes_first_and_the_key_settles_ties() -> None:
    assert shown() == "Bacd"
    assert shown((Order("type"),)) == "Bacd"
    assert shown((Order("type", descending=True),)) == "dacB"
    assert shown((Order("created"), Order("id", descending=True))) == "dBca"


def test_pages_walk_both_ways_and_answer_forward() -> None:
    order = (Order("type"),)
    place = place_of(ROWS[2], full_order(NODES, order))

    assert shown(order, limit=2) == "Ba"
    assert shown(order, limit=2, backward=True) == "cd"
    assert shown(order, after=place) == "d"
    assert shown(order, after=place, backward=True, limit=1) == "a"
    assert shown(order, limit=0) == shown(order, limit=0, backward=True) == ""


def test_a_limit_can_count_for_each_value_of_a_column() -> None:
    assert shown(limit=1, per="type") == "Bad"
    assert shown(limit=1, per="type", backward=True) == "Bcd"


@pytest.fixture
async def session() -> Reference:
    reference = Reference(CATALOG)
    edges = [edge("e1", "a", "c", 1), edge("e2", "a", "d", 2), edge("e3", "c", "ghost", 3)]
    await reference.append((), {NODES: TableWrites(inserts=ROWS), EDGES: TableWrites(inserts=edges)})
    return reference


async def test_a_plan_answers_each_parent_with_its_own_page_and_total(session: Reference) -> None:
    targets = Nested("target_node", Read(NODES))
    out = Nested("outgoing", Read(EDGES, order=(Order("seq"),), page=Page(limit=1), total=True).nested(target=targets))
    plan = Read(NODES, page=Page(limit=3), total=True).nested(out=out)

    answer = await execute_by_levels(session, plan)

    assert ([row.id for row in answer.rows], answer.more, answer.total) == (["B", "a", "c"], True, 4)
    nests = [item.nest["out"] for item in answer]
    assert [([row.id for row in nest.rows], nest.more, nest.total) for nest in nests] == [
        ([], False, 0),
        (["e1"], True, 2),
        (["e3"], False, 1),
    ]
    assert [row.id for row in nests[1].items[0].nest["target"].rows] == ["c"]
    assert nests[2].items[0].nest["target"].rows == []


async def test_the_number_of_fetches_does_not_grow_with_the_rows(session: Reference) -> None:
    asked: list[str] = []
    plain = session.fetch

    async def counted(table: Any, *rest: Any, **named: Any) -> list[Any]:
        asked.append(table.name)
        return await plain(table, *rest, **named)

    session.fetch = counted  # type: ignore[method-assign]
    deep = Nested("outgoing", Read(EDGES).nested(t=Nested("target_node", Read(NODES))))
    await execute_by_levels(session, Read(NODES).nested(out=deep))

    assert asked == ["nodes", "edges", "nodes"]
