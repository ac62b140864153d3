"""Changes as clients write them, and the commands they mean."""

from __future__ import annotations

from enum import Enum
from typing import Any

import strawberry
from msgspec import UNSET as KEEP
from strawberry import UNSET

from schema.contents import Encoding
from schema.scalars import Json
from ugs.errors import InvalidSyntax
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, Update
from ugs.graph.content import NewContent
from ugs.values import whole

RETRY = "Makes a retry safe: the same key with the same input gives the first answer again"
EXPECTED = "Refuse with VERSION_CONFLICT unless the element is at this version; 0 means it must not exist yet"
MUTATION_ID = "Comes back in the payload as it was given"


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
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.input(description="Changes of a node; what is left out stays as it is")
class UpdateNodeInput:
    id: strawberry.ID = strawberry.field(description="Which node")
    type: str | None = strawberry.field(default=UNSET, description="The new type; null takes it away")
    properties: Json | None = strawberry.field(default=None, description="Properties to set, beside those there are")
    append_properties: Json | None = strawberry.field(default=None, description="Values to append to list properties")
    remove_properties: list[str] | None = strawberry.field(default=None, description="Properties to take away")
    data: Json | None = strawberry.field(default=UNSET, description="The new data; null takes it away")
    content: ContentInput | None = strawberry.field(default=UNSET, description="The new content; null takes it away")
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


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
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.input(description="Changes of an edge; what is left out stays as it is")
class UpdateEdgeInput:
    id: strawberry.ID = strawberry.field(description="Which edge")
    type: str | None = strawberry.field(default=UNSET, description="The new type; null takes it away")
    weight: float | None = strawberry.field(default=UNSET, description="The new weight")
    content: ContentInput | None = strawberry.field(default=UNSET, description="The new content; null takes it away")
    properties: Json | None = strawberry.field(default=None, description="Properties to set, beside those there are")
    append_properties: Json | None = strawberry.field(default=None, description="Values to append to list properties")
    remove_properties: list[str] | None = strawberry.field(default=None, description="Properties to take away")
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.input(description="An element to delete")
class DeleteInput:
    id: strawberry.ID = strawberry.field(description="Which element")
    expected_version: int | None = strawberry.field(default=None, description=EXPECTED)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID)


@strawberry.input(one_of=True, description="One step of a batch; `$name` as an id stands for one that is generated")
class BatchOperation:
    add_node: AddNodeInput | None = strawberry.field(default=UNSET, description="Add a node")
    update_node: UpdateNodeInput | None = strawberry.field(default=UNSET, description="Change a node")
    delete_node: DeleteInput | None = strawberry.field(default=UNSET, description="Delete a node with its edges")
    add_edge: AddEdgeInput | None = strawberry.field(default=UNSET, description="Add an edge")
    update_edge: UpdateEdgeInput | None = strawberry.field(default=UNSET, description="Change an edge")
    delete_edge: DeleteInput | None = strawberry.field(default=UNSET, description="Delete an edge")


Input = AddNodeInput | UpdateNodeInput | AddEdgeInput | UpdateEdgeInput | DeleteInput


def as_object(value: Any, what: str) -> dict[str, Any]:
    """Properties are an object; nothing means none."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidSyntax(f"{what} must be an object, such as {{name: 'Alice'}}")
    return value


def added_node(given: AddNodeInput) -> AddNode:
    return AddNode(
        id=given.id,
        type=given.type,
        properties=as_object(given.properties, "properties"),
        data=given.data,
        expected_version=given.expected_version,
        content=new_content(given.content),
    )


def added_edge(given: AddEdgeInput) -> AddEdge:
    return AddEdge(
        id=given.id,
        source=given.source,
        target=given.to,
        type=given.type,
        weight=whole(given.weight),
        properties=as_object(given.properties, "properties"),
        strict=given.endpoint_policy is EndpointPolicy.STRICT,
        expected_version=given.expected_version,
    )


def updated(given: UpdateNodeInput | UpdateEdgeInput) -> Update:
    is_node = isinstance(given, UpdateNodeInput)
    weight = getattr(given, "weight", UNSET)
    if weight is None:
        raise InvalidSyntax("weight must be a number")
    return Update(
        id=given.id,
        kind="node" if is_node else "edge",
        type=KEEP if given.type is UNSET else given.type,
        properties=as_object(given.properties, "properties"),
        append=as_object(given.append_properties, "appendProperties"),
        remove=tuple(given.remove_properties or ()),
        data=_kept(getattr(given, "data", UNSET)),
        weight=_kept(weight),
        expected_version=given.expected_version,
        content=KEEP if given.content is UNSET else new_content(given.content),
    )


def new_content(given: ContentInput | None) -> NewContent | None:
    return None if given is None else NewContent(given.body, given.format, str(given.encoding.value))


def _kept(value: Any) -> Any:
    return KEEP if value is UNSET else value


def deleted(given: DeleteInput, kind: str = "any") -> Delete:
    return Delete(id=given.id, kind=kind, expected_version=given.expected_version)


def operation_of(step: BatchOperation) -> Operation:
    """The operation a step of a batch asks for; exactly one is given."""
    if step.add_node:
        return added_node(step.add_node)
    if step.add_edge:
        return added_edge(step.add_edge)
    for change in (step.update_node, step.update_edge):
        if change:
            return updated(change)
    if step.delete_node:
        return deleted(step.delete_node, "node")
    assert step.delete_edge
    return deleted(step.delete_edge, "edge")
