"""Walking: neighbours and traversals over any session, a level at a time.

Neighbours come by the sequence of their edges. Nodes that do not exist are passed over and lead nowhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from ugs.errors import InvalidSyntax, LimitExceeded, NodeNotFound
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.identity import is_identifier
from ugs.reads.plan import Order
from ugs.reads.where import Where, all_of, any_of, eq, in_
from ugs.storage import Session

MAX_DEPTH = 100
MAX_VISITED = 100_000
BY_SEQUENCE = (Order("seq"),)


class Direction(StrEnum):
    """Which way edges are followed."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


class Strategy(StrEnum):
    """Level by level, or branch by branch."""

    BFS = "bfs"
    DFS = "dfs"


class Step(Struct, frozen=True):
    """A node that a traversal reached, how far out, and over which edge."""

    node: Node
    depth: int
    via: Edge | None = None


def parse_direction(text: str) -> Direction:
    """The direction a word names."""
    try:
        return Direction(text)
    except ValueError:
        raise InvalidSyntax(f"direction is outgoing, incoming or both, not {text!r}") from None


def touching(ids: Collection[str], direction: Direction, types: Iterable[str] | None = None) -> Where:
    """Edges that leave from, arrive at, or touch one of the nodes."""
    ends: list[Where] = []
    if direction is not Direction.INCOMING:
        ends.append(in_("source", ids))
    if direction is not Direction.OUTGOING:
        ends.append(in_("target", ids))
    return any_of(*ends) if types is None else all_of(any_of(*ends), in_("type", types))


Adjacency = dict[str, list[tuple[Edge, str]]]
"""For each node, its edges in sequence with the node at the other end."""


async def adjacency_of(
    session: Session, ids: Sequence[str], direction: Direction, types: Iterable[str] | None = None
) -> Adjacency:
    """The edges of many nodes in one fetch."""
    found: Adjacency = {id: [] for id in ids}
    edges: list[Edge] = await session.fetch(EDGES, touching(sorted(found), direction, types), BY_SEQUENCE)
    if direction is Direction.OUTGOING:
        for edge in edges:
            found[edge.source].append((edge, edge.target))
    elif direction is Direction.INCOMING:
        for edge in edges:
            found[edge.target].append((edge, edge.source))
    else:
        _add_both_ends(found, edges)
    return found


def _add_both_ends(found: Adjacency, edges: list[Edge]) -> None:
    for edge in edges:
        if edge.source in found:
            found[edge.source].append((edge, edge.target))
        # A loop is one edge: seen from both ends it still leads to one place once.
        if edge.target in found and edge.source != edge.target:
            found[edge.target].append((edge, edge.source))


async def nodes_by_id(session: Session, ids: Iterable[str]) -> dict[str, Node]:
    """The nodes that exist among these ids."""
    wanted = sorted({id for id in ids if is_identifier(id)})
    return {node.id: node for node in await session.find_many(NODES, wanted)} if wanted else {}


async def start_node(session: Session, id: str) -> Node:
    """The node a walk begins at, or E002."""
    node: Node | None = await session.find(NODES, id) if is_identifier(id) else None
    if node is None:
        raise NodeNotFound(id)
    return node


async def neighbors(
    session: Session, id: str, direction: Direction = Direction.BOTH, types: Iterable[str] | None = None
) -> list[Node]:
    """Adjacent nodes, each once, in the sequence of the edges that lead to them."""
    await start_node(session, id)
    ends = dict.fromkeys(other for _, other in (await adjacency_of(session, [id], direction, types))[id])
    nodes = await nodes_by_id(session, ends)
    return [nodes[end] for end in ends if end in nodes]


async def traverse(
    session: Session,
    start: str,
    depth: int = 3,
    direction: Direction = Direction.OUTGOING,
    strategy: Strategy = Strategy.BFS,
    types: Sequence[str] | None = None,
) -> list[Step]:
    """Nodes within `depth` steps of the start, in the order they are visited, the start first."""
    if not 0 <= depth <= MAX_DEPTH:
        raise InvalidSyntax(f"depth lies between 0 and {MAX_DEPTH}, not {depth}")
    node = await start_node(session, start)
    steps, known = await _levels(session, Step(node, 0), depth, direction, types)
    return steps if strategy is Strategy.BFS else _by_branch(steps, known, depth)


async def _levels(
    session: Session, start: Step, depth: int, direction: Direction, types: Sequence[str] | None
) -> tuple[list[Step], Adjacency]:
    steps, frontier = [start], [start.node.id]
    seen = {start.node.id}
    known: Adjacency = {}
    for level in range(1, depth + 1):
        known |= await adjacency_of(session, frontier, direction, types)
        reached: dict[str, Edge] = {}
        for id in frontier:
            for edge, other in known[id]:
                if other not in seen:
                    reached.setdefault(other, edge)
        nodes = await nodes_by_id(session, reached)
        frontier = [id for id in reached if id in nodes]
        seen.update(reached)
        steps += [Step(nodes[id], level, reached[id]) for id in frontier]
        if len(steps) > MAX_VISITED:
            raise LimitExceeded(f"the traversal reaches more than {MAX_VISITED} nodes", limit=MAX_VISITED)
        if not frontier:
            break
    return steps, known


def _by_branch(steps: list[Step], known: Adjacency, depth: int) -> list[Step]:
    """The same neighbourhood in pre-order: first along the oldest edge as deep as it goes."""
    nodes = {step.node.id: step.node for step in steps}
    visited: dict[str, Step] = {}
    stack = [steps[0]]
    while stack:
        step = stack.pop()
        if step.node.id in visited:
            continue
        visited[step.node.id] = step
        if step.depth < depth:
            ahead = known.get(step.node.id, ())
            stack += [Step(nodes[o], step.depth + 1, edge) for edge, o in reversed(ahead) if o in nodes]
    return list(visited.values())


async def degree_of(session: Session, id: str) -> tuple[int, int]:
    """How many edges arrive at and leave from a node; a loop counts on both sides."""
    return await session.count(EDGES, eq("target", id)), await session.count(EDGES, eq("source", id))
