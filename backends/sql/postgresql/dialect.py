"""How PostgreSQL writes statements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from backends.sql.dialect import Dialect, Index, Parameters, Searched, Tied, literal, quoted
from backends.sql.encoding import HEAD
from backends.sql.names import short
from backends.sql.postgresql.words import WordArrays
from backends.sql.words import WordRows
from ugs.catalog import Field, Kind, Table

ESTIMATE = re.compile(r"\brows=(\d+)")
WIPING = "ugs.wiping"
"""The setting that lets a transaction empty the log on purpose."""
TRIGRAM = 3
"""Shorter parts have nothing that the index of parts could find."""
SPECIAL = re.compile(r"[%_\\]")
LARGE = 1 << 20
"""Bytes of a table from which on it is truncated."""


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
        """The schema of pgvector, where vectors are kept with it, and the dimension of its quick index."""
        self.trigrams = trigrams
        """The schema of pg_trgm, where the server has it."""
        if vectors is not None:
            self.types = {**self.types, Kind.VECTOR: f"{quoted(vectors)}.vector"}  # type: ignore[misc]

    def score(self, column: str, vector: str) -> str:
        if self.vectors is None:
            return ""
        # Its inner products are negative, so that the best come first; those of whole numbers are exact.
        return f"-({column} {self._product} {vector})"

    def nearest_first(self, column: str, vector: str) -> str:
        return f"({self.of_one_dimension(column)}) {self._product} {vector}" if self.vectors and self.hnsw else ""

    def of_one_dimension(self, column: str) -> str:
        """What the quick index holds: it needs to know how long vectors are."""
        return f"{column}::{self.types[Kind.VECTOR]}({self.hnsw})"

    @property
    def _product(self) -> str:
        return f"OPERATOR({quoted(self.vectors or '')}.<#>)"

    no_path: ClassVar[str] = "'{}'::text[] COLLATE \"C\""

    def longer(self, path: str, id: str) -> str:
        return f"{path} || {id}::text"

    def absent(self, path: str, id: str) -> str:
        return f"{id} <> ALL({path})"

    def path_ids(self, path: Any) -> list[str]:
        return list(path)

    def placeholder(self, number: int) -> str:
        return f"${number}"

    def member(self, column: str, kind: Kind, values: Sequence[Any], parameters: Parameters) -> str:
        return f"{column} = ANY({parameters.bind(list(values))}::{self.types[kind]}[])"

    def contains(self, text: str, part: str) -> str:
        return f"strpos({text}, {part}) > 0"

    def substrings(self, table: Table, field: Field) -> Index | None:
        if self.trigrams is None:
            return None
        name, column = quoted(short(f"{table.name}_{field.stored_as}_trigrams")), quoted(field.stored_as)
        operators = f"{quoted(self.trigrams)}.gin_trgm_ops"
        make = f"CREATE INDEX IF NOT EXISTS {name} ON {quoted(table.name)} USING gin ({column} {operators})"
        return Index([make], [f"DROP INDEX IF EXISTS {name}"])

    def finds(self, part: str) -> bool:
        return self.trigrams is not None and len(part) >= TRIGRAM

    def narrowed(self, column: Searched, part: str, parameters: Parameters) -> str:
        if not self.finds(part):
            return ""
        pattern = SPECIAL.sub(r"\\\g<0>", part)
        return f"{column.text} LIKE {parameters.bind(f'%{pattern}%')}"

    def ends(self, text: str, part: str, parameters: Parameters) -> str:
        return f"right({text}, {len(part)}) = {parameters.bind(part)}"

    def head(self, text: str) -> str:
        return f"left({text}, {HEAD})"

    def direction(self, descending: bool, nullable: bool) -> str:
        if not nullable:
            return " DESC" if descending else ""
        return " DESC NULLS LAST" if descending else " NULLS FIRST"

    def insert_many(self, table: str, columns: Sequence[tuple[str, Kind]]) -> str:
        names = ", ".join(quoted(name) for name, _ in columns)
        # In the list of what is selected, not in FROM: there the server would first write all rows down.
        values = ", ".join(f"unnest({array})" for array in self._arrays(columns))
        return f"INSERT INTO {quoted(table)} ({names}) SELECT {values}"

    def update_many(self, table: str, columns: Sequence[tuple[str, Kind]], key: int) -> str:
        changed = ", ".join(f"{quoted(name)} = u.c{place}" for place, (name, _) in enumerate(columns[:-key]))
        first = len(columns) - key
        same = " AND ".join(f"t.{quoted(name)} = u.c{first + place}" for place, (name, _) in enumerate(columns[-key:]))
        return f"UPDATE {quoted(table)} t SET {changed} FROM {self._named(columns)} WHERE {same}"

    def delete_many(self, table: str, key: Sequence[tuple[str, Kind]]) -> str:
        same = " AND ".join(f"t.{quoted(name)} = u.c{place}" for place, (name, _) in enumerate(key))
        return f"DELETE FROM {quoted(table)} t USING {self._named(key)} WHERE {same}"

    def _arrays(self, columns: Sequence[tuple[str, Kind]]) -> list[str]:
        return [f"${place}::{self.types[kind]}[]" for place, (_, kind) in enumerate(columns, 1)]

    def _named(self, columns: Sequence[tuple[str, Kind]]) -> str:
        names = ", ".join(f"c{place}" for place in range(len(columns)))
        return f"unnest({', '.join(self._arrays(columns))}) AS u({names})"

    def first_per_tie(self, tied: Tied) -> str:
        first = (
            f"SELECT * FROM {tied.table} t WHERE {tied.remote} = ties.tie AND {tied.rest} "
            f"ORDER BY {tied.walk} LIMIT {tied.limit}"
        )
        numbered = f"SELECT t.*, row_number() OVER (ORDER BY {tied.walk}) AS place FROM ({first}) t"
        return f"SELECT t.* FROM ({tied.ties}) ties CROSS JOIN LATERAL ({numbered}) t"

    def estimating(self, text: str) -> str:
        # What its own statistics say, without looking at a row.
        return f"EXPLAIN {text}"

    def estimate(self, answer: Sequence[Sequence[Any]]) -> int:
        told = ESTIMATE.search(answer[0][0])
        return int(told[1]) if told else 0

    def nothing(self, kind: str) -> str:
        return f"NULL::{kind}"

    def guard_log(self) -> list[str]:
        return [
            "CREATE OR REPLACE FUNCTION events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF current_setting('{WIPING}', true) = 'on' THEN RETURN NULL; END IF; "
            "RAISE EXCEPTION 'the event log is append-only'; END $$",
            "CREATE OR REPLACE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
            "FOR EACH STATEMENT EXECUTE FUNCTION events_refuse()",
        ]

    def empty(self, tables: Sequence[str]) -> list[str]:
        # TRUNCATE makes new files for a table and all its indexes; deleting a few rows is far quicker.
        names = ", ".join(literal(table) for table in tables)
        return [
            f"SET LOCAL {WIPING} = 'on'",
            f"DO $$ DECLARE name text; size int8; BEGIN FOREACH name IN ARRAY ARRAY[{names}] LOOP "
            "size := pg_relation_size(quote_ident(name)::regclass); "
            f"IF size > {LARGE} THEN EXECUTE 'TRUNCATE ' || quote_ident(name); "
            "ELSIF size > 0 THEN EXECUTE 'DELETE FROM ' || quote_ident(name); END IF; "
            "END LOOP; END $$",
        ]

    def table_names(self) -> str:
        return "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
