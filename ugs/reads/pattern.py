"""Patterns: rows of a vertex table that hang together over rows of an arc table, asked for as a whole.

The kernel can always find them step by step with `fetch`. A store that can join may answer `Session.match` instead,
with exactly the same matches in any order.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ugs.catalog import Arc, Table
from ugs.reads.where import EVERYTHING, Any_, Compare, Op, Where, conditions


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

    The first spot is where a search best begins, and every leg starts at a spot that is there before it.
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
