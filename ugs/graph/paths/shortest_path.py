"""Cheapest paths: bidirectional Dijkstra, or Bellman-Ford if any weight is negative.

Among paths of equal cost the one with fewest edges wins, then the one whose node ids come first.
"""

from __future__ import annotations

from msgspec import Struct

from ugs.graph.model import Edge, Node
from ugs.graph.paths.bellman_ford import any_negative_weight, cheapest_steps_with_negatives
from ugs.graph.paths.bidirectional_dijkstra import Steps, cheapest_steps
from ugs.graph.traversal import nodes_by_id
from ugs.storage import Session
from ugs.values import whole


class Path(Struct, frozen=True):
    """Nodes in order, the edges between them, and their total weight."""

    nodes: list[Node]
    edges: list[Edge]
    weight: int | float


async def shortest_path(session: Session, start: str, goal: str) -> Path | None:
    """The cheapest path, or None if there is none or an end does not exist."""
    ends = await nodes_by_id(session, [start, goal])
    if start not in ends or goal not in ends:
        return None
    if start == goal:
        return Path([ends[start]], [], 0)
    find = cheapest_steps_with_negatives if await any_negative_weight(session) else cheapest_steps
    found = await find(session, start, goal)
    if found is None:
        return None
    (weight, _), steps = found
    ids, edges = first_path(start, goal, steps)
    nodes = await nodes_by_id(session, ids)
    return Path([nodes[id] for id in ids], edges, whole(weight))


def first_path(start: str, goal: str, steps: Steps) -> tuple[list[str], list[Edge]]:
    """The cheapest path with the smallest ids: collects all cheapest paths backward, then walks forward greedily."""
    onward: Steps = {}
    todo, seen = [goal], {goal}
    while todo:
        current = todo.pop()
        for before, edge in steps.get(current, ()):
            onward.setdefault(before, []).append((current, edge))
            if before not in seen:
                seen.add(before)
                todo.append(before)
    ids, edges = [start], list[Edge]()
    while ids[-1] != goal:
        following, edge = min(onward[ids[-1]], key=lambda step: (step[0], step[1].seq, step[1].id))
        ids.append(following)
        edges.append(edge)
    return ids, edges
