"""Vectors in memory: one matrix for all rows of a table, kept in step, multiplied at once.

It needs numpy; without it the port's default compares one row after another, with the same answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ugs.catalog import Row, Table
from ugs.reads.near import Near, Scored, products
from ugs.reads.where import Matcher

if TYPE_CHECKING:
    import numpy

ROOM = 1_024
"""The least number of rows for which there is room."""


class VectorIndex:
    """The vectors of one column."""

    def __init__(self, table: Table, field: str) -> None:
        self.key_of = table.key_of
        self.vector_of = attrgetter(field)
        self.rows: list[Row] = []
        """By their line in the matrix."""
        self.lines: dict[Any, int] = {}
        self.matrix: numpy.ndarray[Any, Any] | None = None

    def fill(self, rows: Collection[Row]) -> None:
        """Take in all rows of a table at once."""
        import numpy

        self.rows = list(rows)
        self.lines = {self.key_of(row): line for line, row in enumerate(self.rows)}
        if self.rows:
            joined = b"".join(map(self.vector_of, self.rows))
            self.matrix = numpy.frombuffer(joined, dtype="<f4").reshape(len(self.rows), -1).copy()

    def add(self, row: Row) -> None:
        line = self.lines[self.key_of(row)] = len(self.rows)
        self.rows.append(row)
        self._write(line, row)

    def replace(self, old: Row, new: Row) -> None:
        line = self.lines[self.key_of(old)]
        self.rows[line] = new
        self._write(line, new)

    def remove(self, row: Row) -> None:
        """The last line takes the place of the one that goes."""
        assert self.matrix is not None
        line, last = self.lines.pop(self.key_of(row)), self.rows.pop()
        if line < len(self.rows):
            self.rows[line] = last
            self.lines[self.key_of(last)] = line
            self.matrix[line] = self.matrix[len(self.rows)]

    def _write(self, line: int, row: Row) -> None:
        import numpy

        vector = numpy.frombuffer(self.vector_of(row), dtype="<f4")
        if self.matrix is None or line >= len(self.matrix):
            grown = numpy.zeros((max(ROOM, 2 * line), len(vector)), dtype="<f4")
            if self.matrix is not None:
                grown[:line] = self.matrix[:line]
            self.matrix = grown
        self.matrix[line] = vector

    def nearest(self, near: Near, test: Matcher | None) -> list[Scored]:
        """The best rows that pass the test."""
        scored = self._from_best(near)
        return list(islice(scored if test is None else (one for one in scored if test(one.row)), near.limit))

    def _from_best(self, near: Near) -> Iterator[Scored]:
        """All rows with at least the score, best first, ties by key."""
        if self.matrix is None:
            return
        import numpy

        scores = products(self.matrix[: len(self.rows)], near.vector)
        lines = numpy.flatnonzero(scores >= near.least)
        ranked = lines[numpy.argsort(-scores[lines], kind="stable")].tolist()
        for score, tied in groupby(ranked, key=scores.__getitem__):
            rows = sorted((self.rows[line] for line in tied), key=self.key_of)
            yield from (Scored(row, int(score)) for row in rows)
