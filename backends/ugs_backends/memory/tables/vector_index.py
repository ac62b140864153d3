"""Exact vector search: one matrix for all rows of a table, updated with every change, one product per query.

Needs numpy; without it the default of the port compares row by row, with the same results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ugs.reads.filters import Matcher
from ugs.reads.vector_search import Near, Scored, products
from ugs.tables import Row, Table

if TYPE_CHECKING:
    import numpy

INITIAL_CAPACITY_ROWS = 1_024
"""Minimum number of allocated rows."""


class VectorIndex:
    """The vectors of one column."""

    def __init__(self, table: Table, field: str) -> None:
        self.key_of = table.key_of
        self.vector_of = attrgetter(field)
        self.rows: list[Row] = []
        """Rows by their line in the matrix."""
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
        """Move the last line into the place of the removed one."""
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
            grown = numpy.zeros((max(INITIAL_CAPACITY_ROWS, 2 * line), len(vector)), dtype="<f4")
            if self.matrix is not None:
                grown[:line] = self.matrix[:line]
            self.matrix = grown
        self.matrix[line] = vector

    def nearest(self, near: Near, test: Matcher | None) -> list[Scored]:
        """The rows with the highest scores that pass the test."""
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
