"""Tables that are seen with counts: what is counted for a row stands in variables beside it."""

from __future__ import annotations

from backends.neo4j.conditions import Parameters
from backends.neo4j.filters import Layouts
from backends.neo4j.layout import Layout
from ugs.catalog import Count, Table


def layout_of(layouts: Layouts, table: Table) -> Layout:
    """How rows of a table look, also with what is counted for them."""
    return layouts[table.name].counting(table)


def counted(layouts: Layouts, parameters: Parameters, layout: Layout, n: str) -> str:
    """The row `n` with what is counted for it."""
    numbers = [
        f"{_number(layouts[count.of.name], parameters, layout, n, count)} AS {layout.at(n, count.name)}"
        for count in layout.table.counted
    ]
    return ", ".join([n, *numbers])


def named(layout: Layout, n: str) -> str:
    """The same once it has names."""
    return ", ".join([n, *(layout.at(n, count.name) for count in layout.table.counted)])


def _number(other: Layout, parameters: Parameters, layout: Layout, n: str, count: Count) -> str:
    parts = []
    for name in count.relations:
        relation, m = layout.table.relations[name], parameters.variable()
        tie = f"{m}.{other.columns[relation.remote]} = {n}.{layout.columns[relation.local]}"
        parts.append(f"COUNT {{ MATCH ({m}:{other.label}) WHERE {tie} }}")
    return " + ".join(parts)
