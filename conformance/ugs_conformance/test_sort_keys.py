"""Rows in the order of a property: the same on every store, a page at a time, whatever kinds of values there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ugs.graph.api import Graph
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.log.at import At
from ugs.reads.cursors import cursors_for
from ugs.reads.filters import Op, Property, all_of, matcher
from ugs.reads.plan import Nested, Order, Page, Read, full_order, place_of
from ugs.reads.sort_keys import FIRST, LAST, SortKey
from ugs.tables import Table
from ugs_conformance.support import query_strategies
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.reference_store import Reference, store_rows
from ugs_conformance.support.store_fixture import ids

VALUES: dict[str, Any] = {
    "none": None, "list": [1], "no": False, "yes": True, "low": -(2**63), "minus": -1.5, "zero": 0, "half": 0.5,
    "one": 1, "ten": 10, "big": 2**53 + 1, "empty": "", "upper": "B", "lower": "a", "bmp": "\uffff",
    "astral": "\U00010000", "line": "a\nb", "long": "x" * 500,
}  # fmt: skip
"""Values by the id of the node that has them, in ascending order; nothing, null and lists come together, by id."""
MISSING = ["list", "none", "nothing"]


async def fill(graph: Graph) -> None:
    await graph.import_graph(
        {"nodes": [{"id": name, "properties": {"rank": value}} for name, value in VALUES.items()], "edges": []}
    )
    await graph.add_node("nothing")


def by_rank(descending: bool = False, missing: str = FIRST) -> tuple[Order, ...]:
    return (Order(SortKey("properties_text", "rank", missing).name, descending),)


def seen(table: Table, order: Sequence[Order]) -> Table:
    return table.counting(part.field for part in order)


@clause("UGS-106")
async def test_kinds_come_one_after_the_other_and_texts_by_code_point(graph: Graph) -> None:
    await fill(graph)
    ascending = ["no", "yes", "low", "minus", "zero", "half", "one", "ten", "big", "empty", "upper"]
    ascending += ["lower", "line", "long", "bmp", "astral"]

    for order, expected in (
        (by_rank(), MISSING + ascending),
        (by_rank(missing=LAST), ascending + MISSING),
        (by_rank(descending=True), ascending[::-1] + MISSING),
        (by_rank(descending=True, missing=LAST), MISSING + ascending[::-1]),
    ):
        assert ids((await graph.system.read(Read(seen(NODES, order), order=order))).rows) == expected


@clause("UGS-106")
async def test_pages_follow_each_other_by_their_cursors(graph: Graph) -> None:
    await fill(graph)
    for order in (by_rank(), by_rank(descending=True), (Order("type"), *by_rank(True, LAST))):
        table = seen(NODES, order)
        whole = ids((await graph.system.read(Read(table, order=order))).rows)
        for backward in (False, True):
            found: list[str] = []
            page = Page(limit=4, backward=backward)
            while True:
                answer = await graph.system.read(Read(table, order=order, page=page))
                found = ids(answer.rows) + found if backward else found + ids(answer.rows)
                if not answer.more:
                    break
                last = cursors_for(NODES, order).of(answer.rows[0 if backward else -1])
                page = Page(limit=4, after=cursors_for(NODES, order).place(last), backward=backward)
            assert found == whole


@clause("UGS-106")
async def test_conditions_on_the_property_itself_leave_the_order_as_it_is(graph: Graph) -> None:
    await fill(graph)
    own = partial(Property, "properties_text", "rank")
    for order in (by_rank(), by_rank(missing=LAST), by_rank(descending=True), by_rank(True, LAST)):
        table = seen(NODES, order)
        whole = (await graph.system.read(Read(table, order=order))).rows
        for where in (own(Op.EXISTS), own(Op.GT, 0), own(Op.STARTS, "x"), all_of(own(Op.EXISTS), own(Op.NE, 1))):
            expected = [row.id for row in whole if matcher(where)(row)]
            for backward in (False, True):
                read = Read(table, where, order, Page(limit=5, backward=backward))
                page = ids((await graph.system.read(read)).rows)
                assert page == (expected[-5:] if backward else expected[:5]), (order, where)


@clause("UGS-106")
async def test_edges_below_a_node_and_rows_of_the_past_are_sorted_too(graph: Graph) -> None:
    await fill(graph)
    for number, rank in enumerate((3, 1, 2)):
        await graph.add_edge(f"e{number}", "one", "ten", None, 1, {"rank": rank})
    async with graph.system.session() as session:
        before = (await session.head()).position
    await graph.update("e0", properties={"rank": 0})
    order = by_rank()
    nested = Nested("outgoing", Read(seen(EDGES, order), order=order, page=Page(limit=2)))
    plan = Read(NODES, nest={"edges": nested}, page=Page(limit=100))

    async def first_edges(at: At | None) -> list[str]:
        rows = (await graph.system.read(plan, at)).items
        return ids(next(row for row in rows if row.row.id == "one").nest["edges"].rows)

    assert await first_edges(None) == ["e0", "e1"]
    assert await first_edges(At(position=before)) == ["e1", "e2"]


@st.composite
def sorted_reads(draw: st.DrawFn, table: Table) -> tuple[Read, int | None]:
    """A read in the order of properties, and the row that it continues after."""
    order = draw(query_strategies.orders(table, *query_strategies.SORT_KEYS))
    key = Order(draw(st.sampled_from(query_strategies.SORT_KEYS)), draw(st.booleans()))
    whole = tuple({part.field: part for part in (*order, key)}.values())
    read = Read(seen(table, whole), draw(query_strategies.conditions(table, 1)), whole, draw(query_strategies.pages()))
    return read, draw(st.one_of(st.none(), st.integers(0, 7)))


@clause("UGS-106")
@given(
    nodes=query_strategies.nodes(),
    edges=query_strategies.edges(),
    reads=st.lists(st.one_of(sorted_reads(NODES), sorted_reads(EDGES)), min_size=4, max_size=8),
)
async def test_any_order_by_properties_is_the_reference_order(
    harness: Harness, nodes: list[Node], edges: list[Edge], reads: list[tuple[Read, int | None]]
) -> None:
    storage, reference = await store_rows(harness, {NODES: nodes, EDGES: edges})
    async with storage.session() as session:
        for read, after in reads:
            rows = (await Reference.read(reference, Read(read.table, order=read.order))).rows
            if after is not None and after < len(rows):
                place = place_of(rows[after], full_order(read.table, read.order))
                read = msgspec.structs.replace(read, page=msgspec.structs.replace(read.page, after=place))
            assert await session.read(read) == await reference.read(read), read
