"""How a store that an older program made gets the layout of today."""

from __future__ import annotations

from backends.sql.dialect import quoted
from backends.sql.link import Link
from backends.sql.migration import Step, read_catalog, write_catalog
from backends.sql.postgresql.words import WordArrays
from backends.sql.session import Shape
from backends.sql.words import WordRows
from ugs.catalog import Table


async def words_become_arrays(link: Link, shape: Shape) -> None:
    """Words had a row each. The server packs them itself, and nothing has to be read and cut again."""
    stored, rows, arrays = await read_catalog(link, shape), WordRows(), WordArrays()
    for table in shape.catalog:
        sides = stored.get(table.name, {}).get("sides", [])
        if table.words is not None and rows.name(table) in sides:
            await link.run(*arrays.made(table, shape.layout), *_packed(table, rows.name(table), arrays.name(table)))
            sides[sides.index(rows.name(table))] = arrays.name(table)
    await write_catalog(link, shape, stored)


def _packed(table: Table, rows: str, arrays: str) -> list[str]:
    key = ", ".join(quoted(table.field(name).stored_as) for name in table.key)
    weights = "CASE WHEN min(weight) = max(weight) THEN ARRAY[min(weight)] ELSE array_agg(weight) END"
    return [
        f"INSERT INTO {quoted(arrays)} ({key}, words, weights) "
        f"SELECT {key}, array_agg(word), {weights} FROM {quoted(rows)} GROUP BY {key}",
        f"DROP TABLE {quoted(rows)}",
    ]


STEPS: tuple[Step, ...] = (words_become_arrays,)
