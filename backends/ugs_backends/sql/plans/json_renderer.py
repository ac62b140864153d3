"""Compiles a rendering and its plan to one SQL expression that produces the JSON response.

Related rows are correlated subqueries, so one statement returns one text whatever the nesting. Numbers that the
database would format differently are marked and formatted in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.reads.cursors import JOINT, Cursors, cursors_for
from ugs.reads.plan import Nested, Read, full_order
from ugs.reads.rendering import (
    NULL,
    TRUTH,
    UNBOUNDED,
    Column,
    Cursor,
    EndCursor,
    Expression,
    FromRelated,
    HasMore,
    Items,
    PageTemplate,
    Piece,
    RelatedPage,
    RelatedRow,
    Rendering,
    RowTemplate,
    SumOfTotals,
    Text,
    Total,
    all_pieces,
    fields_of,
    is_further,
    json_of,
)
from ugs.tables import Field, Kind
from ugs_backends.sql.compiler.conditions import TRUE, Place
from ugs_backends.sql.compiler.statements import BoundStatement, Select, build_limit, build_walking_order
from ugs_backends.sql.dialect import Dialect, find_tie_index, quote_identifier

REFORMAT_MARK = "\x01"
"""A character that never occurs in JSON text; encloses the numbers that must be reformatted."""
TYPES = {str: "text", int: "int8"}
_SEAM = re.compile(r"(?<!')' \|\| '(?!')")
"""The seam of two adjacent literals, which are merged."""
_SIGN = REFORMAT_MARK.encode()
FALLBACK = "\x02"
"""Marks a response that must be rendered in Python; like `REFORMAT_MARK` it never occurs in JSON text."""
_FALLBACK = FALLBACK.encode()
MAX_INSTANT_MILLISECONDS = 253_402_300_799_999
"""The end of the year 9999; earlier and later instants than databases format are left to Python."""
_MARKED = re.compile(f"{REFORMAT_MARK}([^{REFORMAT_MARK}]*){REFORMAT_MARK}".encode())


ExpressionWriter = Callable[..., str]
"""Gets the expression and the SQL of its columns, and returns SQL for the JSON text."""


def _needs_cursors(root: RowTemplate | PageTemplate) -> bool:
    return any(isinstance(piece, Cursor | EndCursor) for piece in all_pieces(root))


def _is_writable(read: Read, cursors: bool) -> bool:
    plain = not cursors or cursors_for(read.table, read.order).is_plain
    return plain and all(_is_writable(nested.read, cursors) for nested in read.nest.values())


class _RenderedRead(Struct, frozen=True):
    """The context of a page that is being compiled."""

    read: Read
    place: Place
    cursors: Cursors
    tie: str
    inside: str
    """The FILTER clause that excludes the extra row behind the page."""


class JsonRenderer:
    """Builds the statement, in the SQL of PostgreSQL."""

    one_row: ClassVar[str] = " HAVING TRUE"
    """Makes the aggregate return exactly one record."""
    expressions: ClassVar[Mapping[type[Expression], ExpressionWriter]] = {}
    """The SQL of expressions, by their class."""

    def __init__(self, catalog: Catalog, dialect: Dialect) -> None:
        self.select = Select(catalog, dialect)
        self._aliases = 0

    @classmethod
    def is_writable(cls, plan: Read, rendering: Rendering) -> bool:
        """Whether the database can render the plan.

        It knows all expressions, and there are no cursors, or cursors of numbers and identifiers only.
        """
        pieces = [piece for piece in all_pieces(rendering.root) if isinstance(piece, Expression)]
        known = rendering.is_native_but_related and all(map(cls.can_compute, pieces))
        return known and _is_writable(plan, _needs_cursors(rendering.root))

    @classmethod
    def can_compute(cls, piece: Expression) -> bool:
        """Whether the database can compute an expression."""
        return type(piece) in cls.expressions

    @staticmethod
    def is_readable(statement: str) -> bool:
        """Whether the statement is within the limits of the database's parser."""
        return True

    @staticmethod
    def finish_numbers(text: Any) -> bytes | None:
        """The result with the marked numbers reformatted; None if the response must be rendered in Python."""
        found: bytes = text
        if _FALLBACK in found:
            return None
        return _MARKED.sub(lambda found: json_of(float(found[1])).encode(), found) if _SIGN in found else found

    @staticmethod
    def combine_calls(text: str, values: Sequence[Any]) -> str | None:
        """The statement for many sets of values at once; None where there is none."""
        return None

    @staticmethod
    def pack_values(text: str, columns: list[Sequence[Any]]) -> tuple[str, list[Sequence[Any]]]:
        """The statement for many sets and its columns of values, as they are sent."""
        return text, columns

    def column(self, field: Field, column: str) -> str:
        """The JSON text of a column."""
        if field.plain and field.format is None:
            return f"'\"' || {column} || '\"'"
        text = _COLUMNS[field.kind].format(self.select.dialect.readable(field, column))
        return f"coalesce({text}, 'null')" if field.nullable else text

    def count_as_text(self) -> str:
        """The count of rows as text."""
        return "count(*)::text"

    def integer_as_text(self, value: str) -> str:
        """An integer as text."""
        return f"({value})::text"

    def collect_rows(self, text: str, inside: str) -> str:
        """The texts of the rows of a page, joined by commas."""
        return f"coalesce(string_agg({text}, ','){inside}, '')"

    def statement(self, plan: Read, rendering: Rendering) -> BoundStatement:
        """The statement for one text, with its parameters."""
        root = rendering.root
        text = (
            self._build_page(plan, root, TRUE) if isinstance(root, PageTemplate) else self._build_row(plan, root, TRUE)
        )
        return self.return_text(text, rendering.max_bytes), self.select.parameters.values

    def return_text(self, text: str, max_bytes: int) -> str:
        """The statement for a text; bytes where possible, which avoids decoding and encoding.

        A text that is too long is not sent: the result is NULL. OFFSET keeps the text from being computed twice.
        """
        if max_bytes >= UNBOUNDED:
            return f"SELECT convert_to({text}, 'UTF8')"
        whole = f"SELECT {text} AS whole OFFSET 0"
        return (
            f"SELECT CASE WHEN octet_length(whole) <= {max_bytes} THEN convert_to(whole, 'UTF8') END FROM ({whole}) a"
        )

    def _create_place(self, read: Read) -> Place:
        self._aliases += 1
        return Place(read.table, f"t{self._aliases}")

    # ── one row ──────────────────────────────────────────────────────────────

    def _build_row(self, read: Read, body: RowTemplate, tie: str) -> str:
        """A subquery for the one row that meets the condition, or null."""
        place = self._create_place(read)
        condition = self.select.conditions.text(read.where, place)
        found = (
            f"FROM {quote_identifier(read.table.name)} {place.alias} WHERE {tie.format(place.alias)} AND {condition}"
        )
        return f"coalesce((SELECT {self._build_body(body, place, read, None)} {found}), 'null')"

    def _build_body(self, body: RowTemplate, place: Place, read: Read, cursors: Cursors | None) -> str:
        return _concatenate(self._build_piece(piece, place, read, cursors) for piece in body.pieces)

    def _build_piece(self, piece: Piece, place: Place, read: Read, cursors: Cursors | None) -> str:
        if isinstance(piece, Text):
            return _quote_literal(piece.text)
        if isinstance(piece, Column):
            return self.column(read.table.field(piece.field), place.column(piece.field))
        if isinstance(piece, Expression):
            return self.expressions[type(piece)](piece, *(place.column(name) for name in piece.fields))
        if isinstance(piece, Cursor):
            assert cursors is not None
            return _build_cursor(cursors, place)
        if isinstance(piece, FromRelated):
            return self._build_from_related(piece, place, read)
        return self._build_related(piece, place, read)

    def _build_from_related(self, piece: FromRelated, place: Place, read: Read) -> str:
        """A text computed from the numbers of related rows, or from whether there are any."""
        found = [self._build_found(read.nest[name], place, read) for name in piece.names]
        if isinstance(piece, SumOfTotals):
            return self.integer_as_text(" + ".join(f"(SELECT count(*) {rows})" for rows in found))
        return f"(CASE WHEN {' AND '.join(f'EXISTS (SELECT 1 {rows})' for rows in found)} THEN 'false' ELSE 'true' END)"

    def _build_found(self, nested: Nested, place: Place, read: Read) -> str:
        """The FROM clause for all related rows."""
        there, relation = self._create_place(nested.read), read.table.relations[nested.relation]
        index = find_tie_index(self.select.dialect, nested.read.table, relation.remote)
        tie = self._build_tie(nested, place, read).format(there.alias)
        condition = self.select.conditions.text(nested.read.where, there)
        return f"FROM {quote_identifier(nested.read.table.name)} {there.alias}{index} WHERE {tie} AND {condition}"

    def _build_related(self, piece: Piece, place: Place, read: Read) -> str:
        if isinstance(piece, RelatedRow):
            nested = read.nest[piece.name]
            return self._build_row(nested.read, piece.body, self._build_tie(nested, place, read))
        assert isinstance(piece, RelatedPage)
        nested = read.nest[piece.name]
        remote = read.table.relations[nested.relation].remote
        index = find_tie_index(self.select.dialect, nested.read.table, remote)
        return self._build_page(nested.read, piece.parts, self._build_tie(nested, place, read), index)

    def _build_tie(self, nested: Nested, place: Place, read: Read) -> str:
        """The join condition of a related row; its alias is filled in later."""
        relation = read.table.relations[nested.relation]
        remote = quote_identifier(nested.read.table.field(relation.remote).stored_as)
        return f"{{}}.{remote} = {place.column(relation.local)}"

    # ── pages ────────────────────────────────────────────────────────────────

    def _build_page(self, read: Read, parts: PageTemplate, tie: str, index: str = "") -> str:
        """A subquery for a page of the rows that meet the condition."""
        place, cursors = self._create_place(read), cursors_for(read.table, read.order)
        counted = any(isinstance(piece, HasMore | EndCursor) for piece in parts.pieces)
        columns = ", ".join(place.column(name) for name in _list_needed_fields(read, parts))
        limit = None if read.page.limit is None else read.page.limit + counted
        source = self._build_forward_rows(
            read, place, self._build_source(read, tie, place, columns, limit, index), counted
        )
        inside = f" FILTER (WHERE place <= {read.page.limit})" if counted and read.page.limit is not None else ""
        shown = _RenderedRead(read, place, cursors, tie, inside)
        text = _concatenate(self._build_part(piece, shown) for piece in parts.pieces)
        return f"(SELECT {text} FROM ({source}) {place.alias}{self.one_row})"

    def _build_forward_rows(self, read: Read, place: Place, source: str, counted: bool) -> str:
        """The rows of a page in forward order, numbered where that is needed."""
        if counted:
            # Up to one extra row was read; the count tells which row is the last of the page.
            numbers = "row_number() OVER () AS place, count(*) OVER () AS among"
            source = f"SELECT *, {numbers} FROM ({source}) {place.alias}"
        if not read.page.backward:
            return source
        # A backward page was read from its end.
        order = "place DESC" if counted else self.select.order(place, full_order(read.table, read.order))
        return f"SELECT * FROM ({source}) {place.alias} ORDER BY {order}"

    def _build_source(self, read: Read, tie: str, place: Place, columns: str, limit: int | None, index: str) -> str:
        walk = build_walking_order(read.table, read.order, read.page)
        # Related rows are found by their relation, and few enough to be sorted.
        whole = limit if tie == TRUE else None
        source, condition = self.select.page_source(place, read.where, walk, read.page, whole)
        return (
            f"SELECT {columns} FROM {source} {place.alias}{index} WHERE {tie.format(place.alias)} AND {condition} "
            f"ORDER BY {self.select.order(place, walk)}{build_limit(limit)}"
        )

    def _build_part(self, piece: Piece, shown: _RenderedRead) -> str:
        if isinstance(piece, Text):
            return _quote_literal(piece.text)
        if isinstance(piece, Total):
            return self._build_total(shown.read, shown.tie)
        if isinstance(piece, HasMore):
            return _build_has_more(piece, shown.read)
        if isinstance(piece, EndCursor):
            return _build_end_cursor(piece, shown)
        assert isinstance(piece, Items)
        text = self._build_body(piece.body, shown.place, shown.read, shown.cursors)
        return self.collect_rows(text, shown.inside)

    def _build_total(self, read: Read, tie: str) -> str:
        place = self._create_place(read)
        condition = self.select.conditions.text(read.where, place)
        counted = (
            f"FROM {quote_identifier(read.table.name)} {place.alias} WHERE {tie.format(place.alias)} AND {condition}"
        )
        return f"(SELECT {self.count_as_text()} {counted})"


def _list_needed_fields(read: Read, parts: PageTemplate) -> list[str]:
    """The fields needed to render the rows of a page."""
    pieces = [piece for part in parts.pieces if isinstance(part, Items) for piece in part.body.pieces]
    shown = {name for piece in pieces for name in fields_of(piece)}
    placed = {part.field for part in full_order(read.table, read.order)}
    ties = {read.table.relations[nested.relation].local for nested in read.nest.values()}
    return [name for name in read.table.names if name in shown | placed | ties]


def _build_has_more(piece: HasMore, read: Read) -> str:
    if piece.behind is read.page.backward or read.page.limit is None:
        return _quote_literal(TRUTH[is_further(read.page, False, piece.behind)])
    return f"(count(*) > {int(read.page.limit)})::text"


def _build_end_cursor(piece: EndCursor, shown: _RenderedRead) -> str:
    limit = shown.read.page.limit
    if limit == 0:
        return _quote_literal(NULL)
    end = "among" if limit is None else f"least(among, {int(limit)})"
    at = "1" if piece.last is shown.read.page.backward else end
    return f"coalesce(max({_build_cursor(shown.cursors, shown.place)}) FILTER (WHERE place = {at}), 'null')"


def _concatenate(parts: Iterable[str]) -> str:
    return "(" + _SEAM.sub("", " || ".join(parts)) + ")"


def _quote_literal(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


_REAL = (
    "CASE WHEN abs({0}) >= 0.001 AND abs({0}) < 1e15 THEN CASE WHEN {0} = trunc({0}) THEN {0}::int8::text || '.0' "
    f"ELSE {{0}}::text END ELSE '{REFORMAT_MARK}' || {{0}}::text || '{REFORMAT_MARK}' END"
)
_COLUMNS = {
    Kind.TEXT: "to_json({})::text",
    Kind.JSON: "{}",
    Kind.INTEGER: "{}::text",
    Kind.REAL: _REAL,
    Kind.BOOLEAN: "{}::text",
}


def _build_cursor(cursors: Cursors, place: Place) -> str:
    columns = f" || '{JOINT}' || ".join(f"{place.column(field.name)}::text" for field in cursors.fields)
    return f"'\"{cursors.head}{JOINT}' || {columns} || '\"'"
