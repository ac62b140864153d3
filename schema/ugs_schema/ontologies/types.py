"""GraphQL types of ontologies, and conversions to and from the kernel's."""

from __future__ import annotations

from enum import Enum

import strawberry

from ugs.ontology import definition, properties
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.json_schema import to_json_schema
from ugs.ontology.yaml_format import to_yaml
from ugs_schema.graph.types import Identified
from ugs_schema.scalars import Instant, Json, instant_of


@strawberry.enum(description="What the doors of the plain graph do about types that an ontology does not allow")
class Enforcement(Enum):
    OFF = strawberry.enum_value("OFF", description="Nothing")
    WARN = strawberry.enum_value("WARN", description="They warn (W011)")
    STRICT = strawberry.enum_value("STRICT", description="They refuse")


@strawberry.type(description="What may be connected with what")
class ConnectionType:
    name: str = strawberry.field(description="How it is called")
    from_types: list[str] = strawberry.field(description="Node types it may start from")
    to_types: list[str] = strawberry.field(description="Node types it may lead to")
    required_properties: list[str] = strawberry.field(description="Properties a connection must have")
    acyclic: bool = strawberry.field(description="Whether circles are refused")


@strawberry.input(description="What may be connected with what")
class ConnectionTypeInput:
    name: str = strawberry.field(description="How it is called")
    from_types: list[str] = strawberry.field(description="Node types it may start from")
    to_types: list[str] = strawberry.field(description="Node types it may lead to")
    required_properties: list[str] | None = strawberry.field(
        default=None, description="Properties a connection must have"
    )
    acyclic: bool = strawberry.field(default=False, description="Whether circles are refused")


@strawberry.enum(description="Which kind of type it is")
class TypeKind(Enum):
    NODE = strawberry.enum_value("node", description="A node type")
    CONNECTION = strawberry.enum_value("connection", description="A connection type")


@strawberry.enum(description="What a property holds")
class PropertyKind(Enum):
    STRING = strawberry.enum_value("string", description="Text")
    INTEGER = strawberry.enum_value("integer", description="A whole number of 64 bits")
    NUMBER = strawberry.enum_value("number", description="Any number")
    BOOLEAN = strawberry.enum_value("boolean", description="True or false")


@strawberry.type(description="What an ontology says about one property of a type")
class PropertyDefinition:
    name: str = strawberry.field(description="How it is called")
    kind: PropertyKind = strawberry.field(description="What it holds")
    required: bool = strawberry.field(description="Whether every new element must have it")
    enum: list[Json] = strawberry.field(description="The values it may have; any when empty")
    pattern: str | None = strawberry.field(description="What its text must look like")
    default: Json | None = strawberry.field(description="What a new element gets when nothing is given")
    description: str = strawberry.field(description="What it means")


@strawberry.type(description="What an ontology says about the properties of one type")
class TypeProperties:
    owner: TypeKind = strawberry.field(description="Whether it is a node type or a connection type")
    type: str = strawberry.field(description="How the type is called")
    definitions: list[PropertyDefinition] = strawberry.field(description="Its properties, as they were added")


@strawberry.input(description="What an ontology shall say about one property of a type")
class PropertyDefinitionInput:
    name: str = strawberry.field(description="How it is called")
    kind: PropertyKind = strawberry.field(default=PropertyKind.STRING, description="What it holds")
    required: bool = strawberry.field(default=False, description="Whether every new element must have it")
    enum: list[Json] | None = strawberry.field(default=None, description="The values it may have")
    pattern: str | None = strawberry.field(default=None, description="What its text must look like")
    default: Json | None = strawberry.field(default=None, description="What a new element gets when nothing is given")
    description: str = strawberry.field(default="", description="What it means")


@strawberry.input(description="What an ontology shall say about the properties of one type")
class TypePropertiesInput:
    type: str = strawberry.field(description="How the type is called")
    definitions: list[PropertyDefinitionInput] = strawberry.field(description="Its properties")
    owner: TypeKind = strawberry.field(
        default=TypeKind.NODE, description="Whether it is a node type or a connection type"
    )


@strawberry.type(description="Whether a connection would be allowed")
class ConnectionCheck:
    valid: bool = strawberry.field(description="Whether it would")
    code: str | None = strawberry.field(description="The code it would be refused with")
    message: str | None = strawberry.field(description="Why not")


@strawberry.type(description="A named set of types that only grows")
class Ontology(Identified):
    name: str = strawberry.field(description="How it is called")
    node_types: list[str] = strawberry.field(description="Its node types, as they were added")
    connection_types: list[ConnectionType] = strawberry.field(description="Its connection types, as they were added")
    enforcement: Enforcement = strawberry.field(description="Whether the plain graph obeys it")
    created_at: Instant = strawberry.field(description="When it was made")
    yaml: str = strawberry.field(description="The whole of it in YAML")
    properties: list[TypeProperties] = strawberry.field(description="What it says about properties, type by type")
    json_schema: Json = strawberry.field(description="The whole of it as JSON Schema")

    @classmethod
    def is_type_of(cls, value: object, info: object) -> bool:
        return isinstance(value, Ontology)


def to_graphql_ontology(ontology: definition.Ontology) -> Ontology:
    """The GraphQL object of an ontology."""
    return Ontology(
        id=strawberry.ID(f"ontology/{ontology.name}"),
        name=ontology.name,
        node_types=list(ontology.node_types),
        connection_types=[to_graphql_connection_type(type) for type in ontology.connection_types],
        enforcement=Enforcement(ontology.enforcement.value),
        created_at=instant_of(ontology.created),
        yaml=to_yaml(ontology),
        properties=[to_graphql_properties(one) for one in ontology.properties],
        json_schema=Json(to_json_schema(ontology)),
    )


def to_graphql_properties(properties_of_type: definition.TypeProperties) -> TypeProperties:
    return TypeProperties(
        owner=TypeKind(properties_of_type.owner.value),
        type=properties_of_type.type,
        definitions=[
            PropertyDefinition(
                name=one.name,
                kind=PropertyKind(one.kind.value),
                required=one.required,
                enum=[Json(value) for value in one.enum],
                pattern=one.pattern,
                default=None if one.default is None else Json(one.default),
                description=one.description,
            )
            for one in properties_of_type.definitions
        ],
    )


def to_kernel_properties(input: TypePropertiesInput) -> definition.TypeProperties:
    """Convert the property definitions of a type."""
    owner = properties.Owner(str(input.owner.value))
    return definition.TypeProperties(owner, input.type, to_kernel_definitions(input.definitions))


def to_kernel_definitions(input: list[PropertyDefinitionInput] | None) -> properties.Definitions:
    """Convert property definitions."""
    return tuple(
        properties.PropertyDefinition(
            one.name,
            properties.PropertyKind(str(one.kind.value)),
            one.required,
            tuple(_plain(value, "enum") for value in one.enum or ()),
            one.pattern,
            None if one.default is None else _plain(one.default, "default"),
            one.description,
        )
        for one in input or ()
    )


def _plain(value: object, argument: str) -> properties.Plain:
    if not isinstance(value, str | int | float | bool):
        raise InvalidArgument(f"{argument} takes text, numbers and booleans", argument=argument)
    return value


def to_graphql_connection_type(type: definition.ConnectionType) -> ConnectionType:
    return ConnectionType(
        name=type.name,
        from_types=list(type.from_types),
        to_types=list(type.to_types),
        required_properties=list(type.required_properties),
        acyclic=type.acyclic,
    )


def to_kernel_type(input: ConnectionTypeInput) -> definition.ConnectionType:
    """Convert a connection type."""
    return definition.ConnectionType(
        input.name,
        tuple(input.from_types),
        tuple(input.to_types),
        tuple(input.required_properties or ()),
        input.acyclic,
    )
