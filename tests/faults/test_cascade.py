"""F14: deleting a node with a thousand edges happens whole or not at all, wherever it is cut off."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.faults.children import child
from tests.faults.damage import WAL, lay, url_of
from tests.faults.figures import Figures
from tests.faults.stores import EMBEDDED, fresh_url
from tests.faults.workers import delete_star
from ugs.graph.api import Graph
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System

EDGES = 1000
WHOLE, NOTHING = (EDGES, True), (0, False)


async def make_star(url: str) -> None:
    """A node that a thousand edges leave."""
    async with System.at_url(url) as system:
        edges = [AddEdge(id=f"e{number}", source="star", target="dust") for number in range(EDGES)]
        await Graph(system).batch([AddNode(id="star"), AddNode(id="dust"), *edges])


async def seen(url: str) -> tuple[int, bool]:
    """How many edges there are, and whether the star is there."""
    async with System.at_url(url) as system:
        graph = Graph(system)
        assert (await system.verify()).ok
        return (await graph.stats()).edges, await graph.get("star") is not None


async def test_f14_a_cascade_in_a_cut_log_is_all_or_nothing(tmp_path: Path, full: bool, figures: Figures) -> None:
    data = tmp_path / "data"
    await make_star(url_of(data))
    before = (data / WAL).stat().st_size
    async with System.at_url(url_of(data)) as system:
        await Graph(system).delete("star")
    wal = (data / WAL).read_bytes()
    lines = [before + index for index, byte in enumerate(wal[before:]) if byte == 10]
    cuts = [before, *(end + side for end in lines for side in (-1, 1))] if full else [before, *lines[::150], lines[-2]]
    states = [await seen(url_of(lay({WAL: wal[:cut]}, tmp_path / "cut"))) for cut in cuts]
    figures.add("F14 cascade cut", cuts=len(cuts), halves=sum(state not in (WHOLE, NOTHING) for state in states))
    complete = {len(wal), len(wal) - 1}
    assert [state for cut, state in zip(cuts, states, strict=True) if cut not in complete and state != WHOLE] == []
    assert await seen(url_of(data)) == NOTHING


@pytest.mark.parametrize("name", EMBEDDED)
def test_f14_a_cascade_killed_at_any_moment_is_all_or_nothing(
    name: str, tmp_path: Path, full: bool, figures: Figures, chance: Random
) -> None:
    states: Counter[tuple[int, bool]] = Counter()
    broken_promises, longest = 0, time_of_deletion(name, tmp_path / "timed")
    for number in range(60 if full else 4):
        (tmp_path / str(number)).mkdir()
        with fresh_url(name, tmp_path / str(number)) as url:
            asyncio.run(make_star(url))
            acknowledged = delete_and_die(url, chance.uniform(0, 1.2 * longest))
            state = asyncio.run(seen(url))
        states[state] += 1
        broken_promises += acknowledged and state != NOTHING
    figures.add(f"F14 cascade killed, {name}", kills=states.total(), whole=states[WHOLE], gone=states[NOTHING])
    assert set(states) <= {WHOLE, NOTHING}
    assert broken_promises == 0


def time_of_deletion(name: str, folder: Path) -> float:
    """How long the deletion takes when nobody interferes."""
    folder.mkdir()
    with fresh_url(name, folder) as url:
        asyncio.run(make_star(url))
        with child(delete_star, url) as process:
            assert process.tell() == "open"
            begun = time.monotonic()
            assert process.tell() == "deleted"
            return time.monotonic() - begun


def delete_and_die(url: str, life: float) -> bool:
    """Whether the deletion was acknowledged before the process was killed."""
    with child(delete_star, url) as process:
        assert process.tell() == "open"
        time.sleep(life)
        return "deleted" in process.kill()
