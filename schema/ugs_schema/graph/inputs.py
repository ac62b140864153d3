"""Mutation inputs, and their translation to commands."""

from __future__ import annotations

from enum import Enum
from typing import Any

import strawberry
from msgspec import UNSET as KEEP
from msgspec import structs
from strawberry import UNSET

from ugs.errors import InvalidSyntax
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, Update, UpsertEdge, UpsertNode
from ugs.graph.content import NewContent
from ugs.values import whole
from ugs_schema.graph.content import Encoding
from ugs_schema.scalars import Json

RETRY_DESCRIPTION = "Makes a retry safe: the same key with the same input gives the first answer again"
EXPECTED_VERSION_DESCRIPTION = (
    "Refuse with VERSION_CONFLICT unless the element is at this version; 0 means it must not exist yet"
)
APPEND_DESCRIPTION = "Values to append to list properties by name; a list of such objects appends one after the other"
MUTATION_ID_DESCRIPTION = "Comes back in the payload as it was given"


@strawberry.enum(description="What happens when an edge's nodes do not exist")
class EndpointPolicy(Enum):
    SOFT = strawberry.enum_value("SOFT", description="The edge is created, with a warning")
    STRICT = strawberry.enum_value("STRICT", description="The edge is refused")


@strawberry.input(description="What an element shall say")
class ContentInput:
    format: str = strawberry.field(description="What kind of content it is, such as markdown")
    body: str = strawberry.field(description="The content itself")
    encoding: Encoding = strawberry.field(default=Encoding.UTF8, description="How the body is written")


@strawberry.input(description="A new node")
class AddNodeInput:
    id: strawberry.ID | None = strawberry.field(default=None, description="Its id; generated when left out")
    type: str | None = strawberry.field(default=None, description="What kind of node it is")
    properties: Json | None = strawberry.field(default=None, description="An object of properties")
    data: Json | None = strawberry.field(default=None, description="Any JSON beside the properties")
    content: ContentInput | None = strawberry.field(default=None, description="What it says")
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED_VERSION_DESCRIPTION)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="Changes of a node; what is left out stays as it is")
class UpdateNodeInput:
    id: strawberry.ID = strawberry.field(description="Which node")
    type: str | None = strawberry.field(default=UNSET, description="The new type; null takes it away")
    properties: Json | None = strawberry.field(default=None, description="Properties to set, beside those there are")
    append_properties: Json | None = strawberry.field(default=None, description=APPEND_DESCRIPTION)
    remove_properties: list[str] | None = strawberry.field(default=None, description="Properties to take away")
    data: Json | None = strawberry.field(default=UNSET, description="The new data; null takes it away")
    content: ContentInput | None = strawberry.field(default=UNSET, description="The new content; null takes it away")
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED_VERSION_DESCRIPTION)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="A new edge")
class AddEdgeInput:
    source: strawberry.ID = strawberry.field(name="from", description="The node it leaves from")
    to: strawberry.ID = strawberry.field(description="The node it arrives at")
    id: strawberry.ID | None = strawberry.field(default=None, description="Its id; generated when left out")
    type: str | None = strawberry.field(default=None, description="What kind of edge it is")
    weight: float = strawberry.field(default=1.0, description="The cost of going along it")
    properties: Json | None = strawberry.field(default=None, description="An object of properties")
    endpoint_policy: EndpointPolicy = strawberry.field(
        default=EndpointPolicy.SOFT, description="What happens when its nodes do not exist"
    )
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED_VERSION_DESCRIPTION)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="An edge to add, or to change when it is there")
class UpsertEdgeInput:
    source: strawberry.ID = strawberry.field(name="from", description="The node it leaves from")
    to: strawberry.ID = strawberry.field(description="The node it arrives at")
    id: strawberry.ID | None = strawberry.field(
        default=None, description="Its id; when left out, the first edge of this type between the nodes, or a new one"
    )
    type: str | None = strawberry.field(default=None, description="What kind of edge it is")
    weight: float | None = strawberry.field(
        default=None, description="The weight; kept when left out, 1 for a new edge"
    )
    properties: Json | None = strawberry.field(default=None, description="Properties to set, beside those there are")
    endpoint_policy: EndpointPolicy = strawberry.field(
        default=EndpointPolicy.SOFT, description="What happens when its nodes do not exist and it is new"
    )
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED_VERSION_DESCRIPTION)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="Changes of an edge; what is left out stays as it is")
class UpdateEdgeInput:
    id: strawberry.ID = strawberry.field(description="Which edge")
    type: str | None = strawberry.field(default=UNSET, description="The new type; null takes it away")
    weight: float | None = strawberry.field(default=UNSET, description="The new weight")
    content: ContentInput | None = strawberry.field(default=UNSET, description="The new content; null takes it away")
    properties: Json | None = strawberry.field(default=None, description="Properties to set, beside those there are")
    append_properties: Json | None = strawberry.field(default=None, description=APPEND_DESCRIPTION)
    remove_properties: list[str] | None = strawberry.field(default=None, description="Properties to take away")
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED_VERSION_DESCRIPTION)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="An element to delete")
class DeleteInput:
    id: strawberry.ID = strawberry.field(description="Which element")
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED_VERSION_DESCRIPTION)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(one_of=True, description="One step of a batch; `$name` as an id stands for one that is generated")
class BatchOperation:
    add_node: AddNodeInput | None = strawberry.field(default=UNSET, description="Add a node")
    update_node: UpdateNodeInput | None = strawberry.field(default=UNSET, description="Change a node")
    delete_node: DeleteInput | None = strawberry.field(default=UNSET, description="Delete a node with its edges")
    add_edge: AddEdgeInput | None = strawberry.field(default=UNSET, description="Add an edge")
    update_edge: UpdateEdgeInput | None = strawberry.field(default=UNSET, description="Change an edge")
    delete_edge: DeleteInput | None = strawberry.field(default=UNSET, description="Delete an edge")
    upsert_node: AddNodeInput | None = strawberry.field(default=UNSET, description="Add a node, or change it")
    upsert_edge: UpsertEdgeInput | None = strawberry.field(default=UNSET, description="Add an edge, or change it")


Input = AddNodeInput | UpdateNodeInput | AddEdgeInput | UpdateEdgeInput | DeleteInput


def check_object(value: Any, name: str) -> dict[str, Any]:
    """The value as an object; None gives an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidSyntax(f"{name} must be an object, such as {{name: 'Alice'}}")
    return value


def check_objects(value: Any, name: str) -> dict[str, Any] | tuple[dict[str, Any], ...]:
    """An object, or several in a list."""
    return tuple(check_object(each, name) for each in value) if isinstance(value, list) else check_object(value, name)


def to_add_node_command(input: AddNodeInput) -> AddNode:
    return AddNode(
        id=input.id,
        type=input.type,
        properties=check_object(input.properties, "properties"),
        data=input.data,
        expected_version=input.expected_version,
        content=to_new_content(input.content),
    )


def to_add_edge_command(input: AddEdgeInput) -> AddEdge:
    return AddEdge(
        id=input.id,
        source=input.source,
        target=input.to,
        type=input.type,
        weight=whole(input.weight),
        properties=check_object(input.properties, "properties"),
        strict=input.endpoint_policy is EndpointPolicy.STRICT,
        expected_version=input.expected_version,
    )


def to_upsert_node_command(input: AddNodeInput) -> UpsertNode:
    return UpsertNode(**structs.asdict(to_add_node_command(input)))


def to_upsert_edge_command(input: UpsertEdgeInput) -> UpsertEdge:
    return UpsertEdge(
        id=input.id,
        source=input.source,
        target=input.to,
        type=input.type,
        weight=None if input.weight is None else whole(input.weight),
        properties=check_object(input.properties, "properties"),
        strict=input.endpoint_policy is EndpointPolicy.STRICT,
        expected_version=input.expected_version,
    )


def to_update_command(input: UpdateNodeInput | UpdateEdgeInput) -> Update:
    is_node = isinstance(input, UpdateNodeInput)
    weight = getattr(input, "weight", UNSET)
    if weight is None:
        raise InvalidSyntax("weight must be a number")
    return Update(
        id=input.id,
        kind="node" if is_node else "edge",
        type=KEEP if input.type is UNSET else input.type,
        properties=check_object(input.properties, "properties"),
        append=check_objects(input.append_properties, "appendProperties"),
        remove=tuple(input.remove_properties or ()),
        data=_unset_to_keep(getattr(input, "data", UNSET)),
        weight=_unset_to_keep(weight),
        expected_version=input.expected_version,
        content=KEEP if input.content is UNSET else to_new_content(input.content),
    )


def to_new_content(input: ContentInput | None) -> NewContent | None:
    return None if input is None else NewContent(input.body, input.format, str(input.encoding.value))


def _unset_to_keep(value: Any) -> Any:
    return KEEP if value is UNSET else value


def to_delete_command(input: DeleteInput, kind: str = "any") -> Delete:
    return Delete(id=input.id, kind=kind, expected_version=input.expected_version)


def to_operation(step: BatchOperation) -> Operation:
    """The command of a batch step; exactly one field is given."""
    if step.add_node:
        return to_add_node_command(step.add_node)
    if step.add_edge:
        return to_add_edge_command(step.add_edge)
    for change in (step.update_node, step.update_edge):
        if change:
            return to_update_command(change)
    if step.upsert_node:
        return to_upsert_node_command(step.upsert_node)
    if step.upsert_edge:
        return to_upsert_edge_command(step.upsert_edge)
    if step.delete_node:
        return to_delete_command(step.delete_node, "node")
    assert step.delete_edge
    return to_delete_command(step.delete_edge, "edge")
