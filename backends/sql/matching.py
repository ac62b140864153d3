"""A pattern as one statement: joins over vertices and arcs, and a recursive query for a walk of several arcs.

A leg that may be followed both ways would need an OR that no index answers, so the statement is written once for each
choice of ways and the answers stand one after the other; an arc from a vertex to itself counts for one way only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from backends.sql.conditions import TRUE, Place
from backends.sql.dialect import Dialect, quoted, tie_index
from backends.sql.keys import has_key
from backends.sql.matched import REFUSED, parts_of
from backends.sql.statements import Bound, Select, columns_of, limit_of
from backends.sql.unindexed import is_decidable
from ugs.catalog import Catalog, Kind
from ugs.reads.pattern import Fields, Leg, Pattern, Way, may_share
from ugs.reads.where import EVERYTHING

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
        and not any(leg.shortest for leg in pattern.legs)
        and branches <= MOST_BRANCHES
        and len(pattern.legs) <= MOST_JOINS
        and (pattern.unless is None or pattern.vertices.field(pattern.unless[0]).indexed)
        and all(is_decidable(catalog, pattern.vertices, spot.where) for spot in pattern.spots)
        and all(is_decidable(catalog, pattern.arcs, leg.where) for leg in pattern.legs)
    )


class Matching:
    """Writes the statement of a pattern."""

    def __init__(self, dialect: Dialect, pattern: Pattern, select: Select) -> None:
        self.dialect = dialect
        self.pattern = pattern
        self.select = select
        self.vertex_key = pattern.vertices.key[0]
        self.arc_key = pattern.arcs.key[0]

    def statement(self) -> Bound:
        """The text and the values of its parameters."""
        walk = next((leg for leg in self.pattern.legs if leg.reach is not None), None)
        start = "" if walk is None else f"WITH RECURSIVE {WALK} AS ({self._walk(walk, walk.reach or (1, 1))}) "
        choices = [(Way.OUT, Way.IN) if self._forks(leg) else (leg.way,) for leg in self.pattern.legs]
        guard = list(self._guard())
        found = [self._branch(ways) for ways in product(*choices)] if self.pattern.legs else [self._alone(bool(guard))]
        branches = " UNION ALL ".join([*guard, *found])
        return start + branches + limit_of(self.pattern.limit), self.select.parameters.values

    def _alone(self, guarded: bool) -> str:
        """The rows of a single spot in the order of their key; groups in that of their first rows."""
        key = self._spot(0)
        if self.pattern.counted:
            order = f" ORDER BY min({key})" if self.pattern.wanted_spots else ""
        else:
            order = f" ORDER BY {key}"
        text = self._branch(()) + order
        return f"SELECT * FROM ({text}{limit_of(self.pattern.limit)}) a" if guarded and order else text

    def _guard(self) -> Iterator[str]:
        """A row that comes first where a vertex has the key that none may have, without matches or with them."""
        if self.pattern.unless is not None:
            field, key = self.pattern.unless
            nothing = ["NULL"] * sum(part.width for part in parts_of(self.pattern))
            refusal = ", ".join([*nothing, str(REFUSED)])
            yield has_key(self.pattern.vertices, field, key, self.select.parameters, refusal)

    def _forks(self, leg: Leg) -> bool:
        return leg.way is Way.BOTH and leg.reach is None

    # ── one choice of ways ───────────────────────────────────────────────────

    def _branch(self, ways: Sequence[Way]) -> str:
        tables = " ".join(self._tables(ways))
        tests = [test for test in self._tests(ways) if test != TRUE] or [TRUE]
        text = f"SELECT {self._columns()} FROM {tables} WHERE {' AND '.join(tests)}"
        return text + self._grouping() if self.pattern.counted else text

    def _grouping(self) -> str:
        groups = [
            *(self._spot_columns(number, _grouped) for number in self.pattern.wanted_spots),
            *(_grouped(self._arc_place(n), self.pattern.legs[n].fields) for n in self.pattern.wanted_legs),
        ]
        return f" GROUP BY {', '.join(groups)}" if groups else ""

    def _columns(self) -> str:
        spots = [self._spot_columns(number, _chosen) for number in self.pattern.wanted_spots]
        legs = [self._arc_columns(number) for number in self.pattern.wanted_legs]
        return ", ".join([*spots, *legs, "count(*)" if self.pattern.counted else "1"])

    def _spot_columns(self, number: int, columns: Callable[[Place, Fields], str]) -> str:
        if not self._is_joined(number):
            return self._spot(number)
        return columns(self._vertex_place(number), self.pattern.spots[number].fields)

    def _arc_columns(self, number: int) -> str:
        if self._is_walk(number):
            return f"{WALK}.path"
        return _chosen(self._arc_place(number), self.pattern.legs[number].fields)

    def _tables(self, ways: Sequence[Way]) -> Iterator[str]:
        """The tables in the order in which a search goes, each with what ties it to those before."""
        join, seen = self.dialect.join, {0}
        vertices = quoted(self.pattern.vertices.name)
        if not self._walks:
            yield f"{vertices} s0"
        elif self._is_joined(0):
            yield f"{WALK} {join} {vertices} s0 ON {self._spot(0)} = {WALK}.start"
        else:
            yield WALK
        for number, (leg, way) in enumerate(zip(self.pattern.legs, ways, strict=True)):
            here, there = self._ends(number, way)
            if not self._is_walk(number):
                column = "source" if way is Way.OUT else "target"
                index = tie_index(self.dialect, self.pattern.arcs, getattr(self.pattern.arc, column))
                arcs = f"{quoted(self.pattern.arcs.name)} e{number}{index}"
                yield f"{join} {arcs} ON {here} = {self._spot(leg.start)}"
            if leg.end not in seen and self._is_joined(leg.end):
                yield f"{join} {vertices} s{leg.end} ON {self._spot(leg.end)} = {there}"
            seen.add(leg.end)

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
            yield from (self._differ(number, other) for other in range(number) if self._may_share(number, other))
        for number, spot in enumerate(self.pattern.spots):
            if number or not self._walks:
                yield self.select.conditions.text(spot.where, self._vertex_place(number))

    def _may_share(self, number: int, other: int) -> bool:
        legs = self.pattern.legs
        return may_share(legs[number], legs[other], self.pattern.arc.label)

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
        yield self._step(leg, most, f"{either} e", "e.here", "e.there", loops=True)

    def _directed(self, way: Way) -> tuple[str, str, str]:
        place, arc = Place(self.pattern.arcs, "e"), self.pattern.arc
        here, there = (arc.source, arc.target) if way is Way.OUT else (arc.target, arc.source)
        arcs = f"{quoted(place.table.name)} e{tie_index(self.dialect, place.table, here)}"
        return arcs, place.column(here), place.column(there)

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
            f"FROM {WALK} {join} {arcs} ON {here} = {WALK}.node "
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

    @property
    def _walks(self) -> bool:
        return bool(self.pattern.legs) and self._is_walk(0)

    def _is_joined(self, number: int) -> bool:
        """Whether the row at a spot is looked at. The ends of a walk are known to exist, so their ids may be enough."""
        pattern = self.pattern
        if not self._walks or number not in (0, pattern.legs[0].end):
            return True
        asks = number in pattern.wanted_spots and pattern.spots[number].fields != (self.vertex_key,)
        return asks or (number > 0 and pattern.spots[number].where != EVERYTHING)

    def _spot(self, number: int) -> str:
        if self._is_joined(number):
            return self._vertex_place(number).column(self.vertex_key)
        return f"{WALK}.{'start' if number == 0 else 'node'}"

    def _arc(self, number: int) -> str:
        return self._arc_place(number).column(self.arc_key)


def _chosen(place: Place, fields: Fields) -> str:
    """The columns that are wanted of a row."""
    return columns_of(place) if fields is None else ", ".join(map(place.column, fields))


def _grouped(place: Place, fields: Fields) -> str:
    """What rows that count as one have in common: what is wanted, or the key, which is shorter than JSON."""
    if fields is None or any(place.table.field(name).kind is Kind.JSON for name in fields):
        return place.column(place.table.key[0])
    return ", ".join(map(place.column, fields))
