"""The storage port itself: whatever is asked, a store answers as the reference does, in the same order.

These tests go below the graph: rows are written as they are, and questions are drawn at random from the whole algebra
of filters, orders, pages and plans.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from ugs.catalog import Catalog
from ugs.changes import TableWrites, Writes
from ugs.errors import UniqueViolation
from ugs.events import GENESIS_CRC, Event, Idem, Tx, event_id, seal, to_line
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES, TOMBSTONES, Edge, Node
from ugs.reads.filters import EVERYTHING, Compare, Op, all_of, eq
from ugs.reads.level_executor import execute_by_levels
from ugs.reads.plan import Page, Read, full_order, place_of
from ugs.storage import EventQuery, Storage
from ugs.tables import Field, Index, Kind, Table, Unique
from ugs.values import JsonText, to_text
from ugs_conformance.support import query_strategies
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.reference_store import Reference, store_rows
from ugs_conformance.support.store_fixture import NOW

ROUNDS = settings().max_examples


class Claim(Struct, frozen=True):
    """A row with a key of two fields, of which at most one may be open per subject."""

    tenant: str
    number: int
    subject: str
    open: bool
    until: int | None
    share: float
    note: JsonText


CLAIMS = Table(
    "kit_claims",
    Claim,
    [
        Field("tenant"),
        Field("number", Kind.INTEGER),
        Field("subject"),
        Field("open", Kind.BOOLEAN),
        Field("until", Kind.INTEGER, nullable=True),
        Field("share", Kind.REAL),
        Field("note", Kind.JSON),
    ],
    key=["tenant", "number"],
    unique=[
        Unique("one_open_claim", ("tenant", "subject"), when=all_of(eq("open", True), eq("until", None))),
        Unique("shares_differ", ("subject", "share")),
        Unique("limits_differ", ("subject", "until")),
    ],
    indexes=[Index(("subject", "number"))],
)


def claim(number: int, subject: str = "s", tenant: str = "t", **other: Any) -> Claim:
    fields: dict[str, Any] = {"open": True, "until": None, "share": number / 4, "note": to_text({"n": number})}
    return Claim(tenant, number, subject, **{**fields, **other})


@pytest.fixture(scope="module")
def port(harness: Harness) -> Iterator[Harness]:
    """The same store with one more table in its catalog, as a new feature would bring one."""
    run(harness.close())
    extended = Harness(harness.url, Catalog([*CATALOG, CLAIMS], CATALOG.rules))
    yield extended
    run(fresh_and_closed(extended))


async def fresh_and_closed(harness: Harness) -> None:
    await harness.fresh()
    await harness.close()


async def append_to(storage: Storage, events: Sequence[Event] = (), writes: Writes | None = None) -> None:
    async with storage.session(write=True) as session:
        await session.append(events, writes or {})


def fetch_of(table: Table, *per: str) -> st.SearchStrategy[Any]:
    """A table, a condition, an order, a page, and which row it continues after."""
    after = st.one_of(st.none(), st.integers(0, 7))
    return st.tuples(
        st.just(table),
        query_strategies.conditions(table),
        query_strategies.orders(table),
        query_strategies.pages(*per),
        after,
    )


fetches = st.one_of(fetch_of(NODES, "type"), fetch_of(EDGES, "type", "source", "target"))


@clause("UGS-134", "UGS-135", "UGS-136", "UGS-137", "UGS-138", "UGS-215")
@settings(max_examples=ROUNDS)
@given(nodes=query_strategies.nodes(), edges=query_strategies.edges(), asked=st.lists(fetches, min_size=8, max_size=16))
async def test_whatever_is_fetched_counted_and_grouped_is_what_the_reference_says(
    port: Harness, nodes: list[Node], edges: list[Edge], asked: list[Any]
) -> None:
    storage, reference = await store_rows(port, {NODES: nodes, EDGES: edges})
    async with storage.session() as session:
        for table, where, order, page, after in asked:
            rows = reference.rows(table)
            if after is not None and after < len(rows):
                page = msgspec.structs.replace(page, after=place_of(rows[after], full_order(table, order)))
            question = (table, where, order, page)
            assert await session.fetch(*question) == await reference.fetch(*question), question
            assert await session.count(table, where) == await reference.count(table, where), question
            by = order[0].field if order else "type"
            assert await session.group(table, by, where) == await reference.group(table, by, where), (by, *question)


@clause("UGS-134", "UGS-137", "UGS-138", "UGS-214")
@settings(max_examples=ROUNDS)
@given(
    nodes=query_strategies.nodes(),
    edges=query_strategies.edges(),
    plans=st.lists(st.one_of(query_strategies.reads(NODES), query_strategies.reads(EDGES)), min_size=3, max_size=6),
)
async def test_whole_plans_are_answered_as_level_by_level(
    port: Harness, nodes: list[Node], edges: list[Edge], plans: list[Read]
) -> None:
    storage, reference = await store_rows(port, {NODES: nodes, EDGES: edges})
    async with storage.session() as session:
        for plan in plans:
            assert await session.read(plan) == await execute_by_levels(reference, plan), plan


@clause("UGS-108", "UGS-87")
@settings(max_examples=ROUNDS // 2)
@given(nodes=query_strategies.nodes(), edges=query_strategies.edges())
async def test_rows_come_back_exactly_by_key_alone_and_many_at_once(
    port: Harness, nodes: list[Node], edges: list[Edge]
) -> None:
    storage, reference = await store_rows(port, {NODES: nodes, EDGES: edges})
    async with storage.session() as session:
        keys = [*query_strategies.IDS, *query_strategies.EDGE_IDS, "never", "never"]
        together = await session.find_keys({NODES: keys, EDGES: keys, TOMBSTONES: keys})
        assert together.pop(TOMBSTONES) == []
        filled = await session.non_empty([NODES, EDGES, TOMBSTONES])
        assert all(table in filled for table in (NODES, EDGES) if reference.rows(table))
        for table in (NODES, EDGES):
            for row in reference.rows(table):
                assert await session.find(table, row.id) == row
            assert await session.find_many(table, keys) == together[table] == await reference.fetch(table)
            assert await session.find(table, "never") is None
            assert await session.find_many(table, []) == []
            counted = await session.keys(table, "properties_text")
            for key in (*sorted(counted)[:2], *(f"{key}x" for key in sorted(counted)[:1]), "never"):
                assert await session.has_key(table, "properties_text", key) == (key in counted)
            assert counted == await reference.keys(table, "properties_text")


@clause("UGS-139", "UGS-140", "UGS-141", "UGS-142", "UGS-215")
@settings(max_examples=ROUNDS // 2)
@given(
    before=st.tuples(query_strategies.nodes(), query_strategies.edges()),
    after=st.tuples(query_strategies.nodes(), query_strategies.edges()),
    asked=st.lists(fetches, min_size=4, max_size=8),
)
async def test_inserts_updates_and_deletes_leave_exactly_the_new_rows(
    port: Harness, before: Any, after: Any, asked: list[Any]
) -> None:
    storage, _ = await store_rows(port, {NODES: before[0], EDGES: before[1]})
    writes = {NODES: difference(NODES, before[0], after[0]), EDGES: difference(EDGES, before[1], after[1])}
    reference = Reference(port.catalog)
    await reference.append((), {NODES: TableWrites(inserts=after[0]), EDGES: TableWrites(inserts=after[1])})

    await append_to(storage, (), writes)

    async with storage.session() as session:
        for table in (NODES, EDGES):
            assert await session.fetch(table) == await reference.fetch(table)
        for table, where, order, page, _ in asked:
            question = (table, where, order, page)
            assert await session.fetch(*question) == await reference.fetch(*question), question


def difference(table: Table, before: list[Any], after: list[Any]) -> TableWrites:
    """What leads from some rows to others."""
    old, new = ({table.key_of(row): row for row in rows} for rows in (before, after))
    return TableWrites(
        inserts=[row for key, row in new.items() if key not in old],
        updates=[row for key, row in new.items() if key in old and row != old[key]],
        deletes=[key for key in old if key not in new],
        before={key: row for key, row in old.items() if new.get(key) != row},
    )


texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
drafts = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["NodeAdded", "NodeUpdated", "EdgeAdded", "LogRepaired", "SomethingNew"]),
        "data": st.dictionaries(texts.filter(lambda key: key != "id"), query_strategies.values, max_size=3),
        "id": st.one_of(st.none(), st.sampled_from(query_strategies.IDS)),
        "version": st.one_of(st.none(), st.integers(1, 9)),
        "by": st.one_of(st.none(), texts),
        "tx": st.one_of(st.none(), st.builds(Tx, texts, st.integers(0, 3), st.integers(1, 4))),
        "idem": st.one_of(
            st.none(),
            st.builds(Idem, texts, texts, st.integers(1, 3), st.tuples(st.just({"message": "é", "code": "W001"}))),
        ),
    }
)
queries = st.builds(
    EventQuery,
    after=st.integers(0, 9),
    until=st.one_of(st.none(), st.integers(0, 9)),
    limit=st.one_of(st.none(), st.integers(0, 5)),
    element=st.one_of(st.none(), st.sampled_from(query_strategies.IDS)),
    types=st.one_of(st.none(), st.frozensets(st.sampled_from(["NodeAdded", "EdgeAdded", "Other"]), max_size=2)),
    newest=st.booleans(),
    elements=st.one_of(st.none(), st.frozensets(st.sampled_from(query_strategies.IDS), max_size=3)),
)


def seal_events(drafts: Sequence[dict[str, Any]]) -> list[Event]:
    """Events in their places, each tied to the one before."""
    events: list[Event] = []
    for position, draft in enumerate(drafts, start=1):
        moment = NOW + position // 3
        id, data = draft.get("id"), draft.get("data", {})
        payload = data if id is None else {**data, "id": id}
        event = Event(
            position=position,
            id=event_id(moment, position),
            timestamp=moment,
            element=CATALOG.rules.element_of(draft["type"], payload),
            data=to_text(payload),
            **{key: value for key, value in draft.items() if key not in ("id", "data")},
        )
        events.append(seal(event, events[-1].crc or "" if events else GENESIS_CRC))
    return events


@clause("UGS-46", "UGS-50", "UGS-73", "UGS-109", "UGS-10")
@settings(max_examples=ROUNDS)
@given(drafts=st.lists(drafts, max_size=9), asked=st.lists(queries, min_size=4, max_size=8), cut=st.integers(0, 9))
async def test_events_come_back_byte_for_byte_and_in_every_part_asked_for(
    port: Harness, drafts: list[dict[str, Any]], asked: list[EventQuery], cut: int
) -> None:
    storage, reference, events = await port.fresh(), Reference(port.catalog), seal_events(drafts)
    reference.log = events
    for part in (events[:cut], events[cut:]):
        await append_to(storage, part)

    async with storage.session() as session:
        logged = await session.events(EventQuery())
        assert logged == events
        assert [to_line(event) for event in logged] == [to_line(event) for event in events]
        head, expected = await session.head(), await reference.head()
        assert (head.position, head.timestamp, head.crc) == (expected.position, expected.timestamp, expected.crc)
        for query in asked:
            assert await session.events(query) == await reference.events(query), query


@clause("UGS-46")
async def test_events_are_read_in_parts_of_so_many_bytes(port: Harness) -> None:
    storage, reference = await port.fresh(), Reference(port.catalog)
    reference.log = seal_events([{"type": "LogRepaired", "data": {"text": "x" * (50 * n)}} for n in range(1, 9)])
    await append_to(storage, reference.log)
    async with storage.session() as session:
        for max_bytes in (1, 150, 500, 1_000_000):
            for newest in (False, True):
                for limit in (None, 3):
                    query = EventQuery(1, 7, limit, newest=newest, max_bytes=max_bytes)
                    found = await session.events(query)
                    assert found == await reference.events(query) and found, query
        typed = EventQuery(types=frozenset({"LogRepaired"}), max_bytes=300)
        assert await session.events(typed) == await reference.events(typed)


@clause("UGS-66", "UGS-9")
async def test_an_exception_in_a_session_leaves_nothing(port: Harness) -> None:
    storage, _ = await store_rows(port, {CLAIMS: [claim(1)]})
    events = seal_events([{"type": "LogRepaired"}])

    with suppress(ZeroDivisionError):
        async with storage.session(write=True) as session:
            await session.append(events, {CLAIMS: TableWrites(inserts=[claim(2, "other")])})
            raise ZeroDivisionError

    async with storage.session() as session:
        assert await session.fetch(CLAIMS) == [claim(1)]
        assert (await session.head()).position == 0
        assert await session.events(EventQuery()) == []
    await append_to(storage, events)


@clause("UGS-126", "UGS-74")
async def test_a_write_session_is_the_only_one(port: Harness) -> None:
    storage, inside, most = await port.fresh(), 0, 0

    async def write(number: int) -> None:
        nonlocal inside, most
        async with storage.session(write=True) as session:
            inside += 1
            most = max(most, inside)
            head = await session.head()
            position = head.position + 1
            await asyncio.sleep(0.002)
            event = Event(
                position=position, id=event_id(1, position), timestamp=1, type="LogRepaired", data=to_text({})
            )
            await session.append([seal(event, head.crc)], {CLAIMS: TableWrites(inserts=[claim(number, f"s{number}")])})
            inside -= 1

    await asyncio.gather(*(write(number) for number in range(8)))

    assert most == 1
    async with storage.session() as session:
        assert [event.position for event in await session.events(EventQuery())] == list(range(1, 9))
        assert await session.count(CLAIMS) == 8


@clause("UGS-9", "UGS-11")
async def test_readers_see_nothing_of_a_session_before_it_ends(port: Harness) -> None:
    storage = await port.fresh()

    async with storage.session(write=True) as session:
        await session.append((), {CLAIMS: TableWrites(inserts=[claim(1)])})
        async with storage.session() as other:
            assert await other.fetch(CLAIMS) == []

    async with storage.session() as other:
        assert await other.fetch(CLAIMS) == [claim(1)]


@clause("UGS-23", "UGS-124")
async def test_keys_of_several_fields_find_update_and_delete_one_row(port: Harness) -> None:
    rows = [claim(1, "a"), claim(2, "b"), claim(1, "c", tenant="u"), claim(10, "d")]
    storage, _ = await store_rows(port, {CLAIMS: rows})
    changed = claim(1, "a", open=False, until=7, note=to_text([1]))
    writes = TableWrites(updates=[changed], deletes=[("t", 2)], before={("t", 1): rows[0], ("t", 2): rows[1]})

    await append_to(storage, (), {CLAIMS: writes})

    async with storage.session() as session:
        assert await session.fetch(CLAIMS) == [changed, rows[3], rows[2]]
        assert await session.find(CLAIMS, ("t", 1)) == changed
        assert await session.find(CLAIMS, ("t", 2)) is None
        assert await session.find_many(CLAIMS, [("u", 1), ("t", 2), ("t", 10), ("u", 1)]) == [rows[3], rows[2]]
        assert await session.fetch(CLAIMS, page=Page(limit=1, after=("t", 1))) == [rows[3]]
        assert await session.fetch(CLAIMS, eq("open", True)) == [rows[3], rows[2]]
        assert await session.fetch(CLAIMS, Compare("until", Op.EXISTS)) == [changed]
        assert await session.group(CLAIMS, "open") == {True: 2, False: 1}


UNIQUE_CASES: dict[str, tuple[list[Claim], TableWrites, str | None]] = {
    "two open": ([claim(1)], TableWrites(inserts=[claim(2)]), "one_open_claim"),
    "other tenant": ([claim(1)], TableWrites(inserts=[claim(2, tenant="u")]), None),
    "second is closed": ([claim(1)], TableWrites(inserts=[claim(2, open=False)]), None),
    "second is bounded": ([claim(1)], TableWrites(inserts=[claim(2, until=9)]), None),
    "first is closed in the same change": (
        [claim(1)],
        TableWrites(inserts=[claim(2)], updates=[claim(1, open=False)], before={("t", 1): claim(1)}),
        None,
    ),
    "first is deleted in the same change": (
        [claim(1)],
        TableWrites(inserts=[claim(2)], deletes=[("t", 1)], before={("t", 1): claim(1)}),
        None,
    ),
    "opened by an update": (
        [claim(1), claim(2, open=False)],
        TableWrites(updates=[claim(2)], before={("t", 2): claim(2, open=False)}),
        "one_open_claim",
    ),
    "an update of the row itself": (
        [claim(1)],
        TableWrites(updates=[claim(1, note=to_text("new"))], before={("t", 1): claim(1)}),
        None,
    ),
    "two in one change": ([], TableWrites(inserts=[claim(1), claim(2)]), "one_open_claim"),
    "the same limit twice": ([claim(1, until=9)], TableWrites(inserts=[claim(2, until=9)]), "limits_differ"),
    "no limit twice: what is missing agrees with nothing": (
        [claim(1, open=False)],
        TableWrites(inserts=[claim(2, open=False)]),
        None,
    ),
    "the rule without a condition": (
        [claim(1, open=False)],
        TableWrites(inserts=[claim(2, open=False, share=0.25)]),
        "shares_differ",
    ),
}


@pytest.mark.parametrize("name", UNIQUE_CASES)
@clause("UGS-23", "UGS-124", "UGS-66")
async def test_unique_rules_hold_for_the_rows_they_are_meant_for(port: Harness, name: str) -> None:
    rows, writes, broken = UNIQUE_CASES[name]
    storage, reference = await store_rows(port, {CLAIMS: rows})
    events = seal_events([{"type": "LogRepaired"}])

    if broken is None:
        await append_to(storage, events, {CLAIMS: writes})
        await reference.append(events, {CLAIMS: writes})
    else:
        with pytest.raises(UniqueViolation) as refused:
            await append_to(storage, events, {CLAIMS: writes})
        assert refused.value.details["rule"] == broken

    async with storage.session() as session:
        assert await session.fetch(CLAIMS) == await reference.fetch(CLAIMS)
        assert (await session.head()).position == (1 if broken is None else 0)


@clause("UGS-152", "UGS-11")
async def test_clearing_a_table_leaves_the_others_and_the_log(port: Harness) -> None:
    node = Node("a", "t", to_text({"k": "x"}), None, 1, 1, 1)
    storage, _ = await store_rows(port, {NODES: [node], CLAIMS: [claim(1)]})
    events = seal_events([{"type": "LogRepaired"}])
    await append_to(storage, events)

    async with storage.session(write=True) as session:
        await session.clear([NODES])

    async with storage.session() as session:
        assert (await session.fetch(NODES), await session.fetch(CLAIMS)) == ([], [claim(1)])
        assert await session.events(EventQuery()) == events
    await append_to(storage, (), {NODES: TableWrites(inserts=[node])})


@clause()
async def test_wiping_forgets_everything(port: Harness) -> None:
    events = seal_events([{"type": "LogRepaired"}])
    storage, _ = await store_rows(port, {CLAIMS: [claim(1)]})
    await append_to(storage, events)

    await storage.wipe()

    async with storage.session() as session:
        assert [await session.count(table, EVERYTHING) for table in port.catalog] == [0] * len(list(port.catalog))
        assert ((await session.head()).position, await session.events(EventQuery())) == (0, [])
    await append_to(storage, events)
