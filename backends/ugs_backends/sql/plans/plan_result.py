"""Assembles the result of a compiled plan: rows under their parents, pages, totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, repeat
from operator import attrgetter, itemgetter
from typing import Any

from ugs.reads.plan import Order, ResultPage, ResultRow, sort_key
from ugs_backends.sql.compiler.statements import build_walking_order
from ugs_backends.sql.plans.plan_query import MARKS, Level
from ugs_backends.sql.row_codec import Values, compile_maker, decode_value

Groups = dict[Any, ResultPage]
"""The pages of a level, by the value of the relation to their parents."""


class Disorder(Exception):
    """Siblings arrived in another order than their places."""


def assemble_page(levels: Sequence[Level], records: Sequence[Values]) -> ResultPage:
    """Assemble the page of the plan's root from all records."""
    try:
        groups = _group_records(levels, records)
    except Disorder:
        # In practice UNION ALL keeps the order of each level, but SQL does not guarantee it.
        groups = _group_records(levels, sorted(records, key=itemgetter(0, 1)))
    for level in levels:
        if not level.numbered:
            _sort(level, groups[level.number])
        _cut(level, groups[level.number])
    for level in levels:
        for child in level.children:
            _attach(child, groups[level.number], groups[child.number])
    return groups[0].get(None) or ResultPage([], total=_build_zero_total(levels[0]))


def _group_records(levels: Sequence[Level], records: Sequence[Values]) -> list[Groups]:
    groups: list[Groups] = [{} for _ in levels]
    for number, some in groupby(records, itemgetter(0)):
        if number < 0:
            level = levels[-1 - number]
            for record in some:
                groups[level.number].setdefault(_read_tie_of_total(level, record), ResultPage([])).total = record[1]
        else:
            _group_by_parent(levels[number], list(some), groups[number])
    return groups


def _group_by_parent(level: Level, records: list[Values], groups: Groups) -> None:
    """Group the rows of a level by the value of the relation to their parents."""
    rows = list(map(compile_maker(level.table, tuple(slot + MARKS for slot in level.slots)), records))
    ties: Iterable[Any] = repeat(None)
    if level.relation is not None:
        ties = map(attrgetter(level.relation.remote), rows)
        if level.is_single and not level.read.total:
            groups.update((tie, ResultPage([ResultRow(row, {})])) for tie, row in zip(ties, rows, strict=True))
            return
    for tie, row, record in zip(ties, rows, records, strict=False):
        siblings = groups.get(tie)
        if siblings is None:
            siblings = groups[tie] = ResultPage([])
        siblings.items.append(ResultRow(row, {}))
        if record[1] and len(siblings.items) != record[1]:
            raise Disorder


def _sort(level: Level, groups: Groups) -> None:
    """Sort siblings that have no places."""
    walk = build_walking_order(level.table, level.read.order, level.read.page)
    steps = [(_build_sort_key(level, part), part.descending) for part in reversed(walk)]
    if not any(part.descending or level.table.field(part.field).nullable for part in walk):
        steps = [(attrgetter(*(f"row.{part.field}" for part in walk)), False)]
    for rows in groups.values():
        if len(rows.items) > 1:
            for key, descending in steps:
                rows.items.sort(key=key, reverse=descending)


def _build_sort_key(level: Level, part: Order) -> Callable[[ResultRow], Any]:
    value = attrgetter(f"row.{part.field}")
    return (lambda found: sort_key(value(found))) if level.table.field(part.field).nullable else value


def _cut(level: Level, groups: Groups) -> None:
    """Remove the extra row of a page, and reverse backward pages."""
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
    name, local, total = child.name, child.relation.local, _build_zero_total(child)
    for rows in parents.values():
        for found in rows.items:
            tied = groups.get(getattr(found.row, local))
            found.nest[name] = ResultPage([], total=total) if tied is None else tied


def _read_tie_of_total(level: Level, record: Values) -> Any:
    if level.relation is None:
        return None
    remote = level.relation.remote
    slot = level.slots[level.table.names.index(remote)]
    return decode_value(level.table.field(remote), record[slot + MARKS])


def _build_zero_total(level: Level) -> int | None:
    return 0 if level.read.total else None
