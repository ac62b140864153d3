"""How SQLite writes statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from backends.sql.dialect import Dialect, Index, Parameters, Searched, Tied, quoted
from backends.sql.names import EVENTS
from backends.sql.sqlite import substrings
from backends.sql.sqlite.vectors import extension
from backends.sql.words import WordRows
from ugs.catalog import Field, Kind, Table
from ugs.reads.near import ALIKE

_encode = msgspec.json.Encoder().encode


class SqliteDialect(Dialect):
    """SQLite 3.35 and later."""

    name: ClassVar[str] = "sqlite"
    types: ClassVar[dict[Kind, str]] = {
        Kind.TEXT: "TEXT",
        Kind.JSON: "TEXT",
        Kind.INTEGER: "INTEGER",
        Kind.REAL: "REAL",
        Kind.BOOLEAN: "INTEGER",
        Kind.VECTOR: "BLOB",
    }

    words: ClassVar[WordRows] = WordRows()
    numbers_siblings: ClassVar[bool] = False
    # Without statistics SQLite guesses; the order of the pattern comes from a planner that has asked.
    orders_joins: ClassVar[bool] = False
    join: ClassVar[str] = "CROSS JOIN"
    recurses_twice: ClassVar[bool] = True
    no_path: ClassVar[str] = "','"

    def longer(self, path: str, id: str) -> str:
        return f"{path} || {id} || ','"

    def absent(self, path: str, id: str) -> str:
        return f"instr({path}, ',' || {id} || ',') = 0"

    def path_ids(self, path: Any) -> list[str]:
        # An id is made of letters, digits, `_`, `-` and `:`, so a comma ends it.
        return [id for id in path.split(",") if id]

    def placeholder(self, number: int) -> str:
        return "?"

    def score(self, column: str, vector: str) -> str:
        if extension() is None:
            return ""
        # All vectors have one length, so the angle tells the inner product, and its last digits are only noise.
        return f"CAST(round((1 - vec_distance_cosine({column}, {vector})) * {ALIKE}) AS INTEGER)"

    def member(self, column: str, kind: Kind, values: Sequence[Any], parameters: Parameters) -> str:
        if kind is Kind.REAL:
            # Floats in JSON may be rounded when they are read, so these are bound one by one.
            return f"{column} IN ({', '.join(parameters.bind(value) for value in values)})"
        return f"{column} IN (SELECT value FROM json_each({parameters.bind(_encode(values).decode())}))"

    def contains(self, text: str, part: str) -> str:
        return f"instr({text}, {part}) > 0"

    def substrings(self, table: Table, field: Field) -> Index | None:
        return substrings.index_of(table, field) if substrings.is_available() else None

    def finds(self, part: str) -> bool:
        return len(part) >= substrings.LENGTH and substrings.is_available()

    def narrowed(self, column: Searched, part: str, parameters: Parameters) -> str:
        if not self.finds(part):
            return ""
        mark = parameters.bind(substrings.asked(part))
        return f"{column.key} IN ({substrings.rows_with(column.table, column.field, mark)})"

    def candidates(self, column: Searched, part: str, parameters: Parameters) -> str:
        return substrings.numbers_with(column.table, column.field, parameters.bind(substrings.asked(part)))

    def ends(self, text: str, part: str, parameters: Parameters) -> str:
        return f"substr({text}, {-len(part)}) = {parameters.bind(part)}"

    def head(self, text: str) -> str:
        return text

    def direction(self, descending: bool, nullable: bool) -> str:
        return " DESC" if descending else ""

    def insert_many(self, table: str, columns: Sequence[tuple[str, Kind]]) -> str:
        names = ", ".join(quoted(name) for name, _ in columns)
        return f"INSERT INTO {quoted(table)} ({names}) VALUES ({', '.join('?' * len(columns))})"

    def update_many(self, table: str, columns: Sequence[tuple[str, Kind]], key: int) -> str:
        changed = ", ".join(f"{quoted(name)} = ?" for name, _ in columns[:-key])
        return f"UPDATE {quoted(table)} SET {changed} WHERE {_equals(columns[-key:])}"

    def delete_many(self, table: str, key: Sequence[tuple[str, Kind]]) -> str:
        return f"DELETE FROM {quoted(table)} WHERE {_equals(key)}"

    def first_per_tie(self, tied: Tied) -> str:
        # There is no LATERAL, but a list of row ids may depend on the row before it.
        first = (
            f"SELECT t.rowid FROM {tied.table} t{tied.index} WHERE {tied.remote} = ties.tie AND {tied.rest} "
            f"ORDER BY {tied.walk} LIMIT {tied.limit}"
        )
        return f"SELECT t.*, 0 AS place FROM ({tied.ties}) ties CROSS JOIN {tied.table} t WHERE t.rowid IN ({first})"

    def by_index(self, name: str) -> str:
        # Without statistics, which a young database does not have, SQLite takes any index for as good as another.
        return f" INDEXED BY {quoted(name)}"

    def guard_log(self) -> list[str]:
        return [
            f"CREATE TRIGGER IF NOT EXISTS events_{name} BEFORE {name} ON events "
            "BEGIN SELECT RAISE(ABORT, 'the event log is append-only'); END"
            for name in ("update", "delete")
        ]

    def empty(self, tables: Sequence[str]) -> list[str]:
        deletes = [f"DELETE FROM {quoted(table)}" for table in tables]
        if EVENTS not in tables:
            return deletes
        return ["DROP TRIGGER IF EXISTS events_delete", *deletes, *self.guard_log()]

    def table_names(self) -> str:
        return "SELECT name FROM sqlite_master WHERE type = 'table'"


def _equals(columns: Sequence[tuple[str, Kind]]) -> str:
    return " AND ".join(f"{quoted(name)} = ?" for name, _ in columns)
