"""What a database answers to a pattern, as matches: rows, fields of rows, and walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from backends.sql.dialect import Dialect
from backends.sql.rows import Values, is_changed, maker_of, value_from_store
from ugs.catalog import Row, Table
from ugs.reads.pattern import Fields, Pattern

NO_ARCS: Mapping[str, Row] = {}
REFUSED = -1
"""Stands where the number of matches would stand."""


class Part(Struct, frozen=True):
    """Where one part of a match stands in a record."""

    place: int
    table: Table
    fields: Fields
    is_walk: bool = False

    @property
    def width(self) -> int:
        return 1 if self.is_walk else len(self.fields or self.table.fields)


def parts_of(pattern: Pattern) -> Iterator[Part]:
    """The parts of a match, in their order."""
    place = 0
    for number in pattern.wanted_spots:
        part = Part(place, pattern.vertices, pattern.spots[number].fields)
        yield part
        place += part.width
    for number in pattern.wanted_legs:
        leg = pattern.legs[number]
        part = Part(place, pattern.arcs, leg.fields, leg.reach is not None)
        yield part
        place += part.width


Reader = Callable[[Values], Any]
"""Takes one part of a match out of a record."""


class Reading:
    """Makes matches of records; a row that occurs in many of them is made once."""

    def __init__(self, dialect: Dialect, pattern: Pattern) -> None:
        self.dialect = dialect
        self.parts = list(parts_of(pattern))
        self.walks = [part.place for part in self.parts if part.is_walk]
        self.numbers = pattern.counted
        self.guarded = pattern.unless is not None
        # Only readers of whole rows keep what they have made, for one answer.
        self.fields = [None if part.fields is None else _fields_reader(part, part.fields) for part in self.parts]

    def is_refused(self, records: Sequence[Values]) -> bool:
        """Whether the database says that it must not be asked so."""
        return self.guarded and bool(records) and records[0][-1] == REFUSED

    def paths(self, records: Sequence[Values]) -> set[str]:
        """The arcs of all walks, which the statement only names."""
        return {id for record in records for place in self.walks for id in self.dialect.path_ids(record[place])}

    def matches(self, records: Sequence[Values], arcs: Mapping[str, Row] = NO_ARCS) -> list[tuple[Any, ...]]:
        readers = [known or self._reader(part, arcs) for part, known in zip(self.parts, self.fields, strict=True)]
        if self.numbers:  # a count of everything comes even where there is nothing
            records = [record for record in records if record[-1]]
        if len(readers) == 1:
            read = readers[0]
            return [(read(record), record[-1]) for record in records]
        return [(*[read(record) for read in readers], record[-1]) for record in records]

    def _reader(self, part: Part, arcs: Mapping[str, Row]) -> Reader:
        if part.is_walk:
            return lambda record: [arcs[id] for id in self.dialect.path_ids(record[part.place])]
        return _row_reader(part.table, part.place)


def _fields_reader(part: Part, fields: tuple[str, ...]) -> Callable[[Values], tuple[Any, ...]]:
    start, end = part.place, part.place + len(fields)
    kinds = [part.table.field(name) for name in fields]
    if not any(is_changed(field) for field in kinds):
        return lambda record: tuple(record[start:end])
    return lambda record: tuple(map(value_from_store, kinds, record[start:end]))


def _row_reader(table: Table, place: int) -> Callable[[Values], Row]:
    known: dict[Any, Row] = {}
    make = maker_of(table, tuple(range(place, place + len(table.fields))))
    key = place + table.names.index(table.key[0])

    def read(record: Values) -> Row:
        row = known.get(record[key])
        if row is None:
            row = known[record[key]] = make(record)
        return row

    return read
