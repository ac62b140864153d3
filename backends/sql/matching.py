"""A pattern as one statement: joins over vertices and arcs, and a recursive query for a walk of several arcs.

A leg that may be followed both ways would need an OR that no index answers, so the statement is written once for each
choice of ways and the answers stand one after the other; an arc from a vertex to itself counts for one way only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from backends.sql.conditions import TRUE, Place
from backends.sql.dialect import Dialect, quoted, tie_index
from backends.sql.rows import Values, maker_of
from backends.sql.statements import Bound, Select, columns_of, limit_of
from backends.sql.unindexed import is_decidable
from ugs.catalog import Catalog, Row, Table
from ugs.reads.pattern import Leg, Pattern, Way

MOST_BRANCHES = 8
MOST_JOINS = 12
WALK = "w"


def is_joinable(catalog: Catalog, pattern: Pattern) -> bool:
    """Whether the database can answer the pattern at once.

    A walk must come first, since a recursive query cannot depend on the rows that others have found so far.
    """
    walks = [number for number, leg in enumerate(pattern.legs) if leg.reach is not None]
    branches = 2 ** sum(leg.way is Way.BOTH and leg.reach is None for leg in pattern.legs)
    return (
        walks in ([], [0])
        and branches <= MOST_BRANCHES
        and len(pattern.legs) <= MOST_JOINS
        and all(is_decidable(catalog, pattern.vertices, spot.where) for spot in pattern.spots)
        and all(is_decidable(catalog, pattern.arcs, leg.where) for leg in pattern.legs)
    )


class Matching:
    """Writes the statement of a pattern."""

    def __init__(self, catalog: Catalog, dialect: Dialect, pattern: Pattern) -> None:
        self.dialect = dialect
        self.pattern = pattern
        self.select = Select(catalog, dialect)
        self.vertex_key = pattern.vertices.key[0]
        self.arc_key = pattern.arcs.key[0]

    def statement(self) -> Bound:
        """The text and the values of its parameters."""
        walk = next((leg for leg in self.pattern.legs if leg.reach is not None), None)
        start = "" if walk is None else f"WITH RECURSIVE {WALK} AS ({self._walk(walk, walk.reach or (1, 1))}) "
        choices = [(Way.OUT, Way.IN) if self._forks(leg) else (leg.way,) for leg in self.pattern.legs]
        branches = " UNION ALL ".join(self._branch(ways) for ways in product(*choices))
        return start + branches + limit_of(self.pattern.limit), self.select.parameters.values

    def _forks(self, leg: Leg) -> bool:
        return leg.way is Way.BOTH and leg.reach is None

    # ── one choice of ways ───────────────────────────────────────────────────

    def _branch(self, ways: Sequence[Way]) -> str:
        tables = " ".join(self._tables(ways))
        tests = [test for test in self._tests(ways) if test != TRUE] or [TRUE]
        text = f"SELECT {self._columns()} FROM {tables} WHERE {' AND '.join(tests)}"
        groups = [
            *(self._spot(n) for n in self.pattern.wanted_spots),
            *(self._arc(n) for n in self.pattern.wanted_legs),
        ]
        return f"{text} GROUP BY {', '.join(groups)}" if self.pattern.counted and groups else text

    def _columns(self) -> str:
        spots = [columns_of(self._vertex_place(number)) for number in self.pattern.wanted_spots]
        legs = [self._arc_columns(number) for number in self.pattern.wanted_legs]
        return ", ".join([*spots, *legs, "count(*)" if self.pattern.counted else "1"])

    def _arc_columns(self, number: int) -> str:
        return f"{WALK}.path" if self._is_walk(number) else columns_of(self._arc_place(number))

    def _tables(self, ways: Sequence[Way]) -> Iterator[str]:
        """The tables in the order in which a search goes, each with what ties it to those before."""
        join, seen = self.dialect.join, {0}
        vertices = quoted(self.pattern.vertices.name)
        if self.pattern.legs and self._is_walk(0):
            yield f"{WALK} {join} {vertices} s0 ON {self._spot(0)} = {WALK}.start"
        else:
            yield f"{vertices} s0"
        for number, (leg, way) in enumerate(zip(self.pattern.legs, ways, strict=True)):
            here, there = self._ends(number, way)
            if not self._is_walk(number):
                column = "source" if way is Way.OUT else "target"
                index = tie_index(self.dialect, self.pattern.arcs, getattr(self.pattern.arc, column))
                arcs = f"{quoted(self.pattern.arcs.name)} e{number}{index}"
                yield f"{join} {arcs} ON {here} = {self._spot(leg.start)}"
            if leg.end not in seen:
                seen.add(leg.end)
                yield f"{join} {vertices} s{leg.end} ON {self._spot(leg.end)} = {there}"

    def _tests(self, ways: Sequence[Way]) -> Iterator[str]:
        """What the joined rows must meet beside what ties them."""
        seen = {0}
        for number, (leg, way) in enumerate(zip(self.pattern.legs, ways, strict=True)):
            here, there = self._ends(number, way)
            if leg.end in seen:
                yield f"{there} = {self._spot(leg.end)}"
            seen.add(leg.end)
            if self._forks(leg) and way is Way.IN:
                yield f"{here} <> {there}"
            if leg.reach is not None:
                yield f"{WALK}.depth >= {int(leg.reach[0])}"
            else:
                yield self.select.conditions.text(leg.where, self._arc_place(number))
            yield from (self._differ(number, other) for other in range(number))
        walks = bool(self.pattern.legs) and self._is_walk(0)
        for number, spot in enumerate(self.pattern.spots):
            if number or not walks:
                yield self.select.conditions.text(spot.where, self._vertex_place(number))

    def _differ(self, number: int, other: int) -> str:
        if self._is_walk(other):
            return self.dialect.absent(f"{WALK}.path", self._arc(number))
        return f"{self._arc(number)} <> {self._arc(other)}"

    # ── a walk over several arcs ─────────────────────────────────────────────

    def _walk(self, leg: Leg, reach: tuple[int, int]) -> str:
        """All walks from the first spot: where they began, where they are, how long they are, and their arcs."""
        start = Place(self.pattern.vertices, "s0")
        id = start.column(self.vertex_key)
        first = self.select.conditions.text(self.pattern.spots[0].where, start)
        path = "" if self.pattern.reaches else f", {self.dialect.no_path} AS path"
        begin = f"SELECT {id} AS start, {id} AS node, 0 AS depth{path} FROM {quoted(start.table.name)} s0 WHERE {first}"
        # Where only the ends count, each is followed once from every depth.
        return (" UNION " if self.pattern.reaches else " UNION ALL ").join([begin, *self._steps(leg, reach[1])])

    def _steps(self, leg: Leg, most: int) -> Iterator[str]:
        if leg.way is not Way.BOTH or self.dialect.recurses_twice:
            for way in (Way.OUT, Way.IN) if leg.way is Way.BOTH else (leg.way,):
                yield self._step(leg, most, *self._directed(way), loops=leg.way is not Way.BOTH or way is Way.OUT)
            return
        arc, name = self.pattern.arc, quoted(self.pattern.arcs.name)
        source, target = (quoted(self.pattern.arcs.field(end).stored_as) for end in (arc.source, arc.target))
        either = (
            f"(SELECT e.*, {source} AS here, {target} AS there FROM {name} e UNION ALL "
            f"SELECT e.*, {target}, {source} FROM {name} e WHERE {source} <> {target})"
        )
        yield self._step(leg, most, either, "e.here", "e.there", loops=True)

    def _directed(self, way: Way) -> tuple[str, str, str]:
        place, arc = Place(self.pattern.arcs, "e"), self.pattern.arc
        ends = (arc.source, arc.target) if way is Way.OUT else (arc.target, arc.source)
        return quoted(place.table.name), place.column(ends[0]), place.column(ends[1])

    def _step(self, leg: Leg, most: int, arcs: str, here: str, there: str, loops: bool) -> str:
        place = Place(self.pattern.arcs, "e")
        id = place.column(self.arc_key)
        vertex = Place(self.pattern.vertices, "v").column(self.vertex_key)
        tests = [
            f"{WALK}.depth < {int(most)}",
            TRUE if self.pattern.reaches else self.dialect.absent(f"{WALK}.path", id),
            self.select.conditions.text(leg.where, place),
            TRUE if loops else f"{here} <> {there}",
        ]
        join = self.dialect.join
        path = "" if self.pattern.reaches else f", {self.dialect.longer(f'{WALK}.path', id)}"
        return (
            f"SELECT {WALK}.start, {there}, {WALK}.depth + 1{path} "
            f"FROM {WALK} {join} {arcs} e ON {here} = {WALK}.node "
            f"{join} {quoted(self.pattern.vertices.name)} v ON {vertex} = {there} "
            f"WHERE {' AND '.join(test for test in tests if test != TRUE)}"
        )

    # ── names ────────────────────────────────────────────────────────────────

    def _is_walk(self, number: int) -> bool:
        return self.pattern.legs[number].reach is not None

    def _ends(self, number: int, way: Way) -> tuple[str, str]:
        """The columns that hold where a leg starts and where it ends."""
        if self._is_walk(number):
            return f"{WALK}.start", f"{WALK}.node"
        place, arc = self._arc_place(number), self.pattern.arc
        ends = place.column(arc.source), place.column(arc.target)
        return ends if way is Way.OUT else ends[::-1]

    def _vertex_place(self, number: int) -> Place:
        return Place(self.pattern.vertices, f"s{number}")

    def _arc_place(self, number: int) -> Place:
        return Place(self.pattern.arcs, f"e{number}")

    def _spot(self, number: int) -> str:
        return self._vertex_place(number).column(self.vertex_key)

    def _arc(self, number: int) -> str:
        return self._arc_place(number).column(self.arc_key)


# ── reading the answer ───────────────────────────────────────────────────────


class Reading:
    """Makes matches of records; a row that occurs in many of them is made once."""

    def __init__(self, dialect: Dialect, pattern: Pattern) -> None:
        self.dialect = dialect
        self.pattern = pattern
        self.walks = [number for number in pattern.wanted_legs if pattern.legs[number].reach is not None]

    def paths(self, records: Sequence[Values]) -> set[str]:
        """The arcs of all walks, which the statement only names."""
        places = [place for place, number in self._leg_places() if number in self.walks]
        return {id for record in records for place in places for id in self.dialect.path_ids(record[place])}

    def _leg_places(self) -> Iterator[tuple[int, int]]:
        place = len(self.pattern.wanted_spots) * len(self.pattern.vertices.fields)
        for number in self.pattern.wanted_legs:
            yield place, number
            place += 1 if number in self.walks else len(self.pattern.arcs.fields)

    def matches(self, records: Sequence[Values], arcs: dict[str, Row]) -> list[tuple[Any, ...]]:
        width = len(self.pattern.vertices.fields)
        readers = [_row_reader(self.pattern.vertices, n * width) for n in range(len(self.pattern.wanted_spots))]
        for place, number in self._leg_places():
            readers.append(
                self._walk_reader(place, arcs) if number in self.walks else _row_reader(self.pattern.arcs, place)
            )
        return [(*(read(record) for read in readers), record[-1]) for record in records if record[-1]]

    def _walk_reader(self, place: int, arcs: dict[str, Row]) -> Callable[[Values], Any]:
        return lambda record: [arcs[id] for id in self.dialect.path_ids(record[place])]


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
