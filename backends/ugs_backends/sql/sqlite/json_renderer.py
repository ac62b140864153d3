"""Renders JSON in SQLite, for pages without cursors and page information.

SQLite formats numbers with at most 15 digits. If a number needs more, the result is marked and the response is
rendered in Python instead.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, ClassVar

from ugs.catalog import Catalog
from ugs.reads.plan import Read
from ugs.reads.rendering import (
    Cursor,
    EndCursor,
    Expression,
    HasMore,
    Items,
    PageTemplate,
    RelatedPage,
    Rendering,
    all_pieces,
)
from ugs.tables import Field, Kind
from ugs_backends.sql.plans.json_renderer import REFORMAT_MARK, JsonRenderer
from ugs_backends.sql.sqlite import json_expressions
from ugs_backends.sql.sqlite.dialect import SqliteDialect

# A number that survives the round trip through text has at most 15 digits, and Python writes the same ones; within
# these bounds neither uses an exponent. The first case is a shortcut for numbers of up to four decimals.
_REAL = (
    "CASE WHEN {0} >= 0.0001 AND {0} < 1e9 AND CAST({0} * 10000 + 0.5 AS INTEGER) / 10000.0 = {0} THEN {0} || '' "
    "WHEN ({0} || '') = '0.0' OR (abs({0}) >= 0.0001 AND abs({0}) < 1e15 AND CAST({0} || '' AS REAL) = {0}) "
    f"THEN {{0}} || '' ELSE '{REFORMAT_MARK}' END"
)
_COLUMNS = {
    Kind.TEXT: "json_quote({})",  # NULL becomes null
    Kind.JSON: "{}",
    Kind.INTEGER: "{}",
    Kind.REAL: _REAL,
    Kind.BOOLEAN: "CASE WHEN {} THEN 'true' ELSE 'false' END",
}

MAX_NESTED, MAX_JOINED = 22, 400
"""Limits of nested parentheses and of concatenations: SQLite's parser fails at about 25 and 1,000."""


class NumberedDialect(SqliteDialect):
    """Numbered parameters, since the parts of the statement are not compiled in the order of the text."""

    def placeholder(self, number: int) -> str:
        return f"?{number}"


class SqliteJsonRenderer(JsonRenderer):
    """Builds the statement in the SQL of SQLite."""

    one_row: ClassVar[str] = ""
    expressions = json_expressions.EXPRESSIONS

    def __init__(self, catalog: Catalog, dialect: SqliteDialect) -> None:
        super().__init__(catalog, NumberedDialect())

    @classmethod
    def is_writable(cls, plan: Read, rendering: Rendering) -> bool:
        pieces = list(all_pieces(rendering.root))
        pages = [piece.parts for piece in pieces if isinstance(piece, RelatedPage)]
        if isinstance(rendering.root, PageTemplate):
            pages.append(rendering.root)
        return (
            super().is_writable(plan, rendering)
            and not any(isinstance(piece, Cursor | EndCursor | HasMore) for piece in pieces)
            and all(any(isinstance(piece, Items) for piece in page.pieces) for page in pages)
        )

    @classmethod
    def can_compute(cls, piece: Expression) -> bool:
        return super().can_compute(piece) and json_expressions.is_writable(piece)

    @staticmethod
    def is_readable(statement: str) -> bool:
        deepest = max(accumulate((char == "(") - (char == ")") for char in statement))
        return deepest <= MAX_NESTED and statement.count("||") <= MAX_JOINED

    @staticmethod
    def finish_numbers(text: Any) -> bytes | None:
        return None if REFORMAT_MARK in text else text.encode()

    def return_text(self, text: str, max_bytes: int) -> str:
        return f"SELECT {text}"  # the connection limits how long a text may become

    def column(self, field: Field, column: str) -> str:
        if field.plain:
            return super().column(field, column)
        text = f"({_COLUMNS[field.kind].format(column)})"
        if not field.nullable or field.kind is Kind.TEXT:
            return text
        return f"(CASE WHEN {column} IS NULL THEN 'null' ELSE {text} END)"

    def count_as_text(self) -> str:
        return "count(*)"

    def integer_as_text(self, value: str) -> str:
        return f"({value})"

    def collect_rows(self, text: str, inside: str) -> str:
        return f"coalesce(group_concat({text}, ','), '')"
