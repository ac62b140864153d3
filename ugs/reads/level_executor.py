"""The generic plan executor: one fetch per relation and level, never one per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from ugs.reads.aggregation import Aggregation, Group, Value, build_empty_group
from ugs.reads.count_columns import fetch_counting
from ugs.reads.filters import Where, all_of, in_
from ugs.reads.plan import Nested, Order, Page, Read, ResultPage, ResultRow
from ugs.tables import Relation, Row, Table


class Fetcher(Protocol):
    """The methods of a session that the executor needs."""

    async def fetch(
        self, table: Table, where: Where = ..., order: Sequence[Order] = ..., page: Page = ...
    ) -> list[Row]: ...

    async def count(self, table: Table, where: Where = ...) -> int: ...

    async def group(self, table: Table, by: str, where: Where = ...) -> dict[Any, int]: ...

    async def aggregate(self, table: Table, aggregation: Aggregation, where: Where = ...) -> list[Group]: ...


async def execute_by_levels(session: Fetcher, plan: Read) -> ResultPage:
    """Execute a plan level by level."""
    rows = await fetch_counting(session, plan.table, plan.where, plan.order, one_more(plan.page))
    rows, more = without_extra(rows, plan.page)
    total = await session.count(plan.table.stored, plan.where) if plan.total else None
    answer = ResultPage([ResultRow(row, {}) for row in rows], more, total)
    for name, aggregation in plan.aggregates.items():
        answer.aggregates[name] = await session.aggregate(plan.table.stored, aggregation, plan.where)
    await _fill(session, plan, answer.items)
    return answer


async def _fill(session: Fetcher, plan: Read, parents: list[ResultRow]) -> None:
    for name, nested in plan.nest.items():
        relation = plan.table.relations[nested.relation]
        children = await _children(session, relation, nested, parents)
        for parent in parents:
            parent.nest[name] = children.get(getattr(parent.row, relation.local)) or _build_empty_page(nested.read)


async def _children(
    session: Fetcher, relation: Relation, nested: Nested, parents: list[ResultRow]
) -> dict[Any, ResultPage]:
    """The related rows of all parents, grouped by the join value."""
    read = nested.read
    ties = sorted({tie for parent in parents if (tie := getattr(parent.row, relation.local)) is not None})
    if not ties:
        return {}
    where = all_of(in_(relation.remote, ties), read.where)
    page = msgspec.structs.replace(one_more(read.page), per=relation.remote)
    rows = await fetch_counting(session, read.table, where, read.order, page)
    groups = _grouped(rows, relation.remote, read)
    if read.total:
        for tie, count in (await session.group(read.table.stored, relation.remote, where)).items():
            groups.setdefault(tie, _build_empty_page(read)).total = count
    for name, aggregation in read.aggregates.items():
        limit = aggregation.limit if aggregation.by else None
        by = (Value(relation.remote), *aggregation.by)
        tied = msgspec.structs.replace(aggregation, by=by, limit=limit, per_first=True)
        _add_aggregates(groups, read, name, await session.aggregate(read.table.stored, tied, where))
    await _fill(session, read, [item for group in groups.values() for item in group.items])
    return groups


def _grouped(rows: list[Row], by: str, read: Read) -> dict[Any, ResultPage]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, by), []).append(row)
    answers = {}
    for tie, members in groups.items():
        kept, more = without_extra(members, read.page)
        rows_of_tie = [ResultRow(row, {}) for row in kept]
        answers[tie] = ResultPage(rows_of_tie, more, aggregates=_build_empty_aggregates(read))
    return answers


def _add_aggregates(groups: dict[Any, ResultPage], read: Read, name: str, found: list[Group]) -> None:
    """Give each parent its groups; `found` is grouped by the join value first."""
    by_tie: dict[Any, list[Group]] = {}
    for group in found:
        tie, *keys = group.keys
        by_tie.setdefault(tie, []).append(msgspec.structs.replace(group, keys=tuple(keys)))
    for tie, own in by_tie.items():
        groups.setdefault(tie, _build_empty_page(read)).aggregates[name] = own


def _build_empty_page(read: Read) -> ResultPage:
    """The page of a parent without related rows."""
    return ResultPage([], total=0 if read.total else None, aggregates=_build_empty_aggregates(read))


def _build_empty_aggregates(read: Read) -> dict[str, list[Group]]:
    return {
        name: [] if aggregation.by else [build_empty_group(aggregation)]
        for name, aggregation in read.aggregates.items()
    }


def one_more(page: Page) -> Page:
    """The page with one extra row, whose presence shows that more rows follow."""
    return page if page.limit is None else msgspec.structs.replace(page, limit=page.limit + 1)


def without_extra(rows: list[Row], page: Page) -> tuple[list[Row], bool]:
    """The page without the extra row, and whether there was one."""
    if page.limit is None or len(rows) <= page.limit:
        return rows, False
    return (rows[1:] if page.backward else rows[:-1]), True
