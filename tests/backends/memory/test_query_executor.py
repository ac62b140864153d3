"""Reading from memory: whatever index is used, the answer is that of the reference."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.backends.memory.kit import (
    add_edge,
    add_node,
    both,
    delete_node,
    histories,
    ids,
    opened,
    orders,
    pages,
    plans,
    rows_of,
    settled,
    stamped,
    update_node,
    wheres,
    write,
)
from ugs.facts.model import NOTES, Note
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES
from ugs.reads import filters as algebra
from ugs.reads.filters import Has, Linked, Op, Property, Where, eq, in_, matcher
from ugs.reads.level_executor import execute_by_levels
from ugs.reads.plan import Order, Page, full_order, paged, place_of
from ugs.tables import Row, Table
from ugs_backends.memory import MemoryStorage
from ugs_backends.memory.query.index_selection import choose_access_path
from ugs_backends.memory.query.row_order import RowOrder
from ugs_backends.memory.tables.indexes import Index, KeyCounts
from ugs_backends.memory.tables.min_max_index import MinMaxIndex
from ugs_backends.memory.tables.table import MemoryTable

QUICK = settings(
    max_examples=1000 if os.environ.get("UGS_FAULTS") else 60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def reference(storage: MemoryStorage, table: Table, where: Where) -> list[Row]:
    """Rows by testing each one, related rows included."""
    return [row for row in storage.tables[table.name].rows.values() if _meets(storage, table, where, row)]


def _meets(storage: MemoryStorage, table: Table, where: Where, row: Row) -> bool:
    if isinstance(where, Linked):
        relation = table.relations[where.relation]
        other = CATALOG.target(relation)
        tie = getattr(row, relation.local)
        others = storage.tables[other.name].rows.values()
        return any(getattr(r, relation.remote) == tie and _meets(storage, other, where.where, r) for r in others)
    if isinstance(where, algebra.Not):
        return not _meets(storage, table, where.part, row)
    if isinstance(where, algebra.All | algebra.Any_):
        many = all if isinstance(where, algebra.All) else any
        return many(_meets(storage, table, part, row) for part in where.parts)
    return matcher(where, table.words)(row)


async def played(history: list[list[Any]], ready: bool = True) -> MemoryStorage:
    """A store with a history; with `ready` every index exists from the start and has seen each change."""
    storage = await opened("memory:")
    if ready:
        for table in (NODES, EDGES):
            make_all(storage.tables[table.name])
    for drafts in history:
        await write(storage, *drafts)
    return storage


def make_all(table: MemoryTable) -> None:
    for field in table.indexed:
        table.column(field)
    for key in ("p", "q", 'a"b', "naïve"):
        table.property("properties_text", key)
    table.words()
    table.key_counts("properties_text")
    table.order(None)
    table.order(None, ("type", "t"))
    for field in ("type", "created", "version"):
        table.order(field)


@pytest.mark.clause("UGS-134", "UGS-135", "UGS-136", "UGS-137", "UGS-138", "UGS-139", "UGS-140", "UGS-141", "UGS-142")
@QUICK
@given(histories)
def test_indexes_kept_in_step_equal_indexes_built_anew(history: list[list[Any]]) -> None:
    storage = asyncio.run(played(history))
    for table in (NODES, EDGES):
        here = storage.tables[table.name]
        for name, kept in here.kept.items():
            anew = here.build(name, list(here.rows.values()))
            assert contents(kept) in (contents(anew), True), name


def contents(kept: Any) -> Any:
    """What an index holds, whatever its shape; rows by identity, since an index must hold the current ones."""
    if isinstance(kept, KeyCounts):
        return kept.counts
    if isinstance(kept, MinMaxIndex):
        return kept.lost or (kept.least.value, kept.least.count, kept.negated.value, kept.negated.count)
    if isinstance(kept, Index):
        return {value: {id(row) for row in kept.rows(value)} for value in kept.postings}
    return kept.places


@QUICK
@given(histories, st.data(), st.booleans())
def test_fetch_count_and_group_answer_like_the_reference(history: Any, data: st.DataObject, ready: bool) -> None:
    storage = asyncio.run(played(history, ready))
    table = data.draw(both())
    where, order = data.draw(wheres(table)), data.draw(orders(table))
    rows = reference(storage, table, where)
    whole = full_order(table, order)
    some = data.draw(st.sampled_from([*storage.tables[table.name].rows.values(), None]))
    page = data.draw(pages(table, None if some is None else place_of(some, whole)))
    assert storage.reader.fetch(table, where, order, page) == paged(rows, table, order, page)
    assert storage.reader.count(table, where) == len(rows)
    assert sum(storage.reader.group(table, "type", where).values()) == len(rows)


@QUICK
@given(histories, plans())
def test_a_plan_read_natively_equals_the_plan_read_by_levels(history: Any, plan: Any) -> None:
    async def check() -> None:
        storage = await played(history, ready=False)
        async with storage.session() as session:
            assert await session.read(plan) == await execute_by_levels(session, plan)

    asyncio.run(check())


async def _sixty_nodes() -> MemoryStorage:
    storage = await opened("memory:")
    nodes = [add_node(f"n{n % 37}_{n}", "tu"[n % 2], n % 3 + 1, p=n % 5) for n in range(60)]
    for n in range(0, 60, 6):
        await write(storage, *nodes[n : n + 6], timestamp=1_769_020_454_093 + n // 12)
    return storage


SIXTY = asyncio.run(_sixty_nodes())


@QUICK
@given(st.data())
def test_walking_along_a_kept_order_gives_the_same_page(data: st.DataObject) -> None:
    storage = SIXTY
    order = data.draw(orders(NODES))
    where = data.draw(
        st.sampled_from([algebra.EVERYTHING, eq("type", "t"), Property("properties_text", "p", Op.LT, 3)])
    )
    some = data.draw(st.sampled_from([*storage.tables["nodes"].rows.values(), None]))
    page = Page(
        data.draw(st.integers(0, 70)), some and place_of(some, full_order(NODES, order)), data.draw(st.booleans())
    )
    arrangement = storage.reader.arrangement(NODES, order)
    here = storage.tables["nodes"]
    walked = storage.reader._walk_index(
        here, choose_access_path(here, where), where, arrangement, page, page.limit or 0
    )
    assert walked is None or walked == paged(reference(storage, NODES, where), NODES, order, page)


async def test_the_first_hundred_of_many_are_read_from_a_kept_order() -> None:
    storage = await opened("memory:")
    await write(storage, *(add_node(f"n{n:05}", "tu"[n % 2]) for n in range(3000)))
    async with storage.session() as session:
        first = await session.fetch(NODES, eq("type", "u"), page=Page(3))
        newest = await session.fetch(NODES, order=[Order("created", descending=True)], page=Page(2))
    assert [row.id for row in first] == ["n00001", "n00003", "n00005"]
    assert [row.id for row in newest] == ["n00000", "n00001"]
    assert ("order", "", "type", "u") in storage.tables["nodes"].kept


async def test_a_large_index_is_built_in_a_thread_and_misses_no_change_made_meanwhile() -> None:
    storage = await opened("memory:")
    await write(storage, *(add_node(f"n{n:03}", "t", p=n % 2) for n in range(200)))
    here = storage.tables["nodes"]
    here.at_once = 0
    question = Property("properties_text", "p", Op.EQ, 1)

    async def ask() -> list[str]:
        async with storage.session() as session:
            return [row.id for row in await session.fetch(NODES, question)]

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0)  # asks, finds the index missing
    await asyncio.sleep(0)  # starts to build it
    assert here.journals
    await write(storage, update_node("n001", 2, p=5), update_node("n000", 2, p=1), delete_node("n003"))
    found = await asking
    assert found[:3] == ["n000", "n005", "n007"] and len(found) == 99
    assert found == await ask()


async def test_a_session_reads_what_it_has_written_and_nobody_else_does() -> None:
    storage = await opened("memory:")
    await write(storage, add_node("a"), add_node("b"), add_edge("e", "a", "b"))
    async with storage.session(write=True) as session:
        events = stamped(await session.head(), [delete_node("a"), add_node("c", "u")])
        await session.append(events, settled(storage, events))
        assert [row.id for row in await session.fetch(NODES)] == ["b", "c"]
        assert (await session.head()).position == 5
        assert await session.find(NODES, "a") is None
        assert await ids(storage) == ["a", "b"]
    assert await ids(storage) == ["b", "c"]
    assert await ids(storage, EDGES) == []


async def test_a_session_that_fails_leaves_nothing() -> None:
    storage = await opened("memory:")
    await write(storage, add_node("a"))
    before = await rows_of(storage)

    async def change_my_mind() -> None:
        async with storage.session(write=True) as session:
            events = stamped(await session.head(), [add_node("b")])
            await session.append(events, settled(storage, events))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await change_my_mind()
    assert await rows_of(storage) == before
    await write(storage, add_node("c"))
    assert await ids(storage) == ["a", "c"]


async def test_watch_tells_of_each_commit_without_polling() -> None:
    storage = await opened("memory:")
    seen: list[int] = []

    async def watching() -> None:
        async for position in storage.watch(0):
            seen.append(position)

    task = asyncio.create_task(watching())
    await write(storage, add_node("a"), add_node("b"))
    await asyncio.sleep(0)
    await write(storage, add_node("c"))
    await asyncio.sleep(0)
    await storage.close()
    await asyncio.wait_for(task, 1)
    assert seen == [2, 3]


@pytest.mark.clause("UGS-136")
async def test_words_find_rows_and_follow_updates() -> None:
    storage = await opened("memory:")
    await write(storage, add_node("a", note="old words"), add_node("b", note="other"))
    async with storage.session() as session:
        assert [row.id for row in await session.fetch(NODES, Has("words"))] == ["a"]
        await write(storage, update_node("a", 2, note="new text"), update_node("b", 2, note="words again"))
        assert [row.id for row in await session.fetch(NODES, Has("words"))] == ["b"]
        assert await session.find_many(NODES, ["b", "zz", "a", "b"]) == await session.fetch(NODES, in_("id", "ab"))
        assert await session.keys(NODES, "properties_text") == {"note": 2}


def note(number: int, created: int) -> Row:
    return Note(f"{number:08}", "t", "p", "a", "s", "x", None, created)


@QUICK
@given(
    times=st.lists(st.integers(0, 4), max_size=30),
    limit=st.integers(0, 8),
    kept=st.none() | st.sets(st.integers(0, 29)),
    rising=st.booleans(),
    data=st.data(),
)
def test_the_newest_of_rows_in_the_order_of_insertion_are_the_first_of_the_page(
    times: list[int], limit: int, kept: set[int] | None, rising: bool, data: st.DataObject
) -> None:
    numbers = data.draw(st.permutations(range(len(times))))
    rows = [note(number, at) for number, at in zip(numbers, sorted(times) if rising else times, strict=True)]
    test = None if kept is None else lambda row: int(row.note_id) in kept
    order = (Order("created_at", descending=True), Order("note_id", descending=True))
    found = RowOrder(NOTES, order).newest(rows, test, limit)
    if times == sorted(times) or rising:
        assert found == paged([row for row in rows if test is None or test(row)], NOTES, order, Page(limit))
    else:
        assert found is None
    assert RowOrder(NOTES, (Order("created_at"), Order("note_id"))).newest(rows, test, limit) is None
