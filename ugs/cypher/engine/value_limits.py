"""Limit of nested values: a list of lists can be huge if written out, yet need little memory."""

from __future__ import annotations

from typing import Any

from ugs.cypher.engine.run import Run
from ugs.cypher.values.arithmetic import MAX_LIST
from ugs.errors import LimitExceeded


def check_nested_size(value: Any, run: Run) -> Any:
    """Return the value if it has at most `MAX_LIST` elements in all nested levels; else raise LimitExceeded."""
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
