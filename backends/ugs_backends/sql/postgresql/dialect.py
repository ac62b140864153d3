"""The SQL dialect of PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from ugs.tables import Field, Kind, Table
from ugs_backends.sql.compiler.property_codec import INDEXED_PREFIX_LENGTH
from ugs_backends.sql.dialect import (
    Dialect,
    Index,
    Parameters,
    SearchedColumn,
    TiedQuery,
    quote_identifier,
    quote_literal,
)
from ugs_backends.sql.postgresql.word_index import WordArrays
from ugs_backends.sql.table_names import shorten
from ugs_backends.sql.write.word_index import WordRows

ESTIMATE = re.compile(r"\brows=(\d+)")
WIPING = "ugs.wiping"
"""The setting that allows a transaction to empty the log."""
TRIGRAM = 3
"""Shorter substrings contain no trigram and cannot use the index."""
SPECIAL = re.compile(r"[%_\\]")
LARGE_TEXT_BYTES = 1 << 20
"""Tables larger than this many bytes are truncated, smaller ones deleted from."""


class PostgresqlDialect(Dialect):
    """PostgreSQL 15 and later."""

    name: ClassVar[str] = "postgresql"
    fence: ClassVar[str] = " OFFSET 0"
    types: ClassVar[dict[Kind, str]] = {
        Kind.TEXT: "text",
        Kind.JSON: "text",
        Kind.INTEGER: "int8",
        Kind.REAL: "float8",
        Kind.BOOLEAN: "bool",
        Kind.VECTOR: "bytea",
    }
    words: ClassVar[WordRows] = WordArrays()
    limits_index_entries: ClassVar[bool] = True

    def __init__(self, vectors: str | None = None, hnsw: int = 0, trigrams: str | None = None) -> None:
        self.vectors, self.hnsw = vectors, hnsw
        """The schema of pgvector, if the store uses it, and the dimension of its HNSW index."""
        self.trigrams = trigrams
        """The schema of pg_trgm, if the server has it."""
        if vectors is not None:
            self.types = {**self.types, Kind.VECTOR: f"{quote_identifier(vectors)}.vector"}  # type: ignore[misc]

    def score(self, column: str, vector: str) -> str:
        if self.vectors is None:
            return ""
        # pgvector returns the negative inner product; components are whole numbers, so it is exact.
        return f"-({column} {self._product} {vector})"

    def nearest_first(self, column: str, vector: str) -> str:
        return f"({self.of_one_dimension(column)}) {self._product} {vector}" if self.vectors and self.hnsw else ""

    def of_one_dimension(self, column: str) -> str:
        """The indexed expression: an HNSW index needs a fixed dimension."""
        return f"{column}::{self.types[Kind.VECTOR]}({self.hnsw})"

    @property
    def _product(self) -> str:
        return f"OPERATOR({quote_identifier(self.vectors or '')}.<#>)"

    no_path: ClassVar[str] = "'{}'::text[] COLLATE \"C\""

    def longer(self, path: str, id: str) -> str:
        return f"{path} || {id}::text"

    def absent(self, path: str, id: str) -> str:
        return f"{id} <> ALL({path})"

    def path_ids(self, path: Any) -> list[str]:
        return list(path)

    def sum_column(self, column: str) -> str:
        # The text of a float is the shortest that is read back as the same; a cast to numeric alone would round it.
        return f"sum({column}::text::numeric)::text"

    def sum_property(self, encoded: str, json: str, key: str, is_number: str) -> str:
        return f"sum(CASE WHEN {is_number} THEN ({json}::json ->> {key})::numeric END)::text"

    def length_in_bytes(self, column: str) -> str:
        return f"octet_length({column})"

    def placeholder(self, number: int) -> str:
        return f"${number}"

    def member(self, column: str, kind: Kind, values: Sequence[Any], parameters: Parameters) -> str:
        return f"{column} = ANY({parameters.bind(list(values))}::{self.types[kind]}[])"

    def contains(self, text: str, part: str) -> str:
        return f"strpos({text}, {part}) > 0"

    def substrings(self, table: Table, field: Field) -> Index | None:
        if self.trigrams is None:
            return None
        name, column = (
            quote_identifier(shorten(f"{table.name}_{field.stored_as}_trigrams")),
            quote_identifier(field.stored_as),
        )
        operators = f"{quote_identifier(self.trigrams)}.gin_trgm_ops"
        make = f"CREATE INDEX IF NOT EXISTS {name} ON {quote_identifier(table.name)} USING gin ({column} {operators})"
        return Index([make], [f"DROP INDEX IF EXISTS {name}"])

    def can_find(self, part: str) -> bool:
        return self.trigrams is not None and len(part) >= TRIGRAM

    def narrow(self, column: SearchedColumn, part: str, parameters: Parameters) -> str:
        if not self.can_find(part):
            return ""
        pattern = SPECIAL.sub(r"\\\g<0>", part)
        return f"{column.text} LIKE {parameters.bind(f'%{pattern}%')}"

    def ends(self, text: str, part: str, parameters: Parameters) -> str:
        return f"right({text}, {len(part)}) = {parameters.bind(part)}"

    def head(self, text: str) -> str:
        return f"left({text}, {INDEXED_PREFIX_LENGTH})"

    def direction(self, descending: bool, nullable: bool) -> str:
        if not nullable:
            return " DESC" if descending else ""
        return " DESC NULLS LAST" if descending else " NULLS FIRST"

    def insert_many(self, table: str, columns: Sequence[tuple[str, Kind]]) -> str:
        names = ", ".join(quote_identifier(name) for name, _ in columns)
        # In the SELECT list, not in FROM, where the server would first materialise all rows.
        values = ", ".join(f"unnest({array})" for array in self._list_arrays(columns))
        return f"INSERT INTO {quote_identifier(table)} ({names}) SELECT {values}"

    def update_many(self, table: str, columns: Sequence[tuple[str, Kind]], key: int) -> str:
        changed = ", ".join(f"{quote_identifier(name)} = u.c{place}" for place, (name, _) in enumerate(columns[:-key]))
        first = len(columns) - key
        same = " AND ".join(
            f"t.{quote_identifier(name)} = u.c{first + place}" for place, (name, _) in enumerate(columns[-key:])
        )
        return f"UPDATE {quote_identifier(table)} t SET {changed} FROM {self._name_arrays(columns)} WHERE {same}"

    def delete_many(self, table: str, key: Sequence[tuple[str, Kind]]) -> str:
        same = " AND ".join(f"t.{quote_identifier(name)} = u.c{place}" for place, (name, _) in enumerate(key))
        return f"DELETE FROM {quote_identifier(table)} t USING {self._name_arrays(key)} WHERE {same}"

    def _list_arrays(self, columns: Sequence[tuple[str, Kind]]) -> list[str]:
        return [f"${place}::{self.types[kind]}[]" for place, (_, kind) in enumerate(columns, 1)]

    def _name_arrays(self, columns: Sequence[tuple[str, Kind]]) -> str:
        names = ", ".join(f"c{place}" for place in range(len(columns)))
        return f"unnest({', '.join(self._list_arrays(columns))}) AS u({names})"

    def first_per_tie(self, tied: TiedQuery) -> str:
        first = (
            f"SELECT * FROM {tied.table} t WHERE {tied.remote} = ties.tie AND {tied.rest} "
            f"ORDER BY {tied.walk} LIMIT {tied.limit}"
        )
        numbered = f"SELECT t.*, row_number() OVER (ORDER BY {tied.walk}) AS place FROM ({first}) t"
        return f"SELECT t.* FROM ({tied.ties}) ties CROSS JOIN LATERAL ({numbered}) t"

    def build_estimate(self, text: str) -> str:
        # The planner's estimate from statistics, without reading a row.
        return f"EXPLAIN {text}"

    def read_estimate(self, answer: Sequence[Sequence[Any]]) -> int:
        told = ESTIMATE.search(answer[0][0])
        return int(told[1]) if told else 0

    def build_null(self, kind: str) -> str:
        return f"NULL::{kind}"

    def guard_log(self) -> list[str]:
        return [
            "CREATE OR REPLACE FUNCTION events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF current_setting('{WIPING}', true) = 'on' THEN RETURN NULL; END IF; "
            "RAISE EXCEPTION 'the event log is append-only'; END $$",
            "CREATE OR REPLACE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
            "FOR EACH STATEMENT EXECUTE FUNCTION events_refuse()",
        ]

    def add_check(self, table: str, name: str, text: str) -> list[str]:
        # An older program may have taken the record of the check away, but not the check itself.
        altered = f"ALTER TABLE {quote_identifier(table)}"
        named = quote_identifier(name)
        return [
            f"{altered} DROP CONSTRAINT IF EXISTS {named}",
            f"{altered} ADD CONSTRAINT {named} CHECK ({text}) NOT VALID",
        ]

    def empty(self, tables: Sequence[str]) -> list[str]:
        # TRUNCATE creates new files for a table and all its indexes; deleting a few rows is much faster.
        names = ", ".join(quote_literal(table) for table in tables)
        return [
            f"SET LOCAL {WIPING} = 'on'",
            f"DO $$ DECLARE name text; size int8; BEGIN FOREACH name IN ARRAY ARRAY[{names}] LOOP "
            "size := pg_relation_size(quote_ident(name)::regclass); "
            f"IF size > {LARGE_TEXT_BYTES} THEN EXECUTE 'TRUNCATE ' || quote_ident(name); "
            "ELSIF size > 0 THEN EXECUTE 'DELETE FROM ' || quote_ident(name); END IF; "
            "END LOOP; END $$",
        ]

    def table_names(self) -> str:
        return "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
