"""Patterns: rows of a vertex table that hang together over rows of an arc table, asked for as a whole.

The kernel can always find them step by step with `fetch`. A store that can join may answer `Session.match` instead,
with exactly the same matches in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ugs.catalog import Arc, Table
from ugs.reads.where import EVERYTHING, All, Any_, Compare, Not, Op, Property, Where, conditions


class Way(StrEnum):
    """How an arc is followed from the leg's start to its end."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


Fields = tuple[str, ...] | None
"""Which fields of a row are wanted; None: the whole row."""


class Spot(Struct, frozen=True):
    """A place for one vertex that meets a condition."""

    where: Where = EVERYTHING
    fields: Fields = None


class Leg(Struct, frozen=True):
    """An arc between two spots, each named by its number; or a walk over several arcs when it has a `reach`."""

    start: int
    end: int
    way: Way
    where: Where = EVERYTHING
    reach: tuple[int, int] | None = None
    """The least and the greatest number of arcs; every vertex on the way exists."""
    fields: Fields = None
    """Only where it is a single arc."""
    shortest: bool = False
    """Of all walks between the same two vertices, which must differ, only those with the fewest arcs.

    Such a leg is the only one of its pattern, and the least number of its arcs is 1.
    """


class Pattern(Struct, frozen=True):
    """Spots joined by legs. Within one match no arc is used twice, on whichever legs; vertices may be.

    The first spot is where a search best begins, and every leg starts at a spot that is there before it. Only stores
    that say so (`Session.matches_alone`) are asked for patterns of one spot and no legs.
    """

    vertices: Table
    arcs: Table
    spots: tuple[Spot, ...]
    legs: tuple[Leg, ...]
    wanted_spots: tuple[int, ...] = ()
    wanted_legs: tuple[int, ...] = ()
    counted: bool = False
    """Matches that agree in all that is wanted may be given once, with their number; else each counts one."""
    limit: int | None = None
    """So many matches are enough."""
    loose: bool = False
    """The numbers of counted matches do not matter, so that any will do."""
    unless: tuple[str, str] | None = None
    """A JSON field of vertices and a key: where any vertex has it, the answer must be None, and no matches.

    Only stores are asked so that say they look (`Session.answers_unless`).
    """

    @property
    def reaches(self) -> bool:
        """Whether only the ends of one walk are asked for, so that nobody need know the ways between them.

        Whatever can be reached in a direction at all can be reached without using an arc twice, and in no more steps.
        """
        if not self.loose or len(self.legs) != 1 or self.wanted_legs:
            return False
        leg = self.legs[0]
        return leg.reach is not None and leg.reach[0] <= 1 and leg.way is not Way.BOTH and not leg.shortest

    def shares(self, number: int) -> bool:
        """Whether an arc of one leg could be on another leg too, which the match must then rule out."""
        leg, label = self.legs[number], self.arc.label
        return leg.reach is not None or any(
            may_share(leg, other, label) for place, other in enumerate(self.legs) if place != number
        )

    @property
    def arc(self) -> Arc:
        """Which columns of an arc lead to its vertices."""
        assert isinstance(self.arcs.shape, Arc)
        return self.arcs.shape


Match = tuple[Any, ...]
"""What is at the wanted spots and on the wanted legs, and for how many matches it stands.

That is a row, a list of rows for a walk, or the tuple of the fields where only some are wanted.
"""


def may_share(leg: Leg, other: Leg, label: str) -> bool:
    """Whether one arc could be on both legs: not where the conditions on this column exclude each other."""
    mine, others = _labels(leg.where, label), _labels(other.where, label)
    return mine is None or others is None or not mine.isdisjoint(others)


def _labels(where: Where, label: str) -> frozenset[Any] | None:
    """The values of a column that a condition leaves; None where it does not say."""
    if isinstance(where, Any_):
        parts = [_labels(part, label) for part in where.parts]
        return None if None in parts else frozenset().union(*(part for part in parts if part is not None))
    said = [part for part in conditions(where) if isinstance(part, Compare) and part.field == label]
    values = [part.value if part.op is Op.IN else (part.value,) for part in said if part.op in (Op.EQ, Op.IN)]
    return frozenset(values[0]) if values else None


# ── questions that are asked many times ──────────────────────────────────────


class Told(str):
    """Stands for a text that is told when a question is asked: what a column or a property must equal."""

    __slots__ = ("number",)
    number: int

    def __new__(cls, number: int) -> Told:
        told = super().__new__(cls, f"text {number}")
        told.number = number
        return told


class Question:
    """A pattern to be asked for many times, each time with other texts in the places of what is `Told`.

    It is equal to nothing but itself, so that a store finds at once what it has made of it before.
    """

    __slots__ = ("__weakref__", "pattern")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def filled(self, texts: Sequence[str]) -> Pattern:
        """The pattern with these texts."""
        if not texts:
            return self.pattern
        return with_values(self.pattern, lambda _, value: texts[value.number] if type(value) is Told else value)


Change = Callable[[str, Any], Any]
"""Gives another value for the value that a field is compared with."""


def with_values(pattern: Pattern, change: Change) -> Pattern:
    """The pattern with other values in its conditions."""
    spots = tuple(replace(spot, where=_changed(spot.where, change)) for spot in pattern.spots)
    legs = tuple(replace(leg, where=_changed(leg.where, change)) for leg in pattern.legs)
    return replace(pattern, spots=spots, legs=legs)


def _changed(where: Where, change: Change) -> Where:
    if isinstance(where, Compare | Property):
        return replace(where, value=change(where.field, where.value)) if where.op is Op.EQ else where
    if isinstance(where, All | Any_):
        return type(where)(tuple(_changed(part, change) for part in where.parts))
    return Not(_changed(where.part, change)) if isinstance(where, Not) else where
