"""Compiles a pattern to one statement: joins of vertices and arcs, and a recursive query for a variable-length leg.

A leg in both directions would need an OR that no index supports, so the statement is the union of one branch for each
combination of directions; a self-loop counts in one direction only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from ugs.catalog import Catalog
from ugs.reads.filters import EVERYTHING
from ugs.reads.pattern import EdgeDirection, EdgePattern, Fields, Pattern, may_share
from ugs.tables import Kind
from ugs_backends.sql.compiler.conditions import TRUE, Place
from ugs_backends.sql.compiler.json_key_prefilter import is_decidable
from ugs_backends.sql.compiler.json_keys import has_key
from ugs_backends.sql.compiler.statements import BoundStatement, Select, build_limit
from ugs_backends.sql.dialect import Dialect, find_tie_index, quote_identifier
from ugs_backends.sql.patterns.pattern_result import REFUSED, list_parts

MAX_BRANCHES = 8
MAX_JOINS = 12
WALK_ALIAS = "w"


def is_joinable(catalog: Catalog, pattern: Pattern) -> bool:
    """Whether the pattern can be one statement.

    A variable-length leg must come first, since a recursive query cannot depend on the rows joined so far.
    """
    walks = [number for number, leg in enumerate(pattern.legs) if leg.reach is not None]
    branches = 2 ** sum(leg.way is EdgeDirection.BOTH and leg.reach is None for leg in pattern.legs)
    return (
        walks in ([], [0])
        and not any(leg.shortest for leg in pattern.legs)
        and branches <= MAX_BRANCHES
        and len(pattern.legs) <= MAX_JOINS
        and (pattern.unless is None or pattern.vertices.field(pattern.unless[0]).indexed)
        and all(is_decidable(catalog, pattern.vertices, spot.where) for spot in pattern.spots)
        and all(is_decidable(catalog, pattern.arcs, leg.where) for leg in pattern.legs)
    )


class PatternQuery:
    """Builds the statement of a pattern."""

    def __init__(self, dialect: Dialect, pattern: Pattern, select: Select) -> None:
        self.dialect = dialect
        self.pattern = pattern
        self.select = select
        self.vertex_key = pattern.vertices.key[0]
        self.arc_key = pattern.arcs.key[0]

    def statement(self) -> BoundStatement:
        """The statement with its parameters."""
        walk = next((leg for leg in self.pattern.legs if leg.reach is not None), None)
        start = "" if walk is None else f"WITH RECURSIVE {WALK_ALIAS} AS ({self._walk(walk, walk.reach or (1, 1))}) "
        choices = [
            (EdgeDirection.OUT, EdgeDirection.IN) if self._list_directions(leg) else (leg.way,)
            for leg in self.pattern.legs
        ]
        guard = list(self._guard())
        found = (
            [self._build_branch(ways) for ways in product(*choices)]
            if self.pattern.legs
            else [self._select_single(bool(guard))]
        )
        branches = " UNION ALL ".join([*guard, *found])
        return start + branches + build_limit(self.pattern.limit), self.select.parameters.values

    def _select_single(self, guarded: bool) -> str:
        """A pattern of one vertex, ordered by key; groups by their least key."""
        key = self._place_node_alias(0)
        if self.pattern.counted:
            order = f" ORDER BY min({key})" if self.pattern.wanted_spots else ""
        else:
            order = f" ORDER BY {key}"
        text = self._build_branch(()) + order
        return f"SELECT * FROM ({text}{build_limit(self.pattern.limit)}) a" if guarded and order else text

    def _guard(self) -> Iterator[str]:
        """A first record that reports that some vertex has the property key which the pattern excludes (`unless`)."""
        if self.pattern.unless is not None:
            field, key = self.pattern.unless
            nothing = ["NULL"] * sum(part.width for part in list_parts(self.pattern))
            refusal = ", ".join([*nothing, str(REFUSED)])
            yield has_key(self.pattern.vertices, field, key, self.select.parameters, refusal)

    def _list_directions(self, leg: EdgePattern) -> bool:
        return leg.way is EdgeDirection.BOTH and leg.reach is None

    # ── one combination of directions ────────────────────────────────────────

    def _build_branch(self, ways: Sequence[EdgeDirection]) -> str:
        tables = " ".join(self._join_tables(ways))
        tests = [test for test in self._build_tests(ways) if test != TRUE] or [TRUE]
        text = f"SELECT {self._list_columns()} FROM {tables} WHERE {' AND '.join(tests)}"
        return text + self._build_group_by() if self.pattern.counted else text

    def _build_group_by(self) -> str:
        groups = [
            *(self._list_node_columns(number, _list_group_keys) for number in self.pattern.wanted_spots),
            *(_list_group_keys(self._place_edge(n), self.pattern.legs[n].fields) for n in self.pattern.wanted_legs),
        ]
        return f" GROUP BY {', '.join(groups)}" if groups else ""

    def _list_columns(self) -> str:
        spots = [self._list_node_columns(number, _list_selected) for number in self.pattern.wanted_spots]
        legs = [self._list_edge_columns(number) for number in self.pattern.wanted_legs]
        return ", ".join([*spots, *legs, "count(*)" if self.pattern.counted else "1"])

    def _list_node_columns(self, number: int, columns: Callable[[Place, Fields], str]) -> str:
        if not self._is_joined(number):
            return self._place_node_alias(number)
        return columns(self._place_node(number), self.pattern.spots[number].fields)

    def _list_edge_columns(self, number: int) -> str:
        if self._is_walk(number):
            return f"{WALK_ALIAS}.path"
        return _list_selected(self._place_edge(number), self.pattern.legs[number].fields)

    def _join_tables(self, ways: Sequence[EdgeDirection]) -> Iterator[str]:
        """The joined tables in search order, each with its join condition."""
        join, seen = self.dialect.join, {0}
        vertices = quote_identifier(self.pattern.vertices.name)
        if not self._walks:
            yield f"{vertices} s0"
        elif self._is_joined(0):
            yield f"{WALK_ALIAS} {join} {vertices} s0 ON {self._place_node_alias(0)} = {WALK_ALIAS}.start"
        else:
            yield WALK_ALIAS
        for number, (leg, way) in enumerate(zip(self.pattern.legs, ways, strict=True)):
            here, there = self._list_end_columns(number, way)
            if not self._is_walk(number):
                column = "source" if way is EdgeDirection.OUT else "target"
                index = find_tie_index(self.dialect, self.pattern.arcs, getattr(self.pattern.arc, column))
                arcs = f"{quote_identifier(self.pattern.arcs.name)} e{number}{index}"
                yield f"{join} {arcs} ON {here} = {self._place_node_alias(leg.start)}"
            if leg.end not in seen and self._is_joined(leg.end):
                yield f"{join} {vertices} s{leg.end} ON {self._place_node_alias(leg.end)} = {there}"
            seen.add(leg.end)

    def _build_tests(self, ways: Sequence[EdgeDirection]) -> Iterator[str]:
        """The conditions on the joined rows besides the join conditions."""
        seen = {0}
        for number, (leg, way) in enumerate(zip(self.pattern.legs, ways, strict=True)):
            here, there = self._list_end_columns(number, way)
            if leg.end in seen:
                yield f"{there} = {self._place_node_alias(leg.end)}"
            seen.add(leg.end)
            if self._list_directions(leg) and way is EdgeDirection.IN:
                yield f"{here} <> {there}"
            if leg.reach is not None:
                yield f"{WALK_ALIAS}.depth >= {int(leg.reach[0])}"
            else:
                yield self.select.conditions.text(leg.where, self._place_edge(number))
            yield from (
                self._build_difference(number, other) for other in range(number) if self._may_be_equal(number, other)
            )
        for number, spot in enumerate(self.pattern.spots):
            if number or not self._walks:
                yield self.select.conditions.text(spot.where, self._place_node(number))

    def _may_be_equal(self, number: int, other: int) -> bool:
        legs = self.pattern.legs
        return may_share(legs[number], legs[other], self.pattern.arc.label)

    def _build_difference(self, number: int, other: int) -> str:
        if self._is_walk(other):
            return self.dialect.absent(f"{WALK_ALIAS}.path", self._place_edge_alias(number))
        return f"{self._place_edge_alias(number)} <> {self._place_edge_alias(other)}"

    # ── variable-length legs ─────────────────────────────────────────────────

    def _walk(self, leg: EdgePattern, reach: tuple[int, int]) -> str:
        """The recursive query of all walks from the first vertex: start, current vertex, length and arcs."""
        start = Place(self.pattern.vertices, "s0")
        id = start.column(self.vertex_key)
        first = self.select.conditions.text(self.pattern.spots[0].where, start)
        path = "" if self.pattern.reaches else f", {self.dialect.no_path} AS path"
        source = quote_identifier(start.table.name)
        begin = f"SELECT {id} AS start, {id} AS node, 0 AS depth{path} FROM {source} s0 WHERE {first}"
        # Where only the ends matter, UNION removes duplicates, so a vertex is expanded once per depth.
        return (" UNION " if self.pattern.reaches else " UNION ALL ").join([begin, *self._build_steps(leg, reach[1])])

    def _build_steps(self, leg: EdgePattern, most: int) -> Iterator[str]:
        if leg.way is not EdgeDirection.BOTH or self.dialect.recurses_twice:
            for way in (EdgeDirection.OUT, EdgeDirection.IN) if leg.way is EdgeDirection.BOTH else (leg.way,):
                yield self._build_step(
                    leg,
                    most,
                    *self._name_ends(way),
                    loops=leg.way is not EdgeDirection.BOTH or way is EdgeDirection.OUT,
                )
            return
        arc, name = self.pattern.arc, quote_identifier(self.pattern.arcs.name)
        source, target = (quote_identifier(self.pattern.arcs.field(end).stored_as) for end in (arc.source, arc.target))
        either = (
            f"(SELECT e.*, {source} AS here, {target} AS there FROM {name} e UNION ALL "
            f"SELECT e.*, {target}, {source} FROM {name} e WHERE {source} <> {target})"
        )
        yield self._build_step(leg, most, f"{either} e", "e.here", "e.there", loops=True)

    def _name_ends(self, way: EdgeDirection) -> tuple[str, str, str]:
        place, arc = Place(self.pattern.arcs, "e"), self.pattern.arc
        here, there = (arc.source, arc.target) if way is EdgeDirection.OUT else (arc.target, arc.source)
        arcs = f"{quote_identifier(place.table.name)} e{find_tie_index(self.dialect, place.table, here)}"
        return arcs, place.column(here), place.column(there)

    def _build_step(self, leg: EdgePattern, most: int, arcs: str, here: str, there: str, loops: bool) -> str:
        place = Place(self.pattern.arcs, "e")
        id = place.column(self.arc_key)
        between = Place(self.pattern.vertices, "v")
        vertex = between.column(self.vertex_key)
        tests = [
            f"{WALK_ALIAS}.depth < {int(most)}",
            TRUE if self.pattern.reaches else self.dialect.absent(f"{WALK_ALIAS}.path", id),
            self.select.conditions.text(leg.where, place),
            TRUE if loops else f"{here} <> {there}",
        ]
        join = self.dialect.join
        path = "" if self.pattern.reaches else f", {self.dialect.longer(f'{WALK_ALIAS}.path', id)}"
        return (
            f"SELECT {WALK_ALIAS}.start, {there}, {WALK_ALIAS}.depth + 1{path} "
            f"FROM {WALK_ALIAS} {join} {arcs} ON {here} = {WALK_ALIAS}.node "
            f"{join} {quote_identifier(between.table.name)} v ON {vertex} = {there} "
            f"WHERE {' AND '.join(test for test in tests if test != TRUE)}"
            f"{self.select.conditions.same_position(leg.where, between)}"
        )

    # ── names ────────────────────────────────────────────────────────────────

    def _is_walk(self, number: int) -> bool:
        return self.pattern.legs[number].reach is not None

    def _list_end_columns(self, number: int, way: EdgeDirection) -> tuple[str, str]:
        """The columns of a leg's start and end vertex."""
        if self._is_walk(number):
            return f"{WALK_ALIAS}.start", f"{WALK_ALIAS}.node"
        place, arc = self._place_edge(number), self.pattern.arc
        ends = place.column(arc.source), place.column(arc.target)
        return ends if way is EdgeDirection.OUT else ends[::-1]

    def _place_node(self, number: int) -> Place:
        return Place(self.pattern.vertices, f"s{number}")

    def _place_edge(self, number: int) -> Place:
        return Place(self.pattern.arcs, f"e{number}")

    @property
    def _walks(self) -> bool:
        return bool(self.pattern.legs) and self._is_walk(0)

    def _is_joined(self, number: int) -> bool:
        """Whether a vertex must be joined; for the ends of a walk, which are known to exist, the id may suffice."""
        pattern = self.pattern
        if not self._walks or number not in (0, pattern.legs[0].end):
            return True
        asks = number in pattern.wanted_spots and pattern.spots[number].fields != (self.vertex_key,)
        return asks or (number > 0 and pattern.spots[number].where != EVERYTHING)

    def _place_node_alias(self, number: int) -> str:
        if self._is_joined(number):
            return self._place_node(number).column(self.vertex_key)
        return f"{WALK_ALIAS}.{'start' if number == 0 else 'node'}"

    def _place_edge_alias(self, number: int) -> str:
        return self._place_edge(number).column(self.arc_key)


def _list_selected(place: Place, fields: Fields) -> str:
    """The selected columns of a row."""
    return ", ".join(map(place.column, place.table.names if fields is None else fields))


def _list_group_keys(place: Place, fields: Fields) -> str:
    """The GROUP BY columns: the selected ones, or the key where these include JSON, as it is shorter."""
    if fields is None or any(place.table.field(name).kind is Kind.JSON for name in fields):
        return place.column(place.table.key[0])
    return ", ".join(map(place.column, fields))
