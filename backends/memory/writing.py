"""Functions that write rows at hand as JSON, made once for each kind of row.

Everything is written as UTF-8 from the start. A long text with one letter beyond ASCII in it takes several times as
long to encode as it took to write, while pieces that are bytes already are only copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ugs.catalog import Row, Table
from ugs.reads.cursors import JOINT, cursors_for
from ugs.reads.plan import Order, Read, Rows
from ugs.reads.rendering import (
    Body,
    Column,
    Cursor,
    Items,
    Many,
    One,
    Parts,
    Piece,
    Text,
    column_text,
    formatted,
    part_writer,
    writing_names,
)

Related = Callable[[Any], bytes]
"""Writes what a value leads to."""
BareWriter = Callable[[Any, list[Related]], bytes]
"""Writes rows; what is related comes from functions of the fields that tie it, in the order of the pieces."""
PageWriter = Callable[[Rows, Read], bytes]


def row_writer(body: Body, ties: Mapping[str, str], order: tuple[Order, ...] = ()) -> BareWriter:
    """A function that writes one row."""
    return _made("r", *_row(body, ties, order))


def rows_writer(body: Body, ties: Mapping[str, str], order: tuple[Order, ...] = ()) -> BareWriter:
    """A function that writes rows of an order, between commas."""
    row, names = _row(body, ties, order)
    return _made("rows", f"b','.join([{row} for r in rows])", names)


def _made(argument: str, result: str, names: dict[str, Any]) -> BareWriter:
    exec(compile(f"def write({argument}, h):\n    return {result}\n", "<rendering>", "exec"), names)
    write: BareWriter = names["write"]
    return write


def _row(body: Body, ties: Mapping[str, str], order: tuple[Order, ...]) -> tuple[str, dict[str, Any]]:
    """The expression for a row `r`, and what it needs to know."""
    names = writing_names()
    parts = list(_parts(body, ties, order, names))
    return (parts[0] if len(parts) == 1 else f"b''.join(({', '.join(parts)},))"), names


def _parts(body: Body, ties: Mapping[str, str], order: tuple[Order, ...], names: dict[str, Any]) -> Iterator[str]:
    """Expressions for the stretches between what is related, and for what is related."""
    text, related = "", 0
    for piece in body.pieces:
        if isinstance(piece, One | Many):
            yield f"f'''{text}'''.encode()"
            yield f"h[{related}](r.{ties[piece.name]})"
            text, related = "", related + 1
        else:
            text += _written(piece, body.table, order, names)
    yield f"f'''{text}'''.encode()"


def _written(piece: Piece, table: Table, order: tuple[Order, ...], names: dict[str, Any]) -> str:
    """A piece in a format string."""
    if isinstance(piece, Text):
        return formatted(piece.text)
    if isinstance(piece, Column):
        return column_text(table.field(piece.field), f"r.{piece.field}")
    assert isinstance(piece, Cursor)
    cursors = cursors_for(table, order)
    if cursors.is_plain:
        columns = "".join(f"{JOINT}{{r.{field.name}}}" for field in cursors.fields)
        return f'"{formatted(cursors.head)}{columns}"'
    names["cursor"] = cursors.of
    return '"{cursor(r)}"'


def page_writer(parts: Parts, order: tuple[Order, ...], writer: Callable[[Body], Callable[[Any], bytes]]) -> PageWriter:
    """A function that writes a page of an order."""
    writers = [_part(piece, order, writer) for piece in parts.pieces]
    return lambda rows, read: b"".join([write(rows, read) for write in writers])


def _part(piece: Piece, order: tuple[Order, ...], writer: Callable[[Body], Callable[[Any], bytes]]) -> PageWriter:
    if isinstance(piece, Text):
        text = piece.text.encode()
        return lambda rows, read: text
    if isinstance(piece, Items):
        write = writer(piece.body)
        return lambda rows, read: write(rows.items)
    part = part_writer(piece, _itself)
    return lambda rows, read: part(rows, read, [], cursors_for(read.table, order).of).encode()


def _itself(row: Row) -> Row:
    return row
