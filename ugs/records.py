"""Records: rows of a feature that belong together, as `changes` lists them and an undo restores them.

A record is one row of a main table with the rows of other tables that name it: a fact with its evidence, an entity
with its aliases. Its rows follow from its own events alone, which every store finds by an index, so its state at any
position needs no replay. An undo writes the rows that it restores into one event per record, whose reducer is the same
for all kinds (`restore_rows`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ugs.changes import Change, Drop, Patch, Put, Raise, patched, raised
from ugs.events import Event
from ugs.identity import Principal
from ugs.reads.filters import Where, all_of, eq, matcher
from ugs.tables import Kind, Row, Table
from ugs.values import JsonText, from_text, to_text

Fields = Mapping[str, Any]


class Part(Struct, frozen=True):
    """A table with rows of a record, and how they are named in its state."""

    table: Table
    owner: str
    """The field that names the record."""
    name: str = ""
    """The key of the rows in the state; empty for the main row."""
    is_shown: bool = True


def keep_fields(fields: Fields) -> dict[str, Any]:
    """Default of `RecordKind.encode`: the fields as they are."""
    return dict(fields)


def plain_row(table: Table, fields: Fields) -> Row:
    """Default of `RecordKind.decode`: the row with these fields."""
    return table.row(*(fields.get(name) for name in table.names))


def allow_restoring(principal: Principal, main: Row) -> None:
    """Default of `RecordKind.check_restoring`: whoever may see the events may undo them."""


class RecordKind(Struct, frozen=True):
    """One kind of record: its tables, its events, and who may undo them."""

    name: str
    key: str
    """The field of event data that names the record."""
    restored: str
    """The type of the event by which an undo restores rows of it."""
    parts: tuple[Part, ...]
    """The main table first."""
    types: frozenset[str]
    """The types of its own events."""
    encode: Callable[[Fields], dict[str, Any]] = keep_fields
    decode: Callable[[Table, Fields], Row] = plain_row
    check_restoring: Callable[[Principal, Row], None] = allow_restoring
    """Raises `Forbidden` if the principal may see the record but not change it."""
    is_in_use: Callable[[Any, Row, frozenset[str]], Awaitable[bool]] | None = None
    """Whether elements outside a set need a row that an undo would remove, given a session."""
    is_element: bool = True
    """Whether events name the record as their element, by which a store finds them."""

    def id_of(self, event: Event) -> str:
        """The record that an own event is about."""
        id = event.element if self.is_element else event.payload[self.key]
        assert id is not None
        return str(id)


class RecordState(Struct, frozen=True):
    """A record as its rows were at one position."""

    kind: RecordKind
    id: str
    rows: tuple[tuple[Part, Row], ...]
    """The main row first, the others by key."""

    @property
    def main(self) -> Row:
        return self.rows[0][1]

    def as_json(self) -> dict[str, Any]:
        """The main row's fields, and the other rows in lists by the name of their part."""
        found = self._encoded(self.main, self.rows[0][0])
        lists: dict[str, list[Any]] = {part.name: [] for part in self.kind.parts[1:] if part.is_shown}
        for part, row in self.rows[1:]:
            if part.is_shown:
                shown = self._encoded(row, part)
                del shown[part.owner]
                lists[part.name].append(shown)
        return {**found, **lists}

    def _encoded(self, row: Row, part: Part) -> dict[str, Any]:
        encoded = self.kind.encode(msgspec.to_builtins(row))
        texts = [field.name for field in part.table.fields if field.kind is Kind.JSON]
        return encoded | {name: from_text(encoded[name]) for name in texts}

    def fields(self) -> dict[str, JsonText]:
        """The fields of the state, as canonical text."""
        return {name: to_text(value) for name, value in self.as_json().items()}

    @property
    def kind_name(self) -> str:
        return self.kind.name

    @property
    def rank(self) -> str:
        """What orders records of one id."""
        return self.kind.name

    def without(self, hidden: Sequence[bool]) -> RecordState:
        """The state without some of its other rows."""
        rows = [one for one, is_hidden in zip(self.rows, hidden, strict=True) if not is_hidden]
        return RecordState(self.kind, self.id, tuple(rows))


ShowRows = Callable[[Any, Principal, Sequence[tuple[Table, Row]]], Awaitable[list[bool]]]
"""Whether a principal may see each row, given a session; in a few statements for all of them."""


def rows_of(table: Table, key: Any) -> Where:
    """The condition for the row with a key, given as the list or value that an event holds."""
    values = key if isinstance(key, list) else [key]
    return all_of(*(eq(name, value) for name, value in zip(table.key, values, strict=True)))


def restore_rows(kind: RecordKind) -> Callable[[Event], list[Change]]:
    """The reducer of `kind.restored`: remove the rows named by key, then store whole rows."""
    tables = {part.table.name: part.table for part in kind.parts}

    def restored(event: Event) -> list[Change]:
        data = event.payload
        drops = [Drop(tables[name], rows_of(tables[name], key)) for name, keys in data["drop"].items() for key in keys]
        puts = [Put(tables[name], kind.decode(tables[name], row)) for name, rows in data["put"].items() for row in rows]
        return [*drops, *puts]

    return restored


class RowChange(Struct, frozen=True):
    """One row before and after an event."""

    table: Table
    key: Any
    before: Row | None
    after: Row | None


class RowFold:
    """The rows of some tables, folded from events in memory."""

    def __init__(self, tables: Iterable[Table], reduce: Callable[[Event], list[Change]]) -> None:
        self.rows: dict[Table, dict[Any, Row]] = {table: {} for table in tables}
        self._reduce = reduce

    def apply(self, event: Event) -> list[RowChange]:
        """Apply an event; returns the rows that differ afterwards."""
        found: list[RowChange] = []
        for change in self._reduce(event):
            if change.table in self.rows:
                found += self._set(change.table, self._after(change))
        return found

    def _after(self, change: Change) -> list[tuple[Any, Row | None]]:
        rows = self.rows[change.table]
        if isinstance(change, Drop):
            matches = matcher(change.where)
            return [(key, None) for key, row in rows.items() if matches(row)]
        if isinstance(change, Patch):
            row = rows.get(change.key)
            return [] if row is None else [(change.key, patched(row, change))]
        key = change.table.key_of(change.row)
        if isinstance(change, Raise) and key in rows:
            return [(key, raised(change.table, rows[key], change.row))]
        return [(key, change.row)]

    def _set(self, table: Table, new: Iterable[tuple[Any, Row | None]]) -> list[RowChange]:
        rows, found = self.rows[table], []
        for key, row in new:
            before = rows.get(key)
            if before != row:
                found.append(RowChange(table, key, before, row))
            if row is None:
                rows.pop(key, None)
            else:
                rows[key] = row
        return found

    def state_of(self, kind: RecordKind, id: str) -> RecordState | None:
        """A record as it is now; None without its main row."""
        found: list[tuple[Part, Row]] = []
        for part in kind.parts:
            mine = [(key, row) for key, row in self.rows[part.table].items() if getattr(row, part.owner) == id]
            found += [(part, row) for _, row in sorted(mine, key=lambda one: str(one[0]))]
            if not found:
                return None
        return RecordState(kind, id, tuple(found))
