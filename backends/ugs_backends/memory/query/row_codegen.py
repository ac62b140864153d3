"""Generates functions that render rows as JSON, one per row template.

They produce UTF-8 from the start: encoding a long text with one non-ASCII character takes several times as long as
writing it, whereas pieces that are already bytes are only copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ugs.reads.cursors import JOINT, cursors_for
from ugs.reads.plan import Order, Read, ResultPage
from ugs.reads.rendering import (
    Column,
    Cursor,
    Expression,
    Items,
    PageTemplate,
    Piece,
    RelatedPage,
    RelatedRow,
    RowTemplate,
    Text,
    column_text,
    expression_text,
    formatted,
    part_writer,
    writing_names,
)
from ugs.tables import Row, Table

Related = Callable[[Any], bytes]
"""Renders the related rows of a value."""
BareWriter = Callable[[Any, list[Related]], bytes]
"""Renders rows; related rows come from functions of the relations' columns, in the order of the pieces."""
PageWriter = Callable[[ResultPage, Read], bytes]


def generate_row_writer(body: RowTemplate, ties: Mapping[str, str], order: tuple[Order, ...] = ()) -> BareWriter:
    """Generate a function that renders one row."""
    return _compile_function("r", *_build_row_expression(body, ties, order))


def generate_rows_writer(body: RowTemplate, ties: Mapping[str, str], order: tuple[Order, ...] = ()) -> BareWriter:
    """Generate a function that renders rows, separated by commas."""
    row, names = _build_row_expression(body, ties, order)
    return _compile_function("rows", f"b','.join([{row} for r in rows])", names)


def _compile_function(argument: str, result: str, names: dict[str, Any]) -> BareWriter:
    exec(compile(f"def write({argument}, h):\n    return {result}\n", "<rendering>", "exec"), names)
    write: BareWriter = names["write"]
    return write


def _build_row_expression(
    body: RowTemplate, ties: Mapping[str, str], order: tuple[Order, ...]
) -> tuple[str, dict[str, Any]]:
    """The expression for a row `r`, and the names it uses."""
    names = writing_names()
    parts = list(_build_parts(body, ties, order, names))
    return (parts[0] if len(parts) == 1 else f"b''.join(({', '.join(parts)},))"), names


def _build_parts(
    body: RowTemplate, ties: Mapping[str, str], order: tuple[Order, ...], names: dict[str, Any]
) -> Iterator[str]:
    """Expressions for the related rows and for the text between them."""
    text, related = "", 0
    for piece in body.pieces:
        if isinstance(piece, RelatedRow | RelatedPage):
            yield f"f'''{text}'''.encode()"
            yield f"h[{related}](r.{ties[piece.name]})"
            text, related = "", related + 1
        else:
            text += _write_piece(piece, body.table, order, names)
    yield f"f'''{text}'''.encode()"


def _write_piece(piece: Piece, table: Table, order: tuple[Order, ...], names: dict[str, Any]) -> str:
    """A piece as part of an f-string."""
    if isinstance(piece, Text):
        return formatted(piece.text)
    if isinstance(piece, Column):
        return column_text(table.field(piece.field), f"r.{piece.field}")
    if isinstance(piece, Expression):
        return expression_text(piece, [f"r.{name}" for name in piece.fields], names)
    assert isinstance(piece, Cursor)
    cursors = cursors_for(table, order)
    if cursors.is_plain:
        columns = "".join(f"{JOINT}{{r.{field.name}}}" for field in cursors.fields)
        return f'"{formatted(cursors.head)}{columns}"'
    names["cursor"] = cursors.of
    return '"{cursor(r)}"'


def build_page_writer(
    parts: PageTemplate, order: tuple[Order, ...], writer: Callable[[RowTemplate], Callable[[Any], bytes]]
) -> PageWriter:
    """Build a function that renders a page."""
    writers = [_build_page_part(piece, order, writer) for piece in parts.pieces]
    return lambda rows, read: b"".join([write(rows, read) for write in writers])


def _build_page_part(
    piece: Piece, order: tuple[Order, ...], writer: Callable[[RowTemplate], Callable[[Any], bytes]]
) -> PageWriter:
    if isinstance(piece, Text):
        text = piece.text.encode()
        return lambda rows, read: text
    if isinstance(piece, Items):
        write = writer(piece.body)
        return lambda rows, read: write(rows.items)
    part = part_writer(piece, _return_row)
    return lambda rows, read: part(rows, read, [], cursors_for(read.table, order).of).encode()


def _return_row(row: Row) -> Row:
    return row
