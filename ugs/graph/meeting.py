"""Two searches that meet: Dijkstra along the edges from the start, and against them from the goal.

Together they look at a small part of what one alone would. They go on until no path outside of what they have settled
can be as cheap as the best that joins them. Then the first search walks on through the other's ground, so that every
cost is summed from the start and equal costs are equal. Edges are fetched for more nodes each time, so that a distant
store is asked a few times, and a near one for little that is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from ugs.errors import LimitExceeded
from ugs.graph.model import Edge
from ugs.graph.walk import Adjacency, Direction, adjacency_of, nodes_by_id
from ugs.storage import Session

MAX_EXPLORED = 1_000_000
FIRST_AHEAD, MOST_AHEAD = 4, 256
ROUNDING = 1e-9
"""Sums of the same weights in another order differ by less than this part of them."""

Cost = tuple[float, int]
"""Summed weight, then number of edges."""

Steps = dict[str, list[tuple[str, Edge]]]
"""For each node, from where and over which edges it is reached at its least cost."""


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
        """The least cost of a node that is not settled yet; None when none is left."""
        heap = self.heap
        while heap and (heap[0][1] in self.settled or heap[0][1] in self.missing):
            heappop(heap)
        return heap[0][0] if heap else None

    async def settle_next(self) -> str | None:
        """Settle the nearest node and look along its edges; None when there is no such node after all."""
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
        """Note what the edges of a settled node lead to, and for how much."""
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
        """Nodes near the top of the heap whose edges are not known; none where asking again costs nothing."""
        if self.session.near:
            return []
        most, self._ahead = self._ahead, min(self._ahead * 2, MOST_AHEAD)
        unknown = dict.fromkeys(id for _, id in self.heap[: 2 * most] if id not in self.known)
        return list(unknown)[:most]

    async def _learn(self, ids: list[str]) -> None:
        """Load the edges of those of the nodes that exist."""
        existing = await nodes_by_id(self.session, ids)
        if existing:
            self.known |= await adjacency_of(self.session, list(existing), self.direction)
        if len(self.known) > MAX_EXPLORED:
            raise LimitExceeded(f"the path search passed {MAX_EXPLORED} nodes", limit=MAX_EXPLORED)


async def cheapest_steps(session: Session, start: str, goal: str) -> tuple[Cost, Steps] | None:
    """What the goal costs, and the steps on all cheapest ways to it; None when it cannot be reached."""
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
    """Whether whatever is not settled costs more than the best path found."""
    together = near[0] + far[0]
    if isinstance(together, int) and isinstance(meeting[0], int):
        return (together, near[1] + far[1]) > meeting
    return together > _just_above(meeting)


def _just_above(meeting: Cost) -> float:
    return meeting[0] + meeting[0] * ROUNDING


async def cheapest_steps_forward(session: Session, start: str, goal: str) -> tuple[Cost, Steps] | None:
    """The same with one search, for graphs in which going against the edges might meet negative weights."""
    forward = Front(session, start, Direction.OUTGOING)
    while goal not in forward.settled and forward.radius() is not None:
        await forward.settle_next()
    return (forward.settled[goal], forward.steps) if goal in forward.settled else None


async def _advance(front: Front, other: Front, meeting: Cost | None) -> Cost | None:
    """Settle one node, and see whether an edge of it joins the two searches more cheaply than before."""
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
    """Let the first search go on to the goal, over nodes that the other has settled."""
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
