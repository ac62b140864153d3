"""Changes that are one command: what is asked of the kernel, and what is shown of what came of it.

Both are plain functions, so whoever serves such a change need not wait for its resolver: the command goes to the
writer, and the answer is written while the store is busy with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import strawberry
from msgspec import Struct
from msgspec.structs import replace

from schema.context import Info
from schema.elements import GraphEdge, GraphNode, shown_edge, shown_node
from schema.events import Event, shown_event
from schema.inputs import (
    AddEdgeInput,
    AddNodeInput,
    UpdateEdgeInput,
    UpdateNodeInput,
    added_edge,
    added_node,
    updated,
)
from schema.warnings import Warning, shown_warnings
from ugs.api import Changed
from ugs.errors import NodeNotFound
from ugs.feature import Command
from ugs.graph.model import Edge, Node
from ugs.graph.queries import get
from ugs.reads.plan import Found

P = TypeVar("P")


class Left(Struct, frozen=True):
    """What a change left: the element, and what to tell about it to those who choose to hear it."""

    row: Any
    done: Changed
    given: str | None
    """The id that the client gave to its mutation."""


@strawberry.type(description="What a change left")
class ElementPayload:
    """What both payloads show alike; no type of its own in the schema."""

    left: strawberry.Private[Left]

    @strawberry.field(description="What happened; null when there was nothing to change")
    def event(self) -> Event | None:
        events = self.left.done.events
        return shown_event(events[0]) if events else None

    @strawberry.field(description="What to know although it was done")
    def warnings(self) -> list[Warning]:
        return shown_warnings(self.left.done.warnings)

    @strawberry.field(description="As it was given")
    def client_mutation_id(self) -> str | None:
        return self.left.given


@strawberry.type(description="A node that was added or changed")
class NodePayload(ElementPayload):
    @strawberry.field(description="The node as the change left it")
    def node(self) -> GraphNode:
        return shown_node(Found(self.left.row, {}))


@strawberry.type(description="An edge that was added or changed")
class EdgePayload(ElementPayload):
    @strawberry.field(description="The edge as the change left it")
    def edge(self) -> GraphEdge:
        return shown_edge(Found(self.left.row, {}))


async def unchanged(info: Info, id: str | None) -> Node | Edge | None:
    """The element as it is, when a command found nothing to change."""
    async with info.context.system.session() as session:
        return None if id is None else await get(session, id)


def node_payload(done: Changed, given: AddNodeInput | UpdateNodeInput) -> NodePayload | None:
    row = done.elements[0] if done.elements else None
    return NodePayload(left=Left(row, done, given.client_mutation_id)) if isinstance(row, Node) else None


def edge_payload(done: Changed, given: AddEdgeInput | UpdateEdgeInput) -> EdgePayload | None:
    row = done.elements[0] if done.elements else None
    return EdgePayload(left=Left(row, done, given.client_mutation_id)) if isinstance(row, Edge) else None


class Direct(Struct, Generic[P], frozen=True):
    """A change that is one command made of its input."""

    command: Callable[[Any], Command]
    payload: Callable[[Changed, Any], P | None]
    """What is shown of it, where that is plain; None where more has to be looked up."""

    async def shown(self, info: Any, done: Changed, given: Any) -> P:
        """What is shown of it; when there was nothing to change, that is the element as it is."""
        found = self.payload(done, given)
        if found is None and not done.elements and (row := await unchanged(info, given.id)) is not None:
            found = self.payload(replace(done, elements=[row]), given)
        if found is None:
            raise NodeNotFound(str(given.id))
        return found


ADD_NODE: Direct[NodePayload] = Direct(added_node, node_payload)
UPDATE_NODE: Direct[NodePayload] = Direct(updated, node_payload)
ADD_EDGE: Direct[EdgePayload] = Direct(added_edge, edge_payload)
UPDATE_EDGE: Direct[EdgePayload] = Direct(updated, edge_payload)
DIRECT: dict[str, Direct[Any]] = {
    "addNode": ADD_NODE,
    "updateNode": UPDATE_NODE,
    "addEdge": ADD_EDGE,
    "updateEdge": UPDATE_EDGE,
}
"""Changes that can be asked for and told of without running their resolvers, by their names."""


async def done_by(info: Info, direct: Direct[P], given: Any, command: Command | None = None) -> P:
    """Do a change, by its own command or by this one, and show what came of it."""
    done = await info.context.graph.do(command or direct.command(given), given.idempotency_key)
    return await direct.shown(info, done, given)
