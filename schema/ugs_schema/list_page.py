"""Pagination of plain lists: complete up to a number of rows, with `first` and `after` beyond it.

Without `first` a list is returned completely if it is short enough; else it is an error that names `first` and `after`.
It is never truncated silently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ugs.errors import InvalidSyntax, LimitExceeded

T = TypeVar("T")

MAX_UNPAGED_ROWS = 200
"""The most rows a list returns without `first`."""
MAX_ROWS = 500
"""The largest `first`."""

PAGING_DESCRIPTION = f"; more than {MAX_UNPAGED_ROWS} with `first` and `after` (the id of the last one)"
"""The sentence that the descriptions of such lists end with."""


def count_rows_to_read(first: int | None) -> int:
    """How many rows to read: `first`, or one more than the limit, to notice that it is exceeded."""
    if first is None:
        return MAX_UNPAGED_ROWS + 1
    if not 0 <= first <= MAX_ROWS:
        raise LimitExceeded(f"first lies between 0 and {MAX_ROWS}; go on with after", limit=MAX_ROWS)
    return first


def check_page(rows: Sequence[T], first: int | None) -> list[T]:
    """The rows; `LimitExceeded` if a list without `first` is too long."""
    if first is None and len(rows) > MAX_UNPAGED_ROWS:
        reason = f"The list has more than {MAX_UNPAGED_ROWS} rows: ask for it in parts with first and after"
        raise LimitExceeded(reason, limit=MAX_UNPAGED_ROWS)
    return list(rows)


def cut_page(
    rows: Sequence[T], first: int | None, after: str | None, id_of: Callable[[T], str], kind: str = ""
) -> list[T]:
    """The requested part of a complete list; `after` may be a global id, which begins with its kind."""
    size, begin = count_rows_to_read(first), 0
    after = None if after is None else after.removeprefix(kind)
    if after is not None:
        begin = next((place for place, row in enumerate(rows, 1) if id_of(row) == after), 0)
        if not begin:
            raise InvalidSyntax(f"after must be the id of a row of this list, got {after[:80]!r}")
    return check_page(rows[begin : begin + size], first)
