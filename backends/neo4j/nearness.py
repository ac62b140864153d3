"""The most alike rows, compared by Neo4j.

All vectors have one length and whole components, so the angle that Neo4j computes in 32 bits tells the inner product
to the last digit. Who asked for it gets the rows to compare from a vector index, which may miss some.
"""

from __future__ import annotations

from backends.neo4j.conditions import Parameters
from backends.neo4j.fetches import Fetches, Statement, sources
from backends.neo4j.layout import Layout
from ugs.catalog import Table
from ugs.reads.near import ALIKE, Near, unpack

MORE, AT_LEAST = 4, 50
"""The index is asked for more than is wanted: it misses some of the best, and a condition leaves some out."""


def nearest_statement(fetches: Fetches, table: Table, near: Near, quick: bool = False) -> Statement:
    """Scores and rows, best first; not exact where Neo4j cannot decide the condition."""
    layout, parameters = fetches.layouts[table.name], Parameters()
    condition = fetches.condition(parameters, layout, "n", near.where)
    vector = parameters.add(list(unpack(near.vector)))
    least, limit = parameters.add(near.least), parameters.add(near.limit)
    angle = f"vector.similarity.cosine(n.{layout.columns[near.field]}, {vector})"
    keys = ", ".join(f"n.{column}" for column in layout.key)
    if quick and near.limit:
        found = _candidates(parameters, layout, near, vector)
    else:
        found = sources(parameters, layout, "n", near.where)
    text = (
        f"{found} WHERE {condition.text} "
        f"WITH n, toInteger(round((2 * {angle} - 1) * {ALIKE})) AS score WHERE score >= {least} "
        f"WITH n, score ORDER BY score DESC, {keys} LIMIT {limit} RETURN score, {layout.selected('n')}"
    )
    return Statement(text, parameters.values, condition.exact)


def _candidates(parameters: Parameters, layout: Layout, near: Near, vector: str) -> str:
    """What the vector index finds."""
    index = parameters.add(layout.vector_index(near.field, len(near.vector) // 4))
    many = parameters.add(MORE * near.limit + AT_LEAST)
    return f"CALL db.index.vector.queryNodes({index}, {many}, {vector}) YIELD node AS n WITH n"
