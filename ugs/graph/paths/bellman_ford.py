"""Cheapest paths with negative weights: Bellman-Ford over all reachable nodes."""

from __future__ import annotations

from ugs.errors import LimitExceeded, NegativeCycle
from ugs.graph.model import EDGES
from ugs.graph.paths.bidirectional_dijkstra import MAX_EXPLORED, Cost, Steps, cheapest_steps_forward
from ugs.graph.traversal import Adjacency, Direction, adjacency_of, nodes_by_id
from ugs.reads.filters import Compare, Op
from ugs.reads.plan import Order, Page
from ugs.storage import Session


async def any_negative_weight(session: Session) -> bool:
    # Ordered by weight to make databases use that index: with LIMIT 1 alone, a planner may choose a scan of all edges.
    return bool(await session.fetch(EDGES, Compare("weight", Op.LT, 0), (Order("weight"),), Page(limit=1)))


async def cheapest_steps_with_negatives(session: Session, start: str, goal: str) -> tuple[Cost, Steps] | None:
    """The cost of the goal, and the steps of all cheapest paths to it; None if it is unreachable."""
    known = await explore(session, start)
    if not any(edge.weight < 0 for edges in known.values() for edge, _ in edges):
        return await cheapest_steps_forward(session, start, goal)
    costs = bellman_ford(known, start)
    return (costs[goal], steps_at(known, costs)) if goal in costs else None


async def explore(session: Session, start: str) -> Adjacency:
    """All reachable nodes, with their edges to existing nodes."""
    known: Adjacency = {}
    seen, frontier = {start}, [start]
    while frontier:
        existing = await nodes_by_id(session, frontier)
        known |= await adjacency_of(session, list(existing), Direction.OUTGOING) if existing else {}
        frontier = sorted({other for id in existing for _, other in known[id]} - seen)
        seen.update(frontier)
        if len(known) > MAX_EXPLORED:
            raise LimitExceeded(f"the path search passed {MAX_EXPLORED} nodes", limit=MAX_EXPLORED)
    return {id: [(edge, other) for edge, other in edges if other in known] for id, edges in known.items()}


def bellman_ford(known: Adjacency, start: str) -> dict[str, Cost]:
    """The least cost of every node; raises `NegativeCycle` if costs still fall after |V| rounds."""
    best: dict[str, Cost] = {start: (0, 0)}
    for _ in range(len(known)):
        if not _relax_all(known, best):
            return best
    raise NegativeCycle("a cycle of negative total weight can be reached, so no path is the cheapest")


def _relax_all(known: Adjacency, best: dict[str, Cost]) -> bool:
    """Relax all edges once; returns whether any cost fell."""
    fell = False
    for id, edges in known.items():
        if id not in best:
            continue
        for edge, other in edges:
            reached = (best[id][0] + edge.weight, best[id][1] + 1)
            if other not in best or reached < best[other]:
                best[other] = reached
                fell = True
    return fell


def steps_at(known: Adjacency, costs: dict[str, Cost]) -> Steps:
    """For each node, the edges that reach it at its least cost."""
    steps: Steps = {}
    for id, edges in known.items():
        for edge, other in edges:
            if id in costs and costs.get(other) == (costs[id][0] + edge.weight, costs[id][1] + 1):
                steps.setdefault(other, []).append((id, edge))
    return steps
