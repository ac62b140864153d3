"""Bidirectional Dijkstra: one search along the edges from the start, one against them from the goal.

Together they explore a small part of what one search would. They continue until no path through unsettled nodes can be
as cheap as the best one that joins them. Then the forward search continues through the nodes settled by the backward
search, so that all costs are summed from the start and equal costs compare equal in floating point. Edges are fetched
for a growing number of nodes at a time, so that a remote store gets few queries.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from ugs.errors import LimitExceeded
from ugs.graph.model import Edge
from ugs.graph.traversal import Adjacency, Direction, adjacency_of, nodes_by_id
from ugs.storage import Session

MAX_EXPLORED = 1_000_000
FIRST_AHEAD, MAX_AHEAD = 4, 256
ROUNDING = 1e-9
"""Relative tolerance for sums of the same weights in different order."""

Cost = tuple[float, int]
"""Summed weight, then number of edges."""

Steps = dict[str, list[tuple[str, Edge]]]
"""For each node, the predecessors and edges by which it is reached at its least cost."""


class Front:
    """One of the two searches."""

    def __init__(self, session: Session, origin: str, direction: Direction) -> None:
        self.session = session
        self.direction = direction
        self.best: dict[str, Cost] = {origin: (0, 0)}
        self.settled: dict[str, Cost] = {}
        self.steps: Steps = {}
        self.known: Adjacency = {}
        self.missing: set[str] = set()
        self.heap: list[tuple[Cost, str]] = [((0, 0), origin)]
        self._ahead = FIRST_AHEAD

    def radius(self) -> Cost | None:
        """The least cost of an unsettled node; None if none is left."""
        heap = self.heap
        while heap and (heap[0][1] in self.settled or heap[0][1] in self.missing):
            heappop(heap)
        return heap[0][0] if heap else None

    async def settle_next(self) -> str | None:
        """Settle the nearest node and relax its edges; None if that node does not exist."""
        cost, current = heappop(self.heap)
        if current not in self.known:
            await self._learn([current, *self._likely_next()])
        if current not in self.known:
            self.missing.add(current)
            return None
        self.settled[current] = cost
        self.relax(current, cost, self.known[current])
        return current

    def relax(self, current: str, cost: Cost, edges: Iterable[tuple[Edge, str]]) -> None:
        """Relax the edges of a settled node, keeping all predecessors of equal cost."""
        weight, hops = cost[0], cost[1] + 1
        best, steps, heap = self.best, self.steps, self.heap
        for edge, other in edges:
            reached = (weight + edge.weight, hops)
            known = best.get(other)
            if known is None or reached < known:
                best[other] = reached
                steps[other] = [(current, edge)]
                heappush(heap, (reached, other))
            elif reached == known:
                steps[other].append((current, edge))

    def _likely_next(self) -> list[str]:
        """Nodes near the top of the heap whose edges should be prefetched; none for an in-process store."""
        if self.session.in_process:
            return []
        most, self._ahead = self._ahead, min(self._ahead * 2, MAX_AHEAD)
        unknown = dict.fromkeys(id for _, id in self.heap[: 2 * most] if id not in self.known)
        return list(unknown)[:most]

    async def _learn(self, ids: list[str]) -> None:
        """Load the edges of the nodes that exist."""
        existing = await nodes_by_id(self.session, ids)
        if existing:
            self.known |= await adjacency_of(self.session, list(existing), self.direction)
        if len(self.known) > MAX_EXPLORED:
            raise LimitExceeded(f"the path search passed {MAX_EXPLORED} nodes", limit=MAX_EXPLORED)


async def cheapest_steps(session: Session, start: str, goal: str) -> tuple[Cost, Steps] | None:
    """The cost of the goal, and the steps of all cheapest paths to it; None if it is unreachable."""
    forward = Front(session, start, Direction.OUTGOING)
    backward = Front(session, goal, Direction.INCOMING)
    await forward.settle_next()
    meeting = await _advance(backward, forward, None)
    while (near := forward.radius()) is not None and (far := backward.radius()) is not None:
        if meeting is not None and _is_beyond(near, far, meeting):
            break
        front, other = (forward, backward) if len(forward.heap) <= len(backward.heap) else (backward, forward)
        meeting = await _advance(front, other, meeting)
    if meeting is None:
        return None
    _walk_on(forward, backward, goal, meeting)
    return forward.settled[goal], forward.steps


def _is_beyond(near: Cost, far: Cost, meeting: Cost) -> bool:
    """Whether every path through unsettled nodes costs more than the best path found."""
    together = near[0] + far[0]
    if isinstance(together, int) and isinstance(meeting[0], int):
        return (together, near[1] + far[1]) > meeting
    return together > _just_above(meeting)


def _just_above(meeting: Cost) -> float:
    return meeting[0] + meeting[0] * ROUNDING


async def cheapest_steps_forward(session: Session, start: str, goal: str) -> tuple[Cost, Steps] | None:
    """As `cheapest_steps`, by a forward search only, since a backward search might meet negative weights."""
    forward = Front(session, start, Direction.OUTGOING)
    while goal not in forward.settled and forward.radius() is not None:
        await forward.settle_next()
    return (forward.settled[goal], forward.steps) if goal in forward.settled else None


async def _advance(front: Front, other: Front, meeting: Cost | None) -> Cost | None:
    """Settle one node; returns the cost of the best path that joins the two searches so far."""
    current = await front.settle_next()
    if current is None:
        return meeting
    weight, hops = front.settled[current]
    for edge, end in front.known[current]:
        there = other.settled.get(end)
        if there is not None:
            joined = (weight + edge.weight + there[0], hops + 1 + there[1])
            meeting = joined if meeting is None or joined < meeting else meeting
    return meeting


def _walk_on(forward: Front, backward: Front, goal: str, meeting: Cost) -> None:
    """Continue the forward search to the goal over nodes that the backward search has settled."""
    limit, ground = _just_above(meeting), backward.settled
    onward: Adjacency = {}
    for id in ground:
        for edge, before in backward.known[id]:
            onward.setdefault(before, []).append((edge, id))
    while goal not in forward.settled:
        cost, current = heappop(forward.heap)
        if current in forward.settled or current not in ground:
            continue
        forward.settled[current] = cost
        ahead = onward.get(current, ())
        forward.relax(current, cost, [(e, id) for e, id in ahead if cost[0] + e.weight + ground[id][0] <= limit])
