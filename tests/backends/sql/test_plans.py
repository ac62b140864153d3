"""Whole plans in one statement, with the same answer as level by level."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.backends.sql import strategies as some
from tests.backends.sql.samples import CATALOG, PARTS, THINGS, VISITS, store, thing
from tests.backends.sql.test_fetch_equals_reference import SHARED_STORE
from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.graph.paths.bellman_ford import any_negative_weight
from ugs.reads.filters import Compare, Op, Property, eq
from ugs.reads.level_executor import execute_by_levels
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.system import System
from ugs.tables import Table
from ugs_backends.sql import SqlStorage, open_sql

TOUCHED = (
    "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables "
    "WHERE relname = 'edges' AND schemaname = current_schema()"
)
"""How many edges this transaction has looked at."""


@SHARED_STORE
@given(st.data())
async def test_a_plan_is_answered_as_level_by_level(storage: SqlStorage, data: st.DataObject) -> None:
    rows = data.draw(some.rows)
    await store(storage, rows)
    async with storage.session() as session:
        for _ in range(4):
            plan = data.draw(plans(data.draw(st.sampled_from([THINGS, PARTS, VISITS])), rows))
            assert await session.read(plan) == await execute_by_levels(session, plan)
            assert await storage.read(plan) == await execute_by_levels(session, plan)


@st.composite
def plans(draw: st.DrawFn, table: Table, rows: dict[Table, list[Any]], depth: int = 3) -> Read:
    order = draw(some.orders(table))
    page = draw(some.pages(table, order, rows[table], per=depth == 3))
    nest = {}
    if depth:
        for name in draw(st.lists(st.sampled_from(["x", "y", "from"]), max_size=2, unique=True)):
            relation = draw(st.sampled_from(sorted(table.relations)))
            target = CATALOG.target(table.relations[relation])
            nest[name] = Nested(relation, draw(plans(target, rows, depth - 1)))
    return Read(table, draw(some.wheres(table, 0)), order, page, nest, draw(st.booleans()))


def deep_plan() -> Read:
    back = Nested("thing", Read(THINGS, total=True))
    parts = Read(PARTS, Compare("number", Op.GE, 0), (Order("label"),), Page(2), {"back": back}, total=True)
    return Read(
        THINGS,
        eq("kind", "a"),
        page=Page(2),
        nest={"few": Nested("parts", parts), "all": Nested("parts", Read(PARTS))},
        total=True,
    )


async def test_a_plan_of_any_depth_is_one_statement(storage: SqlStorage) -> None:
    await store(storage, {THINGS: [thing(id, "a") for id in "abc"], PARTS: []})
    for plan in (deep_plan(), Read(THINGS), Read(THINGS, Property("props", "k", Op.EQ, 1), total=True)):
        async with storage.session() as session:
            before = session.link.statements
            await session.read(plan)
            assert session.link.statements - before == len(session.explain_read(plan)) == 1


async def test_native_off_answers_the_same_by_the_defaults_of_the_port(url: str, storage: SqlStorage) -> None:
    from ugs.storage import Session
    from ugs_backends.sql.session import SqlSession

    await store(storage, {THINGS: [thing(id, "a") for id in "abc"], PARTS: []})
    plain = open_sql(url + ("&" if "?" in url else "?") + "native=off")
    await plain.open(CATALOG)
    async with plain.session() as session, storage.session() as native:
        assert type(session) is SqlSession and type(session).read is Session.read
        assert await session.read(deep_plan()) == await native.read(deep_plan())
        assert await session.find(THINGS, "a") == await native.find(THINGS, "a")
    await plain.close()


async def test_a_negative_weight_is_looked_for_in_the_index(url: str) -> None:
    """However many edges there are: a database must not hope to come across one."""
    edges = (AddEdge(id=None, source="n", target="n", weight=1 + number) for number in range(3_000))
    async with System(open_sql(url)) as system:
        await Graph(system).do(Batch((AddNode(id="n"), *edges)))
        await system.storage.analyze()
        async with system.session() as session:
            assert not await any_negative_weight(session)
            if session.shape.dialect.name == "postgresql":
                ((touched,),) = await session.link.rows(TOUCHED)
                assert touched == 0
        await Graph(system).add_edge("down", "n", "n", weight=-1)
        async with system.session() as session:
            assert await any_negative_weight(session)
