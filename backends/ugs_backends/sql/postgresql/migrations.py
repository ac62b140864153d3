"""Layout migrations of PostgreSQL stores."""

from __future__ import annotations

from collections.abc import Sequence

from ugs.errors import SchemaMismatch
from ugs.tables import Field, Format, Table
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.migrations.migration import Step, read_catalog, write_catalog
from ugs_backends.sql.postgresql.formats import FIRST_INSTANT, LAST_INSTANT, UUID
from ugs_backends.sql.postgresql.word_index import WordArrays
from ugs_backends.sql.session import StoreContext
from ugs_backends.sql.write.word_index import WordRows


async def convert_words_to_arrays(link: DriverConnection, shape: StoreContext) -> None:
    """Convert word tables from one record per word to arrays, within the server."""
    stored, rows, arrays = await read_catalog(link, shape), WordRows(), WordArrays()
    for table in shape.catalog:
        sides = stored.get(table.name, {}).get("sides", [])
        if table.words is not None and rows.name(table) in sides:
            await link.run(*arrays.build_create(table, shape.layout), *_build_packing(shape, table))
            sides[sides.index(rows.name(table))] = arrays.name(table)
    await write_catalog(link, shape, stored)


def _build_packing(shape: StoreContext, table: Table) -> list[str]:
    rows, arrays, columns = WordRows().name(table), WordArrays().name(table), shape.layout.owner(table)
    key = ", ".join(quote_identifier(column) for column, _ in columns)
    typed = ", ".join(f"{quote_identifier(column)}::{shape.dialect.types[kind]}" for column, kind in columns)
    weights = "CASE WHEN min(weight) = max(weight) THEN ARRAY[min(weight)] ELSE array_agg(weight) END"
    return [
        f"INSERT INTO {quote_identifier(arrays)} ({key}, words, weights) "
        f"SELECT {typed}, array_agg(word), {weights} FROM {quote_identifier(rows)} GROUP BY {key}",
        f"DROP TABLE {quote_identifier(rows)}",
    ]


async def convert_formats(link: DriverConnection, shape: StoreContext) -> None:
    """Convert texts and integers to columns of the types that the formats of their fields have."""
    stored = await read_catalog(link, shape)
    for table in shape.catalog:
        described = stored.get(table.name)
        if described is None:
            continue
        columns = described["columns"]
        fields = [
            field
            for field in table.fields
            if field.format is not None and columns.get(field.stored_as, [field.format])[0] == field.kind
        ]
        for field in fields:
            await _refuse_other_values(link, table, field)
            columns[field.stored_as][0] = shape.dialect.column_type(field).value
        await _alter_types(link, shape, table.name, fields)
        keys = [field for field in fields if field.name in table.key]
        for side in described["sides"]:
            await _alter_types(link, shape, side, keys)
        for field in filter(shape.layout.has_default, fields):
            column = quote_identifier(field.stored_as)
            await link.run(f"ALTER TABLE {quote_identifier(table.name)} ALTER COLUMN {column} SET DEFAULT now()")
    await write_catalog(link, shape, stored)


async def _refuse_other_values(link: DriverConnection, table: Table, field: Field) -> None:
    column = quote_identifier(field.stored_as)
    is_other = (
        f"{column} !~ '^{UUID.pattern}$'"
        if field.format is Format.UUID
        else f"{column} NOT BETWEEN {FIRST_INSTANT} AND {LAST_INSTANT}"
    )
    found = await link.rows(f"SELECT {column} FROM {quote_identifier(table.name)} WHERE {is_other} LIMIT 1")
    if found:
        raise SchemaMismatch(
            f"{table.name}.{field.stored_as} holds {str(found[0][0])[:80]!r}, which is no {field.format}. Nothing was "
            "changed. Open the store with the version that wrote it, mend its log and copy it into a new store.",
            column=f"{table.name}.{field.stored_as}",
        )


async def _alter_types(link: DriverConnection, shape: StoreContext, table: str, fields: Sequence[Field]) -> None:
    changes = [
        f"ALTER COLUMN {column} TYPE {shape.dialect.types[format]} USING {_CONVERSIONS[format].format(column)}"
        for column, format in ((quote_identifier(field.stored_as), field.format) for field in fields)
        if format is not None
    ]
    if changes:
        await link.run(f"ALTER TABLE {quote_identifier(table)} {', '.join(changes)}")


_CONVERSIONS = {
    Format.UUID: "{}::uuid",
    # Days and the rest of a day apart: products with an interval are computed as floats.
    Format.INSTANT: "(timestamp 'epoch' + ({0} / 86400000000) * interval '1 day' "
    "+ ({0} % 86400000000) * interval '1 microsecond') AT TIME ZONE 'UTC'",
}

STEPS: tuple[Step, ...] = (convert_words_to_arrays, convert_formats)
