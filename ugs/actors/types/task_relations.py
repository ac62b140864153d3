"""Relations between tasks: children, dependencies and progress."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ugs.actors.runtime.message_context import MessageContext
from ugs.actors.runtime.transaction import NodeState
from ugs.errors import LimitExceeded
from ugs.graph.model import EDGES, Node
from ugs.graph.traversal import BY_SEQUENCE, Direction, nodes_by_id, touching
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
MAX_TREE_DEPTH = 100
MAX_RELATIVES = 10_000

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


def task_state(node: NodeState) -> str:
    """The state of a task."""
    return node.state or CREATED


async def waiting_for(context: MessageContext) -> dict[str, NodeState | None]:
    """What blocks a task: unfinished dependencies, and unfinished tasks that block it."""
    needed = [link.target for link in await context.edges(Direction.OUTGOING, DEPENDS_ON)]
    needed += [link.source for link in await context.edges(Direction.INCOMING, BLOCKS)]
    nodes = await context.nodes(needed)
    return {id: nodes.get(id) for id in needed if id not in nodes or _unfinished(nodes[id])}


def _unfinished(node: NodeState) -> bool:
    return node.type == "task" and task_state(node) != COMPLETED


def goal_of(id: str, node: NodeState | None) -> str:
    """The name of a task in messages."""
    goal = None if node is None else node.properties.get("goal")
    return goal if isinstance(goal, str) and goal else id


async def children_of(context: MessageContext, ids: Collection[str]) -> Children:
    """The children of several tasks, in one read."""
    found: Children = {id: [] for id in ids}
    for link in await context.edges_of(ids, Direction.INCOMING, SPAWNED_BY):
        if link.source not in found[link.target]:
            found[link.target].append(link.source)
    return found


class Family:
    """A task with all its descendants."""

    def __init__(self, id: str, children: Mapping[str, list[str]], nodes: Mapping[str, NodeState]) -> None:
        self.id, self._children, self.nodes = id, children, nodes
        self._known: dict[str, float] = {}

    @property
    def children(self) -> list[NodeState]:
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
        # A task among its own descendants counts once.
        children = [child for child in self._children.get(id, ()) if child in self.nodes and child not in path]
        if children:
            return sum(self.progress(child, path) for child in children) / len(children)
        return 0.5 if state in ACTIVE else 0.1


async def family_of(context: MessageContext) -> Family:
    """The task with its children and theirs, a level at a time."""
    children: Children = {}
    nodes = await context.nodes([context.id])
    level = [context.id]
    for _ in range(MAX_TREE_DEPTH):
        found = await children_of(context, level)
        children |= found
        level = [id for id in dict.fromkeys(child for ids in found.values() for child in ids) if id not in children]
        if not level:
            return Family(context.id, children, nodes)
        nodes |= await context.nodes(level)
        if len(nodes) > MAX_RELATIVES:
            raise LimitExceeded(f"{context.id} has more than {MAX_RELATIVES} tasks below it", limit=MAX_RELATIVES)
    raise LimitExceeded(f"{context.id} has tasks more than {MAX_TREE_DEPTH} levels below it", limit=MAX_TREE_DEPTH)
