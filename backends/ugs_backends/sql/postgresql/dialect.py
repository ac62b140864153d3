"""The SQL dialect of PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from ugs.reads.filters import Op
from ugs.tables import Field, Format, Kind, Reference, Table
from ugs_backends.sql.compiler.comparison_coercion import CoercedComparison, ConstantResult
from ugs_backends.sql.compiler.property_codec import INDEXED_PREFIX_LENGTH
from ugs_backends.sql.dialect import (
    ColumnType,
    Dialect,
    Index,
    Parameters,
    SearchedColumn,
    TiedQuery,
    quote_identifier,
    quote_literal,
)
from ugs_backends.sql.postgresql.formats import coerce_format, format_instants, is_exact
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
    types: ClassVar[dict[ColumnType, str]] = {
        Kind.TEXT: "text",
        Kind.JSON: "text",
        Kind.INTEGER: "int8",
        Kind.REAL: "float8",
        Kind.BOOLEAN: "bool",
        Kind.VECTOR: "bytea",
        Format.UUID: "uuid",
        Format.INSTANT: "timestamptz",
    }
    words: ClassVar[WordRows] = WordArrays()

    def __init__(self, vectors: str | None = None, hnsw: int = 0, trigrams: str | None = None) -> None:
        self.vectors, self.hnsw = vectors, hnsw
        """The schema of pgvector, if the store uses it, and the dimension of its HNSW index."""
        self.trigrams = trigrams
        """The schema of pg_trgm, if the server has it."""
        if vectors is not None:
            self.types = {**self.types, Kind.VECTOR: f"{quote_identifier(vectors)}.vector"}  # type: ignore[misc]

    # ── formats ──────────────────────────────────────────────────────────────

    def coerce(self, field: Field, op: Op, value: Any) -> CoercedComparison | ConstantResult:
        test = super().coerce(field, op, value)
        return test if field.format is None or not isinstance(test, CoercedComparison) else coerce_format(field, test)

    def comparable(self, field: Field, column: str, test: CoercedComparison) -> str:
        return column if field.format is None or is_exact(field, test) else f'{column}::text COLLATE "C"'

    def selected(self, field: Field, column: str) -> str:
        # The server and the driver convert texts much faster than our codec converts UUIDs.
        return f"{column}::text" if field.format is Format.UUID else column

    def readable(self, field: Field, column: str) -> str:
        if field.format is Format.INSTANT:
            return f"(extract(epoch FROM {column}) * 1000000)::int8"
        return column if field.format is None else f"{column}::text"

    def encode(self, format: Format, values: Sequence[Any]) -> Sequence[Any]:
        return format_instants(values) if format is Format.INSTANT else values

    # ── vectors ──────────────────────────────────────────────────────────────

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

    def member(self, column: str, kind: ColumnType, values: Sequence[Any], parameters: Parameters) -> str:
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

    def insert_many(self, table: str, columns: Sequence[tuple[str, ColumnType]]) -> str:
        names = ", ".join(quote_identifier(name) for name, _ in columns)
        # In the SELECT list, not in FROM, where the server would first materialise all rows.
        values = ", ".join(f"unnest({array})" for array in self._list_arrays(columns))
        return f"INSERT INTO {quote_identifier(table)} ({names}) SELECT {values}"

    def update_many(self, table: str, columns: Sequence[tuple[str, ColumnType]], key: int) -> str:
        changed = ", ".join(f"{quote_identifier(name)} = u.c{place}" for place, (name, _) in enumerate(columns[:-key]))
        first = len(columns) - key
        same = " AND ".join(
            f"t.{quote_identifier(name)} = u.c{first + place}" for place, (name, _) in enumerate(columns[-key:])
        )
        return f"UPDATE {quote_identifier(table)} t SET {changed} FROM {self._name_arrays(columns)} WHERE {same}"

    def delete_many(self, table: str, key: Sequence[tuple[str, ColumnType]]) -> str:
        same = " AND ".join(f"t.{quote_identifier(name)} = u.c{place}" for place, (name, _) in enumerate(key))
        return f"DELETE FROM {quote_identifier(table)} t USING {self._name_arrays(key)} WHERE {same}"

    def _list_arrays(self, columns: Sequence[tuple[str, ColumnType]]) -> list[str]:
        return [f"${place}::{self.types[kind]}[]" for place, (_, kind) in enumerate(columns, 1)]

    def _name_arrays(self, columns: Sequence[tuple[str, ColumnType]]) -> str:
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

    def add_reference(self, table: Table, reference: Reference, target: Table) -> list[str]:
        return [f"ALTER TABLE {quote_identifier(table.name)} ADD {_build_reference(table, reference, target)}"]

    def adopt_reference(self, table: Table, reference: Reference, target: Table) -> list[str]:
        altered, name = (
            f"ALTER TABLE {quote_identifier(table.name)}",
            quote_identifier(_name_reference(table, reference)),
        )
        return [
            f"{altered} DROP CONSTRAINT IF EXISTS {name}",
            f"{altered} ADD {_build_reference(table, reference, target)} NOT VALID",
            # Rows that break it stay; the database then guards new ones only.
            f"DO $$ BEGIN {altered} VALIDATE CONSTRAINT {name}; EXCEPTION WHEN foreign_key_violation THEN NULL; END $$",
        ]

    def empty(self, tables: Sequence[str]) -> list[str]:
        # TRUNCATE creates new files for a table and all its indexes; deleting a few rows is much faster. A table that
        # others refer to can only be truncated together with these.
        names = ", ".join(quote_literal(table) for table in tables)
        return [
            f"SET LOCAL {WIPING} = 'on'",
            f"DO $$ DECLARE name text; names text[] := ARRAY[{names}]; BEGIN "
            "IF (SELECT max(pg_relation_size(quote_ident(n)::regclass)) FROM unnest(names) n) "
            f"> {LARGE_TEXT_BYTES} THEN "
            "EXECUTE 'TRUNCATE ' || (SELECT string_agg(quote_ident(n), ', ') FROM unnest(names) n); RETURN; END IF; "
            "FOREACH name IN ARRAY names LOOP IF pg_relation_size(quote_ident(name)::regclass) > 0 THEN "
            "EXECUTE 'DELETE FROM ' || quote_ident(name); END IF; END LOOP; END $$",
        ]

    def table_names(self) -> str:
        return "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"


def _name_reference(table: Table, reference: Reference) -> str:
    return shorten(f"{table.name}_{table.field(reference.field).stored_as}_fkey")


def _build_reference(table: Table, reference: Reference, target: Table) -> str:
    """The constraint of a reference. It is checked at the end of a transaction, which may write in any order."""
    name, column = _name_reference(table, reference), table.field(reference.field).stored_as
    (key,) = target.key
    return (
        f"CONSTRAINT {quote_identifier(name)} FOREIGN KEY ({quote_identifier(column)}) "
        f"REFERENCES {quote_identifier(target.name)} ({quote_identifier(target.field(key).stored_as)})"
        f"{' ON DELETE CASCADE' if reference.cascade else ''} DEFERRABLE INITIALLY DEFERRED"
    )
