"""Mutations that are a single command: how the command is made, and how its result is shown.

Both are synchronous functions, so the fast path can submit the command to the writer without running the resolver, and
render the answer while the store is writing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import strawberry
from msgspec import Struct
from msgspec.structs import replace

from ugs.errors import NodeNotFound
from ugs.feature import Command
from ugs.graph.api import Changed
from ugs.graph.commands import BY_SEQUENCE, between
from ugs.graph.model import EDGES, Edge, Node
from ugs.graph.queries import get
from ugs.reads.plan import Page, ResultRow
from ugs_schema.context import Info
from ugs_schema.graph.command_warnings import Warning, to_graphql_warnings
from ugs_schema.graph.events import Event, to_graphql_event
from ugs_schema.graph.inputs import (
    AddEdgeInput,
    AddNodeInput,
    UpdateEdgeInput,
    UpdateNodeInput,
    UpsertEdgeInput,
    to_add_edge_command,
    to_add_node_command,
    to_update_command,
    to_upsert_edge_command,
    to_upsert_node_command,
)
from ugs_schema.graph.types import GraphEdge, GraphNode, to_graphql_edge, to_graphql_node

P = TypeVar("P")


class MutationResult(Struct, frozen=True):
    """The result of a mutation: the element, and what the payload's optional fields show."""

    row: Any
    changed: Changed
    client_mutation_id: str | None


@strawberry.type(description="What a change left")
class ElementPayload:
    """Common fields of both payloads; not a type of the schema."""

    result: strawberry.Private[MutationResult]

    @strawberry.field(description="What happened; null when there was nothing to change")
    def event(self) -> Event | None:
        events = self.result.changed.events
        return to_graphql_event(events[0]) if events else None

    @strawberry.field(description="What to know although it was done")
    def warnings(self) -> list[Warning]:
        return to_graphql_warnings(self.result.changed.warnings)

    @strawberry.field(description="As it was given")
    def client_mutation_id(self) -> str | None:
        return self.result.client_mutation_id


@strawberry.type(description="A node that was added or changed")
class NodePayload(ElementPayload):
    @strawberry.field(description="The node as the change left it")
    def node(self) -> GraphNode:
        return to_graphql_node(ResultRow(self.result.row, {}))


@strawberry.type(description="An edge that was added or changed")
class EdgePayload(ElementPayload):
    @strawberry.field(description="The edge as the change left it")
    def edge(self) -> GraphEdge:
        return to_graphql_edge(ResultRow(self.result.row, {}))


async def find_current(info: Info, input: Any) -> Node | Edge | None:
    """The current element, for a command that changed nothing."""
    async with info.context.system.session() as session:
        return None if input.id is None else await get(session, input.id)


async def find_upserted(info: Info, input: UpsertEdgeInput) -> Node | Edge | None:
    """The edge that an upsert found, by its id or between its nodes."""
    if input.id is not None:
        return await find_current(info, input)
    async with info.context.system.session() as session:
        where = between(input.source, input.to, input.type)
        return next(iter(await session.fetch(EDGES, where, BY_SEQUENCE, Page(limit=1))), None)


def build_node_payload(changed: Changed, input: AddNodeInput | UpdateNodeInput) -> NodePayload | None:
    row = changed.elements[0] if changed.elements else None
    return NodePayload(result=MutationResult(row, changed, input.client_mutation_id)) if isinstance(row, Node) else None


def build_edge_payload(changed: Changed, input: AddEdgeInput | UpdateEdgeInput | UpsertEdgeInput) -> EdgePayload | None:
    row = changed.elements[0] if changed.elements else None
    return EdgePayload(result=MutationResult(row, changed, input.client_mutation_id)) if isinstance(row, Edge) else None


class CommandMutation(Struct, Generic[P], frozen=True):
    """A mutation that is a single command made from its input."""

    command: Callable[[Any], Command]
    payload: Callable[[Changed, Any], P | None]
    """Makes the payload; None if the element has to be read first."""
    find: Callable[[Any, Any], Awaitable[Node | Edge | None]] = find_current
    """Reads the element of an input that changed nothing."""

    async def load_payload(self, info: Any, changed: Changed, input: Any) -> P:
        """The payload; if nothing was changed it shows the current element."""
        payload = self.payload(changed, input)
        if payload is None and not changed.elements and (row := await self.find(info, input)) is not None:
            payload = self.payload(replace(changed, elements=[row]), input)
        if payload is None:
            raise NodeNotFound(str(input.id))
        return payload


ADD_NODE: CommandMutation[NodePayload] = CommandMutation(to_add_node_command, build_node_payload)
UPDATE_NODE: CommandMutation[NodePayload] = CommandMutation(to_update_command, build_node_payload)
ADD_EDGE: CommandMutation[EdgePayload] = CommandMutation(to_add_edge_command, build_edge_payload)
UPDATE_EDGE: CommandMutation[EdgePayload] = CommandMutation(to_update_command, build_edge_payload)
UPSERT_NODE: CommandMutation[NodePayload] = CommandMutation(to_upsert_node_command, build_node_payload)
UPSERT_EDGE: CommandMutation[EdgePayload] = CommandMutation(to_upsert_edge_command, build_edge_payload, find_upserted)
COMMAND_MUTATIONS: dict[str, CommandMutation[Any]] = {
    "addNode": ADD_NODE,
    "updateNode": UPDATE_NODE,
    "addEdge": ADD_EDGE,
    "updateEdge": UPDATE_EDGE,
}
"""Mutations that can be submitted and answered without their resolvers, by name."""


async def execute_command_mutation(
    info: Info, direct: CommandMutation[P], input: Any, command: Command | None = None
) -> P:
    """Execute a mutation with its own command or the given one, and make the payload."""
    changed = await info.context.graph.do(command or direct.command(input), input.idempotency_key)
    return await direct.load_payload(info, changed, input)
