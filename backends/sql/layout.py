"""The tables a database gets: those of the catalog, what stands beside them, the log, and the record of it all.

SQLAlchemy describes them and writes their definitions in the words of each database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from backends.sql.conditions import Conditions, Place
from backends.sql.dialect import Dialect, Index, Literals, quoted
from backends.sql.names import (
    EVENTS,
    META,
    index_name,
    indexed_fields,
    properties_name,
    searched_fields,
    short,
)
from backends.sql.rows import EVENT_COLUMNS
from backends.sql.writes import PROPERTY_COLUMNS
from ugs.catalog import Catalog, Field, Kind, Table, Unique
from ugs.reads.where import Everything, Where

_COMPILERS: dict[str, Any] = {"sqlite": sqlite.dialect, "postgresql": postgresql.dialect}


class Named(sa.types.UserDefinedType[bytes]):
    """A type that goes by a name of its own in each database."""

    cache_ok = True

    def __init__(self, name: str) -> None:
        self.name = name

    def get_col_spec(self, **_: Any) -> str:
        return self.name


class Layout:
    """Writes the definitions for one database."""

    def __init__(self, catalog: Catalog, dialect: Dialect) -> None:
        self.catalog = catalog
        self.dialect = dialect
        self.is_sqlite = dialect.name == "sqlite"
        self._compiler = _COMPILERS[dialect.name]()
        self._metadata = sa.MetaData()

    # ── one table of the catalog ─────────────────────────────────────────────

    def table(self, table: Table) -> Iterator[str]:
        """Everything a table needs that is not there yet."""
        key = sa.PrimaryKeyConstraint(
            *(table.field(name).stored_as for name in table.key), name=short(f"{table.name}_key")
        )
        columns = [self.column(field) for field in table.fields]
        yield self._create(sa.Table(table.name, self._metadata, *columns, key))
        yield from self.indexes(table)
        for name in self.sides(table):
            yield from self.side(table, name)
        for index in self.substrings(table).values():
            yield from index.make

    def column(self, field: Field) -> sa.Column[Any]:
        return sa.Column(field.stored_as, self.type(field.kind), nullable=field.nullable)

    def type(self, kind: Kind) -> sa.types.TypeEngine[Any]:
        if kind in (Kind.TEXT, Kind.JSON):
            # By code point, whatever the database's own language.
            return sa.Text() if self.is_sqlite else sa.Text(collation="C")
        if kind is Kind.REAL:
            return sa.REAL() if self.is_sqlite else sa.Double()
        if kind is Kind.VECTOR:
            return Named(self.dialect.types[kind])
        if kind is Kind.BOOLEAN and not self.is_sqlite:
            return sa.Boolean()
        return sa.INTEGER() if self.is_sqlite else sa.BigInteger()

    def new_column(self, table: Table, field: Field) -> str:
        """The statement that adds a column to a table with rows."""
        kind = self.type(field.kind).compile(dialect=self._compiler)
        filled = "" if field.nullable else f" NOT NULL DEFAULT {_EMPTY[field.kind]}"
        return f"ALTER TABLE {quoted(table.name)} ADD COLUMN {quoted(field.stored_as)} {kind}{filled}"

    # ── indexes ──────────────────────────────────────────────────────────────

    def indexes(self, table: Table) -> Iterator[str]:
        """The table's indexes and uniqueness rules."""
        for index in table.indexes:
            columns = ", ".join(self._ordered(table.field(name)) for name in index.fields)
            yield self._index(index_name(table, index.fields), table.name, columns)
        for rule in table.unique:
            yield self._rule(table, rule)

    def _ordered(self, field: Field) -> str:
        return quoted(field.stored_as) + self.dialect.direction(False, field.nullable)

    def _rule(self, table: Table, rule: Unique) -> str:
        columns = [quoted(table.field(name).stored_as) for name in rule.fields]
        if self.is_sqlite:
            # SQLite's error names an index only when it has an expression, and we need the name.
            columns.append(f"({columns[0]} IS NULL)")
        when = "" if isinstance(rule.when, Everything) else f" WHERE {self.condition(table, rule.when)}"
        return self._index(short(rule.name), table.name, ", ".join(columns), unique=True) + when

    def condition(self, table: Table, where: Where) -> str:
        """A condition of the catalog, with its values written out."""
        return (
            Conditions(self.catalog, Literals(self.dialect))
            .text(where, Place(table, quoted(table.name)))
            .replace(f"{quoted(table.name)}.", "")
        )

    def _index(self, name: str, table: str, columns: str, *, unique: bool = False) -> str:
        kind = "UNIQUE INDEX" if unique else "INDEX"
        return f"CREATE {kind} IF NOT EXISTS {quoted(name)} ON {quoted(table)} ({columns})"

    def substrings(self, table: Table) -> dict[str, Index]:
        """What finds parts of texts, by column."""
        found = {field.stored_as: self.dialect.substrings(table, field) for field in searched_fields(table)}
        return {name: index for name, index in found.items() if index is not None}

    # ── what stands beside a table ───────────────────────────────────────────

    def sides(self, table: Table) -> list[str]:
        """The names of the tables beside a table."""
        words = [] if table.words is None else [self.dialect.words.name(table)]
        return words + [properties_name(table, field) for field in indexed_fields(table)]

    def side(self, table: Table, name: str) -> Iterator[str]:
        """Words by word, or encoded properties by row and by value."""
        if table.words is not None and name == self.dialect.words.name(table):
            yield from self.dialect.words.made(table, self)
            return
        key, value = PROPERTY_COLUMNS
        owner = self.owner(table)
        yield self.side_table(name, [*owner, key], [value])
        columns = ['"key"', self.dialect.head('"value"'), *(quoted(label) for label, _ in owner)]
        yield self._index(short(f"{name}_by_value"), name, ", ".join(columns))

    def owner(self, table: Table) -> list[tuple[str, Kind]]:
        """The columns that say beside which row of a table something stands."""
        return [(table.field(part).stored_as, table.field(part).kind) for part in table.key]

    def side_table(
        self,
        name: str,
        key: Sequence[tuple[str, Kind]],
        rest: Sequence[tuple[str, Kind]],
        types: Mapping[str, str] = {},
    ) -> str:
        """A table with this key and these other columns, some of a type with a name of its own."""
        # The key comes first: in any other order the integrity_check of SQLite 3.40 takes NOT NULL for damage.
        columns = [
            sa.Column(label, Named(types[label]) if label in types else self.type(kind), nullable=False)
            for label, kind in (*key, *rest)
        ]
        constraint = sa.PrimaryKeyConstraint(*(label for label, _ in key), name=short(f"{name}_key"))
        return self._create(sa.Table(name, self._metadata, *columns, constraint, sqlite_with_rowid=False))

    # ── the log and the record ───────────────────────────────────────────────

    def log(self) -> Iterator[str]:
        """The append-only log."""
        required = {"position", "id", "timestamp", "type", "data"}
        columns = [
            sa.Column(name, self.type(kind), nullable=name not in required, primary_key=name == "position",
                      autoincrement=False)
            for name, kind in EVENT_COLUMNS
        ]  # fmt: skip
        yield self._create(sa.Table(EVENTS, self._metadata, *columns))
        yield self._index("events_by_element", EVENTS, '"element", "position"')
        yield self._index("events_by_type", EVENTS, '"type", "position"')
        yield from self.dialect.guard_log()

    def record(self) -> str:
        """The table that says what version the store has."""
        columns = [sa.Column(name, sa.Text(), nullable=False, primary_key=name == "key") for name in ("key", "value")]
        return self._create(sa.Table(META, self._metadata, *columns))

    def _create(self, table: sa.Table) -> str:
        text = str(CreateTable(table, if_not_exists=True).compile(dialect=self._compiler))
        self._metadata.remove(table)
        return text


_EMPTY = {
    Kind.TEXT: "''",
    Kind.JSON: "'{}'",
    Kind.INTEGER: "0",
    Kind.REAL: "0",
    Kind.BOOLEAN: "FALSE",
    Kind.VECTOR: "''",
}
