"""The unit of work: pending changes are seen by the next decision, a refusal leaves no trace, and writes are net."""

from __future__ import annotations

import pytest

from ugs.changes import Drop, Patch, TableWrites, patched, projected, raised
from ugs.events import Draft, Head, Idem
from ugs.feature import review_always_runs
from ugs.feature_registry import CATALOG
from ugs.graph.model import COUNTERS, EDGES, NODES, TOMBSTONES, Counter, Node, Tombstone
from ugs.reads.filters import EVERYTHING, eq, in_
from ugs.table_overlay import TableOverlay
from ugs.unit_of_work import UnitOfWork
from ugs.values import to_text
from ugs_conformance.support.reference_store import Reference

STORED = Node("stored", "t", to_text({"v": 1}), None, 1, 1, 1)


@pytest.fixture
async def uow() -> UnitOfWork:
    session = Reference(CATALOG)
    await session.append((), {NODES: TableWrites(inserts=[STORED])})
    return UnitOfWork(session, CATALOG, Head(position=3, timestamp=50, crc="0000000a"), now=40)


def added(id: str) -> Draft:
    return Draft("NodeAdded", id, {"id": id, "type": "t"}, 1)


async def test_time_at_the_desk_does_not_fall_behind_the_log(uow: UnitOfWork) -> None:
    (event,) = await uow.stage([added("a")])

    assert (event.position, event.timestamp, event.id) == (4, 50, "evt_50_4")


async def test_what_was_staged_is_seen_and_what_was_dropped_is_not(uow: UnitOfWork) -> None:
    await uow.stage([added("a"), Draft("NodeDeleted", "stored", {"id": "stored"})])

    assert [node.id for node in await uow.fetch(NODES, eq("type", "t"))] == ["a"]
    assert await uow.find(NODES, "stored") is None
    assert await uow.find(TOMBSTONES, "stored") == Tombstone("stored", 1)


async def test_an_undone_command_leaves_the_ones_before_it(uow: UnitOfWork) -> None:
    await uow.stage([added("a")])
    await uow.close_command()
    await uow.stage([Draft("NodeUpdated", "a", {"id": "a", "type": "u"}, 2), added("b")])
    await uow.stage([Draft("NodeDeleted", "stored", {"id": "stored"})])

    uow.undo_command()

    assert [(node.id, node.type) for node in await uow.fetch(NODES)] == [("a", "t"), ("stored", "t")]
    assert [event.element for event in uow.events] == ["a"]
    assert [row.id for row in uow.writes()[NODES].inserts] == ["a"]
    assert uow.writes()[NODES].deletes == []


async def test_writes_are_the_net_effect(uow: UnitOfWork) -> None:
    await uow.stage([added("a"), Draft("NodeDeleted", "a", {"id": "a"})])
    await uow.stage([Draft("NodeUpdated", "stored", {"id": "stored", "type": "u"}, 2)])
    await uow.close_command()

    writes = uow.writes()

    assert (writes[NODES].inserts, writes[NODES].deletes) == ([], [])
    assert [(row.id, row.type, row.version) for row in writes[NODES].updates] == [("stored", "u", 2)]
    assert writes[NODES].before == {"stored": STORED}
    assert writes[TOMBSTONES].inserts == [Tombstone("a", 1)]


async def test_a_command_of_several_events_is_one_batch_and_its_first_bears_the_key(uow: UnitOfWork) -> None:
    await uow.stage([added("a"), added("b")])

    sealed = await uow.close_command("ann", Idem("k", "h", 2))

    assert [(event.tx.id, event.tx.index, event.tx.size) for event in sealed if event.tx] == [
        ("evt_50_4", 0, 2),
        ("evt_50_4", 1, 2),
    ]
    assert [event.idem is not None for event in sealed] == [True, False]
    assert {event.by for event in sealed} == {"ann"}


async def test_a_bare_deletion_takes_edges_along(uow: UnitOfWork) -> None:
    edge = {"id": "e", "from": "stored", "to": "x"}
    await uow.stage([Draft("EdgeAdded", "e", edge, 1), Draft("NodeDeleted", "stored", {"id": "stored"})])

    assert await uow.find(EDGES, "e") is None
    assert await uow.find(TOMBSTONES, "e") == Tombstone("e", 1)


def test_patches_merge_and_unset_keys_and_keep_the_text_canonical() -> None:
    patch = Patch(NODES, "stored", {"type": "u"}, {"properties_text": {"b": 2, "a": 3}}, {"properties_text": ("v",)})

    changed = patched(STORED, patch)

    assert (changed.type, changed.properties_text) == ("u", '{"a":3,"b":2}')


def test_a_raised_row_keeps_the_greater_and_a_projection_the_shared() -> None:
    assert raised(COUNTERS, Counter("edge", 7), Counter("edge", 3)) == Counter("edge", 7)
    assert projected(STORED, TOMBSTONES) == Tombstone("stored", 1)


async def test_a_row_that_is_put_over_a_stored_one_replaces_it(uow: UnitOfWork) -> None:
    await uow.stage([added("stored")])

    writes = uow.writes()[NODES]
    assert (writes.inserts, [row.id for row in writes.updates], writes.before) == ([], ["stored"], {"stored": STORED})


async def test_a_row_is_known_to_be_there_only_after_somebody_looked(uow: UnitOfWork) -> None:
    assert not uow.is_there(NODES, "stored")
    assert await uow.find(NODES, "stored") == STORED and await uow.find(NODES, "nobody") is None
    assert uow.is_there(NODES, "stored") and not uow.is_there(NODES, "nobody")


async def test_nothing_is_known_of_a_table_before_somebody_looked(uow: UnitOfWork) -> None:
    assert not uow.is_known_empty(NODES, EVERYTHING) and not review_always_runs(uow)
    assert await uow.fetch(NODES, eq("type", "nobody")) == []
    assert uow.is_known_empty(NODES, eq("type", "nobody")) and not uow.is_known_empty(NODES, eq("type", "t"))


def test_a_key_may_be_in_use_until_the_store_has_said_no() -> None:
    part = TableOverlay(NODES, None)
    assert part.may_contain("stored")
    part.stored.update({"stored": STORED, "nobody": None})
    assert part.may_contain("stored") and not part.may_contain("nobody")
    whole = TableOverlay(NODES, {"stored": STORED})
    assert whole.may_contain("stored") and not whole.may_contain("nobody")


async def test_keys_are_unused_where_no_table_may_have_one_of_them(uow: UnitOfWork) -> None:
    assert not uow.are_unused(["a", "b"], [NODES]), "nobody has looked yet"
    await uow.prefetch([(NODES, id) for id in ("a", "b", "stored")])
    assert uow.are_unused(["a", "b"], [NODES]) and uow.are_unused([], [NODES])
    assert not uow.are_unused(["a", "a"], [NODES]) and not uow.are_unused(["a", "stored"], [NODES])
    await uow.stage([added("b")])
    assert uow.are_unused(["a"], [NODES]) and not uow.are_unused(["a", "b"], [NODES])


async def test_rows_are_dropped_by_one_key_by_several_and_by_a_field(uow: UnitOfWork) -> None:
    await uow.stage([added(id) for id in ("a", "b", "c", "d")])
    for where, left in (
        (eq("id", "a"), ["b", "c", "d", "stored"]),
        (eq("id", "nobody"), ["b", "c", "d", "stored"]),
        (in_("id", ["b", "stored", "nobody"]), ["c", "d"]),
        (eq("type", "t"), []),
    ):
        await uow._drop(Drop(NODES, where))
        assert sorted(node.id for node in await uow.fetch(NODES)) == left
