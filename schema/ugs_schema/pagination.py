"""Relay pagination: `first`/`after` forward, `last`/`before` backward, opaque cursors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import strawberry

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.reads.cursors import cursors_for
from ugs.reads.plan import Order, Page
from ugs.tables import Table

MAX_ROWS = 10_000
DEFAULT_ROWS = 50
DEFAULT_NESTED_ROWS = 10
"""The default page of edges at a node: small, because such lists are nested."""


@strawberry.type(description="Where a page stands among all rows")
class PageInfo:
    has_next_page: bool = strawberry.field(description="More rows follow this page")
    has_previous_page: bool = strawberry.field(description="Rows stand before this page")
    start_cursor: str | None = strawberry.field(description="Cursor of the first row; null on an empty page")
    end_cursor: str | None = strawberry.field(description="Cursor of the last row; null on an empty page")


def parse_page_size(arguments: Mapping[str, Any], name: str) -> int | None:
    """The requested page size, checked against the limit."""
    size = arguments.get(name)
    if not isinstance(size, int):
        return None
    if size < 0:
        raise InvalidSyntax(f"{name} must not be negative")
    if size > MAX_ROWS:
        raise LimitExceeded(f"{name} is at most {MAX_ROWS}; page on with cursors", limit=MAX_ROWS)
    return size


def parse_page(
    arguments: Mapping[str, Any], table: Table, order: tuple[Order, ...], default_rows: int = DEFAULT_ROWS
) -> Page:
    """The page that `first`, `after`, `last` and `before` specify."""
    first, last = parse_page_size(arguments, "first"), parse_page_size(arguments, "last")
    after, before = arguments.get("after"), arguments.get("before")
    if last is not None:
        if after is not None or first not in (None, default_rows):
            raise InvalidSyntax("last goes with before; for first and after ask without last")
        return Page(limit=last, after=_parse_cursor(before, table, order), backward=True)
    if before is not None:
        raise InvalidSyntax("before goes with last: say how many rows before the cursor you want")
    return Page(limit=default_rows if first is None else first, after=_parse_cursor(after, table, order))


def _parse_cursor(cursor: str | None, table: Table, order: tuple[Order, ...]) -> tuple[Any, ...] | None:
    return None if cursor is None else cursors_for(table, order).place(cursor)


def build_page_info(page: Page, has_more: bool, cursors: Sequence[str]) -> PageInfo:
    """The `PageInfo` of a page. If it started from a cursor, rows on the other side of the cursor are known to
    exist."""
    has_start = page.after is not None
    return PageInfo(
        has_next_page=has_start if page.backward else has_more,
        has_previous_page=has_more if page.backward else has_start,
        start_cursor=cursors[0] if cursors else None,
        end_cursor=cursors[-1] if cursors else None,
    )
