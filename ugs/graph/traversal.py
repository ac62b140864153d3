"""Neighbours and traversals over any session, level by level.

Neighbours are ordered by the sequence of their edges. Missing nodes are skipped and not expanded. Rows are read in
portions, yielding to the event loop between them, and only as many as the requested page needs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from ugs.errors import InvalidSyntax, LimitExceeded, NodeNotFound
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.identity import is_identifier
from ugs.reads.filters import Compare, Op, Where, all_of, any_of, eq, in_
from ugs.reads.plan import Order, Page
from ugs.storage import Session
from ugs.support.budget import charge
from ugs.support.time_slice import TimeSlice

MAX_VISITED = 100_000
BY_SEQUENCE = (Order("seq"),)
LEVEL_CHUNK_SIZE, SMALL_LEVEL_CHUNK_SIZE = 1_000, 200
"""Rows per fetch; the small one where a page may need only the first few."""
ROW_BYTES = 200
"""Memory of a row in the lists of a walk, about."""


class Direction(StrEnum):
    """The direction in which edges are followed."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


class Strategy(StrEnum):
    """Breadth-first or depth-first."""

    BFS = "bfs"
    DFS = "dfs"


class Step(Struct, frozen=True):
    """A node reached by a traversal, its depth, and the edge it was reached by."""

    node: Node
    depth: int
    via: Edge | None = None


def parse_direction(text: str) -> Direction:
    """Parse a direction, or raise E005."""
    try:
        return Direction(text)
    except ValueError:
        raise InvalidSyntax(f"direction is outgoing, incoming or both, not {text!r}") from None


def touching(ids: Collection[str], direction: Direction, types: Iterable[str] | None = None) -> Where:
    """The condition for edges that leave from, arrive at, or touch one of the nodes."""
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
    """The edges of many nodes in one fetch; those of a single node, which may be a hub, in portions."""
    found: Adjacency = {id: [] for id in ids}
    kinds = None if types is None else list(types)
    if len(found) == 1:
        async for edges in edges_at(session, ids[0], direction, kinds):
            _add_ends(found, edges, direction)
    else:
        everything: list[Edge] = await session.fetch(EDGES, touching(sorted(found), direction, kinds), BY_SEQUENCE)
        charge_rows(everything, session)
        _add_ends(found, everything, direction)
    return found


async def _adjacencies(
    session: Session, ids: Sequence[str], direction: Direction, types: Sequence[str] | None
) -> AsyncIterator[Adjacency]:
    """As `adjacency_of`, but incremental for a single node, so that the caller can stop early."""
    if len(ids) > 1:
        yield await adjacency_of(session, ids, direction, types)
        return
    whole: Adjacency = {ids[0]: []}
    async for edges in edges_at(session, ids[0], direction, types, size=SMALL_LEVEL_CHUNK_SIZE):
        _add_ends(whole, edges, direction)
        yield whole


def _add_ends(found: Adjacency, edges: list[Edge], direction: Direction) -> None:
    if direction is Direction.OUTGOING:
        for edge in edges:
            found[edge.source].append((edge, edge.target))
    elif direction is Direction.INCOMING:
        for edge in edges:
            found[edge.target].append((edge, edge.source))
    else:
        _add_both_ends(found, edges)


def charge_rows(rows: Sequence[Node] | Sequence[Edge], session: Session) -> None:
    """Count rows against the memory of the request; a store in memory has their properties anyway."""
    size = ROW_BYTES * len(rows)
    if not session.in_process:
        size += sum(len(row.properties) for row in rows)
    charge(size)


Place = tuple[int, str]
"""The position of an edge in the sequence: `seq` and id."""


async def edges_at(
    session: Session,
    id: str,
    direction: Direction,
    types: Sequence[str] | None = None,
    after: Place | None = None,
    size: int = LEVEL_CHUNK_SIZE,
) -> AsyncIterator[list[Edge]]:
    """The edges at one node by sequence, in portions, with a pause between portions when the time slice is over.

    Each side is fetched separately: that matches the stores' indexes, so a portion costs only its own rows, however
    many edges the node has.
    """
    time = TimeSlice()
    sides = [side for side, other in SIDES if direction is not other]
    kinds: list[Where] = [] if types is None else [in_("type", types)]
    while True:
        page = Page(limit=size, after=after)
        found = [await session.fetch(EDGES, all_of(eq(side, id), *kinds), BY_SEQUENCE, page) for side in sides]
        edges = found[0] if len(found) == 1 else _merged(found, size)
        charge_rows(edges, session)
        yield edges
        if len(edges) < size:
            return
        after, size = (edges[-1].seq, edges[-1].id), LEVEL_CHUNK_SIZE
        await time.pause()


SIDES = (("source", Direction.INCOMING), ("target", Direction.OUTGOING))
"""The end columns of an edge, each with the direction that does not use it."""


def _merged(sides: Sequence[list[Edge]], size: int) -> list[Edge]:
    """Merge the first edges of both sides by sequence; a loop is on both sides and counts once."""
    together = {(edge.seq, edge.id): edge for side in sides for edge in side}
    return [together[place] for place in sorted(together)[:size]]


def _add_both_ends(found: Adjacency, edges: list[Edge]) -> None:
    for edge in edges:
        if edge.source in found:
            found[edge.source].append((edge, edge.target))
        # A loop is listed once, although the node is at both of its ends.
        if edge.target in found and edge.source != edge.target:
            found[edge.target].append((edge, edge.source))


async def nodes_by_id(session: Session, ids: Iterable[str], time: TimeSlice | None = None) -> dict[str, Node]:
    """The nodes that exist among these ids."""
    wanted = sorted({id for id in ids if is_identifier(id)})
    found: dict[str, Node] = {}
    for start in range(0, len(wanted), LEVEL_CHUNK_SIZE):
        nodes = await session.find_many(NODES, wanted[start : start + LEVEL_CHUNK_SIZE])
        charge_rows(nodes, session)
        found |= {node.id: node for node in nodes}
        if time is not None:
            await time.pause()
    return found


async def start_node(session: Session, id: str) -> Node:
    """The start node of a walk, or E002."""
    node: Node | None = await session.find(NODES, id) if is_identifier(id) else None
    if node is None:
        raise NodeNotFound(id)
    return node


async def neighbors(
    session: Session,
    id: str,
    direction: Direction = Direction.BOTH,
    types: Iterable[str] | None = None,
    first: int | None = None,
    after: str | None = None,
) -> list[Node]:
    """Adjacent nodes, each once, in the sequence of the edges that lead to them.

    At most `first` of them, starting after the neighbour `after`.
    """
    await start_node(session, id)
    return await adjacent(session, id, direction, types, first, after)


async def adjacent(
    session: Session,
    id: str,
    direction: Direction,
    types: Iterable[str] | None = None,
    first: int | None = None,
    after: str | None = None,
) -> list[Node]:
    """As `neighbors`, of a node that is known to exist."""
    kinds, time = None if types is None else list(types), TimeSlice()
    begin = None if after is None else await _find_position(session, id, after, direction, kinds)
    size = LEVEL_CHUNK_SIZE if first is None else max(1, min(first, LEVEL_CHUNK_SIZE))
    found: dict[str, Node] = {}
    passed: set[str] = set()
    async for edges in edges_at(session, id, direction, kinds, begin, size):
        fresh = [end for end in dict.fromkeys(_all_ends(edges, id, direction)) if end not in passed]
        passed.update(fresh)
        if begin is not None and fresh:
            known = await _ends_before(session, id, fresh, direction, kinds, begin)
            fresh = [end for end in fresh if end not in known]
        nodes = await nodes_by_id(session, fresh, time)
        found |= {end: nodes[end] for end in fresh if end in nodes}
        if first is not None and len(found) >= first:
            break
    return list(found.values())[:first]


def _all_ends(edges: Iterable[Edge], id: str, direction: Direction) -> Iterator[str]:
    return (end for edge in edges for end in _ends(edge, id, direction))


def _ends(edge: Edge, id: str, direction: Direction) -> list[str]:
    """The other ends of an edge at a node that the direction allows."""
    ends = [edge.target] if edge.source == id and direction is not Direction.INCOMING else []
    if edge.target == id and direction is not Direction.OUTGOING:
        ends.append(edge.source)
    return ends


def _between(id: str, others: Collection[str], direction: Direction, types: Sequence[str] | None) -> Where:
    """The condition for edges between a node and any of the others."""
    ways: list[Where] = []
    if direction is not Direction.INCOMING:
        ways.append(all_of(eq("source", id), in_("target", others)))
    if direction is not Direction.OUTGOING:
        ways.append(all_of(eq("target", id), in_("source", others)))
    return any_of(*ways) if types is None else all_of(any_of(*ways), in_("type", types))


async def _find_position(
    session: Session, id: str, other: str, direction: Direction, types: Sequence[str] | None
) -> Place:
    """The position of the first edge that leads to a neighbour, or E005."""
    if is_identifier(other):
        where = _between(id, [other], direction, types)
        edges: list[Edge] = await session.fetch(EDGES, where, BY_SEQUENCE, Page(limit=1))
        if edges:
            return edges[0].seq, edges[0].id
    raise InvalidSyntax(f"after must be the id of a neighbour of {id}, got {other[:80]!r}")


async def _ends_before(
    session: Session, id: str, ends: Sequence[str], direction: Direction, types: Sequence[str] | None, begin: Place
) -> set[str]:
    """The ends that an edge up to this position already leads to: they belong to earlier pages."""
    where = all_of(_between(id, sorted(ends), direction, types), Compare("seq", Op.LE, begin[0]))
    edges: list[Edge] = await session.fetch(EDGES, where)
    return set(_all_ends(edges, id, direction))


async def traverse(
    session: Session,
    start: str,
    depth: int = 3,
    direction: Direction = Direction.OUTGOING,
    strategy: Strategy = Strategy.BFS,
    types: Sequence[str] | None = None,
    first: int | None = None,
    after: str | None = None,
) -> list[Step]:
    """Nodes within `depth` steps of the start, in the order they are visited, the start first.

    At most `first` of them, starting after the node `after`.
    """
    if depth < 0:
        raise InvalidSyntax(f"depth must not be negative, got {depth}")
    node = await start_node(session, start)
    enough = None if first is None or strategy is Strategy.DFS else first
    steps, known = await _levels(session, Step(node, 0), depth, direction, types, enough, after)
    if strategy is Strategy.DFS:
        steps = await _by_branch(steps, known, depth)
    begin = 0 if after is None else _position_after(steps, after)
    return steps[begin : None if first is None else begin + first]


def _position_after(steps: Sequence[Step], after: str) -> int:
    for place, step in enumerate(steps):
        if step.node.id == after:
            return place + 1
    raise InvalidSyntax(f"after must be the id of a node that the traversal visits, got {after[:80]!r}")


async def _levels(
    session: Session,
    start: Step,
    depth: int,
    direction: Direction,
    types: Sequence[str] | None,
    enough: int | None,
    after: str | None,
) -> tuple[list[Step], Adjacency]:
    """Breadth-first levels up to the depth; stops early once `enough` steps follow the node `after`."""
    steps, frontier, time = [start], [start.node.id], TimeSlice()
    seen = {start.node.id}
    known: Adjacency = {}
    # The number of steps to collect; unknown until the node `after` is reached.
    end = enough if after is None else None if enough is None or after != start.node.id else enough + 1
    for level in range(1, depth + 1):
        reached_here: list[str] = []
        for some in _split_level(frontier, growing=enough is not None):
            fresh = []
            async for found in _adjacencies(session, some, direction, types):
                known |= found
                reached = _next_level(some, found, seen)
                nodes = await nodes_by_id(session, reached, time)
                seen.update(reached)
                fresh += [Step(nodes[id], level, edge) for id, edge in reached.items() if id in nodes]
                if end is not None and len(steps) + len(fresh) >= end:
                    return [*steps, *fresh], known
            visited = [step.node.id for step in fresh]
            if enough is not None and end is None and after in visited:
                end = len(steps) + visited.index(after) + 1 + enough
            steps += fresh
            reached_here += visited
            if end is not None and len(steps) >= end:
                return steps, known
            if len(steps) > MAX_VISITED:
                raise LimitExceeded(f"the traversal reaches more than {MAX_VISITED} nodes", limit=MAX_VISITED)
        frontier = reached_here
        if not frontier:
            break
    return steps, known


def _split_level(ids: Sequence[str], growing: bool) -> Iterator[Sequence[str]]:
    """A level in portions; with `growing`, small ones first, since not all of it may be needed."""
    begin, size = 0, 1 if growing else LEVEL_CHUNK_SIZE
    while begin < len(ids):
        yield ids[begin : begin + size]
        begin, size = begin + size, min(2 * size, LEVEL_CHUNK_SIZE)


def _next_level(frontier: Sequence[str], known: Adjacency, seen: set[str]) -> dict[str, Edge]:
    """The nodes reached for the first time from the frontier, each with its first edge."""
    reached: dict[str, Edge] = {}
    for id in frontier:
        for edge, other in known[id]:
            if other not in seen:
                reached.setdefault(other, edge)
    return reached


async def _by_branch(steps: list[Step], known: Adjacency, depth: int) -> list[Step]:
    """The same neighbourhood in depth-first pre-order, oldest edge first."""
    nodes = {step.node.id: step.node for step in steps}
    visited: dict[str, Step] = {}
    stack, time = [steps[0]], TimeSlice()
    while stack:
        step = stack.pop()
        if step.node.id in visited:
            continue
        if time.is_over:
            await time.pause()
        visited[step.node.id] = step
        if step.depth < depth:
            ahead = known.get(step.node.id, ())
            stack += [Step(nodes[o], step.depth + 1, edge) for edge, o in reversed(ahead) if o in nodes]
    return list(visited.values())


async def degree_of(session: Session, id: str) -> tuple[int, int]:
    """In-degree and out-degree of a node; a loop counts on both sides."""
    return await session.count(EDGES, eq("target", id)), await session.count(EDGES, eq("source", id))
