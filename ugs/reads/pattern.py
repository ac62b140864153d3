"""Patterns: rows of a vertex table that hang together over rows of an arc table, asked for as a whole.

The kernel can always find them step by step with `fetch`. A store that can join may answer `Session.match` instead,
with exactly the same matches in any order.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ugs.catalog import Arc, Table
from ugs.reads.where import EVERYTHING, Where


class Way(StrEnum):
    """How an arc is followed from the leg's start to its end."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


class Spot(Struct, frozen=True):
    """A place for one vertex that meets a condition."""

    where: Where = EVERYTHING


class Leg(Struct, frozen=True):
    """An arc between two spots, each named by its number; or a walk over several arcs when it has a `reach`."""

    start: int
    end: int
    way: Way
    where: Where = EVERYTHING
    reach: tuple[int, int] | None = None
    """The least and the greatest number of arcs; every vertex on the way exists."""


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
        return leg.reach is not None and leg.reach[0] <= 1 and leg.way is not Way.BOTH

    @property
    def arc(self) -> Arc:
        """Which columns of an arc lead to its vertices."""
        assert isinstance(self.arcs.shape, Arc)
        return self.arcs.shape


Match = tuple[Any, ...]
"""The rows at the wanted spots, those of the wanted legs (a list for a walk), and for how many matches it stands."""
