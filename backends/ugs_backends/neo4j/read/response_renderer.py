"""Renders JSON directly from the lists that a statement returns, without creating rows.

The statement returns a list per row: the needed columns, then for each related read the list of its rows and, if
wanted, their total. One generated function per rendering, with a format string per kind of row, writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.reads.plan import Page, Read, ResultPage
from ugs.reads.rendering import (
    NULL,
    SOME_ROWS,
    UNBOUNDED,
    Column,
    Cursor,
    Expression,
    ItemsWriter,
    PageTemplate,
    RelatedPage,
    RelatedRow,
    RenderArgs,
    RowTemplate,
    RowWriter,
    Text,
    check_bytes,
    column_text,
    expression_text,
    formatted,
    json_of,
    page_writer,
    writing_names,
)
from ugs.tables import Kind, Row
from ugs_backends.neo4j.indexes.collation import from_ordered
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.read.count_columns import get_layout
from ugs_backends.neo4j.read.filters import Layouts
from ugs_backends.neo4j.read.projection import Projection

CACHE_SIZE = 10_000

Values = list[Any]
Write = Callable[..., str]
"""Renders a list of rows, with their total if there is one."""


class _Stored(dict[str | None, str]):
    """A cache of stored texts as JSON; nearly all are types, of which there are few."""

    def __missing__(self, stored: str | None) -> str:
        found = NULL if stored is None else json_of(from_ordered(stored))
        if len(self) < CACHE_SIZE:
            self[stored] = found
        return found


_STORED = _Stored()


class ResponseRenderer:
    """Generates the functions that render plans of one shape."""

    def __init__(self, layouts: Layouts, max_bytes: int = UNBOUNDED) -> None:
        self.layouts, self.max_bytes = layouts, max_bytes

    def answer(self, root: RowTemplate | PageTemplate, read: Read, shown: Projection) -> Write:
        """A function that renders the result of a statement."""
        return (
            self._build_page(root, read, shown)
            if isinstance(root, PageTemplate)
            else self._build_single(root, read, shown)
        )

    def _build_single(self, body: RowTemplate, read: Read, shown: Projection) -> Write:
        write = self._generate_row_writer(body, read, shown)
        return lambda lists, total=None: write(lists[0], read, [], None) if lists else NULL

    def _build_page(self, parts: PageTemplate, read: Read, shown: Projection) -> Write:
        made = self._build_row_maker(read, shown)
        write = page_writer(parts, lambda body: self._build_items(body, read, shown), made)

        def text(lists: list[Values], total: int | None = None) -> str:
            kept, more = drop_extra_row(lists, read.page)
            return write(ResultPage(kept, more, total), read, [])  # type: ignore[arg-type]

        return text

    def _build_items(self, body: RowTemplate, read: Read, shown: Projection) -> ItemsWriter:
        write = self._generate_row_writer(body, read, shown)
        most = self.max_bytes

        def text(rows: ResultPage, read: Read, late: RenderArgs, cursor: Any) -> str:
            texts: list[str] = []
            size = 0
            for start in range(0, len(rows.items), SOME_ROWS):
                some = [write(item, read, late, cursor) for item in rows.items[start : start + SOME_ROWS]]
                size += sum(map(len, some))
                check_bytes(size, most)
                texts += some
            return ",".join(texts)

        return text

    def _generate_row_writer(self, body: RowTemplate, read: Read, shown: Projection) -> RowWriter:
        """Generate a function that renders one row."""
        layout, names = get_layout(self.layouts, read.table), writing_names()
        columns = shown.columns(read, layout.columns)
        at = dict(zip(read.nest, list_places(read, len(columns)), strict=True))
        names |= {"stored": _STORED, "made": self._build_row_maker(read, shown), "from_ordered": from_ordered}
        texts = []
        for piece in body.pieces:
            if isinstance(piece, Text):
                texts.append(formatted(piece.text))
            elif isinstance(piece, Column):
                texts.append(_write_column(layout, piece.field, columns.index(piece.field)))
            elif isinstance(piece, Expression):
                values = [_write_value(layout, name, columns.index(name)) for name in piece.fields]
                texts.append(expression_text(piece, values, names))
            elif isinstance(piece, Cursor):
                texts.append('"{c(made(v))}"')
            else:
                assert isinstance(piece, RelatedRow | RelatedPage)
                names[f"k{len(names)}"] = self._build_related(piece, read, shown)
                place, counted = at[piece.name], read.nest[piece.name].read.total
                texts.append(f"{{k{len(names) - 1}(v[{place}]{f', v[{place + 1}]' if counted else ''})}}")
        exec(compile(f"def write(v, p, l, c):\n    return f'''{''.join(texts)}'''\n", "<rendering>", "exec"), names)
        write: RowWriter = names["write"]
        return write

    def _build_related(self, piece: RelatedRow | RelatedPage, read: Read, shown: Projection) -> Write:
        root = piece.body if isinstance(piece, RelatedRow) else piece.parts
        return self.answer(root, read.nest[piece.name].read, shown.nest[piece.name])

    def _build_row_maker(self, read: Read, shown: Projection) -> Callable[[Values], Row]:
        """A function that creates rows for cursors, which read only the fields of the order."""
        layout = get_layout(self.layouts, read.table)
        columns = shown.columns(read, layout.columns)
        order = [columns.index(name) if name in columns else None for name in layout.columns]
        return lambda values: layout.row([None if at is None else values[at] for at in order])


def _write_column(layout: Layout, name: str, at: int) -> str:
    field, have = layout.table.field(name), f"v[{at}]"
    return f"{{stored[{have}]}}" if field.kind is Kind.TEXT and not field.plain else column_text(field, have)


def _write_value(layout: Layout, name: str, at: int) -> str:
    """The expression of a column's value as the row has it."""
    field, have = layout.table.field(name), f"v[{at}]"
    return f"from_ordered({have})" if field.kind is Kind.TEXT and not field.plain else have


def list_places(read: Read, width: int) -> list[int]:
    """The index of each related read in a row's list."""
    found = []
    for nested in read.nest.values():
        found.append(width)
        width += 2 if nested.read.total else 1
    return found


def drop_extra_row(lists: list[Values], page: Page) -> tuple[list[Values], bool]:
    """The page in forward order without the extra row, and whether there was one."""
    more = page.limit is not None and len(lists) > page.limit
    kept = lists[: page.limit] if more else lists
    return (kept[::-1] if page.backward else kept), more
