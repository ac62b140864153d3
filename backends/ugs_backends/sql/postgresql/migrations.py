"""Layout migrations of PostgreSQL stores."""

from __future__ import annotations

from ugs.tables import Table
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.migrations.migration import Step, read_catalog, write_catalog
from ugs_backends.sql.postgresql.word_index import WordArrays
from ugs_backends.sql.session import StoreContext
from ugs_backends.sql.write.word_index import WordRows


async def convert_words_to_arrays(link: DriverConnection, shape: StoreContext) -> None:
    """Convert word tables from one record per word to arrays, within the server."""
    stored, rows, arrays = await read_catalog(link, shape), WordRows(), WordArrays()
    for table in shape.catalog:
        sides = stored.get(table.name, {}).get("sides", [])
        if table.words is not None and rows.name(table) in sides:
            await link.run(
                *arrays.build_create(table, shape.layout), *_build_packing(table, rows.name(table), arrays.name(table))
            )
            sides[sides.index(rows.name(table))] = arrays.name(table)
    await write_catalog(link, shape, stored)


def _build_packing(table: Table, rows: str, arrays: str) -> list[str]:
    key = ", ".join(quote_identifier(table.field(name).stored_as) for name in table.key)
    weights = "CASE WHEN min(weight) = max(weight) THEN ARRAY[min(weight)] ELSE array_agg(weight) END"
    return [
        f"INSERT INTO {quote_identifier(arrays)} ({key}, words, weights) "
        f"SELECT {key}, array_agg(word), {weights} FROM {quote_identifier(rows)} GROUP BY {key}",
        f"DROP TABLE {quote_identifier(rows)}",
    ]


STEPS: tuple[Step, ...] = (convert_words_to_arrays,)
