"""What a piece of code costs, counted rather than timed, so that a busy machine changes nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

ATTEMPTS = 3


def count_lines(work: Callable[[], object]) -> int:
    """The lines of Python that run during `work`, in this thread."""
    lines = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def least_cpu_seconds(work: Callable[[], object], enough: float = 0.0) -> float:
    """The CPU time of `work`, the least of a few runs: other processes only ever add to it. Ends early at `enough`."""
    least = float("inf")
    for _ in range(ATTEMPTS):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
        if least <= enough:
            break
    return least


TIMED = pytest.mark.flaky(reruns=2)
"""For tests that measure time: they are tried again before they fail, since other processes only ever add to it."""
