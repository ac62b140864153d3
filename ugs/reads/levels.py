"""The executor any store can use: one fetch per relation per level, never one per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from ugs.catalog import Relation, Row, Table
from ugs.reads.counting import fetch_counting
from ugs.reads.plan import Found, Nested, Order, Page, Read, Rows
from ugs.reads.where import Where, all_of, in_


class Fetcher(Protocol):
    """What the executor needs of a session."""

    async def fetch(
        self, table: Table, where: Where = ..., order: Sequence[Order] = ..., page: Page = ...
    ) -> list[Row]: ...

    async def count(self, table: Table, where: Where = ...) -> int: ...

    async def group(self, table: Table, by: str, where: Where = ...) -> dict[Any, int]: ...


async def execute_by_levels(session: Fetcher, plan: Read) -> Rows:
    """Answer a plan level by level."""
    rows = await fetch_counting(session, plan.table, plan.where, plan.order, one_more(plan.page))
    rows, more = without_extra(rows, plan.page)
    total = await session.count(plan.table.stored, plan.where) if plan.total else None
    answer = Rows([Found(row, {}) for row in rows], more, total)
    await _fill(session, plan, answer.items)
    return answer


async def _fill(session: Fetcher, plan: Read, parents: list[Found]) -> None:
    for name, nested in plan.nest.items():
        relation = plan.table.relations[nested.relation]
        children = await _children(session, relation, nested, parents)
        for parent in parents:
            parent.nest[name] = children.get(getattr(parent.row, relation.local)) or Rows([], total=_zero(nested))


async def _children(session: Fetcher, relation: Relation, nested: Nested, parents: list[Found]) -> dict[Any, Rows]:
    """The related rows of all parents, grouped by the value that ties them to a parent."""
    read = nested.read
    ties = sorted({tie for parent in parents if (tie := getattr(parent.row, relation.local)) is not None})
    if not ties:
        return {}
    where = all_of(in_(relation.remote, ties), read.where)
    page = msgspec.structs.replace(one_more(read.page), per=relation.remote)
    rows = await fetch_counting(session, read.table, where, read.order, page)
    groups = _grouped(rows, relation.remote, read.page)
    if read.total:
        for tie, count in (await session.group(read.table.stored, relation.remote, where)).items():
            groups.setdefault(tie, Rows([])).total = count
    await _fill(session, read, [item for group in groups.values() for item in group.items])
    return groups


def _grouped(rows: list[Row], by: str, page: Page) -> dict[Any, Rows]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, by), []).append(row)
    answers = {}
    for tie, members in groups.items():
        kept, more = without_extra(members, page)
        answers[tie] = Rows([Found(row, {}) for row in kept], more)
    return answers


def _zero(nested: Nested) -> int | None:
    return 0 if nested.read.total else None


def one_more(page: Page) -> Page:
    """Ask for one row beyond the page: its presence says that more follows."""
    return page if page.limit is None else msgspec.structs.replace(page, limit=page.limit + 1)


def without_extra(rows: list[Row], page: Page) -> tuple[list[Row], bool]:
    """The page proper, and whether the extra row was there."""
    if page.limit is None or len(rows) <= page.limit:
        return rows, False
    return (rows[1:] if page.backward else rows[:-1]), True
