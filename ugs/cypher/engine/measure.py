"""Keeping nested values finite: a list of a list of a list can be huge and yet cost little memory to make."""

from __future__ import annotations

from typing import Any

from ugs.cypher.engine.run import Run
from ugs.cypher.values.arithmetic import MAX_LIST
from ugs.errors import LimitExceeded


def measured(value: Any, run: Run) -> Any:
    """The value itself, when a walk through it would end in reasonable time."""
    items = value.values() if isinstance(value, dict) else value
    if any(isinstance(item, list | dict) for item in items):
        _measure(value, run)
    return value


def _measure(value: Any, run: Run) -> None:
    waiting, count = [value], 0
    while waiting:
        one = waiting.pop()
        inner = one.values() if isinstance(one, dict) else one
        count += len(inner)
        run.tick(len(inner) // 8 + 1)
        if count > MAX_LIST:
            raise LimitExceeded(f"A value grew beyond {MAX_LIST} elements", limit=MAX_LIST)
        waiting.extend(item for item in inner if isinstance(item, list | dict))
