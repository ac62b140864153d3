"""A whole MATCH as one question to a store that can join; where it will not, the steps are taken one by one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec.structs import replace

from ugs.cypher.analysis.aspects import Aspect, Look
from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.glimpses import Maker, node_fields, node_maker, relationship_fields, relationship_maker
from ugs.cypher.engine.operators.base import BATCH, Operator
from ugs.cypher.engine.operators.scanning import ANYTHING, Sought, folded
from ugs.cypher.engine.operators.shaping import BindPath, Filter
from ugs.cypher.engine.reader import Types
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.view import (
    BY_ID,
    Condition,
    Wanted,
    as_relationship,
    edge_where,
    has_labels,
    node_where,
    on_element,
)
from ugs.cypher.errors import CypherError
from ugs.cypher.values.stored import LABELS
from ugs.graph.model import EDGES, NODES
from ugs.reads.pattern import Fields, Leg, Match, Pattern, Spot, Way
from ugs.reads.where import Op, all_of

LONGEST_WALK = 5
"""Longer walks are taken step by step: each node is then fetched once, however many walks lead through it."""
LONGEST_REACH = 30
"""The same where only the ends of a walk count, so that a store follows every arc once for each length."""
MOST_TIED = 1_000
"""More shortest paths than this are not all looked at to find the one that is taken."""
MOST_CHECKED = 10_000
"""The same where only the first are of use, but which of them will do shows only afterwards."""
EXACT = frozenset({Op.EQ, Op.IN, Op.LT, Op.LE, Op.GT, Op.GE, Op.STARTS, Op.ENDS, Op.CONTAINS})
TEXTUAL = frozenset({Op.STARTS, Op.ENDS, Op.CONTAINS})


@dataclass(frozen=True, slots=True)
class Place:
    """A node of the pattern: its slot, its labels, and what is asked of its properties."""

    slot: int
    labels: tuple[str, ...]
    sought: tuple[Sought, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A relationship of the pattern between two places."""

    slot: int
    start: int
    end: int
    direction: Way
    types: Types
    sought: tuple[Sought, ...]
    reach: tuple[int, int | None] | None
    backwards: bool
    shortest: str = ""
    """Only the shortest paths count: all of them, or one."""


@dataclass(frozen=True, slots=True)
class Use:
    """What comes after the MATCH: at which slots it looks, and how."""

    looks: dict[int, Look]
    counted: bool
    """Equal rows may come once, with their number in the slot `weight`."""
    loose: bool
    """Nobody looks at that number."""
    streams: bool
    """Rows go straight into the answer, which may need only the first of them."""
    enough: Fn | None
    """How many rows a LIMIT lets through."""
    weight: int


class NotAtOnce(Exception):
    """The store must be asked more than once."""


class Nothing(Exception):
    """A condition can never be met, so there are no matches."""


class StoreMatch(Operator):
    """All matches at once."""

    title = "StoreMatch"

    def __init__(
        self,
        places: Sequence[Place],
        ways: Sequence[Stretch],
        covered: bool,
        steps: Sequence[Operator],
        binds: Sequence[BindPath],
        use: Use,
        checked: frozenset[int],
        words: str,
    ) -> None:
        self.places = places
        self.ways = ways
        self.covered = covered
        """Every condition is part of the question, so nothing is left to check."""
        self.steps = steps
        self.binds = binds
        self.use = use
        self.checked = checked
        """Slots that the conditions look at."""
        self.words = words
        self.sought = [*(place.sought for place in places), *(way.sought for way in ways)]
        self.labelled = any(place.labels for place in places)
        self.shows_labels = any(look is not None and Aspect.LABELS in look for look in use.looks.values())
        self.picks = any(way.shortest == "shortestPath" for way in ways)
        """Whether one of several shortest paths is to be taken."""
        self.frames: dict[tuple[bool, bool, int], Pattern] = {}

    def describe(self) -> str:
        return self.words

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        try:
            asked, exact = await self.question(run)
        except Nothing:
            return
        walks = any(self.ways[number].reach is not None for number in asked.wanted_legs)
        if run.at_once and walks:
            raise NotAtOnce
        found = await run.graph.view.match(asked) if _is_short(asked) else None
        if found is None or self._is_cut(run, exact, len(found)):
            if run.at_once:
                raise NotAtOnce
            flowing, after = batches, list(self.steps)
        else:
            run.graph.fetches += 1
            found = picked(found) if self.picks else found
            flowing, after = self._rows(run, asked, found, exact), self._after(exact)
        for operator in after:
            flowing = operator.flow(run, flowing)
        async for batch in flowing:
            yield batch

    def _after(self, exact: bool) -> list[Operator]:
        """The steps that are still to be taken: checks, and paths to be put together."""
        checks = [step for step in self.steps if isinstance(step, Filter)]
        return [*self.binds, *([] if exact else checks)]

    async def statements(self, run: Run) -> list[str]:
        """What the store would be sent, for people; nothing where the parameters at hand are not enough to tell."""
        try:
            asked, _ = await self.question(run)
        except (Nothing, CypherError):
            return []
        return run.graph.view.match_statements(asked)

    async def question(self, run: Run) -> tuple[Pattern, bool]:
        """The question for the store, and whether it says all that the conditions say."""
        plain = await self._labels_are_types(run)
        told = [self._conditions(run, sought) for sought in self.sought]
        exact = (plain or not self.labelled) and self.covered and all(whole for _, whole in told)
        frame = self._frame(plain, exact, run.limits.path)
        count = len(self.places)
        spots = tuple(map(_with, frame.spots, told[:count]))
        legs = tuple(map(_with, frame.legs, told[count:]))
        return replace(frame, spots=spots, legs=legs, limit=self._most(run, exact)), exact

    def _frame(self, plain: bool, exact: bool, longest: int) -> Pattern:
        """The question without the conditions, which may be others each time."""
        known = self.frames.get((plain, exact, longest))
        if known is None:
            known = self.frames[plain, exact, longest] = self._framed(plain, exact, longest)
        return known

    def _framed(self, plain: bool, exact: bool, longest: int) -> Pattern:
        looks = self.use.looks if exact else {**self.use.looks, **dict.fromkeys(self.checked)}
        spots = [
            Spot(node_where(Wanted(place.labels), plain), node_fields(looks.get(place.slot), plain))
            for place in self.places
        ]
        wanted_spots = tuple(number for number, place in enumerate(self.places) if place.slot in looks)
        wanted_legs = tuple(number for number, way in enumerate(self.ways) if way.slot in looks)
        counted = self.use.counted and exact and all(self.ways[number].reach is None for number in wanted_legs)
        return Pattern(
            NODES,
            EDGES,
            tuple(spots),
            tuple(_leg(way, looks.get(way.slot), longest) for way in self.ways),
            wanted_spots,
            wanted_legs,
            counted,
            loose=counted and self.use.loose,
        )

    async def _labels_are_types(self, run: Run) -> bool:
        """Whether the type alone is known to decide; not asked where nobody cares."""
        if not self.shows_labels and not self.labelled:
            return False
        if run.at_once and self.use.counted:
            raise NotAtOnce  # this decides whether the store can count them
        return not run.at_once and await run.graph.view.labels_are_types()

    def _most(self, run: Run, exact: bool) -> int:
        """How many matches to ask for: no more than are used, and no more than can be held."""
        used = self._used(run)
        if self.picks:
            return MOST_TIED + 1
        if used is None:
            return run.graph.view.most_matches + 1
        return min(used, run.graph.view.most_matches + 1) if exact else MOST_CHECKED + 1

    def _used(self, run: Run) -> int | None:
        """How many rows can be of use; None where all of them are."""
        used = [] if self.use.enough is None else [self.use.enough(run.template)]
        if self.use.streams and run.limits.first is not None:
            used.append(run.limits.first + 1)
        return min(used, default=None)

    def _is_cut(self, run: Run, exact: bool, count: int) -> bool:
        """Whether matches were left out that may be of use."""
        used = None if self.picks else self._used(run)
        return count == self._most(run, exact) and not (exact and used is not None and count >= used)

    def _conditions(self, run: Run, sought: Sequence[Sought]) -> Told:
        """The conditions that the store can check, and whether they are all there is to check."""
        if not sought:
            return (), True
        found, exact = [], True
        for key, op, compute in sought:
            try:
                condition = folded(key, op, compute(run.template))
            except CypherError:
                condition = ANYTHING  # the error belongs to a row, and there may be none
            if condition is None:
                raise Nothing
            if condition is ANYTHING or key == LABELS or (key == BY_ID and not _names_ids(condition)):
                exact = False
                continue
            exact = exact and _is_exact(condition)
            found.append(condition)
        return tuple(found), exact

    async def _rows(self, run: Run, asked: Pattern, found: list[Match], exact: bool) -> AsyncIterator[list[Row]]:
        """The matches as rows; what was not asked for is only known to be there."""
        template = run.template[:]
        for slot in (*(place.slot for place in self.places), *(way.slot for way in self.ways)):
            template[slot] = True
        makers = self._makers(run, asked)
        for start in range(0, len(found), BATCH):
            portion = found[start : start + BATCH]
            run.tick(len(portion))
            made = [self._made(template, makers, match) for match in portion]
            yield made if exact else [row for row in made if self._has_labels(row)]
            await run.breathe()

    def _has_labels(self, row: Row) -> bool:
        return all(has_labels(row[place.slot], place.labels) for place in self.places if place.labels)

    def _makers(self, run: Run, asked: Pattern) -> list[tuple[int, Maker]]:
        """The slots of what was asked for, and how its values are made of what the store found."""
        spots = [(self.places[number].slot, asked.spots[number].fields) for number in asked.wanted_spots]
        nodes = [(slot, run.graph.adopt if fields is None else node_maker(fields)) for slot, fields in spots]
        known: dict[str, Any] = {}
        return nodes + [
            (self.ways[number].slot, _way_maker(self.ways[number], asked.legs[number].fields, known))
            for number in asked.wanted_legs
        ]

    def _made(self, template: Row, makers: list[tuple[int, Maker]], match: Match) -> Row:
        row = template[:]
        for (slot, make), found in zip(makers, match, strict=False):
            row[slot] = make(found)
        row[self.use.weight] = match[-1]
        return row


def _is_short(asked: Pattern) -> bool:
    """Whether no walk is too long to ask for all of them."""
    walks = [leg.reach[1] for leg in asked.legs if leg.reach is not None and not leg.shortest]
    return max(walks, default=0) <= (LONGEST_REACH if asked.reaches else LONGEST_WALK)


def picked(found: list[Match]) -> list[Match]:
    """For each two ends one of the shortest paths between them, that with the least ids."""
    least: dict[tuple[str, str], Match] = {}
    for match in found:
        start, end, walk, _ = match
        known = least.get((start.id, end.id))
        if known is None or [arc.id for arc in walk] < [arc.id for arc in known[2]]:
            least[start.id, end.id] = match
    return list(least.values())


P = TypeVar("P", Spot, Leg)
Told = tuple[tuple[Condition, ...], bool]
"""Conditions for the store, and whether they are all there is to check."""


def _with(part: P, told: Told) -> P:
    """A part of a question with its conditions."""
    conditions, _ = told
    return replace(part, where=all_of(part.where, *map(on_element, conditions))) if conditions else part


def _leg(way: Stretch, look: Look, longest: int) -> Leg:
    where = edge_where(way.types)
    if way.reach is None:
        return Leg(way.start, way.end, way.direction, where, fields=relationship_fields(look))
    low, high = way.reach
    reach = low, longest if high is None else min(high, longest)
    return Leg(way.start, way.end, way.direction, where, reach, shortest=bool(way.shortest))


def _way_maker(way: Stretch, fields: Fields, known: dict[str, Any]) -> Maker:
    """Makes the relationship of a leg, or the list of them; each is made once, however often it occurs."""
    if fields is not None:
        return relationship_maker(fields)
    if way.reach is None:
        return lambda found: _relationship(found, known)
    turn = -1 if way.backwards else 1
    return lambda found: [_relationship(one, known) for one in found[::turn]]


def _relationship(row: Any, known: dict[str, Any]) -> Any:
    found = known.get(row.id)
    if found is None:
        found = known[row.id] = as_relationship(row)
    return found


def _names_ids(condition: Condition) -> bool:
    values = condition.value if condition.op is Op.IN else (condition.value,)
    return all(isinstance(value, str) for value in values)


def _is_exact(condition: Condition) -> bool:
    """Whether a store that compares as the filter algebra does decides as openCypher does."""
    if condition.op not in EXACT:
        return False
    return condition.op not in TEXTUAL or isinstance(condition.value, str)
