"""A pattern as one statement over the relationships that people see.

The text is written here from a checked pattern: labels and types that stand in it can be quoted safely, and every value
is a parameter. What could mean something else to Neo4j than to the kernel is left to the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from backends.neo4j.conditions import CHUNK, Parameters
from backends.neo4j.fetches import sources
from backends.neo4j.filters import Filters, Layouts
from backends.neo4j.layout import Layout, is_label
from backends.neo4j.records import RELATED, TABLE
from ugs.catalog import Kind
from ugs.reads.pattern import Fields, Leg, Match, Pattern, Way
from ugs.reads.where import Any_, Compare, Everything, Op, Where

ARROWS = {Way.OUT: ("-", "->"), Way.IN: ("<-", "-"), Way.BOTH: ("-", "-")}


class Unsure(Exception):
    """Neo4j might not mean the same."""


class MatchStatement(Struct, frozen=True):
    """Cypher for a pattern."""

    text: str
    parameters: dict[str, Any]


class Matches:
    """Writes patterns as statements, and reads what they answer."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts

    def statement(self, pattern: Pattern) -> MatchStatement | None:
        """The statement, or None when the pattern is not for Neo4j alone."""
        try:
            return Writing(self.layouts, pattern).statement()
        except Unsure:
            return None

    def arcs_named(self, pattern: Pattern, answer: Sequence[Sequence[Any]]) -> set[str]:
        """The arcs of all walks, which the statement only names."""
        layout = self.layouts[pattern.arcs.name]
        places = [place for place, number in _legs_in(pattern) if pattern.legs[number].reach is not None]
        key = pattern.arcs.key[0]
        return {layout.loaded(key, id) for (chunk,) in answer for values in chunk for p in places for id in values[p]}

    def read(self, pattern: Pattern, answer: Sequence[Sequence[Any]], arcs: dict[str, Any]) -> list[Match]:
        """The matches, with the rows of arcs that walks only name."""
        return [tuple(self._parts(pattern, values, arcs)) for (chunk,) in answer for values in chunk]

    def _parts(self, pattern: Pattern, values: Sequence[Any], arcs: dict[str, Any]) -> Iterator[Any]:
        vertex, arc = self.layouts[pattern.vertices.name], self.layouts[pattern.arcs.name]
        for place, number in enumerate(pattern.wanted_spots):
            yield _loaded(vertex, pattern.spots[number].fields, values[place])
        for place, number in _legs_in(pattern):
            leg = pattern.legs[number]
            if leg.reach is None:
                yield _loaded(arc, leg.fields, values[place])
            else:
                yield [arcs[arc.loaded(pattern.arcs.key[0], id)] for id in values[place]]
        yield values[-1]


def _loaded(layout: Layout, fields: Fields, values: Sequence[Any]) -> Any:
    """A row, or those of its fields that are wanted."""
    return layout.row(values) if fields is None else tuple(map(layout.loaded, fields, values))


def _legs_in(pattern: Pattern) -> Iterator[tuple[int, int]]:
    for place, number in enumerate(pattern.wanted_legs):
        yield place + len(pattern.wanted_spots), number


class Writing:
    """One statement while it is written."""

    def __init__(self, layouts: Layouts, pattern: Pattern) -> None:
        self.pattern = pattern
        self.parameters = Parameters()
        self.filters = Filters(layouts, self.parameters)
        self.vertex: Layout = layouts[pattern.vertices.name]
        self.arc: Layout = layouts[pattern.arcs.name]

    def statement(self) -> MatchStatement:
        legs = list(enumerate(self.pattern.legs))
        shortest = any(leg.shortest for leg in self.pattern.legs)
        tests = [test for number, leg in legs for test in self._tests(number, leg)]
        start = self._found(0)
        if shortest:
            # Both ends must be known before the search; Neo4j refuses to look for a way from a node to itself.
            start += f" {self._found(1)} AND s0 <> s1"
        else:
            tests = [*(self._condition(number) for number in range(1, len(self.pattern.spots))), *tests]
        drawn = ", ".join(self._leg(number, leg) for number, leg in legs)
        records = "".join(self._record(number) for number in self.pattern.wanted_legs)
        found = f"{start} MATCH {drawn} WHERE {' AND '.join(tests)}{records}"
        return MatchStatement(f"{found} {self._answer()}", self.parameters.values)

    def _found(self, number: int) -> str:
        """The vertices at a spot that the search begins with."""
        source = sources(self.parameters, self.vertex, f"s{number}", self.pattern.spots[number].where)
        # Behind a procedure a condition needs a clause to stand in.
        return f"{source}{'' if source.startswith('MATCH') else ' WITH *'} WHERE {self._condition(number)}"

    def _leg(self, number: int, leg: Leg) -> str:
        left, right = ARROWS[leg.way]
        reach = "" if leg.reach is None else f"*{int(leg.reach[0])}..{int(leg.reach[1])}"
        walk = f"(s{leg.start}){left}[e{number}{self._types(leg)}{reach}]{right}(s{leg.end})"
        return f"p{number} = {f'allShortestPaths({walk})' if leg.shortest else walk}"

    def _types(self, leg: Leg) -> str:
        wanted = types_of(leg.where, self.arc)
        if wanted is None:
            return ""
        shown = {RELATED if label is None else label for label in wanted}
        return ":" + "|".join(f"`{label}`" for label in sorted(shown))

    def _condition(self, number: int) -> str:
        condition = self.filters.condition(self.vertex, f"s{number}", self.pattern.spots[number].where)
        if not condition.exact:
            raise Unsure
        return f"s{number}:{self.vertex.label} AND {condition.text}"

    def _tests(self, number: int, leg: Leg) -> Iterator[str]:
        """What a relationship must be beside its type: ours, and with the type that it shows."""
        if leg.reach is None:
            yield from self._about_relationship(f"e{number}", leg)
        else:
            yield f"all(r IN relationships(p{number}) WHERE {' AND '.join(self._about_relationship('r', leg))})"
            yield f"all(n IN nodes(p{number}) WHERE n:{self.vertex.label})"

    def _about_relationship(self, r: str, leg: Leg) -> Iterator[str]:
        yield f"{r}.{TABLE} = '{self.arc.table.name}'"
        wanted = types_of(leg.where, self.arc)
        if wanted is None or not {None, RELATED} & set(wanted):
            return
        yield f"{r}._type IS NULL"
        if None not in wanted:
            yield f"{r}._untyped IS NULL"
        elif RELATED not in wanted:
            yield f"(type({r}) <> '{RELATED}' OR {r}._untyped IS NOT NULL)"

    def _record(self, number: int) -> str:
        """The node that holds the row of a relationship."""
        if self.pattern.legs[number].reach is not None:
            return ""
        key = " AND ".join(f"r{number}.{column} = e{number}.{column}" for column in self.arc.key)
        return f" MATCH (r{number}:{self.arc.label}) WHERE {key}"

    def _answer(self) -> str:
        pattern = self.pattern
        spots = [self._wanted(f"s{n}", self.vertex, pattern.spots[n].fields) for n in pattern.wanted_spots]
        legs = [self._wanted_leg(number) for number in pattern.wanted_legs]
        count = "count(*)" if pattern.counted else "1"
        kept = ", ".join([*(name for name, _ in (*spots, *legs)), f"{count} AS times"])
        values = ", ".join([*(value for _, value in (*spots, *legs)), "times"])
        limit = "" if pattern.limit is None else f" LIMIT {self.parameters.add(pattern.limit)}"
        return (
            f"WITH {kept} WHERE times > 0 WITH *{limit} WITH collect([{values}]) AS found "
            f"UNWIND range(0, size(found) - 1, {CHUNK}) AS at RETURN found[at..at + {CHUNK}]"
        )

    def _wanted_leg(self, number: int) -> tuple[str, str]:
        if self.pattern.legs[number].reach is None:
            return self._wanted(f"r{number}", self.arc, self.pattern.legs[number].fields)
        return f"e{number}", f"[r IN e{number} | r.{self.arc.key[0]}]"

    def _wanted(self, name: str, layout: Layout, fields: Fields) -> tuple[str, str]:
        """What is kept of a row while matches are counted, and the list of its values in the answer."""
        if fields is None:
            return name, f"[{layout.selected(name)}]"
        values = f"[{', '.join(f'{name}.{layout.columns[field]}' for field in fields)}]"
        if any(layout.kinds[field] is Kind.JSON for field in fields):  # long texts make poor keys
            return name, values
        return f"{values} AS v{name}", f"v{name}"


def types_of(where: Where, layout: Layout) -> list[str | None] | None:
    """The types that a condition on arcs leaves; None for any. Everything else is not decided here."""
    if isinstance(where, Everything):
        return None
    if isinstance(where, Any_):
        return [label for part in where.parts for label in types_of(part, layout) or _unsure()]
    arc = layout.arc
    if arc is None or not isinstance(where, Compare) or where.field != arc.label or where.op not in (Op.EQ, Op.IN):
        raise Unsure
    wanted = list(where.value) if where.op is Op.IN else [where.value]
    if not wanted or any(label is not None and not is_label(label) for label in wanted):
        raise Unsure
    return wanted


def _unsure() -> list[str | None]:
    raise Unsure
