"""F09–F12: disks that fail, fill up or go away, and processes that die between any two calls to the file system."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.children import child
from tests.faults.damage import WAL
from tests.faults.disk import Fault, FaultyDisk, storage_on
from tests.faults.figures import Figures
from tests.faults.load import audit, audit_at, make_hub, write
from tests.faults.script import WRITES, run_script
from tests.faults.workers import live_on_faulty_disk, write_under_limit
from ugs.errors import StorageIOError
from ugs.graph.api import Graph
from ugs.system import System


def calls_of_a_healthy_run(folder: Path) -> list[str]:
    disk = FaultyDisk()
    assert asyncio.run(run_script(disk, folder)) == []
    return disk.calls


def some(calls: list[str], full: bool) -> list[int]:
    """Every call, or in the quick tier the first ones, each around the second snapshot, and a few others."""
    renames = [index for index, name in enumerate(calls) if name == "rename"]
    around = range(renames[-1] - 8, min(renames[-1] + 3, len(calls)))
    return list(range(len(calls))) if full else sorted({*range(4), *range(0, len(calls), 13), *around})


# ── F09: death between any two calls ─────────────────────────────────────────


def test_f09_a_process_that_dies_between_any_two_calls_keeps_what_it_acknowledged(
    tmp_path: Path, full: bool, figures: Figures
) -> None:
    calls = calls_of_a_healthy_run(tmp_path / "healthy")
    points = [(at, half) for at in some(calls, full) for half in (False, True) if not half or calls[at] == "write"]
    with figures.timed("F09 death between calls"):
        lost = sum(die_at(tmp_path / f"{at}{half}", Fault(at, half=half)) for at, half in points)
    figures.add("F09 death between calls", calls=len(calls), deaths=len(points), lost=lost, refused_starts=0)
    assert lost == 0


def die_at(folder: Path, fault: Fault) -> int:
    """How many acknowledged writes are missing after a death."""
    with child(live_on_faulty_disk, folder, fault) as process:
        acknowledged = process.rest()
        assert process.process.exitcode == -signal.SIGKILL
    found = asyncio.run(audit_at(f"file:{folder}", acknowledged))
    assert found.state_ok and not found.duplicated and not found.halved
    return found.lost


# ── F10, F11: calls that fail ────────────────────────────────────────────────


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
async def test_f10_f11_any_call_that_fails_once_leaves_nothing_wrong(
    error: str, tmp_path: Path, full: bool, figures: Figures
) -> None:
    disk = FaultyDisk()
    assert await run_script(disk, tmp_path / "healthy") == []
    points = [
        (at, half) for at in some(disk.calls, full) for half in (False, True) if not half or disk.calls[at] == "write"
    ]
    codes: set[str] = set()
    for at, half in points:
        codes |= await fail_at(tmp_path / f"{at}{half}", Fault(at, getattr(errno, error), half))
    figures.add(f"F10/F11 failing calls, {error}", failures=len(points), lost=0, wrong=0)
    assert codes == {"E007"}


async def fail_at(folder: Path, fault: Fault) -> set[str]:
    """Run with a fault, then again on a healthy disk: what was acknowledged must be there, and writing goes on."""
    disk, acknowledged = FaultyDisk(fault), list[int]()
    refused = await run_script(disk, folder, acknowledged.append)
    assert disk.struck
    async with System.at_url(f"file:{folder}") as system:
        await make_hub(Graph(system))
        for number in range(WRITES):
            await write(Graph(system), number)
        found = await audit(system, acknowledged)
    assert found.clean, (fault, found)
    assert (await audit_at(f"file:{folder}", range(WRITES))).clean
    return set(refused)


async def test_f10_after_a_failed_fsync_nothing_is_acknowledged_and_reads_go_on(tmp_path: Path) -> None:
    disk = FaultyDisk()
    async with System(storage_on(disk, tmp_path / "data")) as system:
        graph = Graph(system)
        await graph.add_node("before")
        disk.fault = Fault(len(disk.calls) + 1, errno.EIO)  # the write itself goes well
        with pytest.raises(StorageIOError) as refused:
            await graph.add_node("doubtful")
        assert refused.value.code == "E007"
        assert disk.calls[-1] == "fsync"
        for _ in range(3):  # the next fsync would succeed and prove nothing
            with pytest.raises(StorageIOError):
                await graph.add_node("later")
        assert disk.calls[-1] == "fsync"
        assert await graph.get("before") is not None
        assert await graph.get("doubtful") is None


async def test_f11_a_full_disk_refuses_and_a_new_start_with_room_goes_on(tmp_path: Path) -> None:
    disk = FaultyDisk()
    data = tmp_path / "data"
    async with System(storage_on(disk, data)) as system:
        await Graph(system).add_node("before")
        disk.fault = Fault(len(disk.calls), errno.ENOSPC, half=True, lasting=True)
        for _ in range(2):
            with pytest.raises(StorageIOError):
                await Graph(system).add_node("too_much")
        assert (await Graph(system).stats()).nodes == 1
    size = (data / WAL).stat().st_size
    disk.mend()
    async with System(storage_on(disk, data)) as system:
        await Graph(system).add_node("after")
        assert (await Graph(system).stats()).nodes == 2
        assert (await system.verify()).ok
    assert (data / WAL).stat().st_size > size


# ── F11 with the kernel's own limits ─────────────────────────────────────────


def test_f11_a_file_that_reaches_its_size_limit_loses_nothing(tmp_path: Path, full: bool, figures: Figures) -> None:
    limits = range(3000, 4200, 7 if full else 150)
    acknowledged = 0
    for limit in limits:
        folder = tmp_path / str(limit)
        with child(write_under_limit, folder, limit) as process:
            *numbers, code = process.rest()
        assert code == "E007"
        acknowledged += len(numbers)
        found = asyncio.run(audit_at(f"file:{folder}", numbers))
        assert found.clean, (limit, found)
    figures.add("F11 size limit", limits=len(limits), acknowledged=acknowledged, lost=0)


# ── F12 and F11 on real small file systems ───────────────────────────────────


@pytest.fixture
def small_disk(tmp_path: Path, full: bool) -> Iterator[Path]:
    """A file system of one megabyte of its own; making one takes root."""
    if not full:
        pytest.skip("full tier only (make faults)")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = os.geteuid() == 0 and mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place))
    if not mounted:
        pytest.skip("this test mounts a small file system, which takes root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode == 0


async def test_f12_a_disk_that_becomes_read_only_is_e007_and_reads_go_on(small_disk: Path, figures: Figures) -> None:
    data = small_disk / "data"
    async with System.at_url(f"file:{data}") as system:
        await Graph(system).add_node("before")
    assert mount("-o", "remount,ro", str(small_disk))
    async with System.at_url(f"file:{data}") as system:
        assert await Graph(system).get("before") is not None
        with pytest.raises(StorageIOError):
            await Graph(system).add_node("refused")
    assert mount("-o", "remount,rw", str(small_disk))
    async with System.at_url(f"file:{data}") as system:
        await Graph(system).add_node("after")
        assert (await Graph(system).stats()).nodes == 2
    figures.add("F12 read-only disk", lost=0)


async def test_f11_a_really_full_disk_loses_nothing(small_disk: Path, figures: Figures) -> None:
    data, acknowledged = small_disk / "data", list[int]()
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"\0" * 700_000)
    async with System.at_url(f"file:{data}?snapshot_every=50") as system:
        await make_hub(Graph(system))
        with pytest.raises(StorageIOError):
            await fill(Graph(system), acknowledged)
    ballast.unlink()
    found = await audit_at(f"file:{data}", acknowledged)
    figures.add("F11 full tmpfs", acknowledged=len(acknowledged), lost=found.lost)
    assert found.clean, found


async def fill(graph: Graph, acknowledged: list[int]) -> None:
    """Write until there is no room."""
    for number in itertools.count():
        await write(graph, number)
        acknowledged.append(number)
