"""Similarity search over nodes, and hybrid search by words, similarity and graph distance.

The three rankings have scores that cannot be compared, so hybrid search uses reciprocal rank fusion: a node scores 1 /
(60 + rank) in each ranking that contains it. Words and similarity select the nodes; the distance in the graph from a
given node, else from the best hit, only contributes to their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ugs.graph.model import Node
from ugs.graph.queries import node_filter
from ugs.graph.text.search import Hit, search
from ugs.graph.traversal import Direction, adjacency_of, nodes_by_id
from ugs.identity import Scope
from ugs.reads.vector_search import least_score
from ugs.vectors.index_maintenance import embed_texts
from ugs.vectors.model import NODE_VECTORS
from ugs.vectors.similarity_search import SimilaritySearch

RRF_CONSTANT = 60
"""The usual constant of reciprocal rank fusion: rank 1 counts a little more than rank 2, not twice as much."""
MAX_ALIKE = 200
"""Nodes that similarity may contribute."""
MAX_BY_WORDS = 1_000
"""Nodes that words may contribute; rank 1000 adds almost nothing to a score."""
MAX_DISTANCE = 3
MAX_VISITED = 5_000

Ranks = Mapping[str, int]
"""Ranks from 1 by id; equal values share the better rank."""


async def similar_nodes(
    likeness: SimilaritySearch,
    query: str,
    *,
    type: str | None = None,
    scope: Scope | None = None,
    limit: int = MAX_ALIKE,
    min_score: float | None = None,
) -> list[Hit]:
    """Nodes whose texts are most similar to the query, best first, ties by id; the score is the cosine."""
    (vector,) = await embed_texts(likeness.embedder, [query])
    if vector is None:
        return []
    from_score = least_score(likeness.embedder.related if min_score is None else min_score)
    found = await likeness.search(NODE_VECTORS, vector, limit, from_score, node_filter(type, scope))
    nodes = await nodes_by_id(likeness.session, [scored.row.id for scored in found])
    return [Hit(nodes[scored.row.id], scored.similarity) for scored in found if scored.row.id in nodes]


async def hybrid_search(
    likeness: SimilaritySearch,
    query: str,
    *,
    type: str | None = None,
    scope: Scope | None = None,
    near: Collection[str] = (),
    min_score: float | None = None,
) -> list[Hit]:
    """Nodes found by words or by similarity, best first by the fused score, ties by id."""
    by_words = await search(likeness.session, query, type=type, scope=scope, limit=MAX_BY_WORDS)
    by_likeness = await similar_nodes(likeness, query, type=type, scope=scope, min_score=min_score)
    nodes = {hit.node.id: hit.node for hit in [*by_words, *by_likeness]}
    rankings = [ranks_of(by_words), ranks_of(by_likeness)]
    first = _fuse(nodes, rankings)
    starts = sorted(near) or [hit.node.id for hit in first[:1]]
    distances = await distances_from(likeness, starts, nodes)
    return _fuse(nodes, [*rankings, ranks_by(distances)])


def _fuse(nodes: Mapping[str, Node], rankings: Sequence[Ranks]) -> list[Hit]:
    hits = [Hit(node, fused_score(id, rankings)) for id, node in nodes.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.node.id))


def fused_score(id: str, rankings: Iterable[Ranks]) -> float:
    """The fused score of one id."""
    return sum(1 / (RRF_CONSTANT + ranks[id]) for ranks in rankings if id in ranks)


def ranks_of(hits: Sequence[Hit]) -> Ranks:
    """Ranks of hits that are ordered best first."""
    return ranks_by({hit.node.id: -hit.score for hit in hits})


def ranks_by(values: Mapping[str, float]) -> Ranks:
    """Ranks by ascending value; the rank is one more than the number of strictly smaller values."""
    first: dict[float, int] = {}
    for place, value in enumerate(sorted(values.values()), 1):
        first.setdefault(value, place)
    return {id: first[value] for id, value in values.items()}


async def distances_from(likeness: SimilaritySearch, starts: Sequence[str], wanted: Collection[str]) -> dict[str, int]:
    """Distances in edges, in either direction, of the wanted nodes from the nearest start; bounded in depth and visited
    nodes.
    """
    known, frontier = dict.fromkeys(starts, 0), list(starts)
    for distance in range(1, MAX_DISTANCE + 1):
        if not frontier or len(known) > MAX_VISITED or all(id in known for id in wanted):
            break
        edges = await adjacency_of(likeness.session, frontier, Direction.BOTH)
        reached = dict.fromkeys(other for ends in edges.values() for _, other in ends)
        frontier = [id for id in reached if id not in known]
        known.update(dict.fromkeys(frontier, distance))
    return {id: distance for id, distance in known.items() if id in wanted}
