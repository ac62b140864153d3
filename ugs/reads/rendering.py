"""Answers as text: what to write for each row of a plan, as a value that a store may follow itself.

A `Rendering` belongs to plans of one shape. Its pieces say which text stands where; rows keep their JSON as text, so
writing one out is mostly copying. A store that can build text answers with the finished text, any other gives rows,
and the function made here of the same pieces writes them. Both give the same characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Struct

from ugs.catalog import Field, Kind, Row, Table
from ugs.reads.cursors import cursors_for
from ugs.reads.plan import Found, Page, Read, Rows

NULL = "null"
Late = list[Any]
"""What the variables of a request made of the arguments that only writing needs."""


class Piece(Struct, frozen=True, eq=False):
    """A part of the text."""


class Text(Piece, frozen=True, eq=False):
    """These characters."""

    text: str


class Column(Piece, frozen=True, eq=False):
    """A field of the row as JSON; nothing is null."""

    field: str


class Made(Piece, frozen=True, eq=False):
    """What a function makes of the row and what came along with it; only rows can be written this way."""

    write: Callable[[Found, Late], str]


class One(Piece, frozen=True, eq=False):
    """The related row of this name, or null."""

    name: str
    body: Body


class Many(Piece, frozen=True, eq=False):
    """The page of related rows of this name."""

    name: str
    parts: Parts


class Cases(Piece, frozen=True, eq=False):
    """One of several bodies of the row itself, by the value of a field; only rows can be written this way."""

    field: str
    bodies: Mapping[str, Body]


class Cursor(Piece, frozen=True, eq=False):
    """The cursor of the row, in quotes."""


class Items(Piece, frozen=True, eq=False):
    """Every row of the page, between commas."""

    body: Body


class Total(Piece, frozen=True, eq=False):
    """How many rows there are in all."""


class Further(Piece, frozen=True, eq=False):
    """Whether rows stand behind the page (or in front of it)."""

    behind: bool


class EndCursor(Piece, frozen=True, eq=False):
    """The cursor of the last row (or of the first), or null."""

    last: bool


class Body(Struct, frozen=True, eq=False):
    """What is written for a row of a table."""

    table: Table
    pieces: tuple[Piece, ...]


class Parts(Struct, frozen=True, eq=False):
    """What is written for a page of rows."""

    pieces: tuple[Piece, ...]

    @property
    def tells_more(self) -> bool:
        """Whether it matters that rows follow."""
        return any(isinstance(piece, Further) for piece in self.pieces)


class Rendering:
    """How plans of one shape are written: a single row or null, or a page."""

    def __init__(self, root: Body | Parts) -> None:
        self.root = root
        self.is_native: bool = all(not isinstance(piece, Made | Cases) for piece in all_pieces(root))
        """Whether nothing in it needs the rows themselves."""

    @cached_property
    def write(self) -> Callable[[Rows, Read, Late], str]:
        """Writes rows that a store gave."""
        root = self.root
        if isinstance(root, Parts):
            return page_writer(root)
        row = row_writer(root)
        return lambda rows, read, late: row(rows.items[0], read, late, None) if rows.items else NULL


def all_pieces(root: Body | Parts) -> Iterator[Piece]:
    """Every piece, however deep."""
    for piece in root.pieces:
        yield piece
        if isinstance(piece, One | Items):
            yield from all_pieces(piece.body)
        elif isinstance(piece, Many):
            yield from all_pieces(piece.parts)


# ── rows into text ───────────────────────────────────────────────────────────

RowWriter = Callable[[Found, Read, Late, Any], str]
PageWriter = Callable[[Rows, Read, Late], str]
_encode = msgspec.json.Encoder().encode


def json_of(value: Any) -> str:
    """A value as JSON text."""
    return _encode(value).decode()


class _Known(dict[str | None, str]):
    """Texts as JSON; types are few, so each is encoded once."""

    def __missing__(self, text: str | None) -> str:
        found = json_of(text)
        if len(self) < 10_000:
            self[text] = found
        return found


class _Reals(dict[float, str]):
    """Numbers as JSON; weights are mostly a few round ones."""

    def __missing__(self, number: float) -> str:
        found = json_of(float(number))
        if len(self) < 10_000 and number:  # zero has two signs, which look alike to a dictionary
            self[number] = found
        return found


_KNOWN, _REALS = _Known(), _Reals()


def writing_names() -> dict[str, Any]:
    """What the expressions of `column_text` need to know."""
    return {"known": _KNOWN, "reals": _REALS}


def row_writer(body: Body) -> RowWriter:
    """A function that writes a row, made of one format string."""
    names = writing_names()
    text = "".join(_expression(piece, body.table, names) for piece in body.pieces)
    source = f"def write(f, p, v, c):\n    r = f.row\n    n = f.nest\n    return f'''{text}'''\n"
    exec(compile(source, "<rendering>", "exec"), names)
    write: RowWriter = names["write"]
    return write


def _expression(piece: Piece, table: Table, names: dict[str, Any]) -> str:
    if isinstance(piece, Text):
        return formatted(piece.text)
    if isinstance(piece, Column):
        return column_text(table.field(piece.field), f"r.{piece.field}")
    if isinstance(piece, Cursor):
        return '"{c(r)}"'
    if isinstance(piece, Made):
        return f"{{{_hold(piece.write, names)}(f, v)}}"
    if isinstance(piece, Cases):
        writers = {value: row_writer(inner) for value, inner in piece.bodies.items()}
        return f"{{{_hold(writers, names)}[r.{piece.field}](f, p, v, c)}}"
    return _related(piece, names)


def _related(piece: Piece, names: dict[str, Any]) -> str:
    if isinstance(piece, One):
        write, name = _hold(row_writer(piece.body), names), _hold(piece.name, names)
        rows = f"n[{name}].items"
        return f"{{{write}({rows}[0], p.nest[{name}].read, v, None) if {rows} else 'null'}}"
    if isinstance(piece, Many):
        write, name = _hold(page_writer(piece.parts), names), _hold(piece.name, names)
        return f"{{{write}(n[{name}], p.nest[{name}].read, v)}}"
    raise TypeError(f"{type(piece).__name__} is no part of a row")


def _hold(value: Any, names: dict[str, Any]) -> str:
    name = f"k{len(names)}"
    names[name] = value
    return name


def formatted(text: str) -> str:
    """A text inside a format string."""
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("{", "{{").replace("}", "}}")


def column_text(field: Field, have: str) -> str:
    """A field in a format string; `have` is the expression for its value."""
    text = _COLUMNS[field.kind].format(have) if not field.plain else f'"{{{have}}}"'
    if not field.nullable or field.kind is Kind.TEXT:
        return text
    return f"{{'null' if {have} is None else {text[1:-1]}}}"


_COLUMNS = {
    Kind.TEXT: "{{known[{}]}}",
    Kind.JSON: "{{{}}}",
    Kind.INTEGER: "{{{}}}",
    Kind.REAL: "{{reals[{}]}}",
    Kind.BOOLEAN: "{{'true' if {} else 'false'}}",
}


def page_writer(
    parts: Parts,
    writer: Callable[[Body], ItemsWriter] | None = None,
    row_of: Callable[[Any], Row] = attrgetter("row"),
) -> PageWriter:
    """A function that writes a page; a store may bring its own items, and writers for them."""
    writers = [
        (writer or _items_writer)(piece.body) if isinstance(piece, Items) else part_writer(piece, row_of)
        for piece in parts.pieces
    ]

    def write(rows: Rows, read: Read, late: Late) -> str:
        cursor = cursors_for(read.table, read.order).of
        return "".join([one(rows, read, late, cursor) for one in writers])

    return write


Part = Callable[[Rows, Read, Late, Callable[[Any], str]], str]
ItemsWriter = Part
"""Writes the items of a page, between commas."""


def _items_writer(body: Body) -> ItemsWriter:
    row = row_writer(body)
    return lambda rows, read, late, cursor: ",".join([row(item, read, late, cursor) for item in rows.items])


def part_writer(piece: Piece, row_of: Callable[[Any], Row]) -> Part:
    """A function that writes what stands around the items of a page."""
    if isinstance(piece, Text):
        text = piece.text
        return lambda rows, read, late, cursor: text
    if isinstance(piece, Total):
        return lambda rows, read, late, cursor: str(rows.total or 0)
    if isinstance(piece, Further):
        behind = piece.behind
        return lambda rows, read, late, cursor: TRUTH[is_further(read.page, rows.more, behind)]
    if isinstance(piece, EndCursor):
        place = -1 if piece.last else 0
        return lambda rows, read, late, cursor: f'"{cursor(row_of(rows.items[place]))}"' if rows.items else NULL
    raise TypeError(f"{type(piece).__name__} is no part of a page")


TRUTH = {True: "true", False: "false"}


def is_further(page: Page, more: bool, behind: bool) -> bool:
    """Whether rows stand behind the page, or in front of it; those before the place it starts from are known."""
    return more if behind is not page.backward else page.after is not None
