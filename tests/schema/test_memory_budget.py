"""One memory account for everything a request keeps: answers in the making, walks, replays, exports."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from graphql import ExecutionResult
from msgspec.json import decode, encode

from ugs.errors import LimitExceeded, UgsError
from ugs.graph.api import Graph
from ugs.support.budget import FREE_BYTES, POOL, Budget, MemoryPool, charge, request_budget
from ugs.system import System
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

SCHEMA = build_schema()
LARGE = 100_000
REQUESTS = {
    "a page": '{ graphNodes(first: 40, filter: {types: ["Large"]}) { nodes { properties } } }',
    "roots": "{ " + " ".join(f'a{n}: graphNode(id: "l{n}") {{ properties }}' for n in range(15)) + " }",
    "neighbours": '{ neighbors(id: "hub") { properties } }',
    "a walk": '{ traverse(id: "hub", first: 40) { node { properties } } }',
    "a past page": '{ graphNodes(first: 40, at: {position: 81}, filter: {types: ["Large"]}) { nodes { properties } } }',
    "an export": "{ exportGraph }",
}


@pytest.fixture(params=["memory:", "sqlite:///{}/graph.db"], ids=["memory", "sqlite"])
async def system(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    async with filled(request.param.format(tmp_path)) as opened:
        yield opened


@asynccontextmanager
async def filled(url: str) -> AsyncIterator[System]:
    """A system with a hub and 40 large nodes around it."""
    async with System.at_url(url) as opened:
        nodes = [{"id": f"l{n}", "type": "Large", "properties": {"text": "x" * LARGE}} for n in range(40)]
        edges = [{"id": f"e{n}", "from": "hub", "to": f"l{n}"} for n in range(40)]
        await Graph(opened).import_graph({"nodes": [{"id": "hub"}, *nodes], "edges": edges})
        yield opened


async def code(system: System, query: str, compiling: bool) -> str | None:
    operations = OperationExecutor(SCHEMA, compiling)
    with request_budget(30):
        found = await operations.answer(operations.prepare(query), RequestContext(system))
    if not isinstance(found, ExecutionResult) or not found.errors:
        return None
    error: Any = found.errors[0].original_error
    assert isinstance(error, UgsError), found.errors
    return error.code


@pytest.mark.parametrize("compiling", [True, False], ids=["compiled", "executor"])
@pytest.mark.parametrize("name", REQUESTS)
async def test_what_a_request_keeps_is_counted_and_given_back(
    system: System, name: str, compiling: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await code(system, REQUESTS[name], compiling) is None
    assert POOL.reserved == 0
    await system.moments.close()
    monkeypatch.setattr(POOL, "max_bytes", 1 << 20)
    assert await code(system, REQUESTS[name], compiling) == "LIMIT_EXCEEDED"
    assert POOL.reserved == 0


@pytest.mark.parametrize("url", ["memory:?native=off", "sqlite:///{}/graph.db?native=off"], ids=["memory", "sqlite"])
async def test_a_replayed_state_is_counted_and_given_back(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = '{ graphNode(id: "hub", at: {position: 40}) { id } }'
    async with filled(url.format(tmp_path)) as system:
        assert await code(system, query, compiling=True) is None
        await system.moments.close()
        monkeypatch.setattr(POOL, "max_bytes", 1 << 20)
        assert await code(system, query, compiling=True) == "LIMIT_EXCEEDED"
        assert POOL.reserved == 0


async def test_an_export_takes_little_more_memory_than_its_text() -> None:
    """Properties stay the text they are stored as: as values, small ones take ten times as much."""
    async with System.at_url("memory:") as opened:
        properties = {f"p{n}": n * 1_000 for n in range(60)}
        for start in range(0, 2_000, 500):
            nodes = [{"id": f"n{n}", "properties": properties} for n in range(start, start + 500)]
            await Graph(opened).import_graph({"nodes": nodes})
        operations = OperationExecutor(SCHEMA)
        prepared = operations.prepare("{ exportGraph }")
        await operations.answer(prepared, RequestContext(opened))
        tracemalloc.start()
        with request_budget(30) as budget:
            found = await operations.answer(prepared, RequestContext(opened))
            assert isinstance(found, ExecutionResult) and found.data is not None
            text = encode(found.data)
            peak, charged = tracemalloc.get_traced_memory()[1], budget.charged
        tracemalloc.stop()
    assert len(decode(text)["exportGraph"]["nodes"]) == 2_000
    assert peak < 4 * len(text), (peak, len(text))
    assert charged > 2.5 * len(text)


def test_requests_share_the_memory_of_all() -> None:
    pool = MemoryPool(max_bytes=8 << 20, request_bytes=6 << 20)
    first, second = Budget(pool=pool), Budget(pool=pool)
    first.charge(5 << 20)
    with pytest.raises(LimitExceeded, match="try again later"):
        second.charge(5 << 20)
    first.close()
    assert pool.reserved == 0
    with pytest.raises(LimitExceeded, match="ask for less"):
        first.reserve(7 << 20)
    third = Budget(pool=pool)
    third.charge(5 << 20)
    third.close()
    third.charge(50 << 20)  # what goes on after the request is not counted
    assert pool.reserved == 0


def test_nothing_is_counted_outside_of_a_request() -> None:
    charge(POOL.max_bytes + 1)
    with request_budget(1):
        charge(FREE_BYTES)
        assert POOL.reserved == 0
        charge(1)
        assert POOL.reserved > 0
        with request_budget(2):
            charge(1)
        assert POOL.reserved > 0
    assert POOL.reserved == 0
