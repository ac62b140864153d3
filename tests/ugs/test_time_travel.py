"""Past states that are kept: a second look costs no replay, and only so many events are held."""

from __future__ import annotations

import pytest

from ugs.graph.api import Graph
from ugs.log.at import At
from ugs.log.time_travel import CACHE_SIZE
from ugs.system import System


async def kept_after(system: System, *positions: int) -> list[int]:
    for position in positions:
        async with system.session_at(At(position=position)) as session:
            assert (await session.head()).position == position
    return list(system.moments._kept)


async def test_some_past_states_are_kept_and_the_oldest_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    async with System.at_url("memory:") as system:
        for number in range(CACHE_SIZE + 3):
            await Graph(system).add_node(f"n{number}")

        assert await kept_after(system, 1, 2, 1) == [2, 1]
        assert await kept_after(system, *range(1, CACHE_SIZE + 2)) == list(range(2, CACHE_SIZE + 2))

        monkeypatch.setattr("ugs.log.time_travel.MAX_KEPT_EVENTS", 7)
        assert await kept_after(system, 6) == [6]
        assert await kept_after(system, 1) == [6, 1]  # seven events in all
        monkeypatch.setattr("ugs.log.time_travel.MAX_KEPT_EVENTS", 6)
        assert await kept_after(system, CACHE_SIZE + 3) == [CACHE_SIZE + 3]  # one is kept whatever it holds
