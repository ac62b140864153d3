"""Whatever is asked of a table, the database answers as the reference does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.backends.sql import strategies as some
from tests.backends.sql.samples import PARTS, THINGS, VISITS, holds, store
from ugs.reads.filters import Where
from ugs.reads.plan import Order, Page, paged
from ugs.tables import Table
from ugs_backends.sql import SqlStorage

SHARED_STORE = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
tables = st.sampled_from([THINGS, PARTS, VISITS])


@SHARED_STORE
@given(st.data())
async def test_rows_orders_and_pages_are_those_of_the_reference(storage: SqlStorage, data: st.DataObject) -> None:
    await compare_with_reference(storage, data)


async def compare_with_reference(storage: SqlStorage, data: st.DataObject) -> None:
    rows = data.draw(some.rows)
    await store(storage, rows)
    async with storage.session() as session:
        for _ in range(6):
            table, where, order, page = data.draw(questions(rows))
            kept = [row for row in rows[table] if holds(where, row, table, rows)]
            assert await session.fetch(table, where, order, page) == paged(kept, table, order, page)


@SHARED_STORE
@given(st.data())
async def test_counts_groups_and_keys_are_those_of_the_default(storage: SqlStorage, data: st.DataObject) -> None:
    rows = data.draw(some.rows)
    await store(storage, rows)
    async with storage.session() as session:
        for _ in range(4):
            table, where, _, _ = data.draw(questions(rows))
            kept = [row for row in rows[table] if holds(where, row, table, rows)]
            assert await session.count(table, where) == len(kept)
            by = data.draw(st.sampled_from(table.names))
            assert await session.group(table, by, where) == counted(kept, by)
        assert await session.keys(THINGS, "props") == await super(type(session), session).keys(THINGS, "props")


def counted(rows: list[Any], by: str) -> dict[Any, int]:
    values = [getattr(row, by) for row in rows]
    return {value: values.count(value) for value in values}


@st.composite
def questions(draw: st.DrawFn, rows: dict[Table, list[Any]]) -> tuple[Table, Where, tuple[Order, ...], Page]:
    table = draw(tables)
    order = draw(some.orders(table))
    return table, draw(some.wheres(table)), order, draw(some.pages(table, order, rows[table]))


@pytest.mark.parametrize("count", [1, 12_000])
async def test_a_list_of_many_values_is_one_condition(storage: SqlStorage, count: int) -> None:
    from tests.backends.sql.samples import thing
    from ugs.reads.filters import in_

    await store(storage, {THINGS: [thing("a"), thing("b")]})
    async with storage.session() as session:
        found = await session.fetch(THINGS, in_("id", ["a", *(f"n{number}" for number in range(count))]))
        assert [row.id for row in found] == ["a"]
