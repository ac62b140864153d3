"""Bringing a store up to date when it is opened: first the layout step by step, then whatever the catalog gained.

Every step is one transaction together with the record of it, so a process killed half way leaves the step undone and
the next one does it again. Steps are for changes of this package's own layout; features only change the catalog,
and need nothing here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec

from backends.sql.dialect import quoted
from backends.sql.growth import Description, Growth, description_of, growth_of, unknown_tables
from backends.sql.link import Link
from backends.sql.names import EVENTS, META, searched_fields
from backends.sql.session import Shape, SqlSession
from backends.sql.writes import Bulk
from ugs.catalog import Kind, Table
from ugs.errors import SchemaMismatch
from ugs.reads.plan import Page, full_order, place_of
from ugs.values import to_text

Step = Callable[[Link, Shape], Awaitable[None]]
"""How to get from one layout to the next."""

FILLED_AT_ONCE = 2_000
LONG_AT_ONCE = 20
"""Of rows with texts in which parts are looked for: a text may be many megabytes long."""
_TEXT = Kind.TEXT
_decode = msgspec.json.Decoder(Description).decode


async def bring_up_to_date(link: Link, shape: Shape, steps: Sequence[Step] = ()) -> list[str]:
    """Create or migrate what is missing, by steps from layout 1 to 2, from 2 to 3, and so on.

    Answers with what a person should know.
    """
    newest = 1 + len(steps)
    async with transaction(link):
        record = await read_record(link, shape)
        if record is None:
            await _create(link, shape, newest)
            return []
    version = _version(record, newest)
    for number in range(version, newest):
        await _take_step(link, shape, steps[number - 1], number)
    return await _grow(link, shape)


@asynccontextmanager
async def transaction(link: Link) -> AsyncIterator[None]:
    """A writing transaction that ends with the block."""
    await link.begin(write=True)
    try:
        yield
        await link.commit()
    except BaseException:
        await link.rollback()
        raise


async def read_record(link: Link, shape: Shape) -> dict[str, str] | None:
    """What the store says about itself; None when it is new."""
    names = {row[0] for row in await link.rows(shape.dialect.table_names())}
    if META in names:
        return {key: value for key, value in await link.rows(f"SELECT key, value FROM {META}")}
    foreign = sorted(names & {EVENTS, *(table.name for table in shape.catalog)})
    if foreign:
        raise SchemaMismatch(
            f"There are already tables called {', '.join(foreign)} that this program did not make. "
            "Name another file or schema. Nothing was changed.",
            tables=foreign,
        )
    return None


def _version(record: dict[str, str], newest: int) -> int:
    text = record.get("layout", "")
    version = int(text) if text.isdigit() else 0
    if not 1 <= version <= newest:
        raise SchemaMismatch(
            f"The store has layout {text or 'without a number'}, this program knows 1 to {newest}. "
            "Use a newer program, or copy the log into a new store. Nothing was changed.",
            found=text,
            known=newest,
        )
    return version


async def _create(link: Link, shape: Shape, newest: int) -> None:
    layout = shape.layout
    statements = [layout.record(), *layout.log()]
    for table in shape.catalog:
        statements += layout.table(table)
    for statement in statements:
        await link.run(statement)
    await _write_record(link, shape, "layout", str(newest))
    await write_catalog(link, shape, description_of(shape.catalog, layout))


async def read_catalog(link: Link, shape: Shape) -> Description:
    """The catalog for which the store was made, or last brought up to date."""
    return _decode((await read_record(link, shape) or {}).get("catalog", "{}"))


async def write_catalog(link: Link, shape: Shape, described: Description) -> None:
    """Put down for which catalog the store is made from now on."""
    await _write_record(link, shape, "catalog", to_text(described))


async def _take_step(link: Link, shape: Shape, step: Step, number: int) -> None:
    async with transaction(link):
        record = await read_record(link, shape) or {}
        if record.get("layout") == str(number):  # else another process has just done it
            await step(link, shape)
            await _write_record(link, shape, "layout", str(number + 1))


async def _grow(link: Link, shape: Shape) -> list[str]:
    wanted = description_of(shape.catalog, shape.layout)
    async with transaction(link):
        stored = await read_catalog(link, shape)
        if to_text(stored) == to_text(wanted):
            return []
        growth = growth_of(stored, shape.catalog, shape.layout, await _unused(link, shape, stored))
        await _apply(link, shape, growth)
        await write_catalog(link, shape, wanted)
    return growth.warnings


async def _unused(link: Link, shape: Shape, stored: Description) -> set[str]:
    """Tables that are unknown here and have no rows."""
    unknown = unknown_tables(stored, shape.catalog)
    return {name for name in unknown if not await link.rows(f"SELECT 1 FROM {quoted(name)} LIMIT 1")}


async def _apply(link: Link, shape: Shape, growth: Growth) -> None:
    for statement in growth.statements:
        await link.run(statement)
    for table, side in growth.fill:
        await fill_side(link, shape, table, side)


async def fill_side(link: Link, shape: Shape, table: Table, name: str) -> None:
    """Write what stands beside rows that were stored before it was kept."""
    session = SqlSession(link, shape)
    side = next(side for side in shape.writer.tables[table.name].sides if side.name == name)
    page = Page(LONG_AT_ONCE if searched_fields(table) else FILLED_AT_ONCE)
    while rows := await session.fetch(table, page=page):
        bulks = [bulk for bulk in side.bulks((None, row) for row in rows) if bulk.columns]
        await link.bulk(bulks)
        page = Page(page.limit, after=place_of(rows[-1], full_order(table, ())))


async def _write_record(link: Link, shape: Shape, key: str, value: str) -> None:
    columns = [("key", _TEXT), ("value", _TEXT)]
    delete = shape.dialect.delete_many(META, columns[:1])
    insert = shape.dialect.insert_many(META, columns)
    await link.bulk([Bulk(META, delete, [[key]]), Bulk(META, insert, [[key], [value]])])
