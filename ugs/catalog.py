"""The catalog: all tables of all features, and the rules that turn events into changes of their rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ugs.changes import Change
from ugs.events import Event
from ugs.identity import Principal
from ugs.records import RecordKind, RowChange, ShowRows
from ugs.tables import Relation, Row, Table

FindRow = Callable[[Table, Any], Row | None]
"""Looks up a row by table and key, synchronously."""


Columns = list[list[Any]]
"""Rows in columnar form: one list of values per field."""


class BulkReducer(Struct, frozen=True):
    """Batch fast path of replay for event types that insert one row and rarely do anything else.

    Events of several such types may be reordered against each other, and their other changes (`also`) may be applied
    after all rows: the types insert into different tables, and `also` never touches those tables.
    """

    table: Table
    data: type[Struct]
    """Type of the decoded event data. It forbids unknown fields, since another feature may give them a meaning."""
    columns_of: Callable[[Sequence[Any]], Columns]
    """The rows of such events, as columns."""
    also: Callable[[Sequence[Any]], Sequence[Change]]
    """The other changes of the events, derived from their rows."""


class Rules(Struct, frozen=True):
    """The features' functions over events, for stores and for replay."""

    reduce: Callable[[Event], list[Change]]
    """The changes an event makes; reads nothing."""
    remember: Callable[[Event], list[Change]]
    """The part of `reduce` that records an idempotency key."""
    prepare: Callable[[Any, Sequence[Event]], Awaitable[None]]
    """Prefetches into a unit of work, in a few statements, the rows that a range of events will change."""
    element_of: Callable[[str, Mapping[str, Any]], str | None]
    """The element an event is about, from its type and decoded data."""
    counts: Callable[[str], bool]
    """Whether events of this type make a new version of their element."""
    version_of: Callable[[FindRow, str], int]
    """The current version of an id, 0 if it was never used."""
    types: frozenset[str] = frozenset()
    """All event types that may be reduced."""
    bulk_replay: Mapping[str, BulkReducer] = {}
    """Batch fast paths, by event type; equivalent to `reduce`."""
    records: tuple[RecordKind, ...] = ()
    """The records that `changes` lists and an undo restores."""
    inert: frozenset[str] = frozenset()
    """Event types that an undo passes over: they change nothing that it could restore."""
    after_restoring: Callable[[Any, Sequence[RowChange]], Awaitable[None]] | None = None
    """Brings up to date, in a unit of work, what follows from rows that an undo has restored."""
    show_rows: ShowRows | None = None
    """Who may see rows of records."""
    audiences_of: Callable[[Any, Sequence[Event]], Awaitable[Sequence[Callable[[Principal], bool]]]] | None = None
    """Who may see events."""


class Catalog:
    """All tables of all features, and the rules that turn events into changes of them."""

    def __init__(self, tables: Iterable[Table], rules: Rules) -> None:
        self.tables = {table.name: table for table in tables}
        self.rules = rules

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables.values())

    def target(self, relation: Relation) -> Table:
        """The table at the other end of a relation."""
        return self.tables[relation.table]

    def versioned(self, event: Event, find: FindRow) -> Event:
        """The event with its version, which foreign logs leave out."""
        if event.version is not None or event.element is None or not self.rules.counts(event.type):
            return event
        version = self.rules.version_of(find, event.element) + 1
        return msgspec.structs.replace(event, version=version)
