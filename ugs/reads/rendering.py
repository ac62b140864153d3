"""Rendering of results as text: templates, as data, that a store may also execute itself.

A `Rendering` belongs to plans of one shape. Its pieces describe the output; rows keep JSON as text, so rendering is
mostly copying. A store that can build text returns the finished text; any other returns rows, which the functions
compiled here from the same pieces render. Both give the same characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Struct

from ugs.errors import AnswerTooLarge
from ugs.reads.cursors import cursors_for
from ugs.reads.plan import Page, Read, ResultPage, ResultRow
from ugs.tables import Field, Kind, Row, Table

NULL = "null"
RenderArgs = list[Any]
"""Values of arguments that are needed only for rendering, computed from the request's variables."""


class Piece(Struct, frozen=True, eq=False):
    """A part of a template."""


class Text(Piece, frozen=True, eq=False):
    """Literal text."""

    text: str


class Column(Piece, frozen=True, eq=False):
    """A field of the row as JSON; None becomes null."""

    field: str


class Computed(Piece, frozen=True, eq=False):
    """The result of a Python function of the row and its nested rows; not available to native rendering."""

    write: Callable[[ResultRow, RenderArgs], str]


class ComputedPart(Piece, frozen=True, eq=False):
    """A part of a page: the result of a Python function of the page; not available to native rendering."""

    write: Callable[[ResultPage, RenderArgs], str]


class Expression(Piece, frozen=True, eq=False):
    """JSON text computed from columns of the row alone (`ugs.reads.expressions`); stores may compute it natively."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns it is computed from."""
        raise NotImplementedError

    def text(self, *values: Any) -> str:
        """The JSON text, from the values of `fields`."""
        raise NotImplementedError


class RelatedRow(Piece, frozen=True, eq=False):
    """The related row of this name, or null."""

    name: str
    body: RowTemplate


class RelatedPage(Piece, frozen=True, eq=False):
    """The page of related rows of this name."""

    name: str
    parts: PageTemplate


class FromRelated(Piece, frozen=True, eq=False):
    """JSON text from the related rows of some names; a store that counts them itself may compute it natively."""

    names: tuple[str, ...]

    def write(self, result_row: ResultRow, render_args: RenderArgs) -> str:
        """The JSON text."""
        raise NotImplementedError


class SumOfTotals(FromRelated, frozen=True, eq=False):
    """How many related rows of all these names there are."""

    def write(self, result_row: ResultRow, render_args: RenderArgs) -> str:
        return str(sum(result_row.nest[name].total or 0 for name in self.names))


class AnyMissing(FromRelated, frozen=True, eq=False):
    """Whether there is no related row of one of these names."""

    def write(self, result_row: ResultRow, render_args: RenderArgs) -> str:
        return TRUTH[not all(result_row.nest[name].items for name in self.names)]


class Cases(Piece, frozen=True, eq=False):
    """One of several templates for the row, by the value of a field; not available to native rendering."""

    field: str
    bodies: Mapping[str, RowTemplate]


class Cursor(Piece, frozen=True, eq=False):
    """The cursor of the row, in quotes."""


class Items(Piece, frozen=True, eq=False):
    """The rows of the page, separated by commas."""

    body: RowTemplate


class Total(Piece, frozen=True, eq=False):
    """The total number of rows."""


class HasMore(Piece, frozen=True, eq=False):
    """Whether there are rows after the page (or before it)."""

    behind: bool


class EndCursor(Piece, frozen=True, eq=False):
    """The cursor of the last row (or of the first), or null."""

    last: bool


class RowTemplate(Struct, frozen=True, eq=False):
    """The template of a row of a table."""

    table: Table
    pieces: tuple[Piece, ...]


class PageTemplate(Struct, frozen=True, eq=False):
    """The template of a page of rows."""

    pieces: tuple[Piece, ...]


UNBOUNDED = 1 << 62
SOME_ROWS = 16
"""The size of the text is checked after every batch of this many rows."""


def check_bytes(size: int, max_bytes: int) -> None:
    """Raise if an answer exceeds the limit."""
    if size > max_bytes:
        raise answer_too_large(max_bytes)


def answer_too_large(max_bytes: int) -> AnswerTooLarge:
    """The error for an answer of more than `max_bytes` bytes."""
    return AnswerTooLarge(f"The answer has more than {max_bytes} bytes: ask for fewer rows or fields", limit=max_bytes)


class Rendering:
    """The template for plans of one shape: a single row or null, or a page."""

    def __init__(self, root: RowTemplate | PageTemplate) -> None:
        self.root = root
        self.max_bytes = UNBOUNDED
        """Maximum length of the text; stores abort rendering beyond it (`check_bytes`)."""
        pieces = list(all_pieces(root))
        self.is_native_but_related = not any(isinstance(piece, Computed | ComputedPart | Cases) for piece in pieces)
        """Whether a store can render it that knows the pieces of `FromRelated`."""
        self.is_native = self.is_native_but_related and not any(isinstance(piece, FromRelated) for piece in pieces)
        """Whether a store can render it, since no piece needs the row as a Python object."""

    @cached_property
    def write(self) -> Callable[[ResultPage, Read, RenderArgs], str]:
        """Compiled function that renders rows; built on first use."""
        root = self.root
        if isinstance(root, PageTemplate):
            return page_writer(root, lambda body: _items_writer(body, self))
        row = row_writer(root)
        return lambda rows, read, late: row(rows.items[0], read, late, None) if rows.items else NULL


def all_pieces(root: RowTemplate | PageTemplate) -> Iterator[Piece]:
    """All pieces, at any depth."""
    for piece in root.pieces:
        yield piece
        if isinstance(piece, RelatedRow | Items):
            yield from all_pieces(piece.body)
        elif isinstance(piece, RelatedPage):
            yield from all_pieces(piece.parts)


# ── rows into text ───────────────────────────────────────────────────────────

RowWriter = Callable[[ResultRow, Read, RenderArgs, Any], str]
PageWriter = Callable[[ResultPage, Read, RenderArgs], str]
_encode = msgspec.json.Encoder().encode


def json_of(value: Any) -> str:
    """A value as JSON text."""
    return _encode(value).decode()


LONGEST_KNOWN = 512
"""Longest encoded text that is cached."""
MAX_KNOWN = 10_000
"""How many encoded texts, or numbers, are cached."""


class _Known(dict[str | None, str]):
    """Bounded cache of texts encoded as JSON; most are types, of which there are few."""

    def __missing__(self, text: str | None) -> str:
        found = json_of(text)
        if len(self) < MAX_KNOWN and len(found) <= LONGEST_KNOWN:
            self[text] = found
        return found


class _Reals(dict[float, str]):
    """Bounded cache of floats encoded as JSON; weights are mostly a few round numbers."""

    def __missing__(self, number: float) -> str:
        found = json_of(float(number))
        if len(self) < MAX_KNOWN and number:  # 0.0 and -0.0 are the same dictionary key
            self[number] = found
        return found


_KNOWN, _REALS = _Known(), _Reals()


def writing_names() -> dict[str, Any]:
    """The global names that expressions of `column_text` use."""
    return {"known": _KNOWN, "reals": _REALS}


def row_writer(body: RowTemplate) -> RowWriter:
    """Compile a row template into a function that evaluates one f-string."""
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
    if isinstance(piece, Expression):
        return expression_text(piece, [f"r.{name}" for name in piece.fields], names)
    if isinstance(piece, Computed | FromRelated):
        return f"{{{_hold(piece.write, names)}(f, v)}}"
    if isinstance(piece, Cases):
        writers = {value: row_writer(inner) for value, inner in piece.bodies.items()}
        return f"{{{_hold(writers, names)}[r.{piece.field}](f, p, v, c)}}"
    return _related(piece, names)


def _related(piece: Piece, names: dict[str, Any]) -> str:
    if isinstance(piece, RelatedRow):
        write, name = _hold(row_writer(piece.body), names), _hold(piece.name, names)
        rows = f"n[{name}].items"
        return f"{{{write}({rows}[0], p.nest[{name}].read, v, None) if {rows} else 'null'}}"
    if isinstance(piece, RelatedPage):
        write, name = _hold(page_writer(piece.parts), names), _hold(piece.name, names)
        return f"{{{write}(n[{name}], p.nest[{name}].read, v)}}"
    raise TypeError(f"{type(piece).__name__} is no part of a row")


def expression_text(piece: Expression, values: Iterable[str], names: dict[str, Any]) -> str:
    """A computed value's expression in an f-string, from the expressions of its columns."""
    return f"{{{_hold(piece.text, names)}({', '.join(values)})}}"


def fields_of(piece: Piece) -> tuple[str, ...]:
    """The columns of the row that a piece is rendered from, apart from relations and cursors."""
    if isinstance(piece, Column):
        return (piece.field,)
    return piece.fields if isinstance(piece, Expression) else ()


def _hold(value: Any, names: dict[str, Any]) -> str:
    name = f"k{len(names)}"
    names[name] = value
    return name


def formatted(text: str) -> str:
    """A text escaped for use inside an f-string."""
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("{", "{{").replace("}", "}}")


def column_text(field: Field, have: str) -> str:
    """A field's expression in an f-string; `have` is the expression of its value."""
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
    parts: PageTemplate,
    writer: Callable[[RowTemplate], ItemsWriter] | None = None,
    row_of: Callable[[Any], Row] = attrgetter("row"),
) -> PageWriter:
    """Compile a page template; a store may pass its own kind of items, with a writer and an accessor for them."""
    writers = [
        (writer or _items_writer)(piece.body) if isinstance(piece, Items) else part_writer(piece, row_of)
        for piece in parts.pieces
    ]

    def write(rows: ResultPage, read: Read, late: RenderArgs) -> str:
        cursor = cursors_for(read.table, read.order).of
        return "".join([one(rows, read, late, cursor) for one in writers])

    return write


Part = Callable[[ResultPage, Read, RenderArgs, Callable[[Any], str]], str]
ItemsWriter = Part
"""Writes the items of a page, separated by commas."""


def _items_writer(body: RowTemplate, bounds: Rendering | None = None) -> ItemsWriter:
    row = row_writer(body)

    def write(rows: ResultPage, read: Read, late: RenderArgs, cursor: Any) -> str:
        items = rows.items
        if bounds is None or len(items) <= SOME_ROWS:
            return ",".join([row(item, read, late, cursor) for item in items])
        texts: list[str] = []
        size = 0
        for start in range(0, len(items), SOME_ROWS):
            some = [row(item, read, late, cursor) for item in items[start : start + SOME_ROWS]]
            size += sum(map(len, some))
            check_bytes(size, bounds.max_bytes)
            texts += some
        return ",".join(texts)

    return write


def part_writer(piece: Piece, row_of: Callable[[Any], Row]) -> Part:
    """Compile a piece of a page other than its items."""
    if isinstance(piece, Text):
        text = piece.text
        return lambda rows, read, late, cursor: text
    if isinstance(piece, Total):
        return lambda rows, read, late, cursor: str(rows.total or 0)
    if isinstance(piece, ComputedPart):
        compute = piece.write
        return lambda rows, read, late, cursor: compute(rows, late)
    if isinstance(piece, HasMore):
        behind = piece.behind
        return lambda rows, read, late, cursor: TRUTH[is_further(read.page, rows.more, behind)]
    if isinstance(piece, EndCursor):
        place = -1 if piece.last else 0
        return lambda rows, read, late, cursor: f'"{cursor(row_of(rows.items[place]))}"' if rows.items else NULL
    raise TypeError(f"{type(piece).__name__} is no part of a page")


TRUTH = {True: "true", False: "false"}


def is_further(page: Page, more: bool, behind: bool) -> bool:
    """Whether there are rows after the page (`behind`) or before it; a page with a cursor always has rows there."""
    return more if behind is not page.backward else page.after is not None
