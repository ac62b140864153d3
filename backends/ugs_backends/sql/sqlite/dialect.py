"""The SQL dialect of SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from ugs.reads.vector_search import ALIKE
from ugs.tables import Field, Kind, Table
from ugs_backends.sql.compiler.property_codec import INDEXED_PREFIX_LENGTH
from ugs_backends.sql.dialect import ColumnType, Dialect, Index, Parameters, SearchedColumn, TiedQuery, quote_identifier
from ugs_backends.sql.sqlite import trigram_index
from ugs_backends.sql.sqlite.exact_sum import EXACT_SUM
from ugs_backends.sql.sqlite.vector_extension import find_extension
from ugs_backends.sql.table_names import EVENTS
from ugs_backends.sql.write.word_index import WordRows

_encode = msgspec.json.Encoder().encode


class SqliteDialect(Dialect):
    """SQLite 3.35 and later."""

    name: ClassVar[str] = "sqlite"
    types: ClassVar[dict[ColumnType, str]] = {
        Kind.TEXT: "TEXT",
        Kind.JSON: "TEXT",
        Kind.INTEGER: "INTEGER",
        Kind.REAL: "REAL",
        Kind.BOOLEAN: "INTEGER",
        Kind.VECTOR: "BLOB",
    }

    words: ClassVar[WordRows] = WordRows()
    # Before, entries held whole values, by which rows with a long text are not in the order of sort keys.
    value_index: ClassVar[str] = "by_head"
    numbers_siblings: ClassVar[bool] = False
    # Without statistics SQLite guesses; the order of a pattern comes from our planner, which has counted rows.
    orders_joins: ClassVar[bool] = False
    join: ClassVar[str] = "CROSS JOIN"
    recurses_twice: ClassVar[bool] = True
    no_path: ClassVar[str] = "','"

    def longer(self, path: str, id: str) -> str:
        return f"{path} || {id} || ','"

    def absent(self, path: str, id: str) -> str:
        return f"instr({path}, ',' || {id} || ',') = 0"

    def path_ids(self, path: Any) -> list[str]:
        # Ids consist of letters, digits, `_`, `-` and `:`, so a comma separates them.
        return [id for id in path.split(",") if id]

    def placeholder(self, number: int) -> str:
        return "?"

    def score(self, column: str, vector: str) -> str:
        if find_extension() is None:
            return ""
        # All vectors have the same norm, so the cosine gives the inner product; rounding removes the float error.
        return f"CAST(round((1 - vec_distance_cosine({column}, {vector})) * {ALIKE}) AS INTEGER)"

    def member(self, column: str, kind: ColumnType, values: Sequence[Any], parameters: Parameters) -> str:
        if kind is Kind.REAL:
            # SQLite may round floats when it parses JSON, so these are bound one by one.
            return f"{column} IN ({', '.join(parameters.bind(value) for value in values)})"
        return f"{column} IN (SELECT value FROM json_each({parameters.bind(_encode(values).decode())}))"

    def sum_column(self, column: str) -> str:
        return f"{EXACT_SUM}({column})"

    def sum_property(self, encoded: str, json: str, key: str, is_number: str) -> str:
        return f"{EXACT_SUM}(CASE WHEN {is_number} THEN {encoded} END)"

    def contains(self, text: str, part: str) -> str:
        return f"instr({text}, {part}) > 0"

    def substrings(self, table: Table, field: Field) -> Index | None:
        return trigram_index.build_index(table, field) if trigram_index.is_available() else None

    def can_find(self, part: str) -> bool:
        return len(part) >= trigram_index.TRIGRAM_LENGTH and trigram_index.is_available()

    def narrow(self, column: SearchedColumn, part: str, parameters: Parameters) -> str:
        if not self.can_find(part):
            return ""
        mark = parameters.bind(trigram_index.build_match_query(part))
        return f"{column.key} IN ({trigram_index.find_rows(column.table, column.field, mark)})"

    def candidates(self, column: SearchedColumn, part: str, parameters: Parameters) -> str:
        return trigram_index.find_numbers(
            column.table, column.field, parameters.bind(trigram_index.build_match_query(part))
        )

    def ends(self, text: str, part: str, parameters: Parameters) -> str:
        return f"substr({text}, {-len(part)}) = {parameters.bind(part)}"

    def head(self, text: str) -> str:
        return f"substr({text}, 1, {INDEXED_PREFIX_LENGTH})"

    def direction(self, descending: bool, nullable: bool) -> str:
        return " DESC" if descending else ""

    def insert_many(self, table: str, columns: Sequence[tuple[str, ColumnType]]) -> str:
        names = ", ".join(quote_identifier(name) for name, _ in columns)
        return f"INSERT INTO {quote_identifier(table)} ({names}) VALUES ({', '.join('?' * len(columns))})"

    def update_many(self, table: str, columns: Sequence[tuple[str, ColumnType]], key: int) -> str:
        changed = ", ".join(f"{quote_identifier(name)} = ?" for name, _ in columns[:-key])
        return f"UPDATE {quote_identifier(table)} SET {changed} WHERE {_build_key_condition(columns[-key:])}"

    def delete_many(self, table: str, key: Sequence[tuple[str, ColumnType]]) -> str:
        return f"DELETE FROM {quote_identifier(table)} WHERE {_build_key_condition(key)}"

    def first_per_tie(self, tied: TiedQuery) -> str:
        # SQLite has no LATERAL, but an IN subquery of row ids may refer to the outer row.
        first = (
            f"SELECT t.rowid FROM {tied.table} t{tied.index} WHERE {tied.remote} = ties.tie AND {tied.rest} "
            f"ORDER BY {tied.walk} LIMIT {tied.limit}"
        )
        return f"SELECT t.*, 0 AS place FROM ({tied.ties}) ties CROSS JOIN {tied.table} t WHERE t.rowid IN ({first})"

    def by_index(self, name: str) -> str:
        # Without statistics, which a new database does not have, SQLite cannot tell which index is better.
        return f" INDEXED BY {quote_identifier(name)}"

    def guard_log(self) -> list[str]:
        return [
            f"CREATE TRIGGER IF NOT EXISTS events_{name} BEFORE {name} ON events "
            "BEGIN SELECT RAISE(ABORT, 'the event log is append-only'); END"
            for name in ("update", "delete")
        ]

    def empty(self, tables: Sequence[str]) -> list[str]:
        deletes = [f"DELETE FROM {quote_identifier(table)}" for table in tables]
        if EVENTS not in tables:
            return deletes
        return ["DROP TRIGGER IF EXISTS events_delete", *deletes, *self.guard_log()]

    def table_names(self) -> str:
        return "SELECT name FROM sqlite_master WHERE type = 'table'"


def _build_key_condition(columns: Sequence[tuple[str, ColumnType]]) -> str:
    return " AND ".join(f"{quote_identifier(name)} = ?" for name, _ in columns)
