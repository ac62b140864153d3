"""A MATCH as a question to a store: what of its conditions a store can check, and how much is asked for.

A question is made once for all values that make no difference to its form, and kept: texts that something must equal
are told each time, everything else is part of the form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ugs.cypher.analysis.aspects import Aspect, Look
from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.glimpses import node_fields, relationship_fields
from ugs.cypher.engine.operators.scanning import ANYTHING, Sought, folded
from ugs.cypher.engine.reader import Types
from ugs.cypher.engine.run import Run
from ugs.cypher.engine.view import BY_ID, FIELD, Condition, Wanted, edge_where, node_where, on_element
from ugs.cypher.errors import CypherError
from ugs.cypher.values.stored import LABELS
from ugs.graph.model import EDGES, NODES
from ugs.reads.pattern import Leg, Pattern, Question, Spot, Told, Way
from ugs.reads.where import Op, all_of
from ugs.values import FORBIDDEN_TEXT

LONGEST_WALK = 5
"""Longer walks are taken step by step: each node is then fetched once, however many walks lead through it."""
LONGEST_REACH = 30
"""The same where only the ends of a walk count, so that a store follows every arc once for each length."""
MOST_TIED = 1_000
"""More shortest paths than this are not all looked at to find the one that is taken."""
MOST_CHECKED = 10_000
"""The same where only the first are of use, but which of them will do shows only afterwards."""
KEPT = 64
"""Questions of one MATCH that are kept."""
DOUBTS = 64
"""So many times nobody takes labels for types after a store has found further labels."""
Unless = tuple[str, str] | None
FURTHER_LABELS = (FIELD, LABELS)
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


class Unknown:
    """The value of a condition that could not be computed: the error belongs to a row, and there may be none."""


UNKNOWN = Unknown()


class Ready(Struct, frozen=True):
    """A question as it is kept."""

    question: Question
    exact: bool
    """It says all that the conditions say."""
    most: int
    """So many matches are asked for at most."""
    used: int | None
    """So many can be of use; None: all of them."""
    too_long: bool
    """A walk in it may be too long to ask for all of them."""
    walks: bool
    """Walks are asked for, whose arcs a store may have to look up afterwards."""

    def is_cut(self, count: int) -> bool:
        """Whether matches were left out that may be of use."""
        return count == self.most and not (self.exact and self.used is not None and count >= self.used)


class Questions:
    """Makes the questions of one MATCH, and keeps them."""

    def __init__(
        self, places: Sequence[Place], ways: Sequence[Stretch], covered: bool, use: Use, checked: frozenset[int]
    ) -> None:
        self.places = places
        self.ways = ways
        self.covered = covered
        """Every condition is part of the question, so nothing is left to check."""
        self.use = use
        self.checked = checked
        """Slots that the conditions look at."""
        self.sought = [*(place.sought for place in places), *(way.sought for way in ways)]
        self.computed = [(one[1] is Op.EQ, one[2]) for sought in self.sought for one in sought]
        self.labelled = any(place.labels for place in places)
        self.shows_labels = any(look is not None and Aspect.LABELS in look for look in use.looks.values())
        self.picks = any(way.shortest == "shortestPath" for way in ways)
        """Whether one of several shortest paths is to be taken."""
        self._kept: dict[tuple[Any, ...], Ready | None] = {}
        self._doubts = 0

    async def question(self, run: Run) -> tuple[Ready, list[str]]:
        """The question for the store, and the texts to tell it."""
        plain, unless = await self._labels_are_types(run)
        texts: list[str] = []
        values = [self._value(run, equals, compute, texts) for equals, compute in self.computed]
        most, used = run.graph.view.most_matches, self._used(run)
        form = (plain, unless, most, used, run.limits.path, *map(_form, values))
        try:
            ready = self._kept[form]
        except KeyError:
            ready = self._keep(form, self._made(plain, unless, most, used, run.limits.path, values))
        if ready is None:
            raise Nothing
        return ready, texts

    def _value(self, run: Run, equals: bool, compute: Fn, texts: list[str]) -> Any:
        """What a condition compares with; a text that something must equal is told apart from the question."""
        try:
            value = compute(run.template)
        except CypherError:
            return UNKNOWN
        if equals and type(value) is str and not FORBIDDEN_TEXT.search(value):
            texts.append(value)
            return Told(len(texts) - 1)
        return value

    def _keep(self, form: tuple[Any, ...], ready: Ready | None) -> Ready | None:
        if len(self._kept) >= KEPT:
            self._kept.clear()
        self._kept[form] = ready
        return ready

    def _made(
        self, plain: bool, unless: Unless, most: int, used: int | None, longest: int, values: list[Any]
    ) -> Ready | None:
        try:
            told = self._told(values)
        except Nothing:
            return None
        exact = (plain or not self.labelled) and self.covered and all(whole for _, whole in told)
        frame, count = self._frame(plain, exact, longest), len(self.places)
        spots = tuple(map(_with, frame.spots, told[:count]))
        legs = tuple(map(_with, frame.legs, told[count:]))
        limit = self._most(exact, most, used)
        pattern = replace(frame, spots=spots, legs=legs, limit=limit, unless=unless)
        walks = any(self.ways[number].reach is not None for number in pattern.wanted_legs)
        return Ready(Question(pattern), exact, limit, None if self.picks else used, not _is_short(pattern), walks)

    def _told(self, values: list[Any]) -> list[Saying]:
        waiting = iter(values)
        return [_conditions([(key, op, next(waiting)) for key, op, _ in sought]) for sought in self.sought]

    def _frame(self, plain: bool, exact: bool, longest: int) -> Pattern:
        """The question without the conditions."""
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

    async def _labels_are_types(self, run: Run) -> tuple[bool, Unless]:
        """Whether the type alone decides, and on which condition; not asked where nobody cares."""
        if not self.shows_labels and not self.labelled:
            return False, None
        if not run.at_once:
            return await run.graph.view.labels_are_types(), None
        if run.graph.view.answers_unless and self._trusts():
            return True, FURTHER_LABELS
        if self.use.counted:
            raise NotAtOnce  # this decides whether the store can count them
        return False, None

    def _trusts(self) -> bool:
        """Whether labels may turn out to be types; where they did not, that is tried again after a while."""
        self._doubts = max(0, self._doubts - 1)
        return not self._doubts

    def refused(self) -> None:
        """A store has found further labels."""
        self._doubts = DOUBTS

    def _most(self, exact: bool, most: int, used: int | None) -> int:
        """How many matches to ask for: no more than are used, and no more than can be held."""
        if self.picks:
            return MOST_TIED + 1
        if used is None:
            return most + 1
        return min(used, most + 1) if exact else MOST_CHECKED + 1

    def _used(self, run: Run) -> int | None:
        """How many rows can be of use; None where all of them are."""
        enough = None if self.use.enough is None else self.use.enough(run.template)
        if self.use.streams and run.limits.first is not None:
            first = run.limits.first + 1
            return first if enough is None else min(enough, first)
        return enough


P = TypeVar("P", Spot, Leg)
Saying = tuple[tuple[Condition, ...], bool]
"""Conditions for the store, and whether they are all there is to check."""


def _form(value: Any) -> Any:
    """What tells values apart that make different questions: 1, 1.0 and true are three."""
    if type(value) is Told:
        return Told
    if isinstance(value, list):
        return list, tuple(map(_form, value))
    if isinstance(value, str | int | float | None):
        return type(value), value
    return type(value)  # whatever else it is, a store is not asked about it


def _conditions(sought: Sequence[tuple[str, Op, Any]]) -> Saying:
    """The conditions that the store can check, and whether they are all there is to check."""
    found, exact = [], True
    for key, op, value in sought:
        condition = ANYTHING if value is UNKNOWN else folded(key, op, value)
        if condition is None:
            raise Nothing
        if condition is ANYTHING or key == LABELS or (key == BY_ID and not _names_ids(condition)):
            exact = False
            continue
        exact = exact and _is_exact(condition)
        found.append(condition)
    return tuple(found), exact


def _with(part: P, told: Saying) -> P:
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


def _is_short(asked: Pattern) -> bool:
    """Whether no walk is too long to ask for all of them."""
    walks = [leg.reach[1] for leg in asked.legs if leg.reach is not None and not leg.shortest]
    return max(walks, default=0) <= (LONGEST_REACH if asked.reaches else LONGEST_WALK)


def _names_ids(condition: Condition) -> bool:
    values = condition.value if condition.op is Op.IN else (condition.value,)
    return all(isinstance(value, str) for value in values)


def _is_exact(condition: Condition) -> bool:
    """Whether a store that compares as the filter algebra does decides as openCypher does."""
    if condition.op not in EXACT:
        return False
    return condition.op not in TEXTUAL or isinstance(condition.value, str)
