"""Vector search in Neo4j.

All vectors have the same norm and whole components, so the cosine that Neo4j computes in 32 bits gives the exact inner
product after rounding. If configured, the candidates come from a vector index, which may miss some.
"""

from __future__ import annotations

from ugs.reads.vector_search import ALIKE, Near, unpack
from ugs.tables import Table
from ugs_backends.neo4j.cypher_fragments import Parameters
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.read.fetch_query import Fetches, Statement, build_source

MORE, AT_LEAST = 4, 50
"""The index is asked for more rows than wanted, as it misses some of the best and the condition excludes some."""


def build_nearest_query(fetches: Fetches, table: Table, near: Near, quick: bool = False) -> Statement:
    """The statement for scores and rows, best first; not exact where Neo4j cannot decide the condition."""
    layout, parameters = fetches.layouts[table.name], Parameters()
    condition = fetches.condition(parameters, layout, "n", near.where)
    vector = parameters.add(list(unpack(near.vector)))
    least, limit = parameters.add(near.least), parameters.add(near.limit)
    angle = f"vector.similarity.cosine(n.{layout.columns[near.field]}, {vector})"
    keys = ", ".join(f"n.{column}" for column in layout.key)
    if quick and near.limit:
        found = _find_candidates(parameters, layout, near, vector)
    else:
        found = build_source(parameters, layout, "n", near.where)
    text = (
        f"{found} WHERE {condition.text} "
        f"WITH n, toInteger(round((2 * {angle} - 1) * {ALIKE})) AS score WHERE score >= {least} "
        f"WITH n, score ORDER BY score DESC, {keys} LIMIT {limit} RETURN score, {layout.select_columns('n')}"
    )
    return Statement(text, parameters.values, condition.exact)


def _find_candidates(parameters: Parameters, layout: Layout, near: Near, vector: str) -> str:
    """The candidates from the vector index."""
    index = parameters.add(layout.vector_index(near.field, len(near.vector) // 4))
    many = parameters.add(MORE * near.limit + AT_LEAST)
    return f"CALL db.index.vector.queryNodes({index}, {many}, {vector}) YIELD node AS n WITH n"
