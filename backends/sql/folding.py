"""The answer to an unfolded plan, put together: rows by their parents, pages cut, totals where they belong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, repeat
from operator import attrgetter, itemgetter
from typing import Any

from backends.sql.rows import Values, maker_of, value_from_store
from backends.sql.statements import walking_order
from backends.sql.unfolding import MARKS, Level
from ugs.reads.plan import Found, Order, Rows, sort_key

Groups = dict[Any, Rows]
"""The rows of a level by the value that ties them to their parents."""


class Disorder(Exception):
    """Siblings came in another order than their places say."""


def folded(levels: Sequence[Level], records: Sequence[Values]) -> Rows:
    """The answer of the plan with these levels."""
    try:
        groups = _grouped(levels, records)
    except Disorder:
        # Databases send what a level found in the order it was found, but nothing obliges them to.
        groups = _grouped(levels, sorted(records, key=itemgetter(0, 1)))
    for level in levels:
        if not level.numbered:
            _sort(level, groups[level.number])
        _cut(level, groups[level.number])
    for level in levels:
        for child in level.children:
            _attach(child, groups[level.number], groups[child.number])
    return groups[0].get(None) or Rows([], total=_zero(levels[0]))


def _grouped(levels: Sequence[Level], records: Sequence[Values]) -> list[Groups]:
    groups: list[Groups] = [{} for _ in levels]
    for number, some in groupby(records, itemgetter(0)):
        if number < 0:
            level = levels[-1 - number]
            for record in some:
                groups[level.number].setdefault(_tie_of_total(level, record), Rows([])).total = record[1]
        else:
            _gather(levels[number], list(some), groups[number])
    return groups


def _gather(level: Level, records: list[Values], groups: Groups) -> None:
    """Put the rows of a level under the values that tie them to their parents."""
    rows = list(map(maker_of(level.table, tuple(slot + MARKS for slot in level.slots)), records))
    ties: Iterable[Any] = repeat(None)
    if level.relation is not None:
        ties = map(attrgetter(level.relation.remote), rows)
        if level.is_single and not level.read.total:
            groups.update((tie, Rows([Found(row, {})])) for tie, row in zip(ties, rows, strict=True))
            return
    for tie, row, record in zip(ties, rows, records, strict=False):
        siblings = groups.get(tie)
        if siblings is None:
            siblings = groups[tie] = Rows([])
        siblings.items.append(Found(row, {}))
        if record[1] and len(siblings.items) != record[1]:
            raise Disorder


def _sort(level: Level, groups: Groups) -> None:
    """Put siblings that came without places in the order of the walk."""
    walk = walking_order(level.table, level.read.order, level.read.page)
    steps = [(_sorter(level, part), part.descending) for part in reversed(walk)]
    if not any(part.descending or level.table.field(part.field).nullable for part in walk):
        steps = [(attrgetter(*(f"row.{part.field}" for part in walk)), False)]
    for rows in groups.values():
        if len(rows.items) > 1:
            for key, descending in steps:
                rows.items.sort(key=key, reverse=descending)


def _sorter(level: Level, part: Order) -> Callable[[Found], Any]:
    value = attrgetter(f"row.{part.field}")
    return (lambda found: sort_key(value(found))) if level.table.field(part.field).nullable else value


def _cut(level: Level, groups: Groups) -> None:
    """Take away the row that only says that more follows, and turn what was walked backward."""
    page = level.read.page
    if page.limit is None and not page.backward:
        return
    for rows in groups.values():
        if page.limit is not None and len(rows.items) > page.limit:
            rows.items.pop()
            rows.more = True
        if page.backward:
            rows.items.reverse()


def _attach(child: Level, parents: Groups, groups: Groups) -> None:
    assert child.relation is not None
    name, local, total = child.name, child.relation.local, _zero(child)
    for rows in parents.values():
        for found in rows.items:
            tied = groups.get(getattr(found.row, local))
            found.nest[name] = Rows([], total=total) if tied is None else tied


def _tie_of_total(level: Level, record: Values) -> Any:
    if level.relation is None:
        return None
    remote = level.relation.remote
    slot = level.slots[level.table.names.index(remote)]
    return value_from_store(level.table.field(remote), record[slot + MARKS])


def _zero(level: Level) -> int | None:
    return 0 if level.read.total else None
