"""Graph patterns: vertices connected by arcs, to be matched as a whole.

The kernel can always match them step by step with `fetch`. A store that can join may implement `Session.match` instead,
with exactly the same matches in any order. A "spot" is a node of the pattern, a "leg" an edge of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ugs.reads.filters import EVERYTHING, All, Any_, Compare, Not, Op, Property, Where, conditions
from ugs.tables import Arc, Table


class EdgeDirection(StrEnum):
    """The direction in which an arc is followed from the leg's start to its end."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


Fields = tuple[str, ...] | None
"""The fields of a row to return; None: the whole row."""


class NodePattern(Struct, frozen=True):
    """A spot: matches one vertex that meets the condition."""

    where: Where = EVERYTHING
    fields: Fields = None


class EdgePattern(Struct, frozen=True):
    """A leg: an arc between two spots, given by index; with a `reach`, a variable-length path."""

    start: int
    end: int
    way: EdgeDirection
    where: Where = EVERYTHING
    reach: tuple[int, int] | None = None
    """Minimum and maximum number of arcs; every intermediate vertex exists."""
    fields: Fields = None
    """Only for a single arc."""
    shortest: bool = False
    """Only the paths with the fewest arcs between two vertices, which must differ.

    Such a leg is the only one of its pattern, and its minimum number of arcs is 1.
    """


class Pattern(Struct, frozen=True):
    """Spots joined by legs. A match uses no arc twice, also across legs; vertices may repeat.

    The first spot is the best starting point, and every leg starts at a spot that is bound before it. Patterns of
    one spot and no legs are only sent to stores with `Session.matches_single_nodes`.
    """

    vertices: Table
    arcs: Table
    spots: tuple[NodePattern, ...]
    legs: tuple[EdgePattern, ...]
    wanted_spots: tuple[int, ...] = ()
    wanted_legs: tuple[int, ...] = ()
    counted: bool = False
    """Matches with equal results may be returned once with their number; otherwise each has the count 1."""
    limit: int | None = None
    """Maximum number of matches."""
    loose: bool = False
    """The counts of counted matches are not used, so they need not be right."""
    unless: tuple[str, str] | None = None
    """A JSON field of vertices and a key: if any vertex has the key, the result must be None instead of matches.

    Set only for stores with `Session.supports_unless`.
    """

    @property
    def reaches(self) -> bool:
        """Whether only the end points of one variable-length leg are wanted, so that reachability is enough.

        A vertex that is reachable along a direction is also reachable without repeating an arc, in no more steps.
        """
        if not self.loose or len(self.legs) != 1 or self.wanted_legs:
            return False
        leg = self.legs[0]
        return leg.reach is not None and leg.reach[0] <= 1 and leg.way is not EdgeDirection.BOTH and not leg.shortest

    def shares(self, number: int) -> bool:
        """Whether an arc of this leg could also match another leg, so that the match must check for distinct arcs."""
        leg, label = self.legs[number], self.arc.label
        return leg.reach is not None or any(
            may_share(leg, other, label) for place, other in enumerate(self.legs) if place != number
        )

    @property
    def arc(self) -> Arc:
        """The columns of an arc that refer to its vertices, label and properties."""
        assert isinstance(self.arcs.shape, Arc)
        return self.arcs.shape


Match = tuple[Any, ...]
"""The values of the wanted spots and legs, followed by the number of matches they stand for.

A value is a row, a list of rows for a variable-length leg, or a tuple if only some fields are wanted.
"""


def may_share(leg: EdgePattern, other: EdgePattern, label: str) -> bool:
    """Whether one arc could match both legs: not if their conditions on this column are disjoint."""
    mine, others = _labels(leg.where, label), _labels(other.where, label)
    return mine is None or others is None or not mine.isdisjoint(others)


def _labels(where: Where, label: str) -> frozenset[Any] | None:
    """The values of a column that a condition allows; None if it does not restrict them."""
    if isinstance(where, Any_):
        parts = [_labels(part, label) for part in where.parts]
        return None if None in parts else frozenset().union(*(part for part in parts if part is not None))
    said = [part for part in conditions(where) if isinstance(part, Compare) and part.field == label]
    values = [part.value if part.op is Op.IN else (part.value,) for part in said if part.op in (Op.EQ, Op.IN)]
    return frozenset(values[0]) if values else None


# ── prepared patterns ────────────────────────────────────────────────────────


class TextParameter(str):
    """Placeholder for a text, bound at execution, that a column or a property must equal."""

    __slots__ = ("number",)
    number: int

    def __new__(cls, number: int) -> TextParameter:
        told = super().__new__(cls, f"text {number}")
        told.number = number
        return told


class PreparedPattern:
    """A pattern to be matched many times, with different texts for its `TextParameter` placeholders.

    It compares by identity, so that a store can cache its compiled form with a cheap look-up.
    """

    __slots__ = ("__weakref__", "pattern")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def with_texts(self, texts: Sequence[str]) -> Pattern:
        """The pattern with the placeholders replaced by these texts."""
        if not texts:
            return self.pattern
        return with_values(
            self.pattern, lambda _, value: texts[value.number] if type(value) is TextParameter else value
        )


Change = Callable[[str, Any], Any]
"""Maps a field and the value it is compared with to another value."""


def with_values(pattern: Pattern, change: Change) -> Pattern:
    """The pattern with the values of its equality conditions replaced."""
    spots = tuple(replace(spot, where=_changed(spot.where, change)) for spot in pattern.spots)
    legs = tuple(replace(leg, where=_changed(leg.where, change)) for leg in pattern.legs)
    return replace(pattern, spots=spots, legs=legs)


def _changed(where: Where, change: Change) -> Where:
    if isinstance(where, Compare | Property):
        return replace(where, value=change(where.field, where.value)) if where.op is Op.EQ else where
    if isinstance(where, All | Any_):
        return type(where)(tuple(_changed(part, change) for part in where.parts))
    return Not(_changed(where.part, change)) if isinstance(where, Not) else where
