"""The catalog: how a feature declares what it stores, so that no store ever hears of a feature.

A table has typed fields, a key, uniqueness rules that may hold only for some rows, indexes, derived words for
full-text look-ups, relations to other tables, and counts of what those lead to. Its rows are frozen structs whose
attributes are the fields in order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ugs.reads.where import EVERYTHING, Where

if TYPE_CHECKING:
    from ugs.changes import Change
    from ugs.events import Event

Row = Any
"""A frozen struct whose attributes are the table's fields, in their order."""


class Kind(StrEnum):
    """What a field holds."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    JSON = "json"
    """Canonical JSON text (`ugs.values.JsonText`); stores must give back the same characters."""
    VECTOR = "vector"
    """A direction, as bytes (`ugs.reads.near.Vector`); compared by `Session.nearest` only."""


class Field(Struct, frozen=True):
    """One column."""

    name: str
    kind: Kind = Kind.TEXT
    nullable: bool = False
    indexed: bool = False
    """For JSON fields: equality on a key should use an index."""
    column: str = ""
    """How a database calls it, where that differs from the attribute of the row."""
    plain: bool = False
    """For text: only identifiers stand here, which need no escaping anywhere."""
    searched: bool = False
    """For text: parts of it are looked for, so that a store may keep an index for `CONTAINS`."""

    @property
    def stored_as(self) -> str:
        return self.column or self.name


class Unique(Struct, frozen=True):
    """No two rows that meet `when` agree in all these fields; a row with nothing in one of them agrees with none."""

    name: str
    fields: tuple[str, ...]
    when: Where = EVERYTHING


class Index(Struct, frozen=True):
    """These fields are looked up or ordered together."""

    fields: tuple[str, ...]


class Relation(Struct, frozen=True):
    """Rows of another table whose `remote` field equals this table's `local` field."""

    name: str
    table: str
    local: str
    remote: str
    many: bool = True


class Count(Struct, frozen=True):
    """A number that nobody stores: how many rows of a table stand at the other ends of these relations, together.

    A row that stands at two of them counts twice. Whoever wants the number reads `Table.counting`.
    """

    name: str
    of: Table
    relations: tuple[str, ...]


class Vertex(Struct, frozen=True):
    """A hint for graph stores: rows are vertices, labelled by one field, with properties from a JSON field."""

    label: str
    properties: str


class Arc(Struct, frozen=True):
    """A hint for graph stores: rows are relationships between the vertices of a table."""

    source: str
    target: str
    label: str
    properties: str
    vertices: str


class Table:
    """A named set of rows."""

    def __init__(
        self,
        name: str,
        row: type[Struct],
        fields: Iterable[Field],
        key: Iterable[str],
        *,
        unique: Iterable[Unique] = (),
        indexes: Iterable[Index] = (),
        relations: Iterable[Relation] = (),
        counts: Iterable[Count] = (),
        words: Callable[[Row], Mapping[str, float]] | None = None,
        shape: Vertex | Arc | None = None,
        derived: bool = True,
    ) -> None:
        self.name = name
        self.row = row
        self.fields = tuple(fields)
        self.key = tuple(key)
        self.unique = tuple(unique)
        self.indexes = tuple(indexes)
        self.relations = {relation.name: relation for relation in relations}
        self.counts = {count.name: count for count in counts}
        self.words = words
        """The words of a row with their weights; a word has no control characters."""
        self.shape = shape
        self.derived = derived
        """True when the log alone decides the rows; only such tables count in the state digest."""
        self.stored = self
        """The table whose rows a store keeps; another than this one where counts are seen with them."""
        self.counted: tuple[Count, ...] = ()
        """What is counted for each row, as its last fields."""
        self._counting: dict[tuple[Count, ...], Table] = {}

    def __repr__(self) -> str:
        return f"Table({self.name})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @cached_property
    def key_of(self) -> Callable[[Row], Any]:
        """A row's key: the plain value of a one-field key, else a tuple."""
        return attrgetter(*self.key)

    @cached_property
    def _fields(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}

    def field(self, name: str) -> Field:
        return self._fields[name]

    def counting(self, names: Iterable[str]) -> Table:
        """The table as it is seen by those who also want the counts among these names; itself where there are none.

        Its rows have the counts as fields behind their own, so that they sort, page and get cursors like any other.
        Conditions speak of what is stored.
        """
        named = set(names)
        counted = tuple(count for name, count in self.stored.counts.items() if name in named)
        if counted == self.counted:
            return self
        found = self.stored._counting.get(counted)
        if found is None:
            found = self.stored._counting[counted] = _counting(self.stored, counted)
        return found


def _counting(table: Table, counted: tuple[Count, ...]) -> Table:
    numbers = [(count.name, int) for count in counted]
    row = msgspec.defstruct(f"Counted{table.row.__name__}", numbers, bases=(table.row,), frozen=True, gc=False)
    seen = Table(
        table.name,
        row,
        [*table.fields, *(Field(count.name, Kind.INTEGER) for count in counted)],
        table.key,
        unique=table.unique,
        indexes=table.indexes,
        relations=table.relations.values(),
        words=table.words,
        shape=table.shape,
        derived=table.derived,
    )
    seen.stored, seen.counted = table, counted
    return seen


FindRow = Callable[[Table, Any], Row | None]
"""Looks a row up by table and key, at once."""


Columns = list[list[Any]]
"""The values of some rows, field by field."""


class Storing(Struct, frozen=True):
    """A quick way for replay with event types that store one row and hardly ever do more, many at a time.

    Events of several such types may change places with each other, and what they do besides may come behind all their
    rows: they store into different tables, and what they do besides leaves those tables alone.
    """

    table: Table
    data: type[Struct]
    """What the event's data is decoded to. It forbids unknown fields: those may be another feature's business."""
    columns_of: Callable[[Sequence[Any]], Columns]
    """The rows of events with such data."""
    also: Callable[[Sequence[Any]], Sequence[Change]]
    """What else the events do, told from their rows."""


class Rules(Struct, frozen=True):
    """What the features know about their events, for stores and for replay."""

    reduce: Callable[[Event], list[Change]]
    """The changes an event makes; reads nothing."""
    remember: Callable[[Event], list[Change]]
    """The part of `reduce` that records an idempotency key."""
    prepare: Callable[[Any, Sequence[Event]], Awaitable[None]]
    """Load on a desk, in a few statements, what a stretch of the log will act on."""
    element_of: Callable[[str, Mapping[str, Any]], str | None]
    """The element an event is about, from its type and decoded data."""
    counts: Callable[[str], bool]
    """Whether events of this type make a new version of their element."""
    version_of: Callable[[FindRow, str], int]
    """The version an id has reached so far, 0 when it was never used."""
    types: frozenset[str] = frozenset()
    """All event types that may be reduced."""
    storing: Mapping[str, Storing] = {}
    """The quick ways; they lead to the same as `reduce`."""


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
