"""The argument types of the tools: validated on each call, and published as JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

Text = Annotated[str, Meta(description="Text")]
NodeType = Annotated[str, Meta(description="A node type of the ontology, such as Project")]
ConnectionName = Annotated[str, Meta(description="A connection type of the ontology, such as NextAction")]
NodeId = Annotated[str, Meta(description="The id of a node, as create_node answered it")]
ConnectionId = Annotated[str, Meta(description="The id of a connection, as create_connection answered it")]
Encoding = Annotated[
    str, Meta(description="How the content is written", extra_json_schema={"enum": ["utf-8", "base64"]})
]
Format = Annotated[str, Meta(description="What kind of content it is, such as markdown or pdf; yours to choose")]
PLAIN = {"additionalProperties": {"type": ["string", "number", "boolean"]}}
Properties = Annotated[dict[str, Any], Meta(description="Keys with text, numbers or booleans", extra_json_schema=PLAIN)]
Offset = Annotated[int, Meta(ge=0, description="The first character to read; 0 when left out")]
Length = Annotated[int, Meta(ge=1, description="At most so many characters; all that follow when left out")]
Types = Annotated[list[str], Meta(description="Names of node types")]
Direction = Annotated[
    str,
    Meta(
        description="out: from this node; in: to this node; both",
        extra_json_schema={"enum": ["out", "in", "both"]},
    ),
]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of one tool."""


class CreateNode(Arguments, frozen=True):
    type: NodeType
    content: Annotated[str, Meta(description="What to remember")]
    format: Format
    encoding: Encoding = "utf-8"
    properties: Properties | None = None


class NodeNamed(Arguments, frozen=True):
    node_id: NodeId


class UpdateNode(Arguments, frozen=True):
    node_id: NodeId
    properties: Properties | None = None
    content: Annotated[str, Meta(description="Replaces the content; needs encoding")] | None = None
    encoding: Encoding | None = None
    format: Format | None = None


class CreateConnection(Arguments, frozen=True):
    type: ConnectionName
    from_node_id: NodeId
    to_node_id: NodeId
    properties: Properties | None = None
    content: Annotated[str, Meta(description="Notes about the relationship")] | None = None


class ConnectionNamed(Arguments, frozen=True):
    connection_id: ConnectionId


class ConnectionContent(Arguments, frozen=True):
    connection_id: ConnectionId
    offset: Offset | None = None
    length: Length | None = None


class UpdateConnection(Arguments, frozen=True):
    connection_id: ConnectionId
    properties: Properties | None = None
    content: Annotated[str, Meta(description="Replaces the notes")] | None = None


class QueryNodes(Arguments, frozen=True):
    type: NodeType | None = None
    properties: Properties | None = None


class QueryConnections(Arguments, frozen=True):
    from_node_id: NodeId | None = None
    to_node_id: NodeId | None = None
    type: ConnectionName | None = None
    properties: Properties | None = None


class ConnectedNodes(Arguments, frozen=True):
    node_id: NodeId
    direction: Direction
    connection_type: ConnectionName | None = None


class SearchContent(Arguments, frozen=True):
    query: Annotated[str, Meta(description="Words as they stand in the text; capitals do not matter")]
    node_type: NodeType | None = None
    limit: Annotated[int, Meta(ge=1, description="At most so many nodes")] | None = None


class ValidateConnection(Arguments, frozen=True):
    connection_type: ConnectionName
    from_node_type: NodeType
    to_node_type: NodeType


class ConnectionTypeGiven(Arguments, frozen=True):
    name: ConnectionName
    from_types: Types
    to_types: Types
    required_properties: Annotated[list[str], Meta(description="Properties a connection must have")] | None = None


class CreateOntology(Arguments, frozen=True):
    node_types: Types
    connection_types: Annotated[list[ConnectionTypeGiven], Meta(description="What may be connected with what")]


class AddNodeType(Arguments, frozen=True):
    type_name: Annotated[str, Meta(description="The new node type")]


class AddConnectionType(Arguments, frozen=True):
    type_name: Annotated[str, Meta(description="The new connection type")]
    from_types: Types
    to_types: Types
    required_properties: Annotated[list[str], Meta(description="Properties a connection must have")] | None = None


class Nothing(Arguments, frozen=True):
    pass


def schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """The arguments as JSON Schema, restricted to what all clients support."""
    _, components = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    schema = dict(components.pop(arguments.__name__))
    schema.pop("title", None)
    schema.pop("description", None)
    if components:
        schema["$defs"] = components
    return schema
