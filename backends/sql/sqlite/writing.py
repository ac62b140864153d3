"""Answers written by SQLite, where they are rows within rows: pages without cursors, whose rows are collected.

SQLite writes numbers with at most 15 digits. A number that is more than that makes it give up, and the answer is
written from rows instead.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, ClassVar

from backends.sql.sqlite.dialect import SqliteDialect
from backends.sql.writing import MARK, Writing
from ugs.catalog import Catalog, Field, Kind
from ugs.reads.plan import Read
from ugs.reads.rendering import Cursor, EndCursor, Further, Items, Many, Parts, Rendering, all_pieces

# What comes back as the number it was has at most 15 digits, and these are the ones we would write; between these
# bounds neither of us writes an exponent. Most numbers have four decimals at most, which is seen without a text.
_REAL = (
    "CASE WHEN {0} >= 0.0001 AND {0} < 1e9 AND CAST({0} * 10000 + 0.5 AS INTEGER) / 10000.0 = {0} THEN {0} || '' "
    "WHEN ({0} || '') = '0.0' OR (abs({0}) >= 0.0001 AND abs({0}) < 1e15 AND CAST({0} || '' AS REAL) = {0}) "
    f"THEN {{0}} || '' ELSE '{MARK}' END"
)
_COLUMNS = {
    Kind.TEXT: "json_quote({})",  # nothing becomes null
    Kind.JSON: "{}",
    Kind.INTEGER: "{}",
    Kind.REAL: _REAL,
    Kind.BOOLEAN: "CASE WHEN {} THEN 'true' ELSE 'false' END",
}

MOST_NESTED, MOST_JOINED = 22, 400
"""Parentheses within parentheses, and texts joined: SQLite's parser gives up at about 25 and 1,000."""


class NumberedDialect(SqliteDialect):
    """Parameters by number: what is written first need not stand first in the statement."""

    def placeholder(self, number: int) -> str:
        return f"?{number}"


class SqliteWriting(Writing):
    """Writes the statement as SQLite understands it."""

    one_row: ClassVar[str] = ""

    def __init__(self, catalog: Catalog, dialect: SqliteDialect) -> None:
        super().__init__(catalog, NumberedDialect())

    @staticmethod
    def is_writable(plan: Read, rendering: Rendering) -> bool:
        pieces = list(all_pieces(rendering.root))
        pages = [piece.parts for piece in pieces if isinstance(piece, Many)]
        if isinstance(rendering.root, Parts):
            pages.append(rendering.root)
        return (
            Writing.is_writable(plan, rendering)
            and not any(isinstance(piece, Cursor | EndCursor | Further) for piece in pieces)
            and all(any(isinstance(piece, Items) for piece in page.pieces) for page in pages)
        )

    @staticmethod
    def is_readable(statement: str) -> bool:
        deepest = max(accumulate((char == "(") - (char == ")") for char in statement))
        return deepest <= MOST_NESTED and statement.count("||") <= MOST_JOINED

    @staticmethod
    def finished(text: Any) -> bytes | None:
        return None if MARK in text else text.encode()

    def given(self, text: str) -> str:
        return text

    def column(self, field: Field, column: str) -> str:
        if field.plain:
            return super().column(field, column)
        text = f"({_COLUMNS[field.kind].format(column)})"
        if not field.nullable or field.kind is Kind.TEXT:
            return text
        return f"(CASE WHEN {column} IS NULL THEN 'null' ELSE {text} END)"

    def counted(self) -> str:
        return "count(*)"

    def collected(self, text: str, inside: str) -> str:
        return f"coalesce(group_concat({text}, ','), '')"
