"""Search by likeness and by everything at once, as a companion of search by words.

Words, likeness and nearness in the graph each rank the nodes in their own way, with scores that cannot be compared.
Reciprocal rank fusion looks at the ranks alone: a node counts 1 / (60 + rank) in each ranking that knows it. Words and
likeness say which nodes are meant; the distance in the graph from a node given, else from the best hit, only helps to
order them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ugs.graph.model import Node
from ugs.graph.queries import node_filter
from ugs.graph.search import Hit, search
from ugs.graph.walk import Direction, adjacency_of, nodes_by_id
from ugs.identity import Scope
from ugs.reads.near import least_score
from ugs.vectors.keeping import embed_texts
from ugs.vectors.model import NODE_VECTORS
from ugs.vectors.searching import Likeness

SMOOTHING = 60
"""The usual constant of the method: a first place counts a little more than a second one, not twice as much."""
MOST_ALIKE = 200
"""How many nodes likeness may bring into a search."""
MOST_BY_WORDS = 1_000
"""How many nodes words may bring into it: a thousandth place counts for next to nothing."""
FARTHEST = 3
MOST_VISITED = 5_000

Ranks = Mapping[str, int]
"""From 1, by id; equals share the better rank."""


async def similar_nodes(
    likeness: Likeness,
    query: str,
    *,
    type: str | None = None,
    scope: Scope | None = None,
    limit: int = MOST_ALIKE,
    least: float | None = None,
) -> list[Hit]:
    """Nodes whose texts are most like the query, best first, ties by id; the score is the cosine."""
    (vector,) = await embed_texts(likeness.embedder, [query])
    if vector is None:
        return []
    from_score = least_score(likeness.embedder.related if least is None else least)
    found = await likeness.search(NODE_VECTORS, vector, limit, from_score, node_filter(type, scope))
    nodes = await nodes_by_id(likeness.session, [scored.row.id for scored in found])
    return [Hit(nodes[scored.row.id], scored.similarity) for scored in found if scored.row.id in nodes]


async def hybrid_search(
    likeness: Likeness,
    query: str,
    *,
    type: str | None = None,
    scope: Scope | None = None,
    near: Collection[str] = (),
    least: float | None = None,
) -> list[Hit]:
    """Nodes found by words or by likeness, best first by all three rankings together, ties by id."""
    by_words = await search(likeness.session, query, type=type, scope=scope, limit=MOST_BY_WORDS)
    by_likeness = await similar_nodes(likeness, query, type=type, scope=scope, least=least)
    nodes = {hit.node.id: hit.node for hit in [*by_words, *by_likeness]}
    rankings = [ranks_of(by_words), ranks_of(by_likeness)]
    first = _fused(nodes, rankings)
    starts = sorted(near) or [hit.node.id for hit in first[:1]]
    distances = await distances_from(likeness, starts, nodes)
    return _fused(nodes, [*rankings, ranks_by(distances)])


def _fused(nodes: Mapping[str, Node], rankings: Sequence[Ranks]) -> list[Hit]:
    hits = [Hit(node, fused(id, rankings)) for id, node in nodes.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.node.id))


def fused(id: str, rankings: Iterable[Ranks]) -> float:
    """What the rankings say together about one id."""
    return sum(1 / (SMOOTHING + ranks[id]) for ranks in rankings if id in ranks)


def ranks_of(hits: Sequence[Hit]) -> Ranks:
    return ranks_by({hit.node.id: -hit.score for hit in hits})


def ranks_by(values: Mapping[str, float]) -> Ranks:
    """Ranks from the smallest value up: as many as are strictly smaller stand before it."""
    first: dict[float, int] = {}
    for place, value in enumerate(sorted(values.values()), 1):
        first.setdefault(value, place)
    return {id: first[value] for id, value in values.items()}


async def distances_from(likeness: Likeness, starts: Sequence[str], wanted: Collection[str]) -> dict[str, int]:
    """How many steps, in either direction, some nodes lie away from the nearest start, as far as they are near."""
    known, frontier = dict.fromkeys(starts, 0), list(starts)
    for distance in range(1, FARTHEST + 1):
        if not frontier or len(known) > MOST_VISITED or all(id in known for id in wanted):
            break
        edges = await adjacency_of(likeness.session, frontier, Direction.BOTH)
        reached = dict.fromkeys(other for ends in edges.values() for _, other in ends)
        frontier = [id for id in reached if id not in known]
        known.update(dict.fromkeys(frontier, distance))
    return {id: distance for id, distance in known.items() if id in wanted}
