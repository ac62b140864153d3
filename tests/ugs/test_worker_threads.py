"""What a query held is free as soon as it has ended or failed, without a garbage collection."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ugs.cypher.hostile import HOSTILE_QUERIES, build_dense_graph
from ugs.cypher import Limits
from ugs.cypher import api as cypher_api
from ugs.errors import LimitExceeded
from ugs.support.budget import POOL, request_budget
from ugs.support.worker_threads import compute_in_thread
from ugs.system import System

PATTERNS = "MATCH (a)-->(b) RETURN count(*) AS n, sum(size([(b)-->(c) | c.name])) AS m"
FEW_OBJECTS = 2_000
"""Far fewer than the rows of one refused query."""


class Rows(list[int]):
    """A list that can be referred to weakly."""


@pytest.fixture(autouse=True)
def without_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def fail(made: list[weakref.ref[Any]]) -> None:
    def compute() -> None:
        rows = Rows(range(1_000))
        made.append(weakref.ref(rows))
        raise LimitExceeded("too much", limit=len(rows))

    try:
        await compute_in_thread(compute)
    except LimitExceeded as error:
        made.append(weakref.ref(error))
        assert made[0]() is None, "while the error is on its way, what the computation held is gone"


async def test_what_a_failed_computation_held_is_freed_at_once() -> None:
    made: list[weakref.ref[Any]] = []
    await fail(made)
    for _ in range(1_000):  # the thread and the loop let go of the error a moment later
        if made[1]() is None:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the error is garbage that waits for a collection")


async def test_a_query_that_needs_too_much_memory_leaves_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(POOL, "request_bytes", 128 << 20)
    async with System.at_url("memory:") as system:
        for _ in range(2):  # the second time in a thread from the beginning
            try:
                with request_budget(60):
                    await cypher_api.ask(system, HOSTILE_QUERIES["sort"], limits=Limits(rows=10_000))
                raise AssertionError("was answered")
            except LimitExceeded:
                pass
        assert gc.collect() < FEW_OBJECTS


async def test_a_query_leaves_nothing_of_the_graph_behind() -> None:
    async with System.at_url("memory:") as system:
        await build_dense_graph(system, 40)
        await cypher_api.ask(system, PATTERNS)
        await asyncio.sleep(0)
        gc.collect()
        await cypher_api.ask(system, PATTERNS)
        assert gc.collect() < 1_000, "40 nodes have 1,560 relationships"
