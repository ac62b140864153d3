"""Opening a folder again: what was acknowledged is there, what was torn is not, what is damaged is said."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.backends.memory.kit import (
    NOW,
    Unsynced,
    add_edge,
    add_node,
    delete_node,
    ids,
    log_of,
    opened,
    rows_of,
    settled,
    stamped,
    update_node,
    write,
)
from ugs.errors import UgsError, WALCorrupt
from ugs.events import Tx, seal, to_line
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES
from ugs_backends.memory import open_memory
from ugs_backends.memory.recovery import State

CASES = json.loads(
    (Path(__file__).parents[3] / "conformance/ugs_conformance/data/ugs_recovery_cases.json").read_text()
)["cases"]


def lay_out(folder: Path, case: dict[str, Any]) -> None:
    if case.get("snapshot") is not None:
        (folder / "snapshot.json").write_text(json.dumps(case["snapshot"]))
    if "snapshot_raw" in case:
        (folder / "snapshot.json").write_text(case["snapshot_raw"])
    text = "".join(line + "\n" for line in case["wal"]) + case.get("wal_raw_tail", "")
    (folder / "events.wal").write_text(text)


@pytest.mark.clause("UGS-147", "UGS-150", "UGS-151", "UGS-152")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
async def test_a_folder_from_elsewhere_is_recovered_as_the_cases_say(case: dict[str, Any], tmp_path: Path) -> None:
    lay_out(tmp_path, case)
    before = (tmp_path / "events.wal").read_bytes()
    expected = case["expect"]
    url = f"file:{tmp_path}" + ("?strict_recovery=on" if case.get("strict") else "")
    if "error" in expected:
        with pytest.raises(UgsError) as refused:
            await opened(url)
        assert refused.value.code == expected["error"]
        assert (tmp_path / "events.wal").read_bytes() == before
        return
    storage = await opened(url)
    assert await ids(storage) == expected["nodes"]
    assert await ids(storage, EDGES) == expected["edges"]
    if "warning" in expected:
        assert any(expected["warning"] in warning for warning in storage.warnings)
    if "type_of_a" in expected:
        (row,) = (await rows_of(storage))["nodes"]
        assert [row.type, row.created, row.version] == [
            expected[f"{name}_of_a"] for name in ("type", "created", "version")
        ]
    await write(storage, add_node("later"))
    await storage.close()
    assert (tmp_path / "events.wal").read_bytes().startswith(before)
    again = await opened(url.partition("?")[0])
    assert await ids(again) == sorted([*expected["nodes"], "later"])
    await again.close()


async def some_history(folder: Path) -> None:
    """A dozen events: single ones, and a batch."""
    storage = await opened(f"file:{folder}?snapshot_every=0")
    for number in range(6):
        await write(storage, add_node(f"n{number}", "t", name=f"näme {number}"), timestamp=NOW + number)
    await write(storage, add_edge("e1", "n0", "n1"), add_edge("e2", "n1", "n2"), timestamp=NOW + 7)
    await write(storage, update_node("n3", 2, name="x"), timestamp=NOW + 8)
    async with storage.session() as session:
        head = await session.head()
    batch = [Tx("tx1", index, 3) for index in range(3)]
    async with storage.session(write=True) as session:
        events, crc = [], head.crc
        for event, tx in zip(stamped(head, [add_node("b1"), add_node("b2"), delete_node("n0")]), batch, strict=True):
            event = seal(msgspec.structs.replace(event, tx=tx), crc)
            crc = event.crc or crc
            events.append(event)
        await session.append(events, settled(storage, events))
    await storage.close()


@pytest.mark.clause("UGS-128", "UGS-148")
async def test_a_log_cut_at_any_byte_opens_with_exactly_the_events_before_the_cut(tmp_path: Path) -> None:
    source = tmp_path / "source"
    await some_history(source)
    data = (source / "events.wal").read_bytes()
    whole = await opened(f"file:{source}")
    events = await log_of(whole)
    await whole.close()
    assert b"".join(to_line(event) + b"\n" for event in events) == data
    ends = [len(b"".join(to_line(event) + b"\n" for event in events[: n + 1])) - 1 for n in range(len(events))]
    batch = len(events) - 3
    folder = tmp_path / "cut"
    folder.mkdir()
    # Every byte of the batch at the end and of the line before it; of the rest, which is more of the same, a sample.
    thorough = ends[batch - 2]
    for length in [*range(0, thorough, 1 if os.environ.get("UGS_FAULTS") else 17), *range(thorough, len(data) + 1)]:
        only_a_log(folder, data[:length])
        complete = sum(1 for end in ends if end <= length)
        complete = batch if batch < complete < len(events) else complete
        storage = await opened(f"file:{folder}", Unsynced())
        found = await log_of(storage)
        assert found[:complete] == events[:complete], length
        assert [event.type for event in found[complete:]] in ([], ["LogRepaired"]), length
        assert len(storage.warnings) == len(found) - complete
        if length % 5:  # going on and opening again takes longer; every fifth byte will do
            await storage.close()
            continue
        await write(storage, add_node("later"), timestamp=NOW + 100)
        await storage.close()
        assert (folder / "events.wal").read_bytes().startswith(data[:length])
        again = await opened(f"file:{folder}", Unsynced())
        assert (await log_of(again))[: len(found)] == found and "later" in await ids(again), length
        assert not again.warnings
        await again.close()


def only_a_log(folder: Path, data: bytes) -> None:
    for file in folder.iterdir():
        file.unlink()
    (folder / "events.wal").write_bytes(data)


async def refused(folder: Path, data: bytes) -> WALCorrupt:
    only_a_log(folder, data)
    with pytest.raises(WALCorrupt) as error:
        await opened(f"file:{folder}", Unsynced())
    assert (folder / "events.wal").read_bytes() == data
    return error.value


async def test_every_sampled_bit_flip_is_reported_with_its_line_and_offset(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "flipped"
    await some_history(source)
    folder.mkdir()
    data = (source / "events.wal").read_bytes()
    step = 1 if os.environ.get("UGS_FAULTS") else 13
    for bit in range(0, len(data) * 8, step):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        error = await refused(folder, bytes(flipped))
        assert error.code == "E009"
        assert error.details["offset"] <= bit // 8
        assert f"line {error.details['line']} (byte {error.details['offset']})" in str(error)


async def test_lines_deleted_doubled_swapped_or_foreign_are_reported(tmp_path: Path) -> None:
    source, other, folder = tmp_path / "source", tmp_path / "other", tmp_path / "changed"
    await some_history(source)
    lines = (source / "events.wal").read_bytes().splitlines(keepends=True)
    elsewhere = await opened(f"file:{other}")
    await write(elsewhere, *(add_node(f"m{number}") for number in range(20)))
    await elsewhere.close()
    foreign = (other / "events.wal").read_bytes().splitlines(keepends=True)
    folder.mkdir()
    for number in range(len(lines) - 1):
        await refused(folder, b"".join(lines[:number] + lines[number + 1 :]))
        await refused(folder, b"".join(lines[: number + 1] + lines[number:]))
        await refused(folder, b"".join([*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]))
    await refused(folder, b"".join(lines + foreign[len(lines) : len(lines) + 1]))
    await refused(folder, b"".join(lines) + b'{"id":"evt_1_1","timestamp":1,"type":"NodeAdded","data":{"id":"z"}}\n')


LINE = '{"id":"evt_%d_%d","timestamp":%d,"type":"NodeAdded","data":{"id":"%s"}%s}'


def foreign_line(number: int, id: str, more: str = "") -> str:
    return LINE % (NOW, number, NOW, id, more)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + foreign_line(1, "a") + "\n" + foreign_line(2, "b") + "\n",
        foreign_line(1, "a") + "\r\n" + foreign_line(2, "b") + "\r\n",
        "\n" + foreign_line(1, "a") + "\n\n  \n" + foreign_line(2, "b") + "\n\n",
        foreign_line(1, "a") + "\n" + foreign_line(2, "b"),
        foreign_line(1, "a", ',"host":"x","tags":[1]') + "\n" + foreign_line(2, "b") + "\n",
    ],
    ids=["byte order mark", "CRLF", "blank lines", "no last newline", "unknown fields"],
)
async def test_foreign_logs_load_and_are_protected_from_the_next_event_on(text: str, tmp_path: Path) -> None:
    (tmp_path / "events.wal").write_text(text, newline="")
    storage = await opened(f"file:{tmp_path}")
    assert await ids(storage) == ["a", "b"]
    assert any("without checksums" in warning for warning in storage.warnings)
    before = await log_of(storage)
    assert [(event.position, event.crc) for event in before] == [(1, None), (2, None)]
    if "tags" in text:
        assert before[0].extra == '{"host":"x","tags":[1]}'
    await write(storage, update_node("a", 2, k=1))
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    events = await log_of(again)
    assert events[:2] == before and events[2].crc is not None
    assert again.warnings == []
    async with again.session() as session:
        assert (await session.find(NODES, "a")).version == 2
    await again.close()


async def test_an_unknown_event_type_is_refused_in_words(tmp_path: Path) -> None:
    error = await refused(tmp_path, b'{"id":"evt_1_1","timestamp":1,"type":"NodePainted","data":{"id":"a"}}\n')
    assert "NodePainted" in str(error) and "line 1 (byte 0)" in str(error)


async def test_a_sealed_log_converted_to_carriage_returns_is_refused(tmp_path: Path) -> None:
    await some_history(tmp_path)
    data = (tmp_path / "events.wal").read_bytes().replace(b"\n", b"\r\n")
    await refused(tmp_path, data)


@pytest.mark.clause("UGS-53", "UGS-54", "UGS-55", "UGS-56", "UGS-57")
async def test_opening_goes_through_the_states_of_the_seed(tmp_path: Path) -> None:
    url = f"file:{tmp_path}/data"
    assert open_memory(url).state == State.UNINITIALIZED
    storage = await opened(url)
    assert storage.states == ["Initializing", "Empty", "Ready"]
    await write(storage, add_node("a"), add_node("b"))
    await storage.close()
    storage = await opened(url)
    assert storage.states == ["Initializing", "Empty", "ReplayingWAL", "Ready"]
    assert (storage.replayed, storage.loaded_from_snapshot) == (2, 0)
    await storage.snapshot()
    await write(storage, add_node("c"))
    await storage.close()
    storage = await opened(url)
    assert storage.states == ["Initializing", "LoadingSnapshot", "ReplayingWAL", "Ready"]
    assert (storage.replayed, storage.loaded_from_snapshot) == (1, 2)
    assert await ids(storage) == ["a", "b", "c"]
    await storage.close()


async def test_the_catalog_decides_so_another_open_sees_equal_rows(tmp_path: Path) -> None:
    await some_history(tmp_path)
    storage = await opened(f"file:{tmp_path}")
    rows = await rows_of(storage)
    await storage.snapshot()
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert again.replayed == 0 and await rows_of(again) == rows
    assert again.catalog is CATALOG
    await again.close()
