"""Commands that create and extend ontologies. Types are only ever added, never changed or removed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ugs.errors import LimitExceeded
from ugs.events import Draft
from ugs.feature import Command, CommandWarning, Decision
from ugs.ontology.definition import ConnectionType, Ontology, TypeProperties, find_ontology, get_ontology
from ugs.ontology.errors import DEFAULT, InvalidArgument, OntologyAlreadyExists, TypeAlreadyExists
from ugs.ontology.model import Enforcement
from ugs.ontology.properties import Owner, PropertyDefinition, check_definitions
from ugs.unit_of_work import UnitOfWork
from ugs.values import FORBIDDEN_TEXT

MAX_TYPES = 10_000
MAX_NAME = 256
ONTOLOGY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")


class CreateOntology(Command, frozen=True):
    """Create an ontology with its first types."""

    node_types: tuple[str, ...]
    connection_types: tuple[ConnectionType, ...] = ()
    name: str = DEFAULT
    enforcement: Enforcement = Enforcement.OFF
    properties: tuple[TypeProperties, ...] = ()


class AddNodeType(Command, frozen=True):
    """Add a node type to an ontology."""

    type_name: str
    ontology: str = DEFAULT
    properties: tuple[PropertyDefinition, ...] = ()


class AddConnectionType(Command, frozen=True):
    """Add a connection type to an ontology."""

    connection_type: ConnectionType
    ontology: str = DEFAULT
    properties: tuple[PropertyDefinition, ...] = ()


class AddProperties(Command, frozen=True):
    """Add property definitions to an existing type."""

    owner: Owner
    type_name: str
    definitions: tuple[PropertyDefinition, ...]
    ontology: str = DEFAULT


class SetEnforcement(Command, frozen=True):
    """Set what plain graph commands do about types that the ontology does not have."""

    enforcement: Enforcement
    ontology: str = DEFAULT


async def create_ontology(command: CreateOntology, uow: UnitOfWork) -> Decision:
    """Check all types and decide the creation of the ontology."""
    if ONTOLOGY_NAME.fullmatch(command.name) is None:
        raise InvalidArgument("an ontology's name has letters, digits, _, . and -, at most 128 in all", argument="name")
    if await find_ontology(uow, command.name) is not None:
        raise OntologyAlreadyExists(command.name)
    _check_type_count(len(command.node_types) + len(command.connection_types))
    for name in command.node_types:
        check_name(name, "node_types")
    for type in command.connection_types:
        check_connection_type(type)
    _refuse_duplicates("node", command.node_types)
    _refuse_duplicates("connection", [type.name for type in command.connection_types])
    _check_properties(command)
    data = {
        "name": command.name,
        "node_types": list(command.node_types),
        "connection_types": [connection_type_to_payload(type) for type in command.connection_types],
        "enforcement": command.enforcement.value,
        **_properties_to_payload(*command.properties),
    }
    unknown = _warn_unknown_types(command.connection_types, command.node_types)
    return Decision([Draft("OntologyCreated", None, data)], unknown)


async def add_node_type(command: AddNodeType, uow: UnitOfWork) -> Decision:
    """Decide the addition of a node type; refused if the name is taken."""
    ontology = await get_ontology(uow, command.ontology)
    name = check_name(command.type_name, "type_name")
    if name in ontology.node_types:
        raise TypeAlreadyExists("node", name)
    _check_type_count(_types_in(ontology) + 1)
    check_definitions(command.properties)
    defined = _properties_to_payload(TypeProperties(Owner.NODE, name, command.properties))
    return Decision([Draft("OntologyNodeTypeAdded", None, {"name": ontology.name, "type_name": name, **defined})])


async def add_connection_type(command: AddConnectionType, uow: UnitOfWork) -> Decision:
    """Decide the addition of a connection type; refused if the name is taken."""
    ontology = await get_ontology(uow, command.ontology)
    type = command.connection_type
    check_connection_type(type)
    if ontology.find_connection_type(type.name) is not None:
        raise TypeAlreadyExists("connection", type.name)
    _check_type_count(_types_in(ontology) + 1)
    check_definitions(command.properties)
    defined = _properties_to_payload(TypeProperties(Owner.CONNECTION, type.name, command.properties))
    data = {"name": ontology.name, "connection_type": connection_type_to_payload(type), **defined}
    return Decision(
        [Draft("OntologyConnectionTypeAdded", None, data)], _warn_unknown_types([type], ontology.node_types)
    )


async def add_properties(command: AddProperties, uow: UnitOfWork) -> Decision:
    """Decide additional property definitions; none may be required, because existing elements lack them."""
    ontology = await get_ontology(uow, command.ontology)
    if command.owner is Owner.NODE:
        ontology.check_node_type(command.type_name)
    else:
        ontology.connection_type(command.type_name)
    check_definitions(command.definitions, ontology.definitions(command.owner, command.type_name))
    for one in command.definitions:
        if one.required:
            raise InvalidArgument(f"{one.name}: a property that comes later cannot be required", argument="required")
    if not command.definitions:
        return Decision([])
    told = TypeProperties(command.owner, command.type_name, command.definitions).as_json()
    return Decision([Draft("OntologyPropertiesAdded", None, {"name": ontology.name, **told})])


def _check_properties(command: CreateOntology) -> None:
    """Check that each definition belongs to a type of this command, and each type has one at most."""
    names = {
        Owner.NODE: set(command.node_types),
        Owner.CONNECTION: {type.name for type in command.connection_types},
    }
    for one in command.properties:
        if one.type not in names[one.owner]:
            raise InvalidArgument(f"properties: there is no {one.owner} type {one.type[:80]}", argument="properties")
        names[one.owner].discard(one.type)
        check_definitions(one.definitions)


def _properties_to_payload(*properties: TypeProperties) -> dict[str, Any]:
    """The property definitions as event data; the key is absent when there are none."""
    told = [one.as_json() for one in properties if one.definitions]
    return {"properties": told} if told else {}


async def set_enforcement(command: SetEnforcement, uow: UnitOfWork) -> Decision:
    """Decide whether the enforcement changes."""
    ontology = await get_ontology(uow, command.ontology)
    if ontology.enforcement is command.enforcement:
        return Decision([])
    data = {"name": ontology.name, "enforcement": command.enforcement.value}
    return Decision([Draft("OntologyEnforcementSet", None, data)])


def connection_type_to_payload(type: ConnectionType) -> dict[str, Any]:
    """A connection type as event data, with all fields."""
    return {
        "name": type.name,
        "from_types": list(type.from_types),
        "to_types": list(type.to_types),
        "required_properties": list(type.required_properties),
        "acyclic": type.acyclic,
    }


def check_name(name: object, argument: str) -> str:
    """Refuse a type name that is empty, too long, or no text; returns it."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or FORBIDDEN_TEXT.search(name):
        raise InvalidArgument(
            f"{argument}: a name is text of 1 to {MAX_NAME} characters, got {str(name)[:80]!r}", argument=argument
        )
    return name


def check_connection_type(type: ConnectionType) -> None:
    """Refuse a connection type with an invalid name, too many types, or invalid properties."""
    check_name(type.name, "connection type name")
    for argument in ("from_types", "to_types", "required_properties"):
        names: Sequence[str] = getattr(type, argument)
        if not names and argument != "required_properties":
            raise InvalidArgument(f"{argument} of {type.name} must name at least one node type", argument=argument)
        _check_type_count(len(names))
        for name in names:
            check_name(name, argument)


def _refuse_duplicates(kind: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TypeAlreadyExists(kind, name)
        seen.add(name)


def _check_type_count(count: int) -> None:
    if count > MAX_TYPES:
        raise LimitExceeded(f"an ontology has at most {MAX_TYPES} types", limit=MAX_TYPES)


def _types_in(ontology: Ontology) -> int:
    return len(ontology.node_types) + len(ontology.connection_types)


def _warn_unknown_types(types: Iterable[ConnectionType], node_types: Sequence[str]) -> list[CommandWarning]:
    """Warnings for node types that a connection type names before they exist; they may be added later (C-122)."""
    named = dict.fromkeys(name for type in types for name in (*type.from_types, *type.to_types))
    return [
        CommandWarning("W010", f"the ontology has no node type {name} yet", name)
        for name in named
        if name not in node_types
    ]


DECIDERS: Mapping[type[Command], Any] = {
    CreateOntology: create_ontology,
    AddNodeType: add_node_type,
    AddConnectionType: add_connection_type,
    AddProperties: add_properties,
    SetEnforcement: set_enforcement,
}
