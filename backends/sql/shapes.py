"""Statements of patterns, written once for each shape and kept.

Two patterns have one shape when they differ only in texts that a column must equal: each becomes a parameter, whatever
it is. All other values may change the text of a statement, so they are part of the shape. So are labels: those of plain
letters stand in the text itself, where a planner that makes one plan for all values sees how many rows have them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from backends.sql.dialect import Dialect, Parameters, literal
from backends.sql.matched import Reading
from backends.sql.matching import Matching, is_joinable
from backends.sql.statements import Bound, Select
from ugs.catalog import Catalog, Vertex
from ugs.reads.pattern import Pattern
from ugs.reads.where import All, Any_, Compare, Everything, Op, Where
from ugs.values import FORBIDDEN_TEXT

PLAIN = re.compile(r"[A-Za-z0-9_]{1,64}")


class Hole(str):
    """Stands for a text that is given later."""

    __slots__ = ("number",)
    number: int

    def __new__(cls, number: int) -> Hole:
        hole = super().__new__(cls, f"text {number}")
        hole.number = number
        return hole


class Label(str):
    """A text of plain letters, which may stand in a statement."""

    __slots__ = ()


class Marks(Parameters):
    """The values of a statement, without those that stand in its text."""

    def bind(self, value: Any) -> str:
        return literal(value) if type(value) is Label else super().bind(value)


class Unshaped(Exception):
    """A value that may change the text in ways that equality does not show, as 1 and true."""


class Shaping:
    """Takes the texts out of a pattern."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def pattern(self, pattern: Pattern) -> Pattern:
        vertex, arc = pattern.vertices.shape, pattern.arc
        label = vertex.label if isinstance(vertex, Vertex) else ""
        spots = tuple(replace(spot, where=self.where(spot.where, label)) for spot in pattern.spots)
        legs = tuple(replace(leg, where=self.where(leg.where, arc.label)) for leg in pattern.legs)
        return replace(pattern, spots=spots, legs=legs)

    def where(self, where: Where, label: str) -> Where:
        """The condition without its texts; the values of the column `label` stay."""
        if isinstance(where, Everything):
            return where
        if isinstance(where, All | Any_):
            return replace(where, parts=tuple(self.where(part, label) for part in where.parts))
        if not isinstance(where, Compare):
            raise Unshaped
        return self._compare(where, label)

    def _compare(self, where: Compare, label: str) -> Compare:
        value = where.value
        if where.op is Op.EQ and isinstance(value, str) and not FORBIDDEN_TEXT.search(value):
            if where.field == label and PLAIN.fullmatch(value):
                return Compare(where.field, where.op, Label(value))
            self.texts.append(value)
            return Compare(where.field, where.op, Hole(len(self.texts) - 1))
        if any(not isinstance(one, str | None) for one in (value if isinstance(value, tuple) else (value,))):
            raise Unshaped
        return where


class Written:
    """The statement of a shape, and how its answer is read."""

    def __init__(self, catalog: Catalog, dialect: Dialect, pattern: Pattern) -> None:
        select = Select(catalog, dialect, Marks(dialect))
        self.text, self.values = Matching(dialect, pattern, select).statement()
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
