"""Transactions: all or nothing, one writer at a time, one moment per reader, kept over restarts."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backends.sql import strategies as some
from tests.backends.sql.samples import CATALOG, PARTS, SEATS, THINGS, VISITS, Part, Seat, holds, inserts, store, thing
from tests.backends.sql.test_fetch_equals_reference import SHARED_STORE
from ugs.changes import TableWrites
from ugs.errors import StorageIOError, UgsError, UniqueViolation
from ugs.events import EMPTY_LOG, Event, Head, Idem, Tx, seal, to_line
from ugs.reads.filters import Has, Op, Property, eq
from ugs.storage import EventQuery
from ugs.values import JsonText, to_text
from ugs_backends.sql import SqlStorage, open_sql


def event(position: int, type: str = "Happened", element: str | None = None) -> Event:
    return Event(
        position=position, id=f"evt_1_{position}", timestamp=1, type=type, data=JsonText("{}"), element=element
    )


async def positions(storage: SqlStorage, query: EventQuery) -> list[int]:
    async with storage.session() as session:
        return [event.position for event in await session.events(query)]


async def test_an_exception_leaves_nothing_behind(storage: SqlStorage) -> None:
    with pytest.raises(RuntimeError):
        await write_and_fail(storage)
    async with storage.session() as session:
        assert await session.fetch(THINGS) == []
        assert await session.head() == EMPTY_LOG


async def write_and_fail(storage: SqlStorage) -> None:
    async with storage.session(write=True) as session:
        await session.append([event(1)], inserts(THINGS, thing("a")))
        raise RuntimeError


async def test_what_was_committed_is_there_after_opening_again(storage: SqlStorage, url: str) -> None:
    async with storage.session(write=True) as session:
        await session.append([event(1)], inserts(THINGS, thing("a", "b", k=1)))
    await storage.close()
    again = open_sql(url)
    await again.open(CATALOG)
    async with again.session() as session:
        assert await session.fetch(THINGS, Property("props", "k", Op.EQ, 1.0)) == [thing("a", "b", k=1)]
        assert (await session.head()).position == 1
    await again.close()


async def test_a_reader_sees_one_moment_while_others_write(storage: SqlStorage) -> None:
    async with storage.session() as reader:
        assert await reader.fetch(THINGS) == []
        async with storage.session(write=True) as writer:
            await writer.append([event(1)], inserts(THINGS, thing("a")))
        assert await reader.fetch(THINGS) == []
        assert await reader.head() == EMPTY_LOG
    async with storage.session() as reader:
        assert await reader.fetch(THINGS) == [thing("a")]


async def test_events_come_back_as_they_were_written(storage: SqlStorage) -> None:
    whole = Event(
        position=2,
        id="evt_5_2",
        timestamp=2**53 + 1,
        type="NodeAdded",
        data=to_text({"id": "é\n😀", "n": 9007199254740993, "f": 0.1}),
        element="a",
        version=3,
        tx=Tx("t", 0, 2),
        idem=Idem("key", "hash", 2, ({"code": "W001"},)),
        by="someone",
        extra=to_text({"odd": [1, None]}),
    )
    sealed = [seal(event(1), "00000000"), seal(whole, "00000001")]
    async with storage.session(write=True) as session:
        await session.append(sealed, {})
    async with storage.session() as session:
        back = await session.events(EventQuery())
        assert back == sealed
        assert [to_line(one) for one in back] == [to_line(one) for one in sealed]
        assert await session.head() == Head(2, 2**53 + 1, sealed[1].crc or "", 2**53 + 1)


async def test_the_log_is_asked_by_position_element_and_type(storage: SqlStorage) -> None:
    async with storage.session(write=True) as session:
        await session.append([event(n, "AB"[n % 2], "xy"[n % 3 == 0]) for n in range(1, 8)], {})
    assert await positions(storage, EventQuery(after=2, until=5)) == [3, 4, 5]
    assert await positions(storage, EventQuery(limit=2, newest=True)) == [7, 6]
    assert await positions(storage, EventQuery(element="y")) == [3, 6]
    assert await positions(storage, EventQuery(types=frozenset({"B"}), after=1)) == [3, 5, 7]
    assert await positions(storage, EventQuery(types=frozenset())) == []
    assert await positions(storage, EventQuery(element="\x00")) == []
    assert await positions(storage, EventQuery(elements=frozenset({"y", "z", "\x00"}))) == [3, 6]
    assert await positions(storage, EventQuery(elements=frozenset())) == []


@pytest.mark.parametrize("change", ["UPDATE events SET type = 'x'", "DELETE FROM events"])
async def test_the_log_refuses_to_be_changed(storage: SqlStorage, change: str) -> None:
    async with storage.session(write=True) as session:
        await session.append([event(1)], {})
    with pytest.raises(UgsError, match="append-only"):
        async with storage.session(write=True) as session:
            await session.link.run(change)
    assert await positions(storage, EventQuery()) == [1]


async def test_wiping_forgets_everything_and_the_log_is_guarded_again(storage: SqlStorage) -> None:
    async with storage.session(write=True) as session:
        await session.append([event(1)], inserts(THINGS, thing("a", "word", k=1)))
    await storage.wipe()
    async with storage.session() as session:
        assert await session.head() == EMPTY_LOG
        assert await session.fetch(THINGS) == []
        assert await session.keys(THINGS, "props") == {}
    await test_the_log_refuses_to_be_changed(storage, "DELETE FROM events")


async def test_clearing_tables_leaves_the_log_and_other_tables(storage: SqlStorage) -> None:
    part = Part("a", 1, "x", 1.0, to_text({"k": 1}))
    async with storage.session(write=True) as session:
        await session.append([event(1)], {**inserts(THINGS, thing("a", "w")), **inserts(PARTS, part)})
    async with storage.session(write=True) as session:
        await session.clear([THINGS])
    async with storage.session() as session:
        assert await session.fetch(THINGS) == []
        assert await session.fetch(PARTS, Property("attributes", "k", Op.EQ, 1)) == [part]
        assert (await session.head()).position == 1


async def test_rows_are_found_by_keys_of_one_and_of_several_fields(storage: SqlStorage) -> None:
    parts = [Part("a", number, "", 1.0, JsonText("{}")) for number in (2, 1)]
    await store(storage, {THINGS: [thing("b"), thing("a")], PARTS: parts})
    async with storage.session() as session:
        assert await session.find(THINGS, "a") == thing("a")
        assert await session.find(THINGS, "z") is None
        assert await session.find(THINGS, "a\x00") is None
        assert await session.find(PARTS, ("a", 2)) == parts[0]
        assert await session.find_many(THINGS, ["b", "z", "a", "a"]) == [thing("a"), thing("b")]
        assert await session.find_many(PARTS, [("a", 2), ("b", 1), ("a", 1)]) == [parts[1], parts[0]]


# ── uniqueness ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("seats", "rule"),
    [
        ([Seat("1", "r", "p", None), Seat("2", "r", "p", None)], "one_open_seat"),
        ([Seat("1", "r", "p", 1), Seat("2", "r", "p", 1)], "one_first_seat"),
        ([Seat("1", "r", "p", 1), Seat("1", "s", "p", 1)], "seats_key"),
    ],
)
async def test_a_broken_rule_is_named_and_nothing_is_stored(storage: SqlStorage, seats: list[Seat], rule: str) -> None:
    with pytest.raises(UniqueViolation) as refused:
        async with storage.session(write=True) as session:
            await session.append([event(1)], inserts(SEATS, *seats))
    assert refused.value.details["rule"] == rule
    async with storage.session() as session:
        assert await session.fetch(SEATS) == []
        assert await session.head() == EMPTY_LOG


async def test_a_rule_holds_only_for_rows_that_meet_its_condition(storage: SqlStorage) -> None:
    open_seats = [Seat("1", "r", "p", None), Seat("2", "r", None, None), Seat("3", "r", None, None)]
    seats = [*open_seats, Seat("4", "r", "p", 1), Seat("5", "r", "p", 2), Seat("6", "r", "p", 2)]
    await store(storage, {SEATS: seats})
    async with storage.session() as session:
        assert await session.fetch(SEATS) == seats


async def test_two_rows_may_exchange_what_must_be_unique(storage: SqlStorage) -> None:
    old = [Seat("1", "r", "p", None), Seat("2", "r", "q", None)]
    new = [Seat("1", "r", "q", None), Seat("2", "r", "p", None)]
    await store(storage, {SEATS: old})
    async with storage.session(write=True) as session:
        await session.append([], {SEATS: TableWrites(updates=new, before={seat.id: seat for seat in old})})
    async with storage.session() as session:
        assert await session.fetch(SEATS) == new


seats = st.lists(
    st.builds(
        Seat,
        st.sampled_from("123456"),
        st.just("r"),
        st.none() | st.sampled_from("pq"),
        st.none() | st.sampled_from([1]),
    ),
    max_size=6,
    unique_by=(lambda seat: seat.id, lambda seat: (seat.person or seat.id, seat.left)),
)


@SHARED_STORE
@given(old=seats, new=seats)
async def test_updates_may_take_unique_values_from_changed_and_deleted_rows(
    storage: SqlStorage, old: list[Seat], new: list[Seat]
) -> None:
    await store(storage, {SEATS: old})
    async with storage.session(write=True) as session:
        await session.append([], {SEATS: changed(SEATS, old, new)})
    async with storage.session() as session:
        assert await session.fetch(SEATS) == sorted(new, key=SEATS.key_of)


def test_updates_never_delete_rows_and_free_only_values_that_another_row_takes(storage: SqlStorage) -> None:
    def statements(old: list[Seat], new: list[Seat]) -> list[str]:
        bulks = storage.shape.writer.bulks([], {SEATS: changed(SEATS, old, new)})
        return [bulk.text.split()[0] + f" {len(bulk.columns[0])}" for bulk in bulks]

    held = [Seat("1", "r", "p", None), Seat("2", "r", "q", None)]
    assert statements(held, [Seat("1", "r", "p", 5), Seat("2", "r", "x", None)]) == ["UPDATE 2"]
    assert statements(held, [Seat("1", "r", "q", None), Seat("2", "r", "z", None)]) == ["UPDATE 1", "UPDATE 2"]
    assert statements(held, [Seat("1", "r", "q", None)]) == ["UPDATE 1", "UPDATE 1", "DELETE 1"]
    # The second row ends, so the value that it keeps is free without more ado.
    assert statements(held, [Seat("1", "r", "q", 2), Seat("2", "r", "q", 3)]) == ["UPDATE 2"]


# ── words and properties stay in step ────────────────────────────────────────


@SHARED_STORE
@given(before=some.rows, after=some.rows)
async def test_words_and_properties_follow_every_change(storage: SqlStorage, before: dict, after: dict) -> None:  # type: ignore[type-arg]
    await store(storage, before)
    async with storage.session(write=True) as session:
        await session.append(
            [], {table: changed(table, before[table], after[table]) for table in (THINGS, PARTS, VISITS)}
        )
    async with storage.session() as session:
        for where in (Has("a"), Property("props", "k", Op.EXISTS), Property("props", "name", Op.GE, 0)):
            wanted = [row for row in after[THINGS] if holds(where, row, THINGS, after)]
            assert await session.fetch(THINGS, where) == sorted(wanted, key=lambda row: row.id)
        assert await session.fetch(PARTS) == sorted(after[PARTS], key=PARTS.key_of)
        assert await session.fetch(VISITS) == sorted(after[VISITS], key=VISITS.key_of)
        assert sum((await session.keys(PARTS, "attributes")).values()) == sum(
            len(session.shape.writer.tables["parts"].sides[1].entries(row)) for row in after[PARTS]
        )


def changed(table, before, after) -> TableWrites:  # type: ignore[no-untyped-def]
    old, new = ({table.key_of(row): row for row in rows} for rows in (before, after))
    return TableWrites(
        inserts=[row for key, row in new.items() if key not in old],
        updates=[row for key, row in new.items() if key in old],
        deletes=[key for key in old if key not in new],
        before=old,
    )


# ── several writers ──────────────────────────────────────────────────────────


async def increment(storage: SqlStorage, times: int) -> None:
    for _ in range(times):
        async with storage.session(write=True) as session:
            old = await session.find(THINGS, "counter")
            new = thing("counter", size=old.size + 1)
            position = (await session.head()).position + 1
            await session.append([event(position)], {THINGS: TableWrites(updates=[new], before={"counter": old})})


async def test_eight_writers_lose_no_increment(url: str, storage: SqlStorage) -> None:
    await store(storage, {THINGS: [thing("counter")]})
    rivals = [open_sql(url + ("&" if "?" in url else "?") + "pool=2") for _ in range(8)]
    for rival in rivals:
        await rival.open(CATALOG)
    await asyncio.gather(*(increment(rival, 25) for rival in rivals))
    for rival in rivals:
        await rival.close()
    async with storage.session() as session:
        assert (await session.find(THINGS, "counter")).size == 200
    assert await positions(storage, EventQuery()) == list(range(1, 201))


async def test_writers_of_one_store_take_turns(storage: SqlStorage) -> None:
    await store(storage, {THINGS: [thing("counter")]})
    await asyncio.gather(*(increment(storage, 5) for _ in range(10)))
    async with storage.session() as session:
        assert (await session.find(THINGS, "counter")).size == 50


async def test_more_readers_than_connections_wait_for_their_turn(storage: SqlStorage) -> None:
    await store(storage, {THINGS: [thing("a")]})

    async def read() -> int:
        async with storage.session() as session:
            return await session.count(THINGS, eq("id", "a"))

    assert await asyncio.gather(*(read() for _ in range(60))) == [1] * 60


async def test_questions_of_one_session_may_be_asked_at_once(storage: SqlStorage) -> None:
    await store(storage, {THINGS: [thing("a")]})
    async with storage.session() as session:
        assert await asyncio.gather(*(session.count(THINGS) for _ in range(10))) == [1] * 10


async def test_a_cancelled_session_gives_its_connection_back(storage: SqlStorage) -> None:
    async def hold(write: bool) -> None:
        async with storage.session(write=write) as session:
            await session.fetch(THINGS)
            await asyncio.sleep(60)

    for write in (False, True):
        tasks = [asyncio.create_task(hold(write)) for _ in range(3)]
        await asyncio.sleep(0.2)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await store(storage, {THINGS: [thing("a")]})
    await test_more_readers_than_connections_wait_for_their_turn(storage)


async def test_a_reader_that_is_cancelled_while_it_begins_leaves_no_transaction(storage: SqlStorage) -> None:
    async def read() -> None:
        async with storage.session():
            pass

    for turn in range(120):
        reader = asyncio.create_task(read())
        for _ in range(turn % 6):
            await asyncio.sleep(0)
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
        async with storage.session(write=True) as session:
            await session.append([event(turn + 1)], {})


async def test_a_closed_store_says_so(storage: SqlStorage) -> None:
    await storage.close()
    with pytest.raises(StorageIOError, match="not open"):
        async with storage.session():
            pass


async def test_a_store_that_has_taken_stock_knows_how_much_it_has(storage: SqlStorage) -> None:
    if storage.scheme != "postgresql":
        pytest.skip("elsewhere there is nothing to count")
    async with storage.session(write=True) as session:
        await session.append([event(1)], inserts(THINGS, *(thing(f"t{number}") for number in range(50))))
    await storage.analyze()
    async with storage.session() as session:
        asked = "SELECT reltuples FROM pg_class WHERE oid = 'things'::regclass"
        assert await session.link.rows(asked) == [(50.0,)]
