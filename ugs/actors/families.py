"""Tasks among each other: children, what a task waits for, and how far it has come."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ugs.actors.turn import Turn
from ugs.actors.work import Known
from ugs.errors import LimitExceeded
from ugs.graph.model import EDGES, Node
from ugs.graph.walk import BY_SEQUENCE, Direction, nodes_by_id, touching
from ugs.storage import Session

CREATED, READY, IN_PROGRESS, BLOCKED, COMPLETED, FAILED = (
    "created",
    "ready",
    "in_progress",
    "blocked",
    "completed",
    "failed",
)
ACTIVE = frozenset({IN_PROGRESS, "active"})
"""`active` is what other writers of task graphs call a task in progress."""

SPAWNED_BY, DEPENDS_ON, BLOCKS, PRODUCES = "spawned_by", "depends_on", "blocks", "produces"
DEEPEST_FAMILY = 100
MOST_RELATIVES = 10_000

Children = dict[str, list[str]]


async def child_ids(session: Session, id: str) -> list[str]:
    """The tasks that were made by this one, oldest first."""
    edges = await session.fetch(EDGES, touching([id], Direction.INCOMING, [SPAWNED_BY]), BY_SEQUENCE)
    return list(dict.fromkeys(edge.source for edge in edges))


async def dependency_ids(session: Session, id: str) -> list[str]:
    """The tasks that must be complete before this one, oldest edge first."""
    edges = await session.fetch(EDGES, touching([id], Direction.OUTGOING, [DEPENDS_ON]), BY_SEQUENCE)
    return list(dict.fromkeys(edge.target for edge in edges))


async def existing(session: Session, ids: Sequence[str]) -> list[Node]:
    """The nodes that exist among these ids, in their order."""
    nodes = await nodes_by_id(session, ids)
    return [nodes[id] for id in ids if id in nodes]


def task_state(node: Known) -> str:
    """Where a task stands."""
    return node.state or CREATED


async def waiting_for(turn: Turn) -> dict[str, Known | None]:
    """What keeps a task from going on: unfinished dependencies, and unfinished tasks that block it."""
    needed = [link.target for link in await turn.edges(Direction.OUTGOING, DEPENDS_ON)]
    needed += [link.source for link in await turn.edges(Direction.INCOMING, BLOCKS)]
    nodes = await turn.nodes(needed)
    return {id: nodes.get(id) for id in needed if id not in nodes or _unfinished(nodes[id])}


def _unfinished(node: Known) -> bool:
    return node.type == "task" and task_state(node) != COMPLETED


def goal_of(id: str, node: Known | None) -> str:
    """How a task is called in sentences."""
    goal = None if node is None else node.properties.get("goal")
    return goal if isinstance(goal, str) and goal else id


async def children_of(turn: Turn, ids: Collection[str]) -> Children:
    """The children of several tasks, in one read."""
    found: Children = {id: [] for id in ids}
    for link in await turn.edges_of(ids, Direction.INCOMING, SPAWNED_BY):
        if link.source not in found[link.target]:
            found[link.target].append(link.source)
    return found


class Family:
    """A task with everything that came of it."""

    def __init__(self, id: str, children: Mapping[str, list[str]], nodes: Mapping[str, Known]) -> None:
        self.id, self._children, self.nodes = id, children, nodes
        self._known: dict[str, float] = {}

    @property
    def children(self) -> list[Known]:
        """The task's own children that exist."""
        return [self.nodes[child] for child in self._children.get(self.id, ()) if child in self.nodes]

    def progress(self, id: str, path: frozenset[str] = frozenset()) -> float:
        """Between 0 and 1: a task without children by its state, another one by the mean of its children."""
        if id not in self._known:
            self._known[id] = self._progress(id, path | {id})
        return self._known[id]

    def _progress(self, id: str, path: frozenset[str]) -> float:
        state = task_state(self.nodes[id])
        if state in (COMPLETED, CREATED):
            return 1.0 if state == COMPLETED else 0.0
        # A task that came of itself counts once.
        children = [child for child in self._children.get(id, ()) if child in self.nodes and child not in path]
        if children:
            return sum(self.progress(child, path) for child in children) / len(children)
        return 0.5 if state in ACTIVE else 0.1


async def family_of(turn: Turn) -> Family:
    """The task with its children and theirs, a level at a time."""
    children: Children = {}
    nodes = await turn.nodes([turn.id])
    level = [turn.id]
    for _ in range(DEEPEST_FAMILY):
        found = await children_of(turn, level)
        children |= found
        level = [id for id in dict.fromkeys(child for ids in found.values() for child in ids) if id not in children]
        if not level:
            return Family(turn.id, children, nodes)
        nodes |= await turn.nodes(level)
        if len(nodes) > MOST_RELATIVES:
            raise LimitExceeded(f"{turn.id} has more than {MOST_RELATIVES} tasks below it", limit=MOST_RELATIVES)
    raise LimitExceeded(f"{turn.id} has tasks more than {DEEPEST_FAMILY} levels below it", limit=DEEPEST_FAMILY)
