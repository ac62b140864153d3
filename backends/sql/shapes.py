"""Statements of patterns, written once for each shape and kept.

Two patterns have one shape when they differ only in texts that a column must equal: each becomes a parameter, whatever
it is. All other values may change the text of a statement, so they are part of the shape.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from backends.sql.dialect import Dialect
from backends.sql.matched import Reading
from backends.sql.matching import Matching, is_joinable
from backends.sql.statements import Bound
from ugs.catalog import Catalog
from ugs.reads.pattern import Pattern
from ugs.reads.where import All, Any_, Compare, Everything, Op, Where
from ugs.values import FORBIDDEN_TEXT


class Hole(str):
    """Stands for a text that is given later."""

    __slots__ = ("number",)
    number: int

    def __new__(cls, number: int) -> Hole:
        hole = super().__new__(cls, f"text {number}")
        hole.number = number
        return hole


class Unshaped(Exception):
    """A value that may change the text in ways that equality does not show, as 1 and true."""


class Shaping:
    """Takes the texts out of a pattern."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def pattern(self, pattern: Pattern) -> Pattern:
        spots = tuple(replace(spot, where=self.where(spot.where)) for spot in pattern.spots)
        legs = tuple(replace(leg, where=self.where(leg.where)) for leg in pattern.legs)
        return replace(pattern, spots=spots, legs=legs)

    def where(self, where: Where) -> Where:
        if isinstance(where, Everything):
            return where
        if isinstance(where, All | Any_):
            return replace(where, parts=tuple(map(self.where, where.parts)))
        if not isinstance(where, Compare):
            raise Unshaped
        return self._compare(where)

    def _compare(self, where: Compare) -> Compare:
        value = where.value
        if where.op is Op.EQ and isinstance(value, str) and not FORBIDDEN_TEXT.search(value):
            self.texts.append(value)
            return Compare(where.field, where.op, Hole(len(self.texts) - 1))
        if any(not isinstance(one, str | None) for one in (value if isinstance(value, tuple) else (value,))):
            raise Unshaped
        return where


class Written:
    """The statement of a shape, and how its answer is read."""

    def __init__(self, catalog: Catalog, dialect: Dialect, pattern: Pattern) -> None:
        self.text, self.values = Matching(catalog, dialect, pattern).statement()
        self.reading = Reading(dialect, pattern)

    def filled(self, texts: list[str]) -> Bound:
        """The statement with the texts in their places."""
        return self.text, [texts[value.number] if type(value) is Hole else value for value in self.values]


def written(catalog: Catalog, dialect: Dialect, pattern: Pattern) -> tuple[Bound, Reading] | None:
    """The statement that answers a pattern, and how its answer is read; None where there is no such statement."""
    shaping = Shaping()
    try:
        found = _written(catalog, dialect, shaping.pattern(pattern))
    except Unshaped:
        shaping, found = Shaping(), _written.__wrapped__(catalog, dialect, pattern)
    return None if found is None else (found.filled(shaping.texts), found.reading)


@lru_cache(maxsize=512)
def _written(catalog: Catalog, dialect: Dialect, pattern: Pattern) -> Written | None:
    return Written(catalog, dialect, pattern) if is_joinable(catalog, pattern) else None
