"""Count columns: the counts of a row are variables beside it. By sort keys, the kernel sorts."""

from __future__ import annotations

from ugs.reads.sort_keys import SortKey
from ugs.tables import Count, Table
from ugs_backends.neo4j.cypher_fragments import Parameters
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.read.column_filters import NotComparable
from ugs_backends.neo4j.read.filters import Layouts


def get_layout(layouts: Layouts, table: Table) -> Layout:
    """The layout of a table, with its count columns if it has any."""
    return layouts[table.name].with_counts(table)


def build_count_with(layouts: Layouts, parameters: Parameters, layout: Layout, n: str) -> str:
    """The WITH list of a row `n` and its counts."""
    numbers = [
        f"{_count_related(layouts, parameters, layout, n, count)} AS {layout.at(n, count.name)}"
        for count in layout.table.counted
    ]
    return ", ".join([n, *numbers])


def name_counts(layout: Layout, n: str) -> str:
    """The same list, once the counts have names."""
    return ", ".join([n, *(layout.at(n, count.name) for count in layout.table.counted)])


def _count_related(layouts: Layouts, parameters: Parameters, layout: Layout, n: str, count: Count | SortKey) -> str:
    if isinstance(count, SortKey):
        raise NotComparable
    other, parts = layouts[count.of.name], []
    for name in count.relations:
        relation, m = layout.table.relations[name], parameters.create_variable()
        tie = f"{m}.{other.columns[relation.remote]} = {n}.{layout.columns[relation.local]}"
        parts.append(f"COUNT {{ MATCH ({m}:{other.label}) WHERE {tie} }}")
    return " + ".join(parts)
