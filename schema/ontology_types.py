"""Ontologies and content as GraphQL shows them."""

from __future__ import annotations

from enum import Enum

import strawberry

from schema.elements import Identified
from schema.scalars import Instant, instant_of
from ugs.ontology import definition
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
    )


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
