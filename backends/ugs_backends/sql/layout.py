"""The DDL of a store: tables of the catalog, word and property tables, the log and the metadata table.

Described with SQLAlchemy, which compiles the definitions for each database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from ugs.catalog import Catalog
from ugs.reads.filters import Everything, Where
from ugs.tables import Check, Field, Format, Kind, Table, Unique
from ugs_backends.sql.compiler.conditions import Conditions, Place
from ugs_backends.sql.dialect import ColumnType, Dialect, Index, Literals, quote_identifier
from ugs_backends.sql.row_codec import EVENT_COLUMNS
from ugs_backends.sql.table_names import (
    EVENTS,
    META,
    index_name,
    list_indexed_fields,
    list_searched_fields,
    name_properties_table,
    shorten,
)
from ugs_backends.sql.write.bulk_writes import PROPERTY_COLUMNS, list_key_columns

_COMPILERS: dict[str, Any] = {"sqlite": sqlite.dialect, "postgresql": postgresql.dialect}


class NamedType(sa.types.UserDefinedType[bytes]):
    """A column type given by its SQL name."""

    cache_ok = True

    def __init__(self, name: str) -> None:
        self.name = name

    def get_col_spec(self, **_: Any) -> str:
        return self.name


class Layout:
    """Generates the DDL for one database."""

    def __init__(self, catalog: Catalog, dialect: Dialect) -> None:
        self.catalog = catalog
        self.dialect = dialect
        self.is_sqlite = dialect.name == "sqlite"
        self._compiler = _COMPILERS[dialect.name]()
        self._metadata = sa.MetaData()

    # ── one table of the catalog ─────────────────────────────────────────────

    def table(self, table: Table) -> Iterator[str]:
        """All statements that create a table with its indexes and side tables."""
        key = sa.PrimaryKeyConstraint(
            *(table.field(name).stored_as for name in table.key), name=shorten(f"{table.name}_key")
        )
        columns = [self.column(field) for field in table.fields]
        checks = [sa.CheckConstraint(text, name=name) for name, text in self.checks(table).items()]
        yield self._compile_create(sa.Table(table.name, self._metadata, *columns, key, *checks))
        yield from self.indexes(table)
        for name in self.sides(table):
            yield from self.create_side_table(table, name)
        for index in self.substrings(table).values():
            yield from index.make

    def checks(self, table: Table) -> dict[str, str]:
        """The conditions of a table's checks in SQL, by name."""
        return {shorten(check.name): self._check(table, check) for check in table.checks}

    def _check(self, table: Table, check: Check) -> str:
        parts = [] if isinstance(check.where, Everything) else [self.condition(table, check.where)]
        if check.ascending is not None:
            lower, upper = (quote_identifier(table.field(name).stored_as) for name in check.ascending)
            parts.append(f"({upper} IS NULL OR {upper} > {lower})")
        return " AND ".join(parts)

    def column(self, field: Field) -> sa.Column[Any]:
        default = sa.text("now()") if self.has_default(field) else None
        return sa.Column(
            field.stored_as,
            self.type(self.dialect.column_type(field)),
            nullable=field.nullable,
            server_default=default,
        )

    def has_default(self, field: Field) -> bool:
        """Whether the database fills the column with the present where a statement gives no value."""
        return field.defaults_to_now and self.dialect.column_type(field) is Format.INSTANT

    def type(self, kind: ColumnType) -> sa.types.TypeEngine[Any]:
        if isinstance(kind, Format):
            return NamedType(self.dialect.types[kind])
        if kind in (Kind.TEXT, Kind.JSON):
            # Sorted by code point, whatever the locale of the database.
            return sa.Text() if self.is_sqlite else sa.Text(collation="C")
        if kind is Kind.REAL:
            return sa.REAL() if self.is_sqlite else sa.Double()
        if kind is Kind.VECTOR:
            return NamedType(self.dialect.types[kind])
        if kind is Kind.BOOLEAN and not self.is_sqlite:
            return sa.Boolean()
        return sa.INTEGER() if self.is_sqlite else sa.BigInteger()

    def new_column(self, table: Table, field: Field) -> str:
        """The statement that adds a column to an existing table."""
        column = self.dialect.column_type(field)
        kind = self.type(column).compile(dialect=self._compiler)
        filled = "" if field.nullable else f" NOT NULL DEFAULT {_EMPTY_VALUES[column]}"
        return (
            f"ALTER TABLE {quote_identifier(table.name)} ADD COLUMN {quote_identifier(field.stored_as)} {kind}{filled}"
        )

    def references(self, table: Table) -> Iterator[str]:
        """The statements for a new table's references, once all tables exist."""
        for reference in table.references:
            yield from self.dialect.add_reference(table, reference, self.catalog[reference.table])

    # ── indexes ──────────────────────────────────────────────────────────────

    def indexes(self, table: Table) -> Iterator[str]:
        """The statements for a table's indexes and uniqueness constraints."""
        for index in table.indexes:
            columns = ", ".join(self._build_ordered_column(table.field(name)) for name in index.fields)
            yield self._index(index_name(table, index.fields), table.name, columns) + self._build_partial_where(
                table, index.where
            )
        for rule in table.unique:
            yield self._build_rule(table, rule)

    def _build_ordered_column(self, field: Field) -> str:
        return quote_identifier(field.stored_as) + self.dialect.direction(False, field.nullable)

    def _build_rule(self, table: Table, rule: Unique) -> str:
        columns = [quote_identifier(table.field(name).stored_as) for name in rule.fields]
        if self.is_sqlite:
            # SQLite's error names an index only when it has an expression, and we need the name.
            columns.append(f"({columns[0]} IS NULL)")
        return self._index(shorten(rule.name), table.name, ", ".join(columns), unique=True) + self._build_partial_where(
            table, rule.when
        )

    def _build_partial_where(self, table: Table, where: Where) -> str:
        """The WHERE clause of a partial index."""
        return "" if isinstance(where, Everything) else f" WHERE {self.condition(table, where)}"

    def condition(self, table: Table, where: Where) -> str:
        """A condition of the catalog with its values inlined."""
        return (
            Conditions(self.catalog, Literals(self.dialect))
            .text(where, Place(table, quote_identifier(table.name)))
            .replace(f"{quote_identifier(table.name)}.", "")
        )

    def _index(self, name: str, table: str, columns: str, *, unique: bool = False) -> str:
        kind = "UNIQUE INDEX" if unique else "INDEX"
        return f"CREATE {kind} IF NOT EXISTS {quote_identifier(name)} ON {quote_identifier(table)} ({columns})"

    def substrings(self, table: Table) -> dict[str, Index]:
        """The substring indexes, by column."""
        found = {field.stored_as: self.dialect.substrings(table, field) for field in list_searched_fields(table)}
        return {name: index for name, index in found.items() if index is not None}

    # ── side tables ──────────────────────────────────────────────────────────

    def sides(self, table: Table) -> list[str]:
        """The names of a table's side tables (words and properties)."""
        words = [] if table.words is None else [self.dialect.words.name(table)]
        return words + [name_properties_table(table, field) for field in list_indexed_fields(table)]

    def create_side_table(self, table: Table, name: str) -> Iterator[str]:
        """The statements that create a side table: words, or encoded properties."""
        if table.words is not None and name == self.dialect.words.name(table):
            yield from self.dialect.words.build_create(table, self)
            return
        key, value = PROPERTY_COLUMNS
        yield self.side_table(name, [*self.owner(table), key], [value])
        yield self.value_index(table, name)

    def value_index(self, table: Table, side: str) -> str:
        """The statement for the index of encoded properties by key and value, in the order of sort keys."""
        columns = ['"key"', self.dialect.head('"value"'), *(quote_identifier(label) for label, _ in self.owner(table))]
        return self._index(shorten(f"{side}_{self.dialect.value_index}"), side, ", ".join(columns))

    def replaced_value_indexes(self, table: Table) -> dict[str, tuple[str, str]]:
        """The indexes of encoded properties that had other names in older stores: the old name and the statement."""
        sides = [name_properties_table(table, field) for field in list_indexed_fields(table)]
        if self.dialect.value_index == Dialect.value_index:
            return {}
        return {
            shorten(f"{side}_{self.dialect.value_index}"): (
                shorten(f"{side}_{Dialect.value_index}"),
                self.value_index(table, side),
            )
            for side in sides
        }

    def owner(self, table: Table) -> list[tuple[str, ColumnType]]:
        """The columns of a side table that refer to the row it belongs to."""
        return list_key_columns(self.dialect, table)

    def side_table(
        self,
        name: str,
        key: Sequence[tuple[str, ColumnType]],
        rest: Sequence[tuple[str, ColumnType]],
        types: Mapping[str, str] = {},
    ) -> str:
        """The statement for a table with this key and these columns; `types` overrides SQL types."""
        # The key comes first: otherwise the integrity_check of SQLite 3.40 reports NOT NULL columns as damage.
        columns = [
            sa.Column(label, NamedType(types[label]) if label in types else self.type(kind), nullable=False)
            for label, kind in (*key, *rest)
        ]
        constraint = sa.PrimaryKeyConstraint(*(label for label, _ in key), name=shorten(f"{name}_key"))
        return self._compile_create(sa.Table(name, self._metadata, *columns, constraint, sqlite_with_rowid=False))

    # ── the log and the metadata ─────────────────────────────────────────────

    def log(self) -> Iterator[str]:
        """The statements for the append-only log."""
        required = {"position", "id", "timestamp", "type", "data"}
        columns = [
            sa.Column(name, self.type(kind), nullable=name not in required, primary_key=name == "position",
                      autoincrement=False)
            for name, kind in EVENT_COLUMNS
        ]  # fmt: skip
        yield self._compile_create(sa.Table(EVENTS, self._metadata, *columns))
        yield self._index("events_by_element", EVENTS, '"element", "position"')
        yield self._index("events_by_type", EVENTS, '"type", "position"')
        yield from self.dialect.guard_log()

    def record(self) -> str:
        """The statement for the metadata table, which holds the version of the store."""
        columns = [sa.Column(name, sa.Text(), nullable=False, primary_key=name == "key") for name in ("key", "value")]
        return self._compile_create(sa.Table(META, self._metadata, *columns))

    def _compile_create(self, table: sa.Table) -> str:
        text = str(CreateTable(table, if_not_exists=True).compile(dialect=self._compiler))
        self._metadata.remove(table)
        return text


_EMPTY_VALUES: dict[ColumnType, str] = {
    Kind.TEXT: "''",
    Kind.JSON: "'{}'",
    Kind.INTEGER: "0",
    Kind.REAL: "0",
    Kind.BOOLEAN: "FALSE",
    Kind.VECTOR: "''",
    Format.UUID: "'00000000-0000-0000-0000-000000000000'",
    Format.INSTANT: "'epoch'",
}
