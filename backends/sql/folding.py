"""The answer to an unfolded plan, put together: rows by their parents, pages cut, totals where they belong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from backends.sql.rows import Values, maker_of, value_from_store
from backends.sql.unfolding import MARKS, Level
from ugs.reads.levels import without_extra
from ugs.reads.plan import Found, Rows

Placed = list[tuple[int, Found]]
"""Rows with their places among their siblings."""


class Folding:
    """Collects what the levels of one plan answered."""

    def __init__(self, levels: Sequence[Level]) -> None:
        self.levels = levels
        self._groups: list[dict[Any, Placed]] = [{} for _ in levels]
        self._totals: list[dict[Any, int]] = [{} for _ in levels]

    def fold(self, records: Sequence[Values]) -> Rows:
        """The answer of the plan."""
        readers = [_reader(level) for level in self.levels]
        for record in records:
            number = record[0]
            if number >= 0:
                found, tie = readers[number](record)
                self._groups[number].setdefault(tie, []).append((record[1], found))
            else:
                level = self.levels[-1 - number]
                self._totals[level.number][_tie_of_total(level, record)] = record[1]
        answers = [self._answers(level) for level in self.levels]
        self._attach(answers)
        root = answers[0].get(None)
        return Rows([], total=_zero(self.levels[0])) if root is None else root

    def _answers(self, level: Level) -> dict[Any, Rows]:
        answers = {tie: _page(level, placed) for tie, placed in self._groups[level.number].items()}
        for tie, total in self._totals[level.number].items():
            answers.setdefault(tie, Rows([])).total = total
        return answers

    def _attach(self, answers: list[dict[Any, Rows]]) -> None:
        for level in self.levels:
            for child in level.children:
                assert child.relation is not None
                name, local, below = child.name, child.relation.local, answers[child.number]
                for rows in answers[level.number].values():
                    for found in rows.items:
                        tied = below.get(getattr(found.row, local))
                        found.nest[name] = Rows([], total=_zero(child)) if tied is None else tied


def _reader(level: Level) -> Callable[[Values], tuple[Found, Any]]:
    """How a record of this level becomes a row, and which value ties it to its parents."""
    make = maker_of(level.table)
    pick = itemgetter(*(slot + MARKS for slot in level.slots))
    single = len(level.slots) == 1
    remote = None if level.relation is None else level.relation.remote

    def read(record: Values) -> tuple[Found, Any]:
        row = make((pick(record),) if single else pick(record))
        return Found(row, {}), None if remote is None else getattr(row, remote)

    return read


def _page(level: Level, placed: Placed) -> Rows:
    backward = level.read.page.backward
    if len(placed) > 1:
        placed.sort(key=itemgetter(0), reverse=backward)
    items, more = without_extra([found for _, found in placed], level.read.page)
    return Rows(items, more)


def _tie_of_total(level: Level, record: Values) -> Any:
    if level.relation is None:
        return None
    remote = level.relation.remote
    slot = level.slots[level.table.names.index(remote)]
    return value_from_store(level.table.field(remote), record[slot + MARKS])


def _zero(level: Level) -> int | None:
    return 0 if level.read.total else None
