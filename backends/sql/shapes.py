"""Statements of patterns. Those of questions are written once and kept; what is told later becomes a parameter.

Labels of plain letters stand in the text itself, where a planner that makes one plan for all values sees how many rows
have them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from backends.sql.dialect import Dialect, Parameters, literal
from backends.sql.matched import Reading
from backends.sql.matching import Matching, is_joinable
from backends.sql.statements import Bound, Select
from ugs.catalog import Catalog, Vertex
from ugs.reads.pattern import Pattern, Told, with_values

PLAIN = re.compile(r"[A-Za-z0-9_]{1,64}")


class Hole(str):
    """Stands for a text that is told later, or for what a condition on it is about: a beginning, with a letter before.

    What it says itself is of no importance, as long as it is a text like any other.
    """

    __slots__ = ("before", "end", "number")
    number: int
    before: str
    end: int | None

    def __new__(cls, number: int, before: str = "", end: int | None = None) -> Hole:
        hole = super().__new__(cls, f"text {number}")
        hole.number, hole.before, hole.end = number, before, end
        return hole

    def __radd__(self, before: str) -> Hole:
        return Hole(self.number, before + self.before, self.end)

    def __getitem__(self, part: Any) -> Hole:
        assert isinstance(part, slice) and part.start is None and part.step is None
        return Hole(self.number, self.before, part.stop)

    def of(self, texts: Sequence[str]) -> str:
        """The value to bind."""
        text = self.before + texts[self.number]
        return text if self.end is None else text[: self.end]


class Label(str):
    """A text of plain letters, which may stand in a statement."""

    __slots__ = ()


class Marks(Parameters):
    """The values of a statement, without those that stand in its text."""

    def bind(self, value: Any) -> str:
        return literal(value) if type(value) is Label else super().bind(value)


class Written:
    """The statement of a pattern, and how its answer is read."""

    def __init__(self, catalog: Catalog, dialect: Dialect, pattern: Pattern) -> None:
        select = Select(catalog, dialect, Marks(dialect))
        self.text, self.values = Matching(dialect, _marked(pattern), select).statement()
        self.reading = Reading(dialect, pattern)

    def filled(self, texts: Sequence[str]) -> Bound:
        """The statement with the texts in their places."""
        return self.text, [value.of(texts) if type(value) is Hole else value for value in self.values]


def _marked(pattern: Pattern) -> Pattern:
    """The pattern with its labels and with what is told later marked as such."""
    vertex = pattern.vertices.shape
    labels = (vertex.label if isinstance(vertex, Vertex) else "", pattern.arc.label)

    def change(field: str, value: Any) -> Any:
        if type(value) is Told:
            return Hole(value.number)
        return Label(value) if field in labels and type(value) is str and PLAIN.fullmatch(value) else value

    return with_values(pattern, change)


def written(catalog: Catalog, dialect: Dialect, pattern: Pattern) -> Written | None:
    """The statement that answers a pattern, and how its answer is read; None where there is no such statement."""
    return Written(catalog, dialect, pattern) if is_joinable(catalog, pattern) else None
