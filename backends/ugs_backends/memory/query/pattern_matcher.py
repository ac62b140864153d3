"""Graph pattern matching in memory: nested loops over the indexes, built as closures for each pattern.

All matches of one start vertex are found without yielding; between start vertices the event loop may run. If one start
vertex needs too many steps, or a commit happens meanwhile, the kernel falls back to matching step by step.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter
from typing import Any

from ugs.reads.filters import Everything, Matcher, Where
from ugs.reads.pattern import EdgeDirection, EdgePattern, Fields, Match, Pattern
from ugs.reads.shortest_path import Front, Steps, search
from ugs.tables import Row
from ugs_backends.memory.query.executor import QueryExecutor
from ugs_backends.memory.query.index_selection import choose_access_path, compile_test

YIELD_INTERVAL_SECONDS = 0.02
REVERSED = {
    EdgeDirection.OUT: EdgeDirection.IN,
    EdgeDirection.IN: EdgeDirection.OUT,
    EdgeDirection.BOTH: EdgeDirection.BOTH,
}
MAX_STEPS = 200_000
"""Limit of arcs visited from one start vertex."""

Follow = Callable[[], None]
Going = tuple[Callable[[Any], Collection[Row]], Callable[[Row], Any], bool]
"""How to find the arcs of a vertex, the end they lead to, and whether self-loops count."""


class SearchTooLarge(Exception):
    """One start vertex needs more steps than may run without yielding."""


class LimitReached(Exception):
    """The limit of matches is reached."""


def compile_projection(fields: Fields) -> Callable[[Any], Any]:
    """A function that projects a row to the wanted fields."""
    if fields is None:
        return lambda row: row
    get = attrgetter(*fields)
    return get if len(fields) > 1 else lambda row: (get(row),)


class PatternMatcher:
    """The execution of one pattern."""

    def __init__(self, reader: QueryExecutor, pattern: Pattern) -> None:
        self.pattern = pattern
        self.vertices = reader.tables[pattern.vertices.name]
        self.arcs = reader.tables[pattern.arcs.name]
        self.spots: list[Any] = [None] * len(pattern.spots)
        self.legs: list[Any] = [None] * len(pattern.legs)
        self.used: set[int] = set()
        """Ids of the arc objects in the current match; rows are replaced, never mutated, so identity suffices."""
        self.found: list[Match] = []
        self.counts: dict[tuple[Any, ...], list[Any]] = {}
        self.total = 0
        self.steps = 0
        self.bare = pattern.counted and not pattern.wanted_spots and not pattern.wanted_legs
        self.pick = self._build_picker()
        self.follow: Follow = self._add if self.bare else self._count if pattern.counted else self._keep
        seen = [{0} | {leg.end for leg in pattern.legs[:number]} for number in range(len(pattern.legs))]
        for number in reversed(range(len(pattern.legs))):
            leg = pattern.legs[number]
            self.follow = self._compile_leg(leg)(number, leg, leg.end in seen[number], self.follow)

    def _compile_leg(self, leg: EdgePattern) -> Callable[[int, EdgePattern, bool, Follow], Follow]:
        """The strategy for a leg."""
        if leg.reach is None:
            return self._build_step
        return self._build_shortest if leg.shortest else self._build_reach if self.pattern.reaches else self._walk

    async def matches(self) -> list[Match]:
        """All matches, up to the pattern's limit."""
        first = choose_access_path(self.vertices, self.pattern.spots[0].where).found()
        began = time.monotonic()
        try:
            for row in list(first):
                self.spots[0], self.steps = row, 0
                self.follow()
                if time.monotonic() - began > YIELD_INTERVAL_SECONDS:
                    await asyncio.sleep(0)
                    began = time.monotonic()
        except LimitReached:
            pass
        if self.bare:
            return [(self.total,)] if self.total else []
        return [(*kept, count) for *kept, count in self.counts.values()] if self.pattern.counted else self.found

    # ── collecting matches ───────────────────────────────────────────────────

    def _build_picker(self) -> Callable[[], tuple[Any, ...]]:
        """A function that returns the wanted parts of the current match."""
        spots, legs, pattern = self.spots, self.legs, self.pattern
        if any(spot.fields for spot in pattern.spots) or any(leg.fields for leg in pattern.legs):
            views = [
                (spots, number, compile_projection(pattern.spots[number].fields)) for number in pattern.wanted_spots
            ]
            views += [(legs, number, compile_projection(pattern.legs[number].fields)) for number in pattern.wanted_legs]
            return lambda: tuple([view(at[number]) for at, number, view in views])
        if pattern.wanted_legs:
            wanted = [(spots, number) for number in pattern.wanted_spots]
            wanted += [(legs, number) for number in pattern.wanted_legs]
            return lambda: tuple([at[number] for at, number in wanted])
        numbers = pattern.wanted_spots
        return lambda: tuple([spots[number] for number in numbers])

    def _keep(self) -> None:
        self.found.append((*self.pick(), 1))
        if len(self.found) == self.pattern.limit:
            raise LimitReached

    def _add(self) -> None:
        self.total += 1

    def _count(self) -> None:
        wanted = self.pick()
        # Projected tuples are grouped by value, whole rows by identity.
        key = tuple([one if type(one) is tuple else id(one) for one in wanted])
        group = self.counts.get(key)
        if group is not None:
            group[-1] += 1
            return
        if len(self.counts) == self.pattern.limit:
            raise LimitReached
        self.counts[key] = [*wanted, 1]

    # ── following arcs ───────────────────────────────────────────────────────

    def _list_directions(self, way: EdgeDirection) -> Sequence[Going]:
        """The ways to traverse a leg; in both directions a self-loop counts once."""
        arc = self.pattern.arc
        leaving: Going = (self.arcs.column(arc.source).rows, attrgetter(arc.target), True)
        arriving: Going = (self.arcs.column(arc.target).rows, attrgetter(arc.source), way is not EdgeDirection.BOTH)
        return {EdgeDirection.OUT: [leaving], EdgeDirection.IN: [arriving], EdgeDirection.BOTH: [leaving, arriving]}[
            way
        ]

    def _test(self, where: Where, vertex: bool) -> Matcher | None:
        table = self.vertices if vertex else self.arcs
        return None if isinstance(where, Everything) else compile_test(table, where)

    def _build_arrival(self, end: int, known: bool) -> Callable[[Any], Row | None]:
        """A function that looks up the end vertex of an arc; None if it does not fit the pattern."""
        get, spots = self.vertices.rows.get, self.spots
        test = None if known else self._test(self.pattern.spots[end].where, vertex=True)
        if test is None and not known:
            return get

        def arrive(id: Any) -> Row | None:
            row = get(id)
            if row is None or (known and row is not spots[end]) or (test is not None and not test(row)):
                return None
            return row

        return arrive

    def _build_step(self, number: int, leg: EdgePattern, known: bool, follow: Follow) -> Follow:
        ways, fits, arrive = (
            self._list_directions(leg.way),
            self._test(leg.where, vertex=False),
            self._build_arrival(leg.end, known),
        )
        spots, legs, used, start, end = self.spots, self.legs, self.used, leg.start, leg.end
        key_of, alone = self.vertices.key_of, not self.pattern.shares(number)

        def step() -> None:
            here = key_of(spots[start])
            for arcs_of, there_of, loops in ways:
                arcs = arcs_of(here)
                self._count_step(len(arcs))
                for arc in arcs if fits is None else filter(fits, arcs):
                    there = there_of(arc)
                    if not loops and there == here:
                        continue
                    row = arrive(there)
                    if row is None:
                        continue
                    if alone:
                        spots[end], legs[number] = row, arc
                        follow()
                    elif (mark := id(arc)) not in used:
                        spots[end], legs[number] = row, arc
                        used.add(mark)
                        follow()
                        used.discard(mark)

        return step

    def _walk(self, number: int, leg: EdgePattern, known: bool, follow: Follow) -> Follow:
        """A leg of variable length: every walk within the bounds whose arcs all differ."""
        ways, fits, arrive = (
            self._list_directions(leg.way),
            self._test(leg.where, vertex=False),
            self._build_arrival(leg.end, known),
        )
        low, most = leg.reach or (1, 1)
        spots, legs, used, get = self.spots, self.legs, self.used, self.vertices.rows.get

        def reach(here: Any, walked: list[Row]) -> None:
            if len(walked) >= low and (row := arrive(here)) is not None:
                spots[leg.end], legs[number] = row, walked
                follow()
            if len(walked) == most:
                return
            for arcs_of, there_of, loops in ways:
                arcs = arcs_of(here)
                self._count_step(len(arcs))
                for arc in arcs:
                    there, mark = there_of(arc), id(arc)
                    if mark in used or (fits is not None and not fits(arc)) or get(there) is None:
                        continue
                    if loops or there != here:
                        used.add(mark)
                        reach(there, [*walked, arc])
                        used.discard(mark)

        return lambda: reach(self.vertices.key_of(spots[leg.start]), [])

    def _build_reach(self, number: int, leg: EdgePattern, known: bool, follow: Follow) -> Follow:
        """A leg of which only the end vertices matter: breadth-first search, each vertex once."""
        ((arcs_of, there_of, _),) = self._list_directions(leg.way)
        fits, arrive, get = (
            self._test(leg.where, vertex=False),
            self._build_arrival(leg.end, known),
            self.vertices.rows.get,
        )
        low, most = leg.reach or (1, 1)

        def reach() -> None:
            start = self.vertices.key_of(self.spots[leg.start])
            reached: dict[Any, None] = {start: None} if low == 0 else {}
            level = [start]
            for _ in range(most):
                found = [arc for here in level for arc in arcs_of(here) if fits is None or fits(arc)]
                self._count_step(len(found))
                level = [there for there in dict.fromkeys(map(there_of, found)) if there not in reached and get(there)]
                reached.update(dict.fromkeys(level))
            for there in reached:
                if (row := arrive(there)) is not None:
                    self.spots[leg.end] = row
                    follow()

        return reach

    def _build_shortest(self, number: int, leg: EdgePattern, known: bool, follow: Follow) -> Follow:
        """A shortest-path leg: bidirectional search from the start to each vertex that fits the end."""
        ends, key_of = (
            choose_access_path(self.vertices, self.pattern.spots[leg.end].where).found(),
            self.vertices.key_of,
        )
        there, back = self._build_stepper(leg, leg.way), self._build_stepper(leg, REVERSED[leg.way])
        spots, legs, most = self.spots, self.legs, (leg.reach or (1, 1))[1]

        def shortest() -> None:
            start = spots[leg.start]
            for end in ends:
                if end is start:
                    continue
                meeting = search(Front(key_of(start), there), Front(key_of(end), back), most)
                for walk in () if meeting is None else meeting.walks():
                    spots[leg.end], legs[number] = end, walk
                    follow()

        return shortest

    def _build_stepper(self, leg: EdgePattern, way: EdgeDirection) -> Steps:
        """A function from a vertex to its arcs in one direction and the vertices they lead to."""
        ways, fits, get = self._list_directions(way), self._test(leg.where, vertex=False), self.vertices.rows.get

        def steps(here: Any) -> list[tuple[Row, Any]]:
            found = []
            for arcs_of, there_of, _ in ways:
                arcs = arcs_of(here)
                self._count_step(len(arcs))
                for arc in arcs if fits is None else filter(fits, arcs):
                    there = there_of(arc)
                    if get(there) is not None:
                        found.append((arc, there))
            return found

        return steps

    def _count_step(self, count: int) -> None:
        self.steps += count
        if self.steps > MAX_STEPS:
            raise SearchTooLarge
