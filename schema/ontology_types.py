"""Ontologies and content as GraphQL shows them."""

from __future__ import annotations

from enum import Enum

import strawberry

from schema.elements import Identified
from schema.scalars import Instant, Json, instant_of
from ugs.ontology import definition, properties
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.json_schema import to_json_schema
from ugs.ontology.yaml_text import to_yaml


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


def shown_ontology(found: definition.Ontology) -> Ontology:
    """An ontology as GraphQL shows it."""
    return Ontology(
        id=strawberry.ID(f"ontology/{found.name}"),
        name=found.name,
        node_types=list(found.node_types),
        connection_types=[shown_type(type) for type in found.connection_types],
        enforcement=Enforcement(found.enforcement.value),
        created_at=instant_of(found.created),
        yaml=to_yaml(found),
        properties=[shown_properties(one) for one in found.properties],
        json_schema=Json(to_json_schema(found)),
    )


def shown_properties(told: definition.TypeProperties) -> TypeProperties:
    return TypeProperties(
        owner=TypeKind(told.owner.value),
        type=told.type,
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
            for one in told.definitions
        ],
    )


def kernel_properties(given: TypePropertiesInput) -> definition.TypeProperties:
    """What is said about the properties of a type, as the kernel knows it."""
    owner = properties.Owner(str(given.owner.value))
    return definition.TypeProperties(owner, given.type, kernel_definitions(given.definitions))


def kernel_definitions(given: list[PropertyDefinitionInput] | None) -> properties.Definitions:
    """Property definitions as the kernel knows them."""
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
        for one in given or ()
    )


def _plain(value: object, argument: str) -> properties.Plain:
    if not isinstance(value, str | int | float | bool):
        raise InvalidArgument(f"{argument} takes text, numbers and booleans", argument=argument)
    return value


def shown_type(type: definition.ConnectionType) -> ConnectionType:
    return ConnectionType(
        name=type.name,
        from_types=list(type.from_types),
        to_types=list(type.to_types),
        required_properties=list(type.required_properties),
        acyclic=type.acyclic,
    )


def kernel_type(given: ConnectionTypeInput) -> definition.ConnectionType:
    """A connection type as the kernel knows it."""
    return definition.ConnectionType(
        given.name,
        tuple(given.from_types),
        tuple(given.to_types),
        tuple(given.required_properties or ()),
        given.acyclic,
    )
