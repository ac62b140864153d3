"""Cheapest paths: Dijkstra over outgoing edges, Bellman-Ford where a weight is negative.

Among paths of equal cost the one with fewest edges wins, then the one whose ids come first. Edges are fetched for
many nodes of the frontier at a time, so that a store is asked tens of times, not once per node.
"""

from __future__ import annotations

from heapq import heappop, heappush, nsmallest

from msgspec import Struct

from ugs.errors import LimitExceeded, NegativeCycle
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.walk import Adjacency, Direction, adjacency_of, nodes_by_id
from ugs.reads.plan import Page
from ugs.reads.where import Compare, Op
from ugs.storage import Session
from ugs.values import whole

FETCH_AHEAD = 256
MAX_EXPLORED = 1_000_000

Cost = tuple[float, int]
"""Summed weight, then number of edges."""


class Path(Struct, frozen=True):
    """Nodes in order, the edges between them, and what they cost together."""

    nodes: list[Node]
    edges: list[Edge]
    weight: int | float


async def shortest_path(session: Session, start: str, goal: str) -> Path | None:
    """The cheapest path, or None when there is none or an end does not exist."""
    ends = await nodes_by_id(session, [start, goal])
    if start not in ends or goal not in ends:
        return None
    if start == goal:
        return Path([ends[start]], [], 0)
    search = _Search(session, start)
    costs = await search.costs(goal)
    return await search.path_to(goal, costs) if goal in costs else None


class _Search:
    """One question: the edges seen so far, and which nodes exist."""

    def __init__(self, session: Session, start: str) -> None:
        self.session = session
        self.start = start
        self.known: Adjacency = {}

    async def costs(self, goal: str) -> dict[str, Cost]:
        if await self._any_negative_weight():
            await self._explore_all()
            if any(edge.weight < 0 for edges in self.known.values() for edge, _ in edges):
                return self._bellman_ford()
        return await self._dijkstra(goal)

    async def _any_negative_weight(self) -> bool:
        return bool(await self.session.fetch(EDGES, Compare("weight", Op.LT, 0), page=Page(limit=1)))

    async def _explore_all(self) -> None:
        frontier = [self.start]
        while frontier:
            await self._learn(frontier)
            frontier = sorted({o for id in frontier for _, o in self.known[id] if o not in self.known})

    async def _learn(self, ids: list[str]) -> None:
        """Load the edges of these nodes, leaving out those that lead to missing ones."""
        found = await adjacency_of(self.session, ids, Direction.OUTGOING)
        exists = await self._existing({other for edges in found.values() for _, other in edges})
        for id, edges in found.items():
            self.known[id] = [(edge, other) for edge, other in edges if other in exists]
        if len(self.known) > MAX_EXPLORED:
            raise LimitExceeded(f"the path search passed {MAX_EXPLORED} nodes", limit=MAX_EXPLORED)

    async def _existing(self, ids: set[str]) -> set[str]:
        unknown = ids - self.known.keys()
        return (ids - unknown) | {node.id for node in await self.session.find_many(NODES, sorted(unknown))}

    async def _dijkstra(self, goal: str) -> dict[str, Cost]:
        best: dict[str, Cost] = {self.start: (0, 0)}
        settled: set[str] = set()
        heap: list[tuple[Cost, str]] = [((0, 0), self.start)]
        while heap:
            cost, current = heappop(heap)
            if current in settled:
                continue
            settled.add(current)
            if current == goal:
                break
            if current not in self.known:
                await self._learn([current, *self._ahead(heap, settled)])
            for edge, other in self.known[current]:
                reached = (cost[0] + edge.weight, cost[1] + 1)
                if other not in best or reached < best[other]:
                    best[other] = reached
                    heappush(heap, (reached, other))
        return best

    def _ahead(self, heap: list[tuple[Cost, str]], settled: set[str]) -> list[str]:
        nearest = nsmallest(FETCH_AHEAD, heap)
        return sorted({id for _, id in nearest if id not in settled and id not in self.known})

    def _bellman_ford(self) -> dict[str, Cost]:
        best: dict[str, Cost] = {self.start: (0, 0)}
        for _ in range(len(self.known)):
            if not self._relax_all(best):
                return best
        raise NegativeCycle("a cycle of negative total weight can be reached, so no path is the cheapest")

    def _relax_all(self, best: dict[str, Cost]) -> bool:
        """One round over all edges; tells whether a *cost* still fell (hops may settle later, costs decide)."""
        fell = False
        for id, edges in self.known.items():
            if id not in best:
                continue
            for edge, other in edges:
                reached = (best[id][0] + edge.weight, best[id][1] + 1)
                if other not in best or reached < best[other]:
                    best[other] = reached
                    fell = True
        return fell

    async def path_to(self, goal: str, costs: dict[str, Cost]) -> Path:
        """Of all cheapest paths the one with the smallest ids: go back over all of them, then forward greedily."""
        useful = self._useful_edges(goal, costs)
        ids, edges = [self.start], []
        while ids[-1] != goal:
            other, edge = min(useful[ids[-1]], key=lambda pair: (pair[0], pair[1].seq, pair[1].id))
            ids.append(other)
            edges.append(edge)
        nodes = await nodes_by_id(self.session, ids)
        return Path([nodes[id] for id in ids], edges, whole(costs[goal][0]))

    def _useful_edges(self, goal: str, costs: dict[str, Cost]) -> dict[str, list[tuple[str, Edge]]]:
        """Edges that lie on some cheapest path to the goal, by the node they leave."""
        arriving: dict[str, list[tuple[str, Edge]]] = {}
        for id, edges in self.known.items():
            for edge, other in edges:
                if id in costs and costs.get(other) == (costs[id][0] + edge.weight, costs[id][1] + 1):
                    arriving.setdefault(other, []).append((id, edge))
        useful: dict[str, list[tuple[str, Edge]]] = {}
        todo, seen = [goal], {goal}
        while todo:
            current = todo.pop()
            for before, edge in arriving.get(current, ()):
                useful.setdefault(before, []).append((current, edge))
                if before not in seen:
                    seen.add(before)
                    todo.append(before)
        return useful
