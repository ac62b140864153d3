"""Backfill of derived properties for rows that were stored before their table had the index or constraint.

A catalog may add words or a uniqueness constraint to a table, or index a JSON column, when rows exist already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ugs.tables import Row, Table
from ugs_backends.neo4j.indexes.fulltext_terms import list_terms
from ugs_backends.neo4j.indexes.schema import Rule
from ugs_backends.neo4j.layout import TERMS, Layout
from ugs_backends.neo4j.write.node_writer import BATCH_ROWS, Run
from ugs_backends.neo4j.write.record_encoder import RecordEncoder

LONG_BATCH_ROWS = 20
"""Rows per batch of tables with searchable texts, which may be many megabytes long."""


async def fill_missing(run: Run, layouts: Iterable[Layout], missing: Iterable[Rule]) -> None:
    """Write what missing term indexes and uniqueness constraints cover, for all rows of their tables."""
    names = {rule.name for rule in missing}
    for layout in layouts:
        if layout.terms_index in names:
            await _fill_rows(run, layout, partial(_encode_terms, layout.table))
        if any(layout.constraint(rule) in names for rule in layout.table.unique):
            # All constraints of the table: the condition of an existing one may have changed with the new one.
            await _fill_rows(run, layout, RecordEncoder(layout).unique_values)


def _encode_terms(table: Table, row: Row) -> dict[str, Any]:
    return {TERMS: list_terms(table, row)}


async def _fill_rows(run: Run, layout: Layout, values_of: Callable[[Row], dict[str, Any]]) -> None:
    table, listed = layout.table, ", ".join(f"n.{column}" for column in layout.key)
    store = f"UNWIND $rows AS row MATCH (n:{layout.label} {layout.key_pattern('row.key')}) SET n += row.values"
    keys = [dict(zip(layout.key, key, strict=True)) for key in await run(f"MATCH (n:{layout.label}) RETURN {listed}")]
    at_once = LONG_BATCH_ROWS if layout.searched else BATCH_ROWS
    for start in range(0, len(keys), at_once):
        rows = [layout.row(values) for values in await run(layout.find_many, rows=keys[start : start + at_once])]
        told = [{"key": layout.encode_key(table.key_of(row)), "values": values_of(row)} for row in rows]
        await run(store, rows=told)
