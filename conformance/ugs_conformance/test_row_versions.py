"""The past as the store tells it, compared with a replay of the log up to there, which is what the past means."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from ugs.catalog import Catalog
from ugs.clock import FixedClock
from ugs.connect import storage_for
from ugs.errors import UgsError
from ugs.events import to_line
from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode, Delete, Update
from ugs.graph.model import EDGES, NODES
from ugs.log.at import At
from ugs.log.replay import copy_log, pages_of, row_text
from ugs.reads.filters import Where
from ugs.reads.plan import Read
from ugs.storage import EventQuery, Storage
from ugs.system import System
from ugs_conformance.support import query_strategies as some
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.facts_kit import Know, day
from ugs_conformance.support.harness import Harness, Lent
from ugs_conformance.support.history_strategies import Group, Request, answers_to, replay_history
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest

QUESTIONS = 4
"""Random questions at each position, besides the fixed ones."""

ids, edge_ids = st.sampled_from(some.IDS[:6]), st.sampled_from(some.EDGE_IDS[:4])
operations: st.SearchStrategy[Any] = st.one_of(
    st.builds(AddNode, id=ids, type=some.kinds, properties=some.properties, data=some.values),
    st.builds(AddNode, id=ids, type=some.kinds, properties=some.properties),
    st.builds(AddEdge, id=edge_ids, source=ids, target=ids, type=some.kinds, weight=some.weights),
    st.builds(Update, id=ids, properties=some.properties),
    st.builds(Update, id=ids, type=some.kinds),
    st.builds(Update, id=edge_ids, weight=some.weights, properties=some.properties),
    st.builds(Delete, id=st.one_of(ids, edge_ids)),
)
requests = st.builds(
    Request,
    st.one_of(
        operations, operations, operations, st.builds(Batch, st.lists(operations, min_size=1, max_size=4).map(tuple))
    ),
)
histories = st.lists(
    st.builds(Group, st.lists(requests, min_size=1, max_size=8), st.sampled_from([0, 1, 1000])), min_size=1, max_size=3
)


class Question(Struct, frozen=True):
    """A plan, and a condition whose rows are counted and grouped."""

    plan: Read
    where: Where
    by: str
    share: int
    """Which of the positions of the log is asked for, besides its end and its middle, in percent."""


def _question(table: Any) -> st.SearchStrategy[Question]:
    return st.builds(
        Question,
        some.reads(table, 1),
        some.conditions(table),
        st.sampled_from(["type", *some.columns(table)]),
        st.integers(0, 99),
    )


questions = st.lists(st.one_of(_question(NODES), _question(EDGES)), min_size=QUESTIONS, max_size=QUESTIONS)


@asynccontextmanager
async def replayed(storage: Storage, catalog: Catalog, position: int) -> AsyncIterator[Storage]:
    """A fresh store that keeps no former rows, into which the log was replayed up to a position."""
    fresh = storage_for("memory:?history=off")
    await fresh.open(catalog)
    try:
        await copy_log(storage, fresh, catalog, until=position)
        yield fresh
    finally:
        await fresh.close()


@asynccontextmanager
async def replayed_with_history(storage: Storage, catalog: Catalog, position: int) -> AsyncIterator[Storage]:
    """The same, with former rows."""
    fresh = storage_for("memory:")
    await fresh.open(catalog)
    try:
        await copy_log(storage, fresh, catalog, until=position)
        yield fresh
    finally:
        await fresh.close()


async def answers(storage: Storage, question: Question) -> list[Any]:
    """All that a question tells; a refusal as its error."""
    table = question.plan.table.stored
    try:
        async with storage.session() as session:
            return [
                await session.read(question.plan),
                await session.count(table, question.where),
                await session.group(table, question.by, question.where),
                await session.group(table, question.by),
                await session.fetch(table, question.where, question.plan.order, question.plan.page)
                if question.plan.table is table
                else (),
            ]
    except UgsError as error:
        return [error.as_json()]


async def state_of(storage: Storage, catalog: Catalog) -> dict[str, Any]:
    """Every row of every versioned table, and the log."""
    async with storage.session() as session:
        head = await session.head()
        state: dict[str, Any] = {
            "log": [to_line(event) for event in await session.events(EventQuery())],
            "newest": [event.position for event in await session.events(EventQuery(newest=True, limit=3))],
            "head": (head.position, head.timestamp),
            "keys": await session.keys(NODES, "properties_text"),
        }
        for table in catalog:
            if table.versioned:
                rows = [row async for page in pages_of(session, table) for row in page]
                keys = [table.key_of(row) for row in rows]
                state[table.name] = [row_text(table, row) for row in rows], await session.count(table)
                assert await session.find_many(table, keys) == rows
    return state


async def same_past(system: System, position: int, asked: list[Question]) -> None:
    """Fail unless the past at a position is what a replay gives."""
    past = await system.moments.store_at(At(position=position))
    async with replayed(system.storage, system.catalog, position) as expected:
        found, meant = await state_of(past, system.catalog), await state_of(expected, system.catalog)
        for part in meant:
            assert found[part] == meant[part], (part, position)
        for question in asked:
            assert await answers(past, question) == await answers(expected, question), (question, position)
        async with System(Lent(past)) as here, System(Lent(expected)) as there:
            told = await answers_to(Graph(here), position % 4, 4)
            assert told == await answers_to(Graph(there), position % 4, 4), position


async def check(harness: Harness, history: list[Group], asked: list[Question]) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    try:
        await replay_history(history[:-1], Graph(system), clock)
        middle = system.bus.position
        kept = await system.moments.store_at(At(position=middle))
        before = await state_of(kept, system.catalog)
        await replay_history(history[-1:], Graph(system), clock)
        assert await state_of(kept, system.catalog) == before
        end = system.bus.position
        for position in {end, middle, end * asked[0].share // 100}:
            await same_past(system, position, asked)
        if await system.storage.history_end() is not None:
            assert system.moments.replayed == 0  # the store's own versions answered
            assert await system.storage.history_end() == end
            async with replayed_with_history(system.storage, system.catalog, end) as expected:
                assert await system.storage.compare_history(expected) == []
    finally:
        await system.close()


@clause("UGS-11", "UGS-77")
def test_the_past_is_what_a_replay_up_to_there_gives(harness: Harness, histories_wanted: int) -> None:
    @settings(max_examples=max(histories_wanted // 10, 10))
    @given(histories, questions)
    def law(history: list[Group], asked: list[Question]) -> None:
        run(check(harness, history, asked))

    law()


@clause("UGS-11", "UGS-77", "FACT-88")
async def test_facts_and_ontologies_of_the_past_are_what_a_replay_gives(world: StoreUnderTest) -> None:
    know = Know(world)
    await know.predicate("is")
    await world.graph.load_demo()
    for number, value in enumerate("ABA", 1):
        await know.say("x", "is", value, valid_from=day(number))
    for position in range(world.system.bus.position + 1):
        await same_past(world.system, position, [])


@clause("UGS-11")
async def test_one_replay_at_most_answers_for_all_positions_up_to_it(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    end = world.system.bus.position
    for position in (end, 3, end - 1, 0, 7, end):
        await world.graph.stats(at=At(position=position))
    assert world.system.moments.replayed <= end
    await world.graph.add_node("later")
    await world.graph.stats(at=At(position=end + 1))
    assert world.system.moments.replayed <= end + 1


@clause("UGS-11")
async def test_the_past_survives_a_rebuild_of_the_rows(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    await world.graph.delete("bob")
    before = await world.graph.export_graph(at=At(position=10))
    await world.system.rebuild()
    assert await world.graph.export_graph(at=At(position=10)) == before
    for position in range(world.system.bus.position + 1):
        await same_past(world.system, position, [])
