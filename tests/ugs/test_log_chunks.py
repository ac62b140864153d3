"""The log is read in parts that are bounded in bytes, by everything that goes through all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ugs import bus
from ugs.exchange.event_log import export_lines
from ugs.graph.api import Graph
from ugs.log import replay
from ugs.storage import EventQuery
from ugs.system import System

SMALL, LARGE = 30, 20_000


@pytest.fixture(params=["memory:", "file:{}/data", "sqlite:///{}/graph.db"], ids=["memory", "file", "sqlite"])
async def system(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    async with System.at_url(request.param.format(tmp_path)) as opened:
        for start, size in ((0, SMALL), (100, LARGE), (150, SMALL)):
            nodes = [{"id": f"n{n}", "properties": {"text": "x" * size}} for n in range(start, start + 100)]
            await Graph(opened).import_graph({"nodes": nodes if size == SMALL else nodes[:50]})
        yield opened


async def test_lines_of_the_log_are_sent_in_bounded_parts(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "CHUNK_BYTES", 5 * LARGE)
    parts = [lines async for lines in export_lines(system.storage)]
    assert sum(map(len, parts)) == system.bus.position
    assert max(sum(map(len, lines)) for lines in parts) < 8 * LARGE
    assert len(parts) < 40
    async with System.at_url("memory:") as copy:
        await replay.copy_log(system.storage, copy.storage, copy.catalog)
        async with copy.session() as session:
            assert await replay.state_digest(session, copy.catalog) == await system.digest()


async def test_no_more_is_asked_for_than_comes_back(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store looks at as many events as it is asked for: where they are large, few, and many again behind them."""
    limits: list[int] = []
    monkeypatch.setattr(replay, "CHUNK_BYTES", 5 * LARGE)
    monkeypatch.setattr(replay, "EventQuery", lambda **asked: limits.append(asked["limit"]) or EventQuery(**asked))
    found = [len(events) async for events in replay.log_of(system.storage, chunk=80)]
    assert sum(found) == system.bus.position
    full = [limit == count for limit, count in zip(limits, found, strict=False)]
    assert full[0] and not all(full) and full[full.index(False) :].count(True) > 1
    for limit, count, asked in zip(limits, found, limits[1:], strict=False):
        assert asked == min(80, 2 * limit if count == limit else max(replay.MIN_EVENTS, 2 * count))


async def test_a_subscriber_that_is_behind_reads_bounded_parts(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus, "CHUNK_BYTES", 5 * LARGE)
    system.bus._tail.clear()
    heard, after = [], 0
    while after < system.bus.position:
        events, after = await system.bus.read(after)
        assert sum(len(event.data) for event in events) < 7 * LARGE
        heard += [event.position for event in events]
    assert heard == list(range(1, system.bus.position + 1))
