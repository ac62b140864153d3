"""Changing the graph: every mutation is one command, durable when it answers, refused with a code otherwise."""

from __future__ import annotations

from typing import Annotated

import strawberry

from schema.context import Info
from schema.direct import ADD_EDGE, ADD_NODE, UPDATE_EDGE, UPDATE_NODE, EdgePayload, NodePayload, done_by, unchanged
from schema.elements import GraphElement, shown_row
from schema.events import Event, shown_event
from schema.inputs import (
    RETRY,
    AddEdgeInput,
    AddNodeInput,
    BatchOperation,
    DeleteInput,
    UpdateEdgeInput,
    UpdateNodeInput,
    added_node,
    deleted,
    operation_of,
    updated,
)
from schema.scalars import Json, Millis, Position
from schema.system import Stats
from schema.warnings import Warning, shown_warnings
from ugs.api import Changed
from ugs.errors import InvalidSyntax
from ugs.feature import Command
from ugs.graph.batches import Batch, ClearScope, ImportGraph, Revert
from ugs.graph.demo import load_demo
from ugs.graph.model import Node
from ugs.identity import Scope

Key = Annotated[str | None, strawberry.argument(description=RETRY)]


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
        return await done_by(info, ADD_NODE, input)

    @strawberry.mutation(description="Change a node: merge, append to and remove properties, replace type and data")
    async def update_node(self, info: Info, input: UpdateNodeInput) -> NodePayload:
        return await done_by(info, UPDATE_NODE, input)

    @strawberry.mutation(description="Add the node, or change it when its id is taken")
    async def upsert_node(self, info: Info, input: AddNodeInput) -> NodePayload:
        return await done_by(info, ADD_NODE, input, await upserted(info, input))

    @strawberry.mutation(description="Delete a node together with its edges")
    async def delete_node(self, info: Info, input: DeleteInput) -> DeletePayload:
        return await gone(info, input, "node")

    @strawberry.mutation(description="Add an edge; missing nodes are a warning unless endpointPolicy is STRICT")
    async def add_edge(self, info: Info, input: AddEdgeInput) -> EdgePayload:
        return await done_by(info, ADD_EDGE, input)

    @strawberry.mutation(description="Change an edge")
    async def update_edge(self, info: Info, input: UpdateEdgeInput) -> EdgePayload:
        return await done_by(info, UPDATE_EDGE, input)

    @strawberry.mutation(description="Delete an edge")
    async def delete_edge(self, info: Info, input: DeleteInput) -> DeletePayload:
        return await gone(info, input, "edge")

    @strawberry.mutation(description="Delete whatever has this id, a node together with its edges")
    async def delete(self, info: Info, input: DeleteInput) -> DeletePayload:
        return await gone(info, input, "any")

    @strawberry.mutation(description="Do several changes, all or none")
    async def apply_batch(
        self, info: Info, operations: list[BatchOperation], idempotency_key: Key = None
    ) -> BatchPayload:
        command = Batch(operations=tuple(operation_of(step) for step in operations))
        return batch_payload(await info.context.graph.do(command, idempotency_key))

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
        return batch_payload(await info.context.graph.do(command, idempotency_key))

    @strawberry.mutation(description="Delete everything in a scope; the default scope only with force")
    async def clear_scope(
        self, info: Info, scope: Scope, force: bool = False, idempotency_key: Key = None
    ) -> ClearScopePayload:
        done = await info.context.graph.do(ClearScope(scope=scope, force=force), idempotency_key)
        nodes, edges = ended(done, "NodeDeleted"), ended(done, "EdgeDeleted")
        return ClearScopePayload(scope=scope, deleted_node_ids=nodes, deleted_edge_ids=edges)

    @strawberry.mutation(description="Load the demonstration data; with force, what is there already stays")
    async def load_demo(self, info: Info, force: bool = False, idempotency_key: Key = None) -> ImportPayload:
        return import_payload(await info.context.graph.do(load_demo(force), idempotency_key))

    @strawberry.mutation(description="Add nodes and edges given as JSON; onConflict is error, skip or replace")
    async def import_graph(
        self, info: Info, graph: Json, on_conflict: str = "error", idempotency_key: Key = None
    ) -> ImportPayload:
        nodes, edges = listed(graph, "nodes"), listed(graph, "edges")
        command = ImportGraph(nodes=nodes, edges=edges, on_conflict=on_conflict)
        return import_payload(await info.context.graph.do(command, idempotency_key))

    @strawberry.mutation(description="Write the state down beside the log, so that the next start is quick")
    async def snapshot(self, info: Info) -> SnapshotPayload:
        done = await info.context.system.snapshot()
        stats = Stats(**done.stats.as_json(), events=Position(done.event_count), at=None)
        return SnapshotPayload(
            snapshot=Snapshot(
                timestamp=Millis(done.timestamp),
                event_count=Position(done.event_count),
                last_event_id=done.last_event_id,
                node_count=done.stats.nodes,
                edge_count=done.stats.edges,
                stats=stats,
            )
        )


async def upserted(info: Info, given: AddNodeInput) -> Command:
    """Add, or change what is there; a race is settled by the version the choice was made on."""
    there = await unchanged(info, given.id)
    if not isinstance(there, Node):
        return added_node(given)
    change = UpdateNodeInput(id=strawberry.ID(there.id), expected_version=given.expected_version)
    change.properties = given.properties
    if given.type is not None:
        change.type = given.type
    if given.data is not None:
        change.data = given.data
    return updated(change)


async def gone(info: Info, given: DeleteInput, kind: str) -> DeletePayload:
    done = await info.context.graph.do(deleted(given, kind), given.idempotency_key)
    return DeletePayload(
        deleted_id=given.id,
        deleted_edge_ids=[id for id in ended(done, "EdgeDeleted") if id != given.id],
        events=[shown_event(event) for event in done.events],
        warnings=shown_warnings(done.warnings),
        client_mutation_id=given.client_mutation_id,
    )


def ended(done: Changed, kind: str) -> list[strawberry.ID]:
    return [strawberry.ID(event.element) for event in done.events if event.type == kind and event.element]


def batch_payload(done: Changed) -> BatchPayload:
    return BatchPayload(
        elements=[shown_row(row) for row in done.elements],
        deleted_ids=[strawberry.ID(id) for id in done.deleted],
        events=[shown_event(event) for event in done.events],
        warnings=shown_warnings(done.warnings),
    )


def import_payload(done: Changed) -> ImportPayload:
    added = [event.type for event in done.events]
    return ImportPayload(
        nodes=added.count("NodeAdded"),
        edges=added.count("EdgeAdded"),
        events=len(added),
        warnings=shown_warnings(done.warnings),
    )


def listed(graph: Json, name: str) -> tuple[dict[str, object], ...]:
    """The nodes or edges of a graph given as JSON."""
    found = graph.get(name, []) if isinstance(graph, dict) else None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise InvalidSyntax(f"graph must be an object with lists of objects; {name} is not one")
    return tuple(found)
