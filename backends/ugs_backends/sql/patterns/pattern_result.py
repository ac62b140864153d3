"""Converts the result of a pattern statement to matches: rows, fields of rows, and walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ugs.reads.pattern import Fields, Pattern
from ugs.tables import Row, Table
from ugs_backends.sql.dialect import Dialect
from ugs_backends.sql.row_codec import Values, compile_maker, decode_value, is_changed

NO_EDGES: Mapping[str, Row] = {}
REFUSED = -1
"""The count in the record of a refused pattern (see `Pattern.unless`)."""


class Part(Struct, frozen=True):
    """The position of one part of a match in a record."""

    place: int
    table: Table
    fields: Fields
    is_walk: bool = False

    @property
    def width(self) -> int:
        return 1 if self.is_walk else len(self.fields or self.table.fields)


def list_parts(pattern: Pattern) -> Iterator[Part]:
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
"""Extracts one part of a match from a record."""


class PatternResultReader:
    """Converts records to matches; a row that occurs in many of them is created once."""

    def __init__(self, dialect: Dialect, pattern: Pattern) -> None:
        self.dialect = dialect
        self.parts = list(list_parts(pattern))
        self.walks = [part.place for part in self.parts if part.is_walk]
        self.numbers = pattern.counted
        self.guarded = pattern.unless is not None
        # Readers of whole rows hold a cache for one result, so only readers of fields are reusable.
        self.fields = [None if part.fields is None else _build_fields_reader(part, part.fields) for part in self.parts]

    def is_refused(self, records: Sequence[Values]) -> bool:
        """Whether the result says that the excluded property key exists."""
        return self.guarded and bool(records) and records[0][-1] == REFUSED

    def paths(self, records: Sequence[Values]) -> set[str]:
        """The ids of the arcs of all walks, whose rows the statement does not return."""
        return {id for record in records for place in self.walks for id in self.dialect.path_ids(record[place])}

    def matches(self, records: Sequence[Values], arcs: Mapping[str, Row] = NO_EDGES) -> list[tuple[Any, ...]]:
        readers = [known or self._build_reader(part, arcs) for part, known in zip(self.parts, self.fields, strict=True)]
        if self.numbers:  # an ungrouped count returns a record even without matches
            records = [record for record in records if record[-1]]
        if len(readers) == 1:
            read = readers[0]
            return [(read(record), record[-1]) for record in records]
        return [(*[read(record) for read in readers], record[-1]) for record in records]

    def _build_reader(self, part: Part, arcs: Mapping[str, Row]) -> Reader:
        if part.is_walk:
            return lambda record: [arcs[id] for id in self.dialect.path_ids(record[part.place])]
        return _build_row_reader(part.table, part.place)


def _build_fields_reader(part: Part, fields: tuple[str, ...]) -> Callable[[Values], tuple[Any, ...]]:
    start, end = part.place, part.place + len(fields)
    kinds = [part.table.field(name) for name in fields]
    if not any(is_changed(field) for field in kinds):
        return lambda record: tuple(record[start:end])
    return lambda record: tuple(map(decode_value, kinds, record[start:end]))


def _build_row_reader(table: Table, place: int) -> Callable[[Values], Row]:
    known: dict[Any, Row] = {}
    make = compile_maker(table, tuple(range(place, place + len(table.fields))))
    key = place + table.names.index(table.key[0])

    def read(record: Values) -> Row:
        row = known.get(record[key])
        if row is None:
            row = known[record[key]] = make(record)
        return row

    return read
