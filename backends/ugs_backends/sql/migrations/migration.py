"""Migration of a store when it is opened: layout steps first, then additions to the catalog.

Each step and its version record are one transaction, so after a crash an unfinished step is repeated. Steps are for
changes of this package's own layout; features only change the catalog and need no step.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec

from ugs.errors import SchemaMismatch
from ugs.reads.plan import Page, full_order, place_of
from ugs.tables import Kind, Table
from ugs.values import to_text
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.migrations.schema_diff import (
    Description,
    SchemaGrowth,
    compute_growth,
    describe_catalog,
    find_unknown_tables,
)
from ugs_backends.sql.session import SqlSession, StoreContext
from ugs_backends.sql.table_names import EVENTS, META, list_searched_fields
from ugs_backends.sql.write.bulk_writes import BulkStatement

Step = Callable[[DriverConnection, StoreContext], Awaitable[None]]
"""Migrates a store from one layout version to the next."""

FILL_BATCH_ROWS = 2_000
LONG_BATCH_ROWS = 20
"""Rows per batch of tables with searchable texts, which may be many megabytes long."""
_TEXT = Kind.TEXT
_decode = msgspec.json.Decoder(Description).decode


async def bring_up_to_date(link: DriverConnection, shape: StoreContext, steps: Sequence[Step] = ()) -> list[str]:
    """Create or migrate a store; `steps` lead from layout 1 to 2, from 2 to 3, and so on.

    Returns warnings for the operator.
    """
    newest = 1 + len(steps)
    async with open_transaction(link):
        record = await read_record(link, shape)
        if record is None:
            await _create(link, shape, newest)
            return []
    version = _read_version(record, newest)
    for number in range(version, newest):
        await _take_step(link, shape, steps[number - 1], number)
    return await _grow(link, shape)


@asynccontextmanager
async def open_transaction(link: DriverConnection) -> AsyncIterator[None]:
    """A write transaction: committed at the end of the block, rolled back on an exception."""
    await link.begin(write=True)
    try:
        yield
        await link.commit()
    except BaseException:
        await link.rollback()
        raise


async def read_record(link: DriverConnection, shape: StoreContext) -> dict[str, str] | None:
    """The metadata of the store; None if it is new."""
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


def _read_version(record: dict[str, str], newest: int) -> int:
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


async def _create(link: DriverConnection, shape: StoreContext, newest: int) -> None:
    layout = shape.layout
    statements = [layout.record(), *layout.log()]
    for table in shape.catalog:
        statements += layout.table(table)
    for table in shape.catalog:
        statements += layout.references(table)
    for statement in statements:
        await link.run(statement)
    await write_record(link, shape, "layout", str(newest))
    await write_catalog(link, shape, describe_catalog(shape.catalog, layout))


async def read_catalog(link: DriverConnection, shape: StoreContext) -> Description:
    """The description of the catalog that the store was last migrated to."""
    return _decode((await read_record(link, shape) or {}).get("catalog", "{}"))


async def write_catalog(link: DriverConnection, shape: StoreContext, described: Description) -> None:
    """Record the catalog that the store now has."""
    await write_record(link, shape, "catalog", to_text(described))


async def _take_step(link: DriverConnection, shape: StoreContext, step: Step, number: int) -> None:
    async with open_transaction(link):
        record = await read_record(link, shape) or {}
        if record.get("layout") == str(number):  # else another process has just done it
            await step(link, shape)
            await write_record(link, shape, "layout", str(number + 1))


async def _grow(link: DriverConnection, shape: StoreContext) -> list[str]:
    wanted = describe_catalog(shape.catalog, shape.layout)
    async with open_transaction(link):
        stored = await read_catalog(link, shape)
        if to_text(stored) == to_text(wanted):
            return []
        growth = compute_growth(stored, shape.catalog, shape.layout, await _find_unused(link, shape, stored))
        await _apply(link, shape, growth)
        await write_catalog(link, shape, wanted)
    return growth.warnings


async def _find_unused(link: DriverConnection, shape: StoreContext, stored: Description) -> set[str]:
    """Tables that are not in the catalog and have no rows."""
    unknown = find_unknown_tables(stored, shape.catalog)
    return {name for name in unknown if not await link.rows(f"SELECT 1 FROM {quote_identifier(name)} LIMIT 1")}


async def _apply(link: DriverConnection, shape: StoreContext, growth: SchemaGrowth) -> None:
    for statement in growth.statements:
        await link.run(statement)
    for table, side in growth.fill:
        await fill_side(link, shape, table, side)


async def fill_side(link: DriverConnection, shape: StoreContext, table: Table, name: str) -> None:
    """Fill a new side table from the existing rows."""
    session = SqlSession(link, shape)
    side = next(side for side in shape.writer.tables[table.name].sides if side.name == name)
    page = Page(LONG_BATCH_ROWS if list_searched_fields(table) else FILL_BATCH_ROWS)
    while rows := await session.fetch(table, page=page):
        bulks = [bulk for bulk in side.bulks((None, row) for row in rows) if bulk.columns]
        await link.bulk(bulks)
        page = Page(page.limit, after=place_of(rows[-1], full_order(table, ())))


async def write_record(link: DriverConnection, shape: StoreContext, key: str, value: str) -> None:
    columns = [("key", _TEXT), ("value", _TEXT)]
    delete = shape.dialect.delete_many(META, columns[:1])
    insert = shape.dialect.insert_many(META, columns)
    await link.bulk([BulkStatement(META, delete, [[key]]), BulkStatement(META, insert, [[key], [value]])])
