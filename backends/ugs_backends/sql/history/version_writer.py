"""Compiles changes of rows to bulk statements that end versions and store new ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ugs.changes import Step, TableWrites
from ugs.tables import Kind, Row, Table
from ugs_backends.sql.dialect import Dialect
from ugs_backends.sql.history.version_tables import FOREVER, UNTIL, RowVersion, build_version_table
from ugs_backends.sql.row_codec import get_writer
from ugs_backends.sql.write.bulk_writes import (
    BulkStatement,
    ColumnEncoder,
    TableWriter,
    list_key_columns,
    to_key_columns,
)

_UNTIL_COLUMN = (UNTIL, Kind.INTEGER)


class VersionWriter:
    """The bulk statements of one table of versions."""

    def __init__(self, dialect: Dialect, table: Table) -> None:
        self.table = table
        self.writer = TableWriter(dialect, build_version_table(table))
        encode = get_writer(table)
        self.writer.values = lambda version: (*encode(version.row), version.since_position, version.until_position)
        key = list_key_columns(dialect, table)
        self._close = dialect.update_many(self.writer.table.name, [_UNTIL_COLUMN, *key, _UNTIL_COLUMN], len(key) + 1)
        self._encode_key = ColumnEncoder(dialect, key)

    def bulks(self, changed: TableWrites) -> tuple[list[BulkStatement], list[BulkStatement]]:
        """The statement that ends versions, and those that store new ones."""
        ended, versions = self.find_versions(changed)
        writes = TableWrites(inserts=versions)
        inserts = self.writer.inserts(writes) + [new for _, new in self.writer.write_side_tables(writes)]
        return self.end(ended), [bulk for bulk in inserts if bulk.columns] if versions else []

    def end(self, ended: dict[Any, int]) -> list[BulkStatement]:
        """The statement that ends the versions which hold, by key, with their ends."""
        if not ended:
            return []
        keys = self._encode_key(to_key_columns([*ended], len(self.table.key)))
        columns = [[*ended.values()], *keys, [FOREVER] * len(ended)]
        return [BulkStatement(self.writer.table.name, self._close, columns)]

    def find_versions(self, changed: TableWrites) -> tuple[dict[Any, int], list[RowVersion]]:
        """The ends of stored versions by key, and the new versions."""
        absent = set(map(self.table.key_of, changed.inserts))
        ended: dict[Any, int] = {}
        versions: list[RowVersion] = []
        for key, chain in _group_by_key(changed.steps).items():
            stored, newest = key not in absent, None
            for position, row in chain:
                held = newest.row if newest is not None else changed.before.get(key) if stored else None
                if held is not None and row == held:
                    continue
                if newest is not None:
                    newest.until_position = position
                elif stored:
                    # There may be none: a row that came and went within the group is in neither list of the writes.
                    ended[key], stored = position, False
                newest = None if row is None else RowVersion(row, position, FOREVER)
                if newest is not None:
                    versions.append(newest)
        return ended, versions


def _group_by_key(steps: Iterable[Step]) -> dict[Any, list[tuple[int, Row | None]]]:
    """The rows of each key with the positions from which on they hold; the last of several at one position."""
    found: dict[Any, list[tuple[int, Row | None]]] = {}
    for position, key, row in steps:
        chain = found.setdefault(key, [])
        if chain and chain[-1][0] == position:
            chain[-1] = position, row
        else:
            chain.append((position, row))
    return found
