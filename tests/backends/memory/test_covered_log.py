"""What is wrong with the log beside a sound snapshot: found at opening, told with line and byte, never written over."""

import json
import shutil
from pathlib import Path

import pytest

from ugs.errors import HistoryGone, StorageIOError, UgsError, WALCorrupt
from ugs.graph.api import Graph
from ugs.log.at import At
from ugs.system import System


async def covered(folder: Path, more: int = 2) -> str:
    """A store of ten nodes under a snapshot, and some behind it."""
    url = f"file:{folder}?snapshot_every=0"
    async with System.at_url(url) as system:
        for number in range(10):
            await Graph(system).add_node(f"n{number}", "t", {"v": number})
        await system.snapshot()
        for number in range(more):
            await Graph(system).add_node(f"m{number}")
    return url


def change_byte(folder: Path, line: int) -> int:
    """Change a letter inside a line; answers where the line begins."""
    wal = folder / "events.wal"
    lines = wal.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(b'"type":"t"', b'"type":"u"')
    wal.write_bytes(b"".join(lines))
    return sum(map(len, lines[: line - 1]))


@pytest.mark.parametrize("line", [1, 4, 10])
async def test_a_changed_byte_under_a_snapshot_is_found_when_it_is_opened(line: int, tmp_path: Path) -> None:
    url = await covered(tmp_path)
    place = change_byte(tmp_path, line)
    async with System.at_url(url) as system:
        (warning,) = system.storage.warnings
        assert warning.startswith(f"E009 events.wal line {line} (byte {place})")
        assert system.storage.damage is not None
        # The state is that of the snapshot, and is read.
        node = await Graph(system).get("n3")
        assert node is not None and node.type == "t"
        before = (tmp_path / "events.wal").read_bytes()
        with pytest.raises(WALCorrupt) as refused:
            await Graph(system).add_node("new")
        assert refused.value.details["line"] == line and refused.value.details["offset"] == place
        with pytest.raises(WALCorrupt):
            await system.snapshot()
        assert (tmp_path / "events.wal").read_bytes() == before
        assert await system.storage.acknowledge_damage() is not None
        await Graph(system).add_node("new")
    async with System.at_url(url) as system:
        assert "acknowledged" in system.storage.warnings[0] and system.storage.damage is None
        await Graph(system).add_node("newer")
    # Other damage is not what was acknowledged.
    change_byte(tmp_path, 7)
    async with System.at_url(url) as system:
        with pytest.raises(WALCorrupt):
            await Graph(system).add_node("newest")


async def test_a_long_log_is_looked_through_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugs_backends.memory.storage.BATCH_BYTES", 0)
    url = await covered(tmp_path)
    change_byte(tmp_path, 4)
    async with System.at_url(url) as system:
        await system.storage._checking  # type: ignore[attr-defined]
        assert "line 4" in str(system.storage.damage) and len(system.storage.warnings) == 1
        with pytest.raises(WALCorrupt):
            await Graph(system).add_node("new")


async def test_a_sound_log_with_a_repair_and_foreign_lines_raises_no_alarm(tmp_path: Path) -> None:
    foreign = {"id": "evt_5_1", "timestamp": 5, "type": "NodeAdded", "data": {"id": "x"}}
    (tmp_path / "events.wal").write_text(
        "\ufeff" + json.dumps(foreign) + "\r\n\n" + json.dumps({**foreign, "id": "e"})[:30]
    )
    url = await covered(tmp_path)
    async with System.at_url(url) as system:
        assert system.storage.damage is None and (await system.verify()).ok
        assert len(await Graph(system).history(50)) == 14


@pytest.mark.parametrize("line", [1, 5, 10, 11])
@pytest.mark.parametrize("more", [0, 2])
async def test_a_line_lost_beside_a_snapshot_is_the_logs_fault(line: int, more: int, tmp_path: Path) -> None:
    url = await covered(tmp_path, more)
    wal = tmp_path / "events.wal"
    lines = wal.read_bytes().splitlines(keepends=True)
    if line > len(lines):
        return
    wal.write_bytes(b"".join(lines[: line - 1] + lines[line:]))
    for _ in range(2):
        with pytest.raises(UgsError) as refused:
            await System.at_url(url).open()
        place = sum(map(len, lines[: line - 1]))
        assert refused.value.code == "E009" and f"line {line} (byte {place})" in str(refused.value), refused.value
        assert (tmp_path / "snapshot.json").exists()


@pytest.mark.parametrize("name", ["events.wal", "snapshot.json"])
@pytest.mark.parametrize("beside", [False, True])
async def test_a_folder_in_the_place_of_a_file_is_an_io_error(name: str, beside: bool, tmp_path: Path) -> None:
    url = await covered(tmp_path)
    if not beside:
        (tmp_path / ("snapshot.json" if name == "events.wal" else "events.wal")).unlink()
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(StorageIOError) as refused:
        await System.at_url(url).open()
    assert (refused.value.code, refused.value.name) == ("E007", "IOError")
    assert name in str(refused.value)


async def test_a_snapshot_alone_is_loaded_and_the_log_begins_behind_it(tmp_path: Path) -> None:
    url = await covered(tmp_path, more=0)
    (tmp_path / "events.wal").unlink()
    for round in range(3):
        async with System.at_url(url) as system:
            assert ["history before it is gone" in warning for warning in system.storage.warnings] == [True]
            graph = Graph(system)
            assert (await graph.stats()).nodes == 10 + round
            made = await graph.add_node(f"new{round}")
            assert made.version == 1 and (await graph.get("n3")) is not None
            events = await graph.history(50)
            assert [event.position for event in events] == list(range(11, 11 + len(events)))
            assert [event.type for event in events] == ["LogRepaired"] + ["NodeAdded"] * (round + 1)
            with pytest.raises(HistoryGone):
                await system.verify()
            with pytest.raises(HistoryGone):
                await system.rebuild()
            for at in (At(position=3), At(instant=1)):
                with pytest.raises(HistoryGone):
                    await graph.get("n3", at=at)
            assert await graph.get("n3", at=At(instant=made.created)) is not None
            if round == 1:
                await system.snapshot()
    async with System.at_url(url) as system:
        assert (await Graph(system).stats()).nodes == 13


async def test_many_events_behind_a_snapshot_alone_are_found_by_their_place(tmp_path: Path) -> None:
    url = await covered(tmp_path, more=0)
    (tmp_path / "events.wal").unlink()
    async with System.at_url(url) as system:
        for number in range(150):
            await Graph(system).add_node(f"k{number}")
    for take in (True, False):
        async with System.at_url(url) as system:
            events = await Graph(system).history(200)
            assert [event.position for event in events] == list(range(11, 162))
            assert [state.version for state in await Graph(system).versions("k140")] == [1]
            if take:
                await system.snapshot()


async def test_the_seeds_own_snapshot_alone_is_loaded(tmp_path: Path) -> None:
    nodes = [
        {"id": f"n{number}", "type": "t", "properties": {}, "data": None, "created": 1, "modified": 2}
        for number in range(3)
    ]
    document = {"timestamp": 1000, "eventCount": 5, "nodes": nodes, "edges": [], "stats": {}}
    (tmp_path / "snapshot.json").write_text(json.dumps(document))
    for round in range(8):
        async with System.at_url(f"file:{tmp_path}?snapshot_every=0") as system:
            assert (await Graph(system).stats()).nodes == 3 + round
            await Graph(system).add_node(f"new{round}")
            assert (await Graph(system).history(1))[0].position == 7 + round


async def test_a_damaged_snapshot_alone_is_refused(tmp_path: Path) -> None:
    url = await covered(tmp_path)
    (tmp_path / "events.wal").unlink()
    path = tmp_path / "snapshot.json"
    path.write_bytes(path.read_bytes().replace(b'"n3"', b'"n4"', 1))
    kept = path.read_bytes()
    with pytest.raises(UgsError) as refused:
        await System.at_url(url).open()
    assert refused.value.code == "E008" and path.read_bytes() == kept


async def test_a_snapshot_tells_when_it_was_made(tmp_path: Path) -> None:
    """The seed's reader takes events later than the timestamp: what follows is later, what is inside is not."""
    url = await covered(tmp_path)
    snapshot = json.loads((tmp_path / "snapshot.json").read_text())
    stamps = [json.loads(line)["timestamp"] for line in (tmp_path / "events.wal").read_text().splitlines()]
    assert max(stamps[:10]) <= snapshot["timestamp"] < min(stamps[10:])
    async with System.at_url(url) as system:
        made = await system.snapshot()
        assert made.timestamp > max(stamps) - 1 and abs(made.timestamp - system.clock.now()) < 60_000
    shutil.rmtree(tmp_path)
