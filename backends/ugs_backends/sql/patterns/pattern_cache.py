"""Compiled statements of patterns; in prepared patterns, texts supplied later become parameters.

Plain labels are inlined, so that a planner that uses one generic plan for all values sees their frequency.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ugs.catalog import Catalog
from ugs.reads.pattern import Pattern, TextParameter, with_values
from ugs.tables import Vertex
from ugs_backends.sql.compiler.statements import BoundStatement, Select
from ugs_backends.sql.dialect import Dialect, Parameters, quote_literal
from ugs_backends.sql.patterns.pattern_query import PatternQuery, is_joinable
from ugs_backends.sql.patterns.pattern_result import PatternResultReader

PLAIN = re.compile(r"[A-Za-z0-9_]{1,64}")


class TextSlot(str):
    """A placeholder for a text that is supplied later, or for a prefix of it, optionally with a kind letter in front.

    Its own content does not matter, as long as it passes as an ordinary text.
    """

    __slots__ = ("before", "end", "number")
    number: int
    before: str
    end: int | None

    def __new__(cls, number: int, before: str = "", end: int | None = None) -> TextSlot:
        hole = super().__new__(cls, f"text {number}")
        hole.number, hole.before, hole.end = number, before, end
        return hole

    def __radd__(self, before: str) -> TextSlot:
        return TextSlot(self.number, before + self.before, self.end)

    def __getitem__(self, part: Any) -> TextSlot:
        assert isinstance(part, slice) and part.start is None and part.step is None
        return TextSlot(self.number, self.before, part.stop)

    def of(self, texts: Sequence[str]) -> str:
        """The value to bind for these texts."""
        text = self.before + texts[self.number]
        return text if self.end is None else text[: self.end]


class Label(str):
    """A plain text that may be inlined in a statement."""

    __slots__ = ()


class MarkedParameters(Parameters):
    """The parameters of a statement, with labels inlined."""

    def bind(self, value: Any) -> str:
        return quote_literal(value) if type(value) is Label else super().bind(value)


class CompiledPattern:
    """The statement of a pattern, and the reader of its result."""

    def __init__(self, catalog: Catalog, dialect: Dialect, pattern: Pattern) -> None:
        select = Select(catalog, dialect, MarkedParameters(dialect))
        self.text, self.values = PatternQuery(dialect, _mark_parameters(pattern), select).statement()
        self.reader = PatternResultReader(dialect, pattern)

    def bind_texts(self, texts: Sequence[str]) -> BoundStatement:
        """The statement with its parameters for these texts."""
        return self.text, [value.of(texts) if type(value) is TextSlot else value for value in self.values]


def _mark_parameters(pattern: Pattern) -> Pattern:
    """The pattern with its labels and its later texts replaced by `Label` and `TextSlot`."""
    vertex = pattern.vertices.shape
    labels = (vertex.label if isinstance(vertex, Vertex) else "", pattern.arc.label)

    def change(field: str, value: Any) -> Any:
        if type(value) is TextParameter:
            return TextSlot(value.number)
        return Label(value) if field in labels and type(value) is str and PLAIN.fullmatch(value) else value

    return with_values(pattern, change)


def compile_pattern(catalog: Catalog, dialect: Dialect, pattern: Pattern) -> CompiledPattern | None:
    """Compile a pattern; None where it cannot be one statement."""
    return CompiledPattern(catalog, dialect, pattern) if is_joinable(catalog, pattern) else None
