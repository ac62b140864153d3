"""Which queries can be asked about W alone, and what is then asked."""

from __future__ import annotations

import pytest

from ugs.programs.execution.query_pushdown import restrict_to_w

HELD = {
    "MATCH (n:C) WHERE n.x < 1 OR n.y RETURN n": (
        "MATCH (n:C) WHERE (n.x < 1 OR n.y) AND id(n) IN $W_IDS RETURN DISTINCT n AS node"
    ),
    "MATCH (a)-[r:T]->(b) RETURN a.x, r, b ORDER BY a.x": (
        "MATCH (a)-[r:T]->(b) WHERE id(b) IN $W_IDS RETURN DISTINCT b AS node"
    ),
    "MATCH p = (a)--(b) MATCH (b)--(c) RETURN p": (
        "MATCH p = (a)-[]-(b) WHERE id(a) IN $W_IDS MATCH (b)-[]-(c) RETURN DISTINCT a AS node UNION ALL "
        "MATCH p = (a)-[]-(b) WHERE id(b) IN $W_IDS MATCH (b)-[]-(c) RETURN DISTINCT b AS node"
    ),
}
WHOLE = [
    "MATCH (n) RETURN n LIMIT 3",
    "MATCH (n) RETURN n SKIP 3",
    "MATCH (n) WHERE n.concept_id IN $W_IDS RETURN n",
    "MATCH (n) WITH n, 1 AS one RETURN n",
    "MATCH (n) OPTIONAL MATCH (n)--(m) RETURN n",
    "MATCH (n) UNWIND [1] AS x RETURN n",
    "MATCH (n) RETURN collect(n)",
    "MATCH (n) RETURN [n]",
    "MATCH (n) RETURN {a: n}.a AS m",
    "MATCH p = (a)-[*..2]-(b) RETURN p",
    "MATCH p = (a)--() RETURN p",
    "MATCH (a)--(b) MATCH (b)--(c) RETURN c",
    "MATCH ()-[r]-() RETURN r",
    "MATCH (n) RETURN n UNION MATCH (m) RETURN m AS n",
]


@pytest.mark.parametrize("query", HELD)
def test_returned_nodes_are_held_to_w(query: str) -> None:
    assert restrict_to_w(query) == HELD[query]


@pytest.mark.parametrize("query", WHOLE)
def test_what_only_the_whole_query_tells_is_asked_whole(query: str) -> None:
    assert restrict_to_w(query) is None
