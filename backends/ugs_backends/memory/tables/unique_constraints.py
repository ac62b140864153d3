"""Uniqueness constraints of the catalog, optionally limited to the rows that meet a condition."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from ugs.changes import TableWrites
from ugs.errors import UniqueViolation
from ugs.reads.filters import matcher
from ugs.tables import Row, Table, Unique


class UniqueRule:
    """One constraint: maps each combination of values to its row's key. As in SQL, a null collides with nothing."""

    def __init__(self, table: Table, rule: Unique) -> None:
        self.name = rule.name
        self.key_of = table.key_of
        self.meets = matcher(rule.when, table.words)
        get = attrgetter(*rule.fields)
        self.values_of = get if len(rule.fields) > 1 else lambda row: (get(row),)
        self.holders: dict[tuple[Any, ...], Any] = {}

    def claim(self, row: Row) -> tuple[Any, ...] | None:
        """The combination of values of a row, or None if the constraint does not apply to it."""
        values = self.values_of(row)
        return values if None not in values and self.meets(row) else None

    def add(self, row: Row) -> None:
        claim = self.claim(row)
        if claim is not None:
            self.holders[claim] = self.key_of(row)

    def remove(self, row: Row) -> None:
        claim = self.claim(row)
        if claim is not None and self.holders.get(claim) == self.key_of(row):
            del self.holders[claim]

    def replace(self, old: Row, new: Row) -> None:
        self.remove(old)
        self.add(new)

    def clear(self) -> None:
        self.holders.clear()

    def check(self, rows: Mapping[Any, Row], writes: TableWrites) -> None:
        """Raise `UniqueViolation` if two rows would have the same combination after the writes."""
        written = [*writes.updates, *writes.inserts]
        leaving = {*writes.deletes, *map(self.key_of, written)}
        taken: dict[tuple[Any, ...], Any] = {}
        for row in written:
            claim, key = self.claim(row), self.key_of(row)
            if claim is None:
                continue
            holder = self.holders.get(claim, key)
            if taken.setdefault(claim, key) != key or (holder != key and holder not in leaving):
                raise UniqueViolation(self.name)
