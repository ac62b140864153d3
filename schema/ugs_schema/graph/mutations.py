"""Mutations of the graph: each is one command, durable when it is answered, or rejected with a code."""

from __future__ import annotations

from typing import Annotated

import strawberry

from ugs.errors import InvalidSyntax
from ugs.graph.api import Changed
from ugs.graph.batches import Batch, ClearScope, ImportGraph, Revert
from ugs.graph.demo import load_demo
from ugs.identity import Scope
from ugs_schema.compiler.command_mutations import (
    ADD_EDGE,
    ADD_NODE,
    UPDATE_EDGE,
    UPDATE_NODE,
    UPSERT_EDGE,
    UPSERT_NODE,
    EdgePayload,
    NodePayload,
    execute_command_mutation,
)
from ugs_schema.context import Info
from ugs_schema.graph.command_warnings import Warning, to_graphql_warnings
from ugs_schema.graph.events import Event, to_graphql_event
from ugs_schema.graph.inputs import (
    RETRY_DESCRIPTION,
    AddEdgeInput,
    AddNodeInput,
    BatchOperation,
    DeleteInput,
    UpdateEdgeInput,
    UpdateNodeInput,
    UpsertEdgeInput,
    to_delete_command,
    to_operation,
)
from ugs_schema.graph.types import GraphElement, to_graphql_element
from ugs_schema.scalars import Json, Millis, Position
from ugs_schema.system import Stats

Key = Annotated[str | None, strawberry.argument(description=RETRY_DESCRIPTION)]


@strawberry.type(description="An element that was deleted")
class DeletePayload:
    deleted_id: strawberry.ID = strawberry.field(description="Its id")
    deleted_edge_ids: list[strawberry.ID] = strawberry.field(description="Edges that went with it")
    events: list[Event] = strawberry.field(description="What happened, in order")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type(description="What a batch did")
class BatchPayload:
    elements: list[GraphElement] = strawberry.field(description="Elements added or changed, as the batch left them")
    deleted_ids: list[strawberry.ID] = strawberry.field(description="Elements that are gone")
    events: list[Event] = strawberry.field(description="What happened, in order")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")


@strawberry.type(description="A scope that was emptied")
class ClearScopePayload:
    scope: Scope = strawberry.field(description="The scope")
    deleted_node_ids: list[strawberry.ID] = strawberry.field(description="Nodes that are gone")
    deleted_edge_ids: list[strawberry.ID] = strawberry.field(description="Edges that are gone")


@strawberry.type(description="What an import did")
class ImportPayload:
    nodes: int = strawberry.field(description="Nodes added")
    edges: int = strawberry.field(description="Edges added")
    events: int = strawberry.field(description="Events written")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")


@strawberry.type(description="The state written down beside the log")
class Snapshot:
    timestamp: Millis = strawberry.field(description="When the last event in it happened")
    event_count: Position = strawberry.field(description="How many events it covers")
    last_event_id: str | None = strawberry.field(description="The last event in it")
    node_count: int = strawberry.field(description="Nodes in it")
    edge_count: int = strawberry.field(description="Edges in it")
    stats: Stats = strawberry.field(description="Counts of what it holds")


@strawberry.type(description="A snapshot that was taken")
class SnapshotPayload:
    snapshot: Snapshot = strawberry.field(description="The snapshot")


@strawberry.type
class ChangingMutation:
    @strawberry.mutation(description="Add a node; E001 when its id is taken")
    async def add_node(self, info: Info, input: AddNodeInput) -> NodePayload:
        return await execute_command_mutation(info, ADD_NODE, input)

    @strawberry.mutation(description="Change a node: merge, append to and remove properties, replace type and data")
    async def update_node(self, info: Info, input: UpdateNodeInput) -> NodePayload:
        return await execute_command_mutation(info, UPDATE_NODE, input)

    @strawberry.mutation(description="Add the node, or change it when its id is taken")
    async def upsert_node(self, info: Info, input: AddNodeInput) -> NodePayload:
        return await execute_command_mutation(info, UPSERT_NODE, input)

    @strawberry.mutation(
        description="Add the edge, or change the one with its id; without an id, the first of this type at its ends"
    )
    async def upsert_edge(self, info: Info, input: UpsertEdgeInput) -> EdgePayload:
        return await execute_command_mutation(info, UPSERT_EDGE, input)

    @strawberry.mutation(description="Delete a node together with its edges")
    async def delete_node(self, info: Info, input: DeleteInput) -> DeletePayload:
        return await execute_delete(info, input, "node")

    @strawberry.mutation(description="Add an edge; missing nodes are a warning unless endpointPolicy is STRICT")
    async def add_edge(self, info: Info, input: AddEdgeInput) -> EdgePayload:
        return await execute_command_mutation(info, ADD_EDGE, input)

    @strawberry.mutation(description="Change an edge")
    async def update_edge(self, info: Info, input: UpdateEdgeInput) -> EdgePayload:
        return await execute_command_mutation(info, UPDATE_EDGE, input)

    @strawberry.mutation(description="Delete an edge")
    async def delete_edge(self, info: Info, input: DeleteInput) -> DeletePayload:
        return await execute_delete(info, input, "edge")

    @strawberry.mutation(description="Delete whatever has this id, a node together with its edges")
    async def delete(self, info: Info, input: DeleteInput) -> DeletePayload:
        return await execute_delete(info, input, "any")

    @strawberry.mutation(description="Do several changes, all or none")
    async def apply_batch(
        self, info: Info, operations: list[BatchOperation], idempotency_key: Key = None
    ) -> BatchPayload:
        command = Batch(operations=tuple(to_operation(step) for step in operations))
        return build_batch_payload(await info.context.graph.do(command, idempotency_key))

    @strawberry.mutation(description="Make an element again what it was at a version, by a new event")
    async def revert_element(
        self,
        info: Info,
        id: strawberry.ID,
        version: int,
        expected_version: int | None = None,
        idempotency_key: Key = None,
    ) -> BatchPayload:
        command = Revert(id=id, version=version, expected_version=expected_version)
        return build_batch_payload(await info.context.graph.do(command, idempotency_key))

    @strawberry.mutation(description="Delete everything in a scope; the default scope only with force")
    async def clear_scope(
        self, info: Info, scope: Scope, force: bool = False, idempotency_key: Key = None
    ) -> ClearScopePayload:
        changed = await info.context.graph.do(ClearScope(scope=scope, force=force), idempotency_key)
        nodes, edges = collect_ended_ids(changed, "NodeDeleted"), collect_ended_ids(changed, "EdgeDeleted")
        return ClearScopePayload(scope=scope, deleted_node_ids=nodes, deleted_edge_ids=edges)

    @strawberry.mutation(description="Load the demonstration data; with force, what is there already stays")
    async def load_demo(self, info: Info, force: bool = False, idempotency_key: Key = None) -> ImportPayload:
        return build_import_payload(await info.context.graph.do(load_demo(force), idempotency_key))

    @strawberry.mutation(description="Add nodes and edges given as JSON; onConflict is error, skip or replace")
    async def import_graph(
        self, info: Info, graph: Json, on_conflict: str = "error", idempotency_key: Key = None
    ) -> ImportPayload:
        nodes, edges = parse_elements(graph, "nodes"), parse_elements(graph, "edges")
        command = ImportGraph(nodes=nodes, edges=edges, on_conflict=on_conflict)
        return build_import_payload(await info.context.graph.do(command, idempotency_key))

    @strawberry.mutation(description="Write the state down beside the log, so that the next start is quick")
    async def snapshot(self, info: Info) -> SnapshotPayload:
        changed = await info.context.system.snapshot()
        stats = Stats(**changed.stats.as_json(), events=Position(changed.event_count), at=None)
        return SnapshotPayload(
            snapshot=Snapshot(
                timestamp=Millis(changed.timestamp),
                event_count=Position(changed.event_count),
                last_event_id=changed.last_event_id,
                node_count=changed.stats.nodes,
                edge_count=changed.stats.edges,
                stats=stats,
            )
        )


async def execute_delete(info: Info, input: DeleteInput, kind: str) -> DeletePayload:
    changed = await info.context.graph.do(to_delete_command(input, kind), input.idempotency_key)
    return DeletePayload(
        deleted_id=input.id,
        deleted_edge_ids=[id for id in collect_ended_ids(changed, "EdgeDeleted") if id != input.id],
        events=[to_graphql_event(event) for event in changed.events],
        warnings=to_graphql_warnings(changed.warnings),
        client_mutation_id=input.client_mutation_id,
    )


def collect_ended_ids(changed: Changed, kind: str) -> list[strawberry.ID]:
    return [strawberry.ID(event.element) for event in changed.events if event.type == kind and event.element]


def build_batch_payload(changed: Changed) -> BatchPayload:
    return BatchPayload(
        elements=[to_graphql_element(row) for row in changed.elements],
        deleted_ids=[strawberry.ID(id) for id in changed.deleted],
        events=[to_graphql_event(event) for event in changed.events],
        warnings=to_graphql_warnings(changed.warnings),
    )


def build_import_payload(changed: Changed) -> ImportPayload:
    added = [event.type for event in changed.events]
    return ImportPayload(
        nodes=added.count("NodeAdded"),
        edges=added.count("EdgeAdded"),
        events=len(added),
        warnings=to_graphql_warnings(changed.warnings),
    )


def parse_elements(graph: Json, name: str) -> tuple[dict[str, object], ...]:
    """The nodes or edges of a graph given as JSON."""
    elements = graph.get(name, []) if isinstance(graph, dict) else None
    if not isinstance(elements, list) or not all(isinstance(item, dict) for item in elements):
        raise InvalidSyntax(f"graph must be an object with lists of objects; {name} is not one")
    return tuple(elements)
