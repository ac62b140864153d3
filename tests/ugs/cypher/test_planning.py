"""What planning costs: it grows with a query, not with the square or the cube of it, and it ends at the deadline."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from tests.ugs.cypher.hostile import LONG_PATTERNS
from ugs.cypher.engine.planner import match_planner, start_point, waiting_conditions
from ugs.cypher.engine.planner.statistics import Statistics
from ugs.cypher.execution import plan_for, prepare
from ugs.errors import DeadlineExceeded
from ugs.support.bounded_cache import ENTRY_BYTES
from ugs.support.budget import request_budget
from ugs.support.worker_threads import compute_in_thread

SMALL, FACTOR = 100, 4
BYTES_PER_CHAR = 400
"""The estimate of the cache of plans."""


def counted(monkeypatch: pytest.MonkeyPatch, calls: list[str]) -> None:
    """Note each look at a start and at the variables of a condition."""
    for module, name in (
        (match_planner, "build_start"),
        (start_point, "free_variables"),
        (waiting_conditions, "free_variables"),
    ):
        original: Callable[..., Any] = getattr(module, name)

        def noted(*given: Any, original: Callable[..., Any] = original, name: str = name) -> Any:
            calls.append(name)
            return original(*given)

        monkeypatch.setattr(module, name, noted)


@pytest.mark.parametrize("name", LONG_PATTERNS)
def test_planning_grows_with_the_query(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    counted(monkeypatch, calls)
    counts = []
    for size in (SMALL, SMALL * FACTOR):
        calls.clear()
        plan_for(LONG_PATTERNS[name](size), Statistics())
        counts.append(len(calls))
    assert 0 < counts[1] <= FACTOR * counts[0] + 10, counts


@pytest.mark.parametrize("name", LONG_PATTERNS)
def test_a_plan_is_as_large_as_its_cache_takes_it_for(name: str) -> None:
    text = LONG_PATTERNS[name](700)
    prepare(text)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        plan_for(text, Statistics())
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held <= ENTRY_BYTES + BYTES_PER_CHAR * len(text)


@pytest.mark.parametrize("name", LONG_PATTERNS)
async def test_planning_ends_at_the_deadline(name: str) -> None:
    text = LONG_PATTERNS[name](700)
    prepare(text)
    with pytest.raises(DeadlineExceeded), request_budget(0.0):
        await compute_in_thread(lambda: plan_for(text, Statistics(alone=True)))
