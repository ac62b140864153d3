"""Tables: what features declare and stores keep, so that stores need no knowledge of features.

A table has typed fields, a key, (partial) uniqueness rules, indexes, derived words for full-text look-ups, relations to
other tables, and counts of related rows. Its rows are frozen structs whose attributes are the fields in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from hashlib import blake2s
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Struct

from ugs.reads.filters import EVERYTHING, Where
from ugs.reads.sort_keys import SortKey, parse_sort_key

MAX_VIEWS = 256
"""How many views of a table with computed columns are kept: clients choose the keys that they sort by."""

Row = Any
"""A frozen struct whose attributes are the table's fields, in their order."""


class Kind(StrEnum):
    """The type of a field."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    JSON = "json"
    """Canonical JSON text (`ugs.values.JsonText`); stores must give back the same characters."""
    VECTOR = "vector"
    """A normalised vector, as bytes (`ugs.reads.vector_search.Vector`); compared by `Session.nearest` only."""


class Format(StrEnum):
    """A narrower type of a field's values, for which a database may have a column type.

    Rows hold the same values everywhere; conditions compare them as texts or integers, whatever the column type.
    """

    UUID = "uuid"
    """For text: UUIDs in canonical form."""
    INSTANT = "instant"
    """For integers: microseconds since 1970 in UTC, in the years 1 to 9999."""


class Field(Struct, frozen=True):
    """One column."""

    name: str
    kind: Kind = Kind.TEXT
    nullable: bool = False
    indexed: bool = False
    """For JSON fields: equality on a key should use an index."""
    column: str = ""
    """The column name in a database, where it differs from the row's attribute."""
    plain: bool = False
    """For text: values are identifiers, which need no escaping in any format."""
    searched: bool = False
    """For text: substring searches are common, so a store may keep an index for `CONTAINS`."""
    format: Format | None = None
    defaults_to_now: bool = False
    """For instants: a row that others insert into a database without a value gets the present."""

    @property
    def stored_as(self) -> str:
        return self.column or self.name


class Unique(Struct, frozen=True):
    """No two rows that meet `when` are equal in all these fields; as in SQL, a null equals nothing."""

    name: str
    fields: tuple[str, ...]
    when: Where = EVERYTHING


class Index(Struct, frozen=True):
    """An index over these fields for rows that meet `where`; a store may index all rows instead."""

    fields: tuple[str, ...]
    where: Where = EVERYTHING


class Check(Struct, frozen=True):
    """A rule that every row meets; the kernel keeps it, and a database may guard it too.

    `where` holds for the row; of the two fields in `ascending` the second is null or greater than the first.
    """

    name: str
    where: Where = EVERYTHING
    ascending: tuple[str, str] | None = None


class Reference(Struct, frozen=True):
    """Each value of a field is the key of a row of another table; the kernel keeps it, and a database may guard it too.

    With `cascade` the rows that refer to a deleted row are deleted with it; the kernel deletes them itself.
    """

    field: str
    table: str
    cascade: bool = False


class Relation(Struct, frozen=True):
    """Rows of another table whose `remote` field equals this table's `local` field."""

    name: str
    table: str
    local: str
    remote: str
    many: bool = True


class Count(Struct, frozen=True):
    """A computed number, not stored: how many rows of a table these relations lead to, in total.

    A row reached by two of the relations counts twice. `Table.counting` gives a table that includes the number.
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
        checks: Iterable[Check] = (),
        references: Iterable[Reference] = (),
        relations: Iterable[Relation] = (),
        counts: Iterable[Count] = (),
        words: Callable[[Row], Mapping[str, float]] | None = None,
        shape: Vertex | Arc | None = None,
        derived: bool = True,
        added_later: bool = False,
        versioned: bool | None = None,
    ) -> None:
        self.name = name
        self.row = row
        self.fields = tuple(fields)
        self.key = tuple(key)
        self.row_key = self.key
        """The fields that tell two rows of one answer apart; fewer than the key where that also tells versions of a row
        apart, of which an answer has one."""
        self.hidden: tuple[Field, ...] = ()
        """Stored columns that rows do not have: only the key and conditions of a store name them."""
        self.unique = tuple(unique)
        self.indexes = tuple(indexes)
        self.checks = tuple(checks)
        self.references = tuple(references)
        self.relations = {relation.name: relation for relation in relations}
        self.counts = {count.name: count for count in counts}
        self.words = words
        """The words of a row with their weights; a word has no control characters."""
        self.shape = shape
        self.derived = derived
        """True when the rows follow from the log alone; only such tables are part of the state digest."""
        self.added_later = added_later
        """True for a table that 0.1.0 did not have: while it is empty the digest leaves it out, so that stores without
        such rows keep the digest they had."""
        self.versioned = derived if versioned is None else versioned
        """True when reads of the past see the table (`Storage.at`); a store may then keep the former rows."""
        self.stored = self
        """The stored table; differs from this one where this is a view with counts (`counting`)."""
        self.counted: tuple[Count | SortKey, ...] = ()
        """The counts and sort keys of each row, as its last fields."""
        self._counting: dict[tuple[Count | SortKey, ...], Table] = {}

    def __repr__(self) -> str:
        return f"Table({self.name})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @cached_property
    def key_of(self) -> Callable[[Row], Any]:
        """A row's key: the plain value of a one-field key, else a tuple."""
        return attrgetter(*self.row_key)

    @cached_property
    def _fields(self) -> dict[str, Field]:
        return {field.name: field for field in (*self.fields, *self.hidden)}

    def field(self, name: str) -> Field:
        return self._fields[name]

    def counting(self, names: Iterable[str]) -> Table:
        """A view of the table that includes the counts and sort keys among these names; the stored table without any.

        They are extra fields at the end of the row, so that they sort, page and get cursors like any other field.
        Conditions apply to stored fields only.
        """
        named = dict.fromkeys(names)
        counts = [count for name, count in self.stored.counts.items() if name in named]
        keys = [key for name in named if (key := parse_sort_key(name)) is not None and key.field in self.stored._fields]
        counted: tuple[Count | SortKey, ...] = (*counts, *keys)
        if counted == self.counted:
            return self
        found = self.stored._counting.get(counted)
        if found is None:
            if len(self.stored._counting) >= MAX_VIEWS:
                self.stored._counting.clear()
            found = self.stored._counting[counted] = _counting(self.stored, counted)
        return found


def _counting(table: Table, counted: tuple[Count | SortKey, ...]) -> Table:
    extra = [(one.name, str if isinstance(one, SortKey) else int) for one in counted]
    row = msgspec.defstruct(f"Counted{table.row.__name__}", extra, bases=(table.row,), frozen=True, gc=False)
    seen = Table(
        table.name,
        row,
        [*table.fields, *map(_computed_field, counted)],
        table.key,
        unique=table.unique,
        indexes=table.indexes,
        relations=table.relations.values(),
        words=table.words,
        shape=table.shape,
        derived=table.derived,
        versioned=table.versioned,
    )
    seen.stored, seen.counted = table, counted
    return seen


def _computed_field(computed: Count | SortKey) -> Field:
    if isinstance(computed, Count):
        return Field(computed.name, Kind.INTEGER)
    # Databases cut long names.
    return Field(computed.name, column=f"sort_{blake2s(computed.name.encode(), digest_size=12).hexdigest()}")
