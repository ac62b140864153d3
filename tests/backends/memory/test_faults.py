"""When the disk fails, the process dies or two of them meet: nothing acknowledged is lost, nothing half is seen."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.backends.memory.kit import (
    NOW,
    Crash,
    Failing,
    Unsynced,
    add_edge,
    add_node,
    ids,
    log_of,
    opened,
    write,
)
from tests.work import TIMED
from ugs.errors import InvalidSyntax, StorageIOError, StoreLocked
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES
from ugs_backends.memory import FileStorage
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.settings import parse_settings

FULL = OSError(28, "No space left on device")
BROKEN = OSError(5, "Input/output error")


@pytest.mark.parametrize(
    ("step", "error", "short"),
    [(2, BROKEN, False), (1, FULL, False), (1, FULL, True)],
    ids=["fsync fails", "nothing written", "half a line written"],
)
async def test_a_failed_write_is_not_acknowledged_and_ends_writing_until_reopened(
    step: int, error: OSError, short: bool, tmp_path: Path
) -> None:
    storage = await opened(f"file:{tmp_path}")
    await write(storage, add_node("a"))
    storage.log.files = Failing(step, error, short)
    with pytest.raises(StorageIOError) as failed:
        await write(storage, add_node("b"))
    assert failed.value.code == "E007" and str(error.strerror) in str(failed.value)
    assert await ids(storage) == ["a"]
    calls = list(storage.log.files.calls)
    with pytest.raises(StorageIOError) as refused:
        await write(storage, add_node("c"))
    assert "only reads" in str(refused.value)
    assert storage.log.files.calls == calls, "nothing more may be written or synced"
    assert await ids(storage) == ["a"]
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert (await ids(again))[0] == "a" and "c" not in await ids(again)
    assert bool(again.warnings) == short
    await write(again, add_node("d"))
    await again.close()
    once_more = await opened(f"file:{tmp_path}")
    assert "d" in await ids(once_more) and not once_more.warnings
    await once_more.close()


async def test_a_write_that_takes_several_calls_is_completed(tmp_path: Path) -> None:
    class Stuttering(Unsynced):
        def write(self, handle: int, data: bytes | memoryview) -> int:
            return super().write(handle, data[:7])

    storage = await opened(f"file:{tmp_path}", Stuttering())
    await write(storage, add_node("a"), add_node("b"))
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert await ids(again) == ["a", "b"] and not again.warnings
    await again.close()


async def test_a_crash_at_any_step_of_a_repair_is_continued_at_the_next_opening(tmp_path: Path) -> None:
    async def crash_at(step: int, short: bool) -> int:
        folder = tmp_path / f"{step}{short}"
        storage = await opened(f"file:{folder}", Unsynced())
        await write(storage, add_node("a"))
        await storage.close()
        with (folder / "events.wal").open("ab") as file:
            file.write(b'{"id":"evt_17690204')
        failing = Failing(step, Crash(), short)
        with contextlib.suppress(Crash):
            await (await opened(f"file:{folder}", failing)).close()
        again = await opened(f"file:{folder}", Unsynced())
        assert await ids(again) == ["a"]
        assert [event.type for event in await log_of(again)] == ["NodeAdded", "LogRepaired"], step
        await write(again, add_node("b"))
        await again.close()
        return len(failing.calls)

    steps = await crash_at(1000, False)
    for step in range(1, steps + 1):
        for short in (False, True):
            await crash_at(step, short)


async def test_readers_see_a_group_only_when_it_is_durable_and_then_whole(tmp_path: Path) -> None:
    class Slow(Unsynced):
        def fsync(self, handle: int) -> None:
            time.sleep(0.05)

    storage = await opened(f"file:{tmp_path}", Slow())
    await write(storage, add_node("a"))
    writing = asyncio.create_task(write(storage, add_node("b"), add_edge("e", "a", "b")))
    seen = set()
    while not writing.done():
        seen.add((tuple(await ids(storage)), tuple(await ids(storage, EDGES)), len(await log_of(storage))))
        await asyncio.sleep(0.001)
    await writing
    assert seen <= {(("a",), (), 1), (("a", "b"), ("e",), 3)} and (("a",), (), 1) in seen
    await storage.close()


async def test_a_cancelled_writer_whose_bytes_are_on_their_way_is_committed(tmp_path: Path) -> None:
    class Slow(Unsynced):
        def fsync(self, handle: int) -> None:
            time.sleep(0.05)

    storage = await opened(f"file:{tmp_path}", Slow())
    writing = asyncio.create_task(write(storage, add_node("a")))
    await asyncio.sleep(0.02)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await ids(storage) == ["a"]
    await write(storage, add_node("b"))
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert await ids(again) == ["a", "b"]
    await again.close()


# ── processes ────────────────────────────────────────────────────────────────

SCRIPT = """
import asyncio, sys
sys.path.insert(0, {root!r})
from tests.backends.memory.kit import *

async def main():
    storage = await opened({url!r})
    print("ready", flush=True)
    {body}

asyncio.run(main())
"""


def process(url: str, body: str) -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[3])
    script = SCRIPT.format(root=root, url=url, body=body)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@TIMED
async def test_a_second_process_is_refused_at_once_and_a_killed_one_is_no_obstacle(tmp_path: Path) -> None:
    child = process(f"file:{tmp_path}", "await asyncio.sleep(60)")
    try:
        assert line(child) == "ready"
        started = time.monotonic()
        with pytest.raises(StoreLocked) as refused:
            await opened(f"file:{tmp_path}")
        assert time.monotonic() - started < 1
        assert f"process {child.pid} (since 2" in str(refused.value)
        assert "data directory is locked" in str(refused.value) and refused.value.code == "STORE_LOCKED"
    finally:
        child.kill()
        child.wait()
    storage = await opened(f"file:{tmp_path}")
    with pytest.raises(StoreLocked):
        await opened(f"file:{tmp_path}")
    await storage.close()
    await (await opened(f"file:{tmp_path}")).close()


async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    body = """
    for n in range(100000):
        await write(storage, add_node(f"n{PREFIX}_{n}"))
        print(f"n{PREFIX}_{n}", flush=True)
"""
    acknowledged: set[str] = set()
    for cycle in range(3):
        text = body.replace("{PREFIX}", str(cycle)).strip()
        child = process(f"file:{tmp_path}?snapshot_every=7", text)
        assert line(child) == "ready"
        acknowledged.update(line(child) for _ in range(20 + 7 * cycle))
        child.kill()
        rest = child.communicate()[0].split()
        acknowledged.update(rest[:-1])
    storage = await opened(f"file:{tmp_path}")
    assert acknowledged <= set(await ids(storage)) and len(acknowledged) > 60
    assert [event.position for event in await log_of(storage)] == list(range(1, storage.log.head.position + 1))
    await storage.close()


async def test_a_full_disk_refuses_writes_and_the_store_goes_on_after_reopening_with_room(tmp_path: Path) -> None:
    body = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    for n in range(1000):
        try:
            await write(storage, add_node(f"n{n}"))
        except Exception as error:
            print(error.code, len(await ids(storage)), n, flush=True)
            break
    await storage.close()
"""
    child = process(f"file:{tmp_path}?snapshot_every=0", body.strip())
    told = child.communicate(timeout=30)[0].split()
    assert told[:2] == ["ready", "E007"] and told[2] == told[3]
    assert (tmp_path / "events.wal").stat().st_size == 3000
    storage = await opened(f"file:{tmp_path}")
    assert len(await ids(storage)) == int(told[2]) and "torn write" in storage.warnings[0]
    await write(storage, add_node("later"))
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert "later" in await ids(again)
    await again.close()


# ── settings ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:", "names no folder"),
        ("file://elsewhere/data", "folder of this machine"),
        ("memory:?colour=red", "no option 'colour'"),
        ("file:./data?fsync=sometimes", "always, interval or off"),
        ("file:./data?snapshot_every=-1", "a number of events"),
        ("memory:?native=maybe", "on or off"),
    ],
)
def test_a_url_that_makes_no_sense_is_refused_in_words(url: str, words: str) -> None:
    with pytest.raises(InvalidSyntax) as refused:
        parse_settings(url)
    assert words in str(refused.value)


def test_urls_name_folders_in_several_ways() -> None:
    assert parse_settings("memory:").folder is None
    assert parse_settings("memory:./data").folder == Path("data")
    assert parse_settings("file:/srv/my%20data").folder == Path("/srv/my data")
    assert parse_settings("file:///srv/data?fsync=off&native=off").folder == Path("/srv/data")


async def test_a_folder_that_cannot_be_made_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageIOError) as refused:
        await opened(f"file:{tmp_path}/file/data")
    assert "Cannot open" in str(refused.value)


@pytest.mark.parametrize("fsync", ["always", "interval", "off"])
async def test_each_way_of_syncing_keeps_what_a_closed_store_had(fsync: str, tmp_path: Path) -> None:
    class Counting(Files):
        synced = 0

        def fsync(self, handle: int) -> None:
            self.synced += 1
            super().fsync(handle)

    files = Counting()
    storage = FileStorage(parse_settings(f"file:{tmp_path}?fsync={fsync}"), files)
    await storage.open(CATALOG)
    for name in "abc":
        await write(storage, add_node(name), timestamp=NOW)
    await storage.close()
    assert files.synced == {"always": 3, "interval": 1, "off": 0}[fsync]
    again = await opened(f"file:{tmp_path}")
    assert await ids(again) == ["a", "b", "c"]
    await again.close()


async def test_wiping_forgets_everything_and_the_store_goes_on(tmp_path: Path) -> None:
    storage: Any = await opened(f"file:{tmp_path}")
    await write(storage, add_node("a"), add_edge("e", "a", "a"))
    await storage.snapshot()
    await storage.wipe()
    assert await ids(storage) == [] and await log_of(storage) == [] and storage.log.head.position == 0
    await write(storage, add_node("b"))
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert await ids(again) == ["b"] and again.log.head.position == 1
    await again.close()
