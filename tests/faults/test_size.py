"""F16: a log of a million events opens quickly from its snapshot, and what was loaded goes when it is closed."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import psutil
import pytest

from tests.faults.damage import SNAPSHOT, WAL, make_sample, start
from tests.faults.figures import Figures
from ugs.graph.api import Graph
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System

BATCH = 10_000
WITH_SNAPSHOT, FROM_GENESIS = 5.0, 60.0


async def test_f16_a_million_events_open_from_snapshot_and_from_genesis(
    tmp_path: Path, full: bool, figures: Figures
) -> None:
    if not full:
        pytest.skip("full tier only (make faults): writing a million events takes minutes")
    data = tmp_path / "data"
    events = 1_000_000
    async with System.at_url(f"file:{data}?snapshot_every=0") as system:
        for start in range(0, events, BATCH):
            await Graph(system).batch([operation(number) for number in range(start, start + BATCH)])
        await system.snapshot()
    quick, position = await opening(data)
    for snapshot in data.glob(f"{SNAPSHOT}*"):
        snapshot.unlink()
    slow, _ = await opening(data)
    figures.add(
        "F16 a million events",
        events=position,
        open_s=round(quick, 1),
        open_from_genesis_s=round(slow, 1),
        resident_mb=psutil.Process().memory_info().rss >> 20,
    )
    assert position == events
    assert quick < WITH_SNAPSHOT
    assert slow < FROM_GENESIS


async def test_a_store_that_is_opened_again_and_again_does_not_keep_what_it_loaded(tmp_path: Path) -> None:
    frozen = gc.get_freeze_count()
    await make_sample(tmp_path / "data", 20)
    for _ in range(3):
        assert (await start(tmp_path / "data")).code == ""
    wal = tmp_path / "data" / WAL
    wal.write_bytes(wal.read_bytes().replace(b"Node", b"Mode", 1))
    assert (await start(tmp_path / "data")).code == "E009"
    assert gc.get_freeze_count() <= frozen


def operation(number: int) -> AddNode | AddEdge:
    if number % 2 == 0:
        return AddNode(id=f"n{number}", type="item", properties={"n": number, "name": f"item {number}"})
    return AddEdge(id=f"e{number}", source=f"n{number - 1}", target=f"n{number // 10 * 2}", type="near")


async def opening(data: Path) -> tuple[float, int]:
    """How long it takes to open the folder, and where its log ends."""
    begun = time.monotonic()
    system = System.at_url(f"file:{data}?snapshot_every=0")
    await system.open()
    took = time.monotonic() - begun
    async with system.session() as session:
        position = (await session.head()).position
    await system.close()
    return took, position
