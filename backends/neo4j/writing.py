"""Answers written from the lists that a statement returns, without making rows of them first.

The statement gives for each row a list: the columns that are shown, then for each related read the list of its rows
and, where asked, their number. One function per rendering, made of one format string per kind of row, writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.neo4j.counting import layout_of
from backends.neo4j.filters import Layouts
from backends.neo4j.layout import Layout
from backends.neo4j.shown import Shown
from backends.neo4j.texts import from_ordered
from ugs.catalog import Kind, Row
from ugs.reads.plan import Page, Read, Rows
from ugs.reads.rendering import (
    NULL,
    Body,
    Column,
    Cursor,
    ItemsWriter,
    Many,
    One,
    Parts,
    RowWriter,
    Text,
    column_text,
    formatted,
    json_of,
    page_writer,
    writing_names,
)

MOST_STORED = 10_000

Values = list[Any]
Write = Callable[..., str]
"""Writes a list of rows, and their number when there is one."""


class _Stored(dict[str | None, str]):
    """Texts as Neo4j keeps them, written as JSON; nearly all are types, which are few."""

    def __missing__(self, stored: str | None) -> str:
        found = NULL if stored is None else json_of(from_ordered(stored))
        if len(self) < MOST_STORED:
            self[stored] = found
        return found


_STORED = _Stored()


class Writing:
    """Makes the functions that write plans of one shape."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts

    def answer(self, root: Body | Parts, read: Read, shown: Shown) -> Write:
        """Writes what a statement returned."""
        return self._page(root, read, shown) if isinstance(root, Parts) else self._one(root, read, shown)

    def _one(self, body: Body, read: Read, shown: Shown) -> Write:
        write = self._row(body, read, shown)
        return lambda lists, total=None: write(lists[0], read, [], None) if lists else NULL

    def _page(self, parts: Parts, read: Read, shown: Shown) -> Write:
        made = self._maker(read, shown)
        write = page_writer(parts, lambda body: self._items(body, read, shown), made)

        def text(lists: list[Values], total: int | None = None) -> str:
            kept, more = without_extra(lists, read.page)
            return write(Rows(kept, more, total), read, [])  # type: ignore[arg-type]

        return text

    def _items(self, body: Body, read: Read, shown: Shown) -> ItemsWriter:
        write = self._row(body, read, shown)
        return lambda rows, read, late, cursor: ",".join([write(item, read, late, cursor) for item in rows.items])

    def _row(self, body: Body, read: Read, shown: Shown) -> RowWriter:
        """Writes one list."""
        layout, names = layout_of(self.layouts, read.table), writing_names()
        columns = shown.columns(read, layout.columns)
        at = dict(zip(read.nest, places(read, len(columns)), strict=True))
        names |= {"stored": _STORED, "made": self._maker(read, shown)}
        texts = []
        for piece in body.pieces:
            if isinstance(piece, Text):
                texts.append(formatted(piece.text))
            elif isinstance(piece, Column):
                texts.append(_column(layout, piece.field, columns.index(piece.field)))
            elif isinstance(piece, Cursor):
                texts.append('"{c(made(v))}"')
            else:
                assert isinstance(piece, One | Many)
                names[f"k{len(names)}"] = self._related(piece, read, shown)
                place, counted = at[piece.name], read.nest[piece.name].read.total
                texts.append(f"{{k{len(names) - 1}(v[{place}]{f', v[{place + 1}]' if counted else ''})}}")
        exec(compile(f"def write(v, p, l, c):\n    return f'''{''.join(texts)}'''\n", "<rendering>", "exec"), names)
        write: RowWriter = names["write"]
        return write

    def _related(self, piece: One | Many, read: Read, shown: Shown) -> Write:
        root = piece.body if isinstance(piece, One) else piece.parts
        return self.answer(root, read.nest[piece.name].read, shown.nest[piece.name])

    def _maker(self, read: Read, shown: Shown) -> Callable[[Values], Row]:
        """A row for cursors, which know only their own fields."""
        layout = layout_of(self.layouts, read.table)
        columns = shown.columns(read, layout.columns)
        order = [columns.index(name) if name in columns else None for name in layout.columns]
        return lambda values: layout.row([None if at is None else values[at] for at in order])


def _column(layout: Layout, name: str, at: int) -> str:
    field, have = layout.table.field(name), f"v[{at}]"
    return f"{{stored[{have}]}}" if field.kind is Kind.TEXT and not field.plain else column_text(field, have)


def places(read: Read, width: int) -> list[int]:
    """Where in a list the rows of each related read stand."""
    found = []
    for nested in read.nest.values():
        found.append(width)
        width += 2 if nested.read.total else 1
    return found


def without_extra(lists: list[Values], page: Page) -> tuple[list[Values], bool]:
    """The page proper in forward order, and whether the one row beyond it was there."""
    more = page.limit is not None and len(lists) > page.limit
    kept = lists[: page.limit] if more else lists
    return (kept[::-1] if page.backward else kept), more
