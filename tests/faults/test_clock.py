"""F07, F08: clocks that jump, stand still or fall back; a thousand events in one millisecond."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.faults.figures import Figures
from tests.faults.seed_reader import recover
from tests.faults.stores import DURABLE, fresh_url, with_options
from ugs.clock import FixedClock
from ugs.events import Event
from ugs.graph.api import Graph
from ugs.log.replay import log_of
from ugs.system import System

NOON = 1_769_020_454_093
HOUR = 3_600_000
TEN_YEARS = 87_600 * HOUR
JUMPS = (0, -HOUR, TEN_YEARS, -TEN_YEARS, 0, 0, -1, 1)


@pytest.mark.parametrize("name", DURABLE)
async def test_f08_ids_and_timestamps_never_fall_whatever_the_clock_does(
    name: str, tmp_path: Path, figures: Figures
) -> None:
    clock = FixedClock(NOON)
    with fresh_url(name, tmp_path) as url:
        async with System.at_url(url, clock) as system:
            await system.storage.wipe()
        for number, jump in enumerate(JUMPS):
            clock.moment += jump
            async with System.at_url(url, clock) as system:
                await Graph(system).add_node(f"a{number}")
                await Graph(system).add_node(f"b{number}")
                await system.snapshot()
        async with System.at_url(url, clock) as system:
            events = [event async for page in log_of(system.storage) for event in page]
            verified = await system.verify()
    fallen = sum(later_than(after) < later_than(before) for before, after in itertools.pairwise(events))
    figures.add(f"F08 clock jumps, {name}", jumps=len(JUMPS), events=len(events), fallen=fallen)
    assert [event.position for event in events] == list(range(1, len(events) + 1))
    assert len(events) == 2 * len(JUMPS)
    assert fallen == 0
    assert verified.ok


def later_than(event: Event) -> tuple[int, int]:
    """What an id says of time and order."""
    _, timestamp, number = event.id.split("_")
    assert int(timestamp) == event.timestamp
    return int(timestamp), int(number)


async def test_f07_events_of_one_millisecond_survive_snapshots_and_restarts(
    tmp_path: Path, full: bool, figures: Figures
) -> None:
    restarts = 1000 if full else 60
    clock = FixedClock(NOON)
    url = with_options(f"file:{tmp_path}/data", snapshot_every=20, fsync="off")
    lost = literally_lost = 0
    with figures.timed("F07 one millisecond"):
        for number in range(restarts):
            async with System.at_url(url, clock) as system:
                lost += number - (await Graph(system).stats()).nodes
                await Graph(system).add_node(f"n{number}")
            literally_lost += number + 1 - len(recover(tmp_path / "data")["nodes"])
    figures.add("F07 one millisecond", restarts=restarts, lost=lost, lost_to_the_seeds_reader=literally_lost)
    assert (lost, literally_lost) == (0, 0)


async def test_f07_the_seeds_own_reader_finds_the_state_around_a_snapshot(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    async with System.at_url(with_options(f"file:{tmp_path}/data", snapshot_every=0), clock) as system:
        graph = Graph(system)
        for number in range(10):
            await graph.add_node(f"before{number}")
        await system.snapshot()
        for number in range(10):
            await graph.add_node(f"after{number}")
        await graph.delete("before3")
        await graph.update("after1", {"changed": True})
        ours = await graph.export_graph()
    assert recover(tmp_path / "data")["nodes"] == by_id(ours["nodes"])
    assert json.loads((tmp_path / "data" / "snapshot.json").read_text())["eventCount"] == 10


def by_id(nodes: Any) -> dict[str, dict[str, Any]]:
    return {node["id"]: node["properties"] for node in nodes}
