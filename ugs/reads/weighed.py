"""Rows by their words: those that have all of some words, heaviest first.

What a word is worth is a multiple of `UNIT`, and what it weighs in a row one of a half. So sums are exact, whoever adds
them up and in whatever order, and every store finds the same rows equally heavy.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ugs.catalog import Row
from ugs.reads.where import EVERYTHING, Where

UNIT = 2.0**-39
"""Small enough not to show, and large enough for 32 words of the greatest worth and weight."""


class Sought(Struct, frozen=True):
    """A word that a row must have, what it is worth, and where it stands in any row at all."""

    word: str
    worth: float
    own: bool = True
    """In rows themselves."""
    beside: str | None = None
    """In rows that this relation leads to, one for each."""


class Weighed(Struct, frozen=True):
    """The rows that have all of the words, by the sum of what each word is worth times what it weighs there."""

    words: tuple[Sought, ...]
    """The rarest first."""
    where: Where = EVERYTHING
    limit: int | None = None
    after: tuple[float, Any] | None = None
    """The sum and the key of the row after which the page starts."""


class Heavy(Struct, frozen=True):
    """A row, and what the words weigh in it."""

    row: Row
    weight: float
