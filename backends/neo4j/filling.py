"""Terms for rows that were stored before their table had any.

A catalog may give a table words, or let a JSON column be looked up, when there are rows already.
"""

from __future__ import annotations

from collections.abc import Iterable

from backends.neo4j.layout import TERMS, Layout
from backends.neo4j.schema import Rule
from backends.neo4j.terms import terms_of
from backends.neo4j.vertices import BATCH, Run

LONG_AT_ONCE = 20
"""Of rows with texts in which parts are looked for: a text may be many megabytes long."""


async def fill_terms(run: Run, layouts: Iterable[Layout], missing: Iterable[Rule]) -> None:
    """Write the terms of all rows of the tables whose index of terms is missing."""
    names = {rule.name for rule in missing}
    for layout in layouts:
        if layout.terms_index in names:
            await _fill(run, layout)


async def _fill(run: Run, layout: Layout) -> None:
    table, listed = layout.table, ", ".join(f"n.{column}" for column in layout.key)
    store = f"UNWIND $rows AS row MATCH (n:{layout.label} {layout.key_pattern('row.key')}) SET n.{TERMS} = row.terms"
    keys = [dict(zip(layout.key, key, strict=True)) for key in await run(f"MATCH (n:{layout.label}) RETURN {listed}")]
    at_once = LONG_AT_ONCE if layout.searched else BATCH
    for start in range(0, len(keys), at_once):
        rows = [layout.row(values) for values in await run(layout.find_many, rows=keys[start : start + at_once])]
        told = [{"key": layout.stored_key(table.key_of(row)), "terms": terms_of(table, row)} for row in rows]
        await run(store, rows=told)
