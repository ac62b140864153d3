"""The one event loop on which all tests of a run live, so that a store is opened once and used by many tests."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
Test = TypeVar("Test", bound=Callable[..., Any])

TEST_SECONDS = 120
"""A store that hangs fails its test instead of stopping the run."""

_runners: list[asyncio.Runner] = []


def run(work: Coroutine[Any, Any, T], seconds: float = TEST_SECONDS) -> T:
    """Do the work on the loop, within a deadline."""
    if not _runners:
        _runners.append(asyncio.Runner())
    return _runners[0].run(_in_time(work, seconds))


async def _in_time(work: Coroutine[Any, Any, T], seconds: float) -> T:
    async with asyncio.timeout(seconds):
        return await work


def close() -> None:
    """End the loop with the run."""
    while _runners:
        _runners.pop().close()


def run_on_loop(test: Test) -> Test:
    """An ordinary test function out of an asynchronous one; the kit needs no other plugin to run it."""
    inside: Any = getattr(test, "hypothesis", None)
    if inside is not None and inspect.iscoroutinefunction(inside.inner_test):
        inside.inner_test = _to_sync_test(inside.inner_test, seconds=TEST_SECONDS)
        return test
    return _to_sync_test(test, TEST_SECONDS) if inspect.iscoroutinefunction(test) else test


def _to_sync_test(test: Any, seconds: float) -> Any:
    @functools.wraps(test)
    def plain(*args: Any, **named: Any) -> None:
        run(test(*args, **named), seconds)

    return plain
