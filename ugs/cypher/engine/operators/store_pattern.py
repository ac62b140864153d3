"""Building the pattern that is sent to a store: the conditions it can decide, the fields and the number of matches.

Patterns are cached by everything that changes the statement; texts compared for equality are parameters instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ugs.cypher.analysis.field_usage import Aspect, Aspects
from ugs.cypher.engine.graph_cache import Types
from ugs.cypher.engine.operators.scan import ANYTHING, PropertyLookup, build_condition
from ugs.cypher.engine.partial_entities import node_fields, relationship_fields
from ugs.cypher.engine.run import Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.engine.view import BY_ID, FIELD, Condition, Wanted, edge_where, element_filter, node_where
from ugs.cypher.errors import CypherError
from ugs.cypher.values.codec import LABELS
from ugs.graph.model import EDGES, NODES
from ugs.reads.filters import Op, all_of
from ugs.reads.pattern import EdgeDirection, EdgePattern, NodePattern, Pattern, PreparedPattern, TextParameter
from ugs.values import FORBIDDEN_TEXT

MAX_PUSHED_HOPS = 5
"""Longer variable-length paths are expanded step by step, which fetches each node once."""
MAX_PUSHED_REACH_HOPS = 30
"""The same if only the ends of a path count: the store then follows each edge once per length."""
MAX_TIED_PATHS = 1_000
"""Maximum number of equally short paths that are compared to find the smallest."""
MAX_CHECKED_MATCHES = 10_000
"""Maximum number of matches if a LIMIT applies only after filtering."""
CACHE_SIZE = 64
"""Cached patterns of one MATCH."""
RECHECK_INTERVAL_QUERIES = 64
"""After a store has found labels beside types, so many queries do not assume their absence."""
Unless = tuple[str, str] | None
FURTHER_LABELS = (FIELD, LABELS)
EXACT = frozenset({Op.EQ, Op.IN, Op.LT, Op.LE, Op.GT, Op.GE, Op.STARTS, Op.ENDS, Op.CONTAINS})
TEXTUAL = frozenset({Op.STARTS, Op.ENDS, Op.CONTAINS})


@dataclass(frozen=True, slots=True)
class NodeStep:
    """A node of the pattern: its slot, labels and property conditions."""

    slot: int
    labels: tuple[str, ...]
    lookups: tuple[PropertyLookup, ...]
    any_labels: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeStep:
    """A relationship of the pattern between two places."""

    slot: int
    start: int
    end: int
    direction: EdgeDirection
    types: Types
    lookups: tuple[PropertyLookup, ...]
    reach: tuple[int, int | None] | None
    backwards: bool
    shortest: str = ""
    """Empty, `shortestPath` or `allShortestPaths`."""


@dataclass(frozen=True, slots=True)
class PatternUse:
    """How the rest of the query uses the rows of a MATCH: which slots, and which aspects of them."""

    aspects: dict[int, Aspects]
    counted: bool
    """Equal rows may be merged, with their multiplicity in the slot `weight`."""
    loose: bool
    """The multiplicity is not used."""
    streams: bool
    """Rows go directly to the result, which may need only the first of them."""
    enough: Fn | None
    """The number of rows that a LIMIT needs."""
    weight: int


class NeedsMoreStatements(Exception):
    """A single statement is not enough."""


class NoMatches(Exception):
    """A condition is never true, so there are no matches."""


class Unknown:
    """The value of a condition whose evaluation failed: the error is raised for a row, if there is one."""


UNKNOWN = Unknown()


class PreparedMatch(Struct, frozen=True):
    """A cached pattern."""

    pattern: PreparedPattern
    exact: bool
    """The store decides all conditions."""
    max_matches: int
    """Maximum number of matches to fetch."""
    used: int | None
    """So many can be of use; None: all of them."""
    too_long: bool
    """A walk in it may be too long to ask for all of them."""
    walks: bool
    """Walks are asked for, whose arcs a store may have to look up afterwards."""

    def is_cut(self, count: int) -> bool:
        """Whether matches were left out that may be of use."""
        return count == self.max_matches and not (self.exact and self.used is not None and count >= self.used)


class PatternBuilder:
    """Builds and caches the store patterns of one MATCH."""

    def __init__(
        self,
        nodes: Sequence[NodeStep],
        edges: Sequence[EdgeStep],
        covered: bool,
        use: PatternUse,
        checked: frozenset[int],
    ) -> None:
        self.nodes = nodes
        self.edges = edges
        self.covered = covered
        """Whether every condition is part of the pattern, so that no filter remains."""
        self.use = use
        self.checked = checked
        """Slots that the conditions read."""
        self.lookups = [*(place.lookups for place in nodes), *(way.lookups for way in edges)]
        self.computed = [(one[1] is Op.EQ, one[2]) for lookups in self.lookups for one in lookups]
        self.labelled = any(place.labels or place.any_labels for place in nodes)
        self.reads_labels = any(look is not None and Aspect.LABELS in look for look in use.aspects.values())
        self.picks = any(way.shortest == "shortestPath" for way in edges)
        """Whether one of several shortest paths must be selected."""
        self._cache: dict[tuple[Any, ...], PreparedMatch | None] = {}
        self._queries_until_recheck = 0

    async def prepare(self, run: Run) -> tuple[PreparedMatch, list[str]]:
        """The pattern for the store, and the text parameters."""
        plain, unless = await self._labels_are_types(run)
        texts: list[str] = []
        values = [self._value(run, equals, compute, texts) for equals, compute in self.computed]
        max_matches, used = run.graph.view.max_matches, self._count_used(run)
        key = (plain, unless, max_matches, used, run.limits.path, *map(_cache_key, values))
        try:
            ready = self._cache[key]
        except KeyError:
            ready = self._store(key, self._build(plain, unless, max_matches, used, run.limits.path, values))
        if ready is None:
            raise NoMatches
        return ready, texts

    def _value(self, run: Run, equals: bool, compute: Fn, texts: list[str]) -> Any:
        """The value of a condition; a text compared for equality becomes a parameter."""
        try:
            value = compute(run.template)
        except CypherError:
            return UNKNOWN
        if equals and type(value) is str and not FORBIDDEN_TEXT.search(value):
            texts.append(value)
            return TextParameter(len(texts) - 1)
        return value

    def _store(self, key: tuple[Any, ...], ready: PreparedMatch | None) -> PreparedMatch | None:
        if len(self._cache) >= CACHE_SIZE:
            self._cache.clear()
        self._cache[key] = ready
        return ready

    def _build(
        self, plain: bool, unless: Unless, max_matches: int, used: int | None, longest: int, values: list[Any]
    ) -> PreparedMatch | None:
        try:
            conditions = self._build_conditions(values)
        except NoMatches:
            return None
        exact = (plain or not self.labelled) and self.covered and all(whole for _, whole in conditions)
        frame, count = self._build_frame(plain, exact, longest), len(self.nodes)
        spots = tuple(map(_add_conditions, frame.spots, conditions[:count]))
        legs = tuple(map(_add_conditions, frame.legs, conditions[count:]))
        limit = self._match_limit(exact, max_matches, used)
        pattern = replace(frame, spots=spots, legs=legs, limit=limit, unless=unless)
        walks = any(self.edges[number].reach is not None for number in pattern.wanted_legs)
        return PreparedMatch(
            PreparedPattern(pattern), exact, limit, None if self.picks else used, not _is_short(pattern), walks
        )

    def _build_conditions(self, values: list[Any]) -> list[StoreConditions]:
        waiting = iter(values)
        return [_fold_conditions([(key, op, next(waiting)) for key, op, _ in lookups]) for lookups in self.lookups]

    def _build_frame(self, plain: bool, exact: bool, longest: int) -> Pattern:
        """The pattern without the conditions."""
        aspects = self.use.aspects if exact else {**self.use.aspects, **dict.fromkeys(self.checked)}
        spots = [
            NodePattern(
                node_where(Wanted(place.labels, any_labels=place.any_labels), plain),
                node_fields(aspects.get(place.slot), plain),
            )
            for place in self.nodes
        ]
        wanted_spots = tuple(number for number, place in enumerate(self.nodes) if place.slot in aspects)
        wanted_legs = tuple(number for number, way in enumerate(self.edges) if way.slot in aspects)
        counted = self.use.counted and exact and all(self.edges[number].reach is None for number in wanted_legs)
        return Pattern(
            NODES,
            EDGES,
            tuple(spots),
            tuple(_build_edge(way, aspects.get(way.slot), longest) for way in self.edges),
            wanted_spots,
            wanted_legs,
            counted,
            loose=counted and self.use.loose,
        )

    async def _labels_are_types(self, run: Run) -> tuple[bool, Unless]:
        """Whether labels can be compared by type alone, and under which condition; not fetched if irrelevant."""
        if not self.reads_labels and not self.labelled:
            return False, None
        if not run.single_statement:
            return await run.graph.view.labels_are_types(), None
        if run.graph.view.supports_unless and self._may_assume_types():
            return True, FURTHER_LABELS
        if self.use.counted:
            raise NeedsMoreStatements  # decides whether the store can count
        return False, None

    def _may_assume_types(self) -> bool:
        """Whether to assume that labels are types; after a failure this is retried later."""
        self._queries_until_recheck = max(0, self._queries_until_recheck - 1)
        return not self._queries_until_recheck

    def note_further_labels(self) -> None:
        """Record that the store has labels beside types."""
        self._queries_until_recheck = RECHECK_INTERVAL_QUERIES

    def _match_limit(self, exact: bool, max_matches: int, used: int | None) -> int:
        """The number of matches to fetch: no more than are used, and no more than fit in memory."""
        if self.picks:
            return MAX_TIED_PATHS + 1
        if used is None:
            return max_matches + 1
        return min(used, max_matches + 1) if exact else MAX_CHECKED_MATCHES + 1

    def _count_used(self, run: Run) -> int | None:
        """The number of rows that are used; None if all are."""
        enough = None if self.use.enough is None else self.use.enough(run.template)
        if self.use.streams and run.limits.first is not None:
            first = run.limits.first + 1
            return first if enough is None else min(enough, first)
        return enough


P = TypeVar("P", NodePattern, EdgePattern)
StoreConditions = tuple[tuple[Condition, ...], bool]
"""Conditions for the store, and whether they are complete."""


def _cache_key(value: Any) -> Any:
    """The part of the cache key for a value: 1, 1.0 and true differ."""
    if type(value) is TextParameter:
        return TextParameter
    if isinstance(value, list):
        return list, tuple(map(_cache_key, value))
    if isinstance(value, str | int | float | None):
        return type(value), value
    return type(value)  # not pushed down


def _fold_conditions(lookups: Sequence[tuple[str, Op, Any]]) -> StoreConditions:
    """The conditions that the store can check, and whether they are complete."""
    found, exact = [], True
    for key, op, value in lookups:
        condition = ANYTHING if value is UNKNOWN else build_condition(key, op, value)
        if condition is None:
            raise NoMatches
        if condition is ANYTHING or key == LABELS or (key == BY_ID and not _names_ids(condition)):
            exact = False
            continue
        exact = exact and _is_exact(condition)
        found.append(condition)
    return tuple(found), exact


def _add_conditions(part: P, conditions: StoreConditions) -> P:
    """A part of the pattern with its conditions."""
    found, _ = conditions
    return replace(part, where=all_of(part.where, *map(element_filter, found))) if found else part


def _build_edge(way: EdgeStep, look: Aspects, longest: int) -> EdgePattern:
    where = edge_where(way.types)
    if way.reach is None:
        return EdgePattern(way.start, way.end, way.direction, where, fields=relationship_fields(look))
    low, high = way.reach
    reach = low, longest if high is None else min(high, longest)
    return EdgePattern(way.start, way.end, way.direction, where, reach, shortest=bool(way.shortest))


def _is_short(asked: Pattern) -> bool:
    """Whether no variable-length step is too long to push down."""
    walks = [leg.reach[1] for leg in asked.legs if leg.reach is not None and not leg.shortest]
    return max(walks, default=0) <= (MAX_PUSHED_REACH_HOPS if asked.reaches else MAX_PUSHED_HOPS)


def _names_ids(condition: Condition) -> bool:
    values = condition.value if condition.op is Op.IN else (condition.value,)
    return all(isinstance(value, str) for value in values)


def _is_exact(condition: Condition) -> bool:
    """Whether a store that compares as the filter algebra does decides as openCypher does."""
    if condition.op not in EXACT:
        return False
    return condition.op not in TEXTUAL or isinstance(condition.value, str)
