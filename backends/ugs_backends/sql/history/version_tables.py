"""Tables of versions: every version of a table's rows, with the log positions in which it held.

They have the columns, indexes and side tables of the table whose versions they hold, so that a read of the past is the
read of the present with one more condition (`HeldAt`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.tables import MAX_VIEWS, Field, Index, Kind, Row, Table
from ugs.values import MAX_INT
from ugs_backends.sql.compiler.conditions import HeldAt
from ugs_backends.sql.table_names import shorten

SINCE, UNTIL = "since_position", "until_position"
FOREVER = MAX_INT
"""The end of a version that still holds."""
POSITIONS = (Field(SINCE, Kind.INTEGER), Field(UNTIL, Kind.INTEGER))


class RowVersion(Struct, gc=False):
    """A version of a row; it has the attributes of the row, too."""

    row: Row
    since_position: int
    until_position: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.row, name)


def held_at(position: int) -> HeldAt:
    """The condition that a version held at a position."""
    return HeldAt(position, SINCE, UNTIL)


def name_version_table(table: Table) -> str:
    return shorten(f"{table.name}__versions")


def _list_indexes(table: Table) -> list[Index]:
    """The indexes of a table and of its uniqueness rules, which do not hold among versions.

    Each ends with the positions, so that versions which did not hold are passed over in the index.
    """
    indexes = [*table.indexes, *(Index(rule.fields, rule.when) for rule in table.unique)]
    return [Index((*index.fields, SINCE, UNTIL), index.where) for index in indexes]


def build_version_table(table: Table) -> Table:
    """The table as it is stored; its rows are `RowVersion`s."""
    return Table(
        name_version_table(table),
        RowVersion,
        [*table.fields, *POSITIONS],
        [*table.key, SINCE],
        indexes=_list_indexes(table),
        words=table.words,
        derived=False,
    )


class PastTable(Table):
    """The table as it is read: its rows are those of the present table."""

    def __init__(self, table: Table) -> None:
        super().__init__(
            name_version_table(table),
            table.row,
            table.fields,
            [*table.key, SINCE],
            indexes=_list_indexes(table),
            relations=table.relations.values(),
            counts=table.counts.values(),
            words=table.words,
            shape=table.shape,
            derived=False,
        )
        self.row_key, self.hidden, self.counted = table.key, POSITIONS, table.counted
        self._views: dict[Table, PastTable] = {}

    @cached_property
    def key_of(self) -> Callable[[Row], Any]:
        """A row's key, without what tells versions apart."""
        return attrgetter(*self.row_key)

    def view(self, table: Table) -> PastTable:
        """The versions of a view with computed columns."""
        found = self._views.get(table)
        if found is None:
            if len(self._views) >= MAX_VIEWS:
                self._views.clear()
            found = self._views[table] = PastTable(table)
            found.stored = self
        return found


def build_version_catalog(catalog: Catalog) -> Catalog:
    """The tables of versions as they are stored."""
    return Catalog((build_version_table(table) for table in catalog if table.versioned), catalog.rules)


class PastCatalog(Catalog):
    """The tables of versions as they are read, by the names of the tables whose versions they hold."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__((), catalog.rules)
        self.tables = {table.name: PastTable(table) for table in catalog if table.versioned}

    def has(self, table: Table) -> bool:
        """Whether there are versions of a table's rows."""
        return isinstance(table, PastTable) or table.name in self.tables

    def past(self, table: Table) -> Table:
        """The table of versions of a table or view; a table of versions itself."""
        if isinstance(table, PastTable):
            return table
        base = self.tables[table.name]
        assert isinstance(base, PastTable)
        return base.view(table) if table.counted else base
