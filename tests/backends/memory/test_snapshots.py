"""Snapshots: never wrong, never in the way, and the log alone is enough without them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.backends.memory.kit import (
    NOW,
    Crash,
    Failing,
    Unsynced,
    add_edge,
    add_node,
    delete_edge,
    delete_node,
    histories,
    ids,
    log_of,
    opened,
    rows_of,
    update_node,
    write,
)
from ugs.errors import UgsError, WALCorrupt
from ugs.events import Draft
from ugs.graph.model import EDGES
from ugs_backends.memory.settings import Settings
from ugs_backends.memory.storage import FileStorage


async def small(folder: Path, files: Any = None) -> Any:
    storage = await opened(f"file:{folder}", files)
    await write(storage, add_node("a", "t", name="Ä", n=1), add_node("b", None), timestamp=NOW)
    await write(storage, add_edge("e1", "a", "b", weight=2.5), add_edge("edge_7", "b", "a"), timestamp=NOW + 1)
    await write(storage, update_node("a", 2, n=[1, {"x": None}]), add_node("c"), delete_node("c"), timestamp=NOW + 2)
    return storage


@pytest.mark.clause("UGS-51", "UGS-52", "UGS-154")
async def test_a_snapshot_has_the_fields_of_the_seed_and_its_place_in_the_log(tmp_path: Path) -> None:
    storage = await small(tmp_path)
    summary = await storage.snapshot()
    snapshot = json.loads((tmp_path / "snapshot.json").read_bytes())
    assert summary["eventCount"] == snapshot["eventCount"] == snapshot["lastSeq"] == 7
    created = snapshot["timestamp"]
    assert created == summary["timestamp"] and NOW + 2 <= created <= storage.clock.now()
    assert snapshot["stats"] == {"nodes": 2, "edges": 2, "types": 1, "properties": 2}
    assert snapshot["nodes"][0] == {
        **{"id": "a", "type": "t", "properties": {"n": [1, {"x": None}], "name": "Ä"}, "data": None},
        **{"created": NOW, "modified": NOW + 2, "version": 2},
    }
    assert snapshot["edges"][0] == {
        **{"id": "e1", "from": "a", "to": "b", "type": "x", "weight": 2.5, "properties": {}},
        **{"created": NOW + 1, "modified": NOW + 1, "version": 1, "seq": 3},
    }
    assert snapshot["walOffset"] == (tmp_path / "events.wal").stat().st_size
    assert snapshot["lastEventId"] == f"evt_{NOW + 2}_7"
    async with storage.session() as session:
        assert (await session.head()).floor == created + 1
    await storage.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories)
def test_state_from_a_snapshot_equals_live_state_and_state_from_genesis(history: Any) -> None:
    async def check(folder: Path) -> None:
        storage = await opened(f"file:{folder}", Unsynced())
        for number, drafts in enumerate(history):
            await write(storage, *drafts)
            if number == len(history) // 2:
                await storage.snapshot()
        live, log = await rows_of(storage), await log_of(storage)
        await storage.close()
        again = await opened(f"file:{folder}", Unsynced())
        assert await rows_of(again) == live and await log_of(again) == log
        assert again.loaded_from_snapshot + again.replayed == len(log)
        assert_in_step(again)
        await again.close()
        (folder / "snapshot.json").unlink(missing_ok=True)
        genesis = await opened(f"file:{folder}", Unsynced())
        assert await rows_of(genesis) == live and genesis.replayed == len(log)
        assert_in_step(genesis)
        await genesis.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


def assert_in_step(storage: Any) -> None:
    """The indexes that are there from the beginning hold exactly the rows of their tables."""
    for here in storage.tables.values():
        for field, index in here.always.items():
            anew = here.build(("column", field), list(here.rows.values()))
            assert held(index) == held(anew), field


def held(index: Any) -> Any:
    """How many rows are under each value, and which; rows by identity, since they must be the current ones."""
    return {value: (len(index.rows(value)), {id(row) for row in index.rows(value)}) for value in index.postings}


@pytest.mark.clause("UGS-134")
@pytest.mark.parametrize("after", ["nothing", "snapshot"])
async def test_rows_that_are_loaded_together_are_found_by_their_columns(after: str, tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}", Unsynced())
    hub = [add_edge(f"h{number}", "a", f"n{number % 7}") for number in range(60)]
    await write(storage, add_node("a"), *(add_node(f"n{number}") for number in range(7)), *hub)
    await write(storage, *(add_edge(f"d{number}", "nowhere", "nor here") for number in range(20)), delete_node("n3"))
    await write(storage, *(add_edge(f"f{number}", "a", "n1", weight=number / 3) for number in range(20)))
    if after == "snapshot":
        await storage.snapshot()
        await write(storage, *(add_edge(f"g{number}", "n1", "a") for number in range(20)), delete_edge("h1"))
    live = await rows_of(storage)
    await storage.close()
    again = await opened(f"file:{tmp_path}", Unsynced())
    assert await rows_of(again) == live
    assert_in_step(again)
    assert len({id(row.source) for row in again.tables["edges"].rows.values() if row.source == "a"}) == 1
    await again.close()


@pytest.mark.clause("UGS-149", "UGS-153")
async def test_a_snapshot_is_written_when_the_count_passes_a_multiple(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}?snapshot_every=10")
    for number in range(9):
        await write(storage, add_node(f"n{number}"))
    assert not (tmp_path / "snapshot.json").exists()
    await write(storage, add_node("n9"), add_node("n10"), add_node("n11"))
    await storage.snapshots.finish()
    assert json.loads((tmp_path / "snapshot.json").read_bytes())["eventCount"] == 12
    for number in range(12, 20):
        await write(storage, add_node(f"n{number}"))
    await storage.snapshots.finish()
    assert json.loads((tmp_path / "snapshot.json").read_bytes())["eventCount"] == 20
    assert json.loads((tmp_path / "snapshot.json.prev").read_bytes())["eventCount"] == 12
    await storage.close()


async def test_a_large_graph_is_not_written_again_for_a_handful_of_events(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}?fsync=off")
    await write(storage, *(add_node(f"n{number}") for number in range(11_000)))
    await storage.snapshots.finish()
    changes = [Draft("NodeUpdated", f"n{number}", {"id": f"n{number}", "type": "u"}, 2) for number in range(11_000)]
    for start in range(0, 10_000, 1_000):
        await write(storage, *changes[start : start + 1_000])
    await storage.snapshots.finish()
    assert json.loads((tmp_path / "snapshot.json").read_bytes())["eventCount"] == 11_000
    await write(storage, *changes[10_000:])
    await storage.snapshots.finish()
    assert json.loads((tmp_path / "snapshot.json").read_bytes())["eventCount"] == 22_000  # as many are new
    await storage.close()


async def test_how_often_is_obeyed_exactly_where_it_is_said(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}?snapshot_every=10&fsync=off")
    await write(storage, *(add_node(f"n{number}") for number in range(1000)))
    await storage.snapshots.finish()
    for number in range(10):
        await write(storage, add_node(f"m{number}"))
    await storage.snapshots.finish()
    assert json.loads((tmp_path / "snapshot.json").read_bytes())["eventCount"] == 1010
    # One that is due while another is written follows it.
    await write(storage, *(add_node(f"o{number}") for number in range(10)))
    await write(storage, *(add_node(f"p{number}") for number in range(10)))
    await storage.snapshots.finish()
    assert json.loads((tmp_path / "snapshot.json").read_bytes())["eventCount"] == 1030
    assert storage.properties() == {"snapshots": "every 10 events", "fsync": "off"}
    await storage.close()
    assert "1,000 events up to 10,000 rows" in FileStorage(Settings(folder=tmp_path)).properties()["snapshots"]


async def test_a_graph_of_ten_times_as_many_rows_is_written_as_often_as_was_asked_for(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}?snapshot_every=10&fsync=off")
    await write(storage, *(add_node(f"n{number}") for number in range(90)))
    await storage.snapshots.finish()
    for number in range(10):
        await write(storage, add_node(f"m{number}"))
    await storage.snapshots.finish()
    assert json.loads((tmp_path / "snapshot.json").read_bytes())["eventCount"] == 100
    await storage.close()


async def test_rows_with_line_breaks_in_their_texts_stand_on_one_line_each(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}?fsync=off")
    broken = {"id": "a", "type": "of\ntwo lines", "properties": {"text": "one,\ntwo"}, "data": "three\r\nfour"}
    await write(storage, Draft("NodeAdded", "a", broken, 1), add_node("b"))
    await storage.snapshot()
    before = await rows_of(storage)
    await storage.close()
    lines = (tmp_path / "snapshot.json").read_bytes().split(b'"nodes":[\n')[1].split(b"]")[0]
    assert lines.count(b"\n") == 1
    again = await opened(f"file:{tmp_path}")
    assert await rows_of(again) == before
    await again.close()


def seeds_own_recovery(folder: Path) -> set[str]:
    """The seed's recover(), literally: snapshot first, then every event with a later timestamp."""
    snapshot = json.loads((folder / "snapshot.json").read_bytes())
    nodes = {node["id"] for node in snapshot["nodes"]}
    for line in (folder / "events.wal").read_bytes().splitlines():
        event = json.loads(line)
        if event["timestamp"] > snapshot["timestamp"]:
            assert event["data"]["id"] not in nodes
            nodes.add(event["data"]["id"])
    return nodes


@pytest.mark.clause("UGS-151")
async def test_events_of_one_millisecond_around_a_snapshot_are_neither_lost_nor_doubled(tmp_path: Path) -> None:
    for before in range(0, 40, 3):
        folder = tmp_path / str(before)
        storage = await opened(f"file:{folder}", Unsynced())
        for number in range(40):
            if number == before:
                await storage.snapshot()
            await write(storage, add_node(f"n{number:02}"), timestamp=NOW)
        await storage.close()
        again = await opened(f"file:{folder}", Unsynced())
        assert await ids(again) == [f"n{number:02}" for number in range(40)]
        assert again.replayed == 40 - before
        await again.close()
        assert seeds_own_recovery(folder) == {f"n{number:02}" for number in range(40)}


async def test_every_sampled_damage_of_a_snapshot_is_reported_and_the_log_takes_over(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "damaged"
    storage = await small(source)
    await storage.snapshot()
    rows = await rows_of(storage)
    await storage.close()
    good, wal = (source / "snapshot.json").read_bytes(), (source / "events.wal").read_bytes()
    folder.mkdir()
    step = 1 if os.environ.get("UGS_FAULTS") else 41
    damaged = [good[:length] for length in range(0, len(good), step)]
    for bit in range(0, len(good) * 8, step):
        flipped = bytearray(good)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(flipped))
    for data in damaged:
        for file in os.listdir(folder):
            os.unlink(folder / file)
        (folder / "snapshot.json").write_bytes(data)
        (folder / "events.wal").write_bytes(wal)
        again = await opened(f"file:{folder}", Unsynced())
        assert await rows_of(again) == rows
        assert len(again.warnings) == 1 and again.warnings[0].startswith("E008")
        (kept,) = [name for name in os.listdir(folder) if name.startswith("snapshot.json.corrupt-")]
        assert (folder / kept).read_bytes() == data
        await again.close()


async def test_a_snapshot_of_another_store_is_put_aside(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, names in ((first, "abc"), (second, "xyzw")):
        storage = await opened(f"file:{folder}")
        await write(storage, *(add_node(name) for name in names))
        await storage.snapshot()
        await storage.close()
    os.replace(first / "snapshot.json", second / "snapshot.json")
    storage = await opened(f"file:{second}")
    assert await ids(storage) == ["w", "x", "y", "z"]
    assert "E008" in storage.warnings[0]
    await storage.close()


async def test_an_older_snapshot_is_brought_up_to_date(tmp_path: Path) -> None:
    storage = await small(tmp_path)
    await storage.snapshot()
    old = (tmp_path / "snapshot.json").read_bytes()
    await write(storage, add_node("d"))
    await storage.snapshot()
    await storage.close()
    (tmp_path / "snapshot.json").write_bytes(old)
    again = await opened(f"file:{tmp_path}")
    assert await ids(again) == ["a", "b", "d"] and again.replayed == 1 and not again.warnings
    await again.close()


@pytest.mark.parametrize("wal", [b"", "half"], ids=["empty", "shorter"])
async def test_a_log_that_lost_what_the_snapshot_knows_is_refused_in_words(wal: Any, tmp_path: Path) -> None:
    storage = await small(tmp_path)
    await storage.snapshot()
    await storage.close()
    path = tmp_path / "events.wal"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) if wal == "half" else wal)
    with pytest.raises(WALCorrupt) as refused:
        await opened(f"file:{tmp_path}")
    where = (4, len(b"".join(lines[:3]))) if wal == "half" else (1, 0)
    assert refused.value.code == "E009" and "line {} (byte {})".format(*where) in str(refused.value)
    assert (tmp_path / "snapshot.json").exists()


async def test_a_bad_snapshot_without_the_beginning_of_the_log_is_refused(tmp_path: Path) -> None:
    storage = await small(tmp_path)
    await storage.snapshot()
    await storage.close()
    lines = (tmp_path / "events.wal").read_bytes().splitlines(keepends=True)
    (tmp_path / "events.wal").write_bytes(b"".join(lines[3:]))
    (tmp_path / "snapshot.json").write_bytes(b"{")
    with pytest.raises(UgsError) as refused:
        await opened(f"file:{tmp_path}")
    assert refused.value.code == "E008"


@pytest.mark.clause("UGS-155")
async def test_a_crash_between_any_two_steps_of_writing_leaves_the_old_or_the_new_snapshot(tmp_path: Path) -> None:
    async def crash_at(step: int) -> list[str]:
        folder = tmp_path / str(step)
        storage = await small(folder)
        await storage.snapshot()
        await write(storage, add_node("d"))
        failing = Failing(step, Crash())
        storage.files = failing
        with contextlib.suppress(Crash):
            await storage.snapshot()
        storage.files = storage.log.files
        await storage.close()
        assert json.loads((folder / "snapshot.json").read_bytes())["eventCount"] in (7, 8)
        again = await opened(f"file:{folder}")
        assert await ids(again) == ["a", "b", "d"] and await ids(again, EDGES) == ["e1", "edge_7"]
        assert not again.warnings and again.loaded_from_snapshot in (7, 8)
        await again.close()
        return failing.calls

    steps = await crash_at(1000)
    assert [name for name in steps if name != "write"] == [
        *["open_new", "fsync", "remove", "link", "rename", "rename", "fsync_folder"]
    ]
    for step in range(1, len(steps) + 1):
        await crash_at(step)


async def test_a_snapshot_that_cannot_be_written_leaves_the_store_working(tmp_path: Path) -> None:
    storage = await small(tmp_path)
    storage.files = Failing(3, OSError(28, "No space left on device"))
    with pytest.raises(UgsError) as failed:
        await storage.snapshot()
    assert failed.value.code == "E007" and "No space left" in str(failed.value)
    await write(storage, add_node("d"))
    storage.files = Unsynced()
    assert (await storage.snapshot())["eventCount"] == 8
    await storage.close()


@pytest.mark.parametrize("more", [{}, {"eventCount": 99}], ids=["counted", "ahead of the log"])
async def test_a_foreign_snapshot_is_continued_by_the_log(more: dict[str, Any], tmp_path: Path) -> None:
    node = {"id": "a", "type": "t", "properties": {"z": 1, "b": 2}, "data": None, "created": 5, "modified": 6}
    edge = {"id": "e", "from": "a", "to": "b", "type": None, "weight": 1, "properties": {}, "created": 5}
    counts = {"nodes": 1, "edges": 1, "types": 1, "properties": 2}
    snapshot = {"timestamp": 7, "eventCount": 2, "nodes": [node], "edges": [edge], "stats": counts, **more}
    (tmp_path / "snapshot.json").write_text(json.dumps(snapshot))
    old = '{"id":"evt_5_1","timestamp":5,"type":"NodeAdded","data":{"id":"gone"}}\n'
    new = '{"id":"evt_7_3","timestamp":7,"type":"NodeUpdated","data":{"id":"a","properties":{"c":3}}}\n'
    (tmp_path / "events.wal").write_text(old + old.replace("evt_5_1", "evt_5_2") + new)
    storage = await opened(f"file:{tmp_path}")
    rows = await rows_of(storage)
    assert [(row.id, row.properties_text, row.version) for row in rows["nodes"]] == [("a", '{"b":2,"c":3,"z":1}', 2)]
    assert [row.id for row in rows["edges"]] == ["e"]
    async with storage.session() as session:
        head = await session.head()
    assert (head.position, head.floor) == (3, 8)
    await storage.snapshot()
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert await rows_of(again) == rows and again.replayed == 0
    await again.close()
