"""Answers written by the database: a rendering and its plan as one expression that is the finished text.

Related rows are subqueries inside the text of their parents, so one statement gives one text whatever the nesting.
Numbers that the database would write differently than we do are marked, and seen to on this side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from backends.sql.conditions import TRUE, Place
from backends.sql.dialect import Dialect, quoted, tie_index
from backends.sql.statements import Bound, Select, limit_of, walking_order
from ugs.catalog import Catalog, Field, Kind
from ugs.reads.cursors import JOINT, Cursors, cursors_for
from ugs.reads.plan import Nested, Read, full_order
from ugs.reads.rendering import (
    NULL,
    TRUTH,
    Body,
    Column,
    Cursor,
    EndCursor,
    Further,
    Items,
    Many,
    One,
    Parts,
    Piece,
    Rendering,
    Text,
    Total,
    all_pieces,
    is_further,
    json_of,
)

MARK = "\x01"
"""Stands in no JSON text, so it can stand around what is to be written again."""
TYPES = {str: "text", int: "int8"}
_SEAM = re.compile(r"(?<!')' \|\| '(?!')")
"""Where one literal ends and the next begins; together they are one."""
_SIGN = MARK.encode()
_MARKED = re.compile(f"{MARK}([^{MARK}]*){MARK}".encode())


def _needs_cursors(root: Body | Parts) -> bool:
    return any(isinstance(piece, Cursor | EndCursor) for piece in all_pieces(root))


def _is_writable(read: Read, cursors: bool) -> bool:
    plain = not cursors or cursors_for(read.table, read.order).is_plain
    return plain and all(_is_writable(nested.read, cursors) for nested in read.nest.values())


class _Shown(Struct, frozen=True):
    """A page while it is written."""

    read: Read
    place: Place
    cursors: Cursors
    tie: str
    inside: str
    """Leaves out the row beyond the page."""


class Writing:
    """Writes the statement that writes the answer, spelled as PostgreSQL understands it."""

    one_row: ClassVar[str] = " HAVING TRUE"
    """Makes it one row, whatever there is to collect."""

    def __init__(self, catalog: Catalog, dialect: Dialect) -> None:
        self.select = Select(catalog, dialect)
        self._aliases = 0

    @staticmethod
    def is_writable(plan: Read, rendering: Rendering) -> bool:
        """Whether the database can write the answer: no cursors, or cursors of numbers and identifiers."""
        return rendering.is_native and _is_writable(plan, _needs_cursors(rendering.root))

    @staticmethod
    def is_readable(statement: str) -> bool:
        """Whether the database can read such a statement."""
        return True

    @staticmethod
    def finished(text: Any) -> bytes | None:
        """What the database gave, with the marked numbers as we write them; None when we must write it after all."""
        found: bytes = text
        return _MARKED.sub(lambda found: json_of(float(found[1])).encode(), found) if _SIGN in found else found

    @staticmethod
    def together(text: str, values: Sequence[Any]) -> str | None:
        """The statement for many sets of values at once; None where there is no such statement."""
        return None

    @staticmethod
    def sent(text: str, columns: list[Sequence[Any]]) -> tuple[str, list[Sequence[Any]]]:
        """The statement for many as it is sent, with a column of values for each of its parameters."""
        return text, columns

    def column(self, field: Field, column: str) -> str:
        """A field as the JSON that we write."""
        if field.plain:
            return f"'\"' || {column} || '\"'"
        text = _COLUMNS[field.kind].format(column)
        return f"coalesce({text}, 'null')" if field.nullable else text

    def counted(self) -> str:
        """How many rows there are, as text."""
        return "count(*)::text"

    def collected(self, text: str, inside: str) -> str:
        """The texts of the rows of a page, between commas."""
        return f"coalesce(string_agg({text}, ','){inside}, '')"

    def statement(self, plan: Read, rendering: Rendering) -> Bound:
        """A query for one text, and the values of its parameters."""
        root = rendering.root
        text = self._page(plan, root, TRUE) if isinstance(root, Parts) else self._row(plan, root, TRUE)
        return f"SELECT {self.given(text)}", self.select.parameters.values

    def given(self, text: str) -> str:
        """The text as the database hands it over; as bytes where it can, since nobody here reads the letters."""
        return f"convert_to({text}, 'UTF8')"

    def _place(self, read: Read) -> Place:
        self._aliases += 1
        return Place(read.table, f"t{self._aliases}")

    # ── one row ──────────────────────────────────────────────────────────────

    def _row(self, read: Read, body: Body, tie: str) -> str:
        """The one row that meets the condition, or null."""
        place = self._place(read)
        condition = self.select.conditions.text(read.where, place)
        found = f"FROM {quoted(read.table.name)} {place.alias} WHERE {tie.format(place.alias)} AND {condition}"
        return f"coalesce((SELECT {self._body(body, place, read, None)} {found}), 'null')"

    def _body(self, body: Body, place: Place, read: Read, cursors: Cursors | None) -> str:
        return _concatenated(self._piece(piece, place, read, cursors) for piece in body.pieces)

    def _piece(self, piece: Piece, place: Place, read: Read, cursors: Cursors | None) -> str:
        if isinstance(piece, Text):
            return _literal(piece.text)
        if isinstance(piece, Column):
            return self.column(read.table.field(piece.field), place.column(piece.field))
        if isinstance(piece, Cursor):
            assert cursors is not None
            return _cursor(cursors, place)
        return self._related(piece, place, read)

    def _related(self, piece: Piece, place: Place, read: Read) -> str:
        if isinstance(piece, One):
            nested = read.nest[piece.name]
            return self._row(nested.read, piece.body, self._tie(nested, place, read))
        assert isinstance(piece, Many)
        nested = read.nest[piece.name]
        remote = read.table.relations[nested.relation].remote
        index = tie_index(self.select.dialect, nested.read.table, remote)
        return self._page(nested.read, piece.parts, self._tie(nested, place, read), index)

    def _tie(self, nested: Nested, place: Place, read: Read) -> str:
        """What ties a related row to this one; the name of its table is filled in later."""
        relation = read.table.relations[nested.relation]
        remote = quoted(nested.read.table.field(relation.remote).stored_as)
        return f"{{}}.{remote} = {place.column(relation.local)}"

    # ── pages ────────────────────────────────────────────────────────────────

    def _page(self, read: Read, parts: Parts, tie: str, index: str = "") -> str:
        """A page of the rows that meet the condition."""
        place, cursors = self._place(read), cursors_for(read.table, read.order)
        counted = any(isinstance(piece, Further | EndCursor) for piece in parts.pieces)
        columns = ", ".join(place.column(name) for name in _needed(read, parts))
        limit = None if read.page.limit is None else read.page.limit + counted
        source = self._turned(read, place, self._source(read, tie, place, columns, limit_of(limit), index), counted)
        inside = f" FILTER (WHERE place <= {read.page.limit})" if counted and read.page.limit is not None else ""
        shown = _Shown(read, place, cursors, tie, inside)
        text = _concatenated(self._part(piece, shown) for piece in parts.pieces)
        return f"(SELECT {text} FROM ({source}) {place.alias}{self.one_row})"

    def _turned(self, read: Read, place: Place, source: str, counted: bool) -> str:
        """The rows of a page as they are shown, counted where that matters."""
        if counted:
            # The page has one row fewer; how many there are says which is its last.
            numbers = "row_number() OVER () AS place, count(*) OVER () AS among"
            source = f"SELECT *, {numbers} FROM ({source}) {place.alias}"
        if not read.page.backward:
            return source
        # It was walked from its end, and is shown from its start.
        order = "place DESC" if counted else self.select.order(place, full_order(read.table, read.order))
        return f"SELECT * FROM ({source}) {place.alias} ORDER BY {order}"

    def _source(self, read: Read, tie: str, place: Place, columns: str, limit: str, index: str) -> str:
        walk = walking_order(read.table, read.order, read.page)
        condition = self.select.condition(place, read.where, walk, read.page)
        return (
            f"SELECT {columns} FROM {self.select.source(read.table, read.where)} {place.alias}{index} "
            f"WHERE {tie.format(place.alias)} AND {condition} "
            f"ORDER BY {self.select.order(place, walk)}{limit}"
        )

    def _part(self, piece: Piece, shown: _Shown) -> str:
        if isinstance(piece, Text):
            return _literal(piece.text)
        if isinstance(piece, Total):
            return self._total(shown.read, shown.tie)
        if isinstance(piece, Further):
            return _further(piece, shown.read)
        if isinstance(piece, EndCursor):
            return _end_cursor(piece, shown)
        assert isinstance(piece, Items)
        text = self._body(piece.body, shown.place, shown.read, shown.cursors)
        return self.collected(text, shown.inside)

    def _total(self, read: Read, tie: str) -> str:
        place = self._place(read)
        condition = self.select.conditions.text(read.where, place)
        counted = f"FROM {quoted(read.table.name)} {place.alias} WHERE {tie.format(place.alias)} AND {condition}"
        return f"(SELECT {self.counted()} {counted})"


def _needed(read: Read, parts: Parts) -> list[str]:
    """The fields that writing the rows of a page takes."""
    pieces = [piece for part in parts.pieces if isinstance(part, Items) for piece in part.body.pieces]
    shown = {piece.field for piece in pieces if isinstance(piece, Column)}
    placed = {part.field for part in full_order(read.table, read.order)}
    ties = {read.table.relations[nested.relation].local for nested in read.nest.values()}
    return [name for name in read.table.names if name in shown | placed | ties]


def _further(piece: Further, read: Read) -> str:
    if piece.behind is read.page.backward or read.page.limit is None:
        return _literal(TRUTH[is_further(read.page, False, piece.behind)])
    return f"(count(*) > {int(read.page.limit)})::text"


def _end_cursor(piece: EndCursor, shown: _Shown) -> str:
    limit = shown.read.page.limit
    if limit == 0:
        return _literal(NULL)
    end = "among" if limit is None else f"least(among, {int(limit)})"
    at = "1" if piece.last is shown.read.page.backward else end
    return f"coalesce(max({_cursor(shown.cursors, shown.place)}) FILTER (WHERE place = {at}), 'null')"


def _concatenated(parts: Iterable[str]) -> str:
    return "(" + _SEAM.sub("", " || ".join(parts)) + ")"


def _literal(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


_REAL = (
    "CASE WHEN abs({0}) >= 0.001 AND abs({0}) < 1e15 THEN CASE WHEN {0} = trunc({0}) THEN {0}::int8::text || '.0' "
    f"ELSE {{0}}::text END ELSE '{MARK}' || {{0}}::text || '{MARK}' END"
)
_COLUMNS = {
    Kind.TEXT: "to_json({})::text",
    Kind.JSON: "{}",
    Kind.INTEGER: "{}::text",
    Kind.REAL: _REAL,
    Kind.BOOLEAN: "{}::text",
}


def _cursor(cursors: Cursors, place: Place) -> str:
    columns = f" || '{JOINT}' || ".join(f"{place.column(field.name)}::text" for field in cursors.fields)
    return f"'\"{cursors.head}{JOINT}' || {columns} || '\"'"
