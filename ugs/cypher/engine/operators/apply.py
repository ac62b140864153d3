"""CALL: a nested plan that runs for each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ugs.cypher.engine.operators.base import Operator, apply_all, evaluate
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.value_size import ITEM_BYTES, LIST_BYTES
from ugs.cypher.values.comparison import identity

Columns = tuple[Any, ...]


def compile_rows(operators: Sequence[Operator]) -> Callable[[Row], list[Row]]:
    """A function that runs a nested plan for one row."""

    def find(row: Row) -> list[Row]:
        run = row[0]
        around, run.template = run.template, row
        try:
            return apply_all(run, operators, [row[:]])
        finally:
            run.template = around

    return find


def compile_columns(
    parts: Sequence[tuple[Sequence[Operator], tuple[int, ...]]], union_all: bool
) -> Callable[[Row], list[Columns]]:
    """A function that runs the parts of a nested UNION for one row; the result are their columns."""
    finders = [(compile_rows(operators), slots) for operators, slots in parts]

    def find(row: Row) -> list[Columns]:
        rows = [tuple([made[slot] for slot in slots]) for compute, slots in finders for made in compute(row)]
        if union_all:
            return rows
        return list({tuple([identity(value) for value in values]): values for values in rows}.values())

    return find


class Apply(Operator):
    """The rows of a nested query for each row, side by side with it; a query without columns keeps the row."""

    title = "Apply"

    def __init__(
        self,
        parts: Sequence[tuple[Sequence[Operator], tuple[int, ...]]],
        slots: tuple[int, ...] | None,
        words: str,
        *,
        union_all: bool,
        optional: bool,
        constant: bool,
    ) -> None:
        self.parts = parts
        self.slots = slots
        """The slots of the columns; None for a query without columns."""
        self.words = words
        self.optional = optional
        self.constant = constant
        """Whether the result is the same for every row."""
        self._find = compile_columns(parts, union_all)

    def describe(self) -> str:
        return self.words

    def inner(self) -> Sequence[Sequence[Operator]]:
        return [operators for operators, _ in self.parts]

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        before = run.made
        if self.constant and batch:
            found = evaluate(batch[:1], self._measured) * len(batch)
        else:
            found = evaluate(batch, self._measured)
        run.made = before
        slots = self.slots
        if slots is None:
            return batch
        size = sum(map(len, found[:1] if self.constant else found))
        if size > run.limits.held:
            run.too_much_held()
        run.keep(size * (LIST_BYTES + ITEM_BYTES * len(slots)))
        return run.metered(self._join(batch, found, slots))

    def _measured(self, row: Row) -> list[Columns]:
        """The columns for one row; of what was built for them only they are left."""
        run: Run = row[0]
        before = run.made
        found = self._find(row)
        run.settle(before, (value for values in found for value in values))
        run.check_now()
        return found

    def _join(self, batch: list[Row], found: list[list[Columns]], slots: tuple[int, ...]) -> Iterable[Row]:
        nothing: list[Columns] = [(None,) * len(slots)] if self.optional else []
        for row, columns in zip(batch, found, strict=True):
            for values in columns or nothing:
                made = row[:]
                for slot, value in zip(slots, values, strict=True):
                    made[slot] = value
                yield made


class Finish(Operator):
    """FINISH: consumes all rows."""

    title = "Finish"
    gathers = False

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        return ()
