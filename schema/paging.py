"""Pages as Relay has them: `first`/`after` forward, `last`/`before` backward, opaque cursors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import strawberry

from ugs.catalog import Table
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.reads.cursors import cursors_for
from ugs.reads.plan import Order, Page

MOST_ROWS = 10_000
USUAL_ROWS = 50


@strawberry.type(description="Where a page stands among all rows")
class PageInfo:
    has_next_page: bool = strawberry.field(description="More rows follow this page")
    has_previous_page: bool = strawberry.field(description="Rows stand before this page")
    start_cursor: str | None = strawberry.field(description="Cursor of the first row; null on an empty page")
    end_cursor: str | None = strawberry.field(description="Cursor of the last row; null on an empty page")


def page_size(arguments: Mapping[str, Any], name: str) -> int | None:
    """How many rows are asked for, checked against the limit."""
    size = arguments.get(name)
    if not isinstance(size, int):
        return None
    if size < 0:
        raise InvalidSyntax(f"{name} must not be negative")
    if size > MOST_ROWS:
        raise LimitExceeded(f"{name} is at most {MOST_ROWS}; page on with cursors", limit=MOST_ROWS)
    return size


def page_asked(arguments: Mapping[str, Any], table: Table, order: tuple[Order, ...], usual: int = USUAL_ROWS) -> Page:
    """The page that `first`, `after`, `last` and `before` describe."""
    first, last = page_size(arguments, "first"), page_size(arguments, "last")
    after, before = arguments.get("after"), arguments.get("before")
    if last is not None:
        if after is not None or first not in (None, usual):
            raise InvalidSyntax("last goes with before; for first and after ask without last")
        return Page(limit=last, after=_place(before, table, order), backward=True)
    if before is not None:
        raise InvalidSyntax("before goes with last: say how many rows before the cursor you want")
    return Page(limit=usual if first is None else first, after=_place(after, table, order))


def _place(cursor: str | None, table: Table, order: tuple[Order, ...]) -> tuple[Any, ...] | None:
    return None if cursor is None else cursors_for(table, order).place(cursor)


def page_info(page: Page, more: bool, cursors: Sequence[str]) -> PageInfo:
    """What to tell about a page; rows beyond the cursor it started from are known to exist."""
    started = page.after is not None
    return PageInfo(
        has_next_page=started if page.backward else more,
        has_previous_page=more if page.backward else started,
        start_cursor=cursors[0] if cursors else None,
        end_cursor=cursors[-1] if cursors else None,
    )
