"""Compiles a pattern to one statement over the visible relationships.

Labels and types in the text come from a checked pattern and can be quoted safely; every value is a parameter. Patterns
that Neo4j might interpret differently are left to the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from ugs.reads.filters import Any_, Compare, Everything, Op, Where
from ugs.reads.pattern import EdgeDirection, EdgePattern, Fields, Match, Pattern
from ugs.tables import Kind
from ugs_backends.neo4j.cypher_fragments import CHUNK_ROWS, Parameters
from ugs_backends.neo4j.layout import Layout, is_label
from ugs_backends.neo4j.read.fetch_query import build_source
from ugs_backends.neo4j.read.filters import Filters, Layouts
from ugs_backends.neo4j.write.record_encoder import RELATED, TABLE

ARROWS = {EdgeDirection.OUT: ("-", "->"), EdgeDirection.IN: ("<-", "-"), EdgeDirection.BOTH: ("-", "-")}


class NotExact(Exception):
    """Neo4j might interpret the pattern differently."""


class MatchStatement(Struct, frozen=True):
    """Cypher for a pattern."""

    text: str
    parameters: dict[str, Any]


class PatternStatements:
    """Compiles patterns and decodes their results."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts

    def statement(self, pattern: Pattern) -> MatchStatement | None:
        """The statement of a pattern; None if Neo4j cannot answer it exactly."""
        try:
            return PatternWriter(self.layouts, pattern).statement()
        except NotExact:
            return None

    def list_arc_keys(self, pattern: Pattern, answer: Sequence[Sequence[Any]]) -> set[str]:
        """The keys of the arcs of all walks, whose rows the statement does not return."""
        layout = self.layouts[pattern.arcs.name]
        places = [place for place, number in _list_legs(pattern) if pattern.legs[number].reach is not None]
        key = pattern.arcs.key[0]
        return {
            layout.decode_value(key, id) for (chunk,) in answer for values in chunk for p in places for id in values[p]
        }

    def read(self, pattern: Pattern, answer: Sequence[Sequence[Any]], arcs: dict[str, Any]) -> list[Match]:
        """Decode the matches; `arcs` are the rows of the arcs in walks."""
        return [tuple(self._parts(pattern, values, arcs)) for (chunk,) in answer for values in chunk]

    def _parts(self, pattern: Pattern, values: Sequence[Any], arcs: dict[str, Any]) -> Iterator[Any]:
        vertex, arc = self.layouts[pattern.vertices.name], self.layouts[pattern.arcs.name]
        for place, number in enumerate(pattern.wanted_spots):
            yield _build_decoder(vertex, pattern.spots[number].fields, values[place])
        for place, number in _list_legs(pattern):
            leg = pattern.legs[number]
            if leg.reach is None:
                yield _build_decoder(arc, leg.fields, values[place])
            else:
                yield [arcs[arc.decode_value(pattern.arcs.key[0], id)] for id in values[place]]
        yield values[-1]


def _build_decoder(layout: Layout, fields: Fields, values: Sequence[Any]) -> Any:
    """Decode a row, or the wanted fields of it."""
    return layout.row(values) if fields is None else tuple(map(layout.decode_value, fields, values))


def _list_legs(pattern: Pattern) -> Iterator[tuple[int, int]]:
    for place, number in enumerate(pattern.wanted_legs):
        yield place + len(pattern.wanted_spots), number


class PatternWriter:
    """Builds one statement."""

    def __init__(self, layouts: Layouts, pattern: Pattern) -> None:
        self.pattern = pattern
        self.parameters = Parameters()
        self.filters = Filters(layouts, self.parameters)
        self.vertex: Layout = layouts[pattern.vertices.name]
        self.arc: Layout = layouts[pattern.arcs.name]

    def statement(self) -> MatchStatement:
        legs = list(enumerate(self.pattern.legs))
        shortest = any(leg.shortest for leg in self.pattern.legs)
        tests = [test for number, leg in legs for test in self._build_tests(number, leg)]
        start = self._find_starts(0)
        if shortest:
            # Both ends must be bound before the search; Neo4j rejects a shortest path from a node to itself.
            start += f" {self._find_starts(1)} AND s0 <> s1"
        else:
            tests = [*(self._build_condition(number) for number in range(1, len(self.pattern.spots))), *tests]
        drawn = ", ".join(self._build_leg(number, leg) for number, leg in legs)
        records = "".join(self._build_record_match(number) for number in self.pattern.wanted_legs)
        found = f"{start} MATCH {drawn} WHERE {' AND '.join(tests)}{records}"
        return MatchStatement(f"{found} {self._build_return()}", self.parameters.values)

    def _find_starts(self, number: int) -> str:
        """The clause that finds the vertices the search starts from."""
        source = build_source(self.parameters, self.vertex, f"s{number}", self.pattern.spots[number].where)
        # After a procedure call, WHERE needs a WITH clause.
        return f"{source}{'' if source.startswith('MATCH') else ' WITH *'} WHERE {self._build_condition(number)}"

    def _build_leg(self, number: int, leg: EdgePattern) -> str:
        left, right = ARROWS[leg.way]
        reach = "" if leg.reach is None else f"*{int(leg.reach[0])}..{int(leg.reach[1])}"
        walk = f"(s{leg.start}){left}[e{number}{self._list_leg_types(leg)}{reach}]{right}(s{leg.end})"
        return f"p{number} = {f'allShortestPaths({walk})' if leg.shortest else walk}"

    def _list_leg_types(self, leg: EdgePattern) -> str:
        wanted = list_types(leg.where, self.arc)
        if wanted is None:
            return ""
        shown = {RELATED if label is None else label for label in wanted}
        return ":" + "|".join(f"`{label}`" for label in sorted(shown))

    def _build_condition(self, number: int) -> str:
        condition = self.filters.condition(self.vertex, f"s{number}", self.pattern.spots[number].where)
        if not condition.exact:
            raise NotExact
        return f"s{number}:{self.vertex.label} AND {condition.text}"

    def _build_tests(self, number: int, leg: EdgePattern) -> Iterator[str]:
        """Conditions on a relationship besides its type: it is ours, and has the type that it shows."""
        if leg.reach is None:
            yield from self._build_relationship_condition(f"e{number}", leg)
        else:
            conditions = " AND ".join(self._build_relationship_condition("r", leg))
            yield f"all(r IN relationships(p{number}) WHERE {conditions})"
            yield f"all(n IN nodes(p{number}) WHERE n:{self.vertex.label})"

    def _build_relationship_condition(self, r: str, leg: EdgePattern) -> Iterator[str]:
        yield f"{r}.{TABLE} = '{self.arc.table.name}'"
        wanted = list_types(leg.where, self.arc)
        if wanted is None or not {None, RELATED} & set(wanted):
            return
        yield f"{r}._type IS NULL"
        if None not in wanted:
            yield f"{r}._untyped IS NULL"
        elif RELATED not in wanted:
            yield f"(type({r}) <> '{RELATED}' OR {r}._untyped IS NOT NULL)"

    def _build_record_match(self, number: int) -> str:
        """The clause that finds the record node of a relationship."""
        if self.pattern.legs[number].reach is not None:
            return ""
        key = " AND ".join(f"r{number}.{column} = e{number}.{column}" for column in self.arc.key)
        return f" MATCH (r{number}:{self.arc.label}) WHERE {key}"

    def _build_return(self) -> str:
        pattern = self.pattern
        spots = [self._return_row(f"s{n}", self.vertex, pattern.spots[n].fields) for n in pattern.wanted_spots]
        legs = [self._return_leg(number) for number in pattern.wanted_legs]
        count = "count(*)" if pattern.counted else "1"
        kept = ", ".join([*(name for name, _ in (*spots, *legs)), f"{count} AS times"])
        values = ", ".join([*(value for _, value in (*spots, *legs)), "times"])
        limit = "" if pattern.limit is None else f" LIMIT {self.parameters.add(pattern.limit)}"
        return (
            f"WITH {kept} WHERE times > 0 WITH *{limit} WITH collect([{values}]) AS found "
            f"UNWIND range(0, size(found) - 1, {CHUNK_ROWS}) AS at RETURN found[at..at + {CHUNK_ROWS}]"
        )

    def _return_leg(self, number: int) -> tuple[str, str]:
        if self.pattern.legs[number].reach is None:
            return self._return_row(f"r{number}", self.arc, self.pattern.legs[number].fields)
        return f"e{number}", f"[r IN e{number} | r.{self.arc.key[0]}]"

    def _return_row(self, name: str, layout: Layout, fields: Fields) -> tuple[str, str]:
        """The grouping expression of a row, and the list of its values in the result."""
        if fields is None:
            return name, f"[{layout.select_columns(name)}]"
        values = f"[{', '.join(f'{name}.{layout.columns[field]}' for field in fields)}]"
        if any(layout.kinds[field] is Kind.JSON for field in fields):  # long texts are expensive grouping keys
            return name, values
        return f"{values} AS v{name}", f"v{name}"


def list_types(where: Where, layout: Layout) -> list[str | None] | None:
    """The types that a condition on arcs allows; None for any. Raises `NotExact` for other conditions."""
    if isinstance(where, Everything):
        return None
    if isinstance(where, Any_):
        return [label for part in where.parts for label in list_types(part, layout) or _raise_not_exact()]
    arc = layout.arc
    if arc is None or not isinstance(where, Compare) or where.field != arc.label or where.op not in (Op.EQ, Op.IN):
        raise NotExact
    wanted = list(where.value) if where.op is Op.IN else [where.value]
    if not wanted or any(label is not None and not is_label(label) for label in wanted):
        raise NotExact
    return wanted


def _raise_not_exact() -> list[str | None]:
    raise NotExact
