"""Ranked full-text queries: the rows that have all of some words, highest score first.

The worth of a word is a multiple of `UNIT`, and its weight in a row a multiple of one half. So floating-point sums are
exact in any order of addition, and every store computes the same scores and ties.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ugs.reads.filters import EVERYTHING, Where
from ugs.tables import Row

UNIT = 2.0**-39
"""Small enough not to affect the ranking, large enough that scores of 32 words of the greatest worth stay exact."""


class Sought(Struct, frozen=True):
    """A required word, its worth (as in inverse document frequency), and where it occurs."""

    word: str
    worth: float
    own: bool = True
    """It occurs in the rows themselves."""
    beside: str | None = None
    """It occurs in the rows of this to-one relation."""


class RankedQuery(Struct, frozen=True):
    """The rows that have all of the words, ordered by the sum of worth times weight."""

    words: tuple[Sought, ...]
    """The rarest first."""
    where: Where = EVERYTHING
    limit: int | None = None
    after: tuple[float, Any] | None = None
    """Score and key of the row after which the page starts."""


class RankedRow(Struct, frozen=True):
    """A row and its score."""

    row: Row
    weight: float
