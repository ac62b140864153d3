"""Ontologies as JSON Schema: a schema of the properties for each node type, and the connection types beside them.

A keyword that an ontology cannot represent is refused by name; nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ugs.errors import LimitExceeded
from ugs.ontology.definition import ConnectionType, Ontology, TypeProperties
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.properties import Definitions, Owner, PropertyDefinition, PropertyKind, is_of_kind
from ugs.ontology.yaml_format import Document

DIALECT = "https://json-schema.org/draft/2020-12/schema"
CONNECTIONS = "x-connection-types"
MAX_NAMES = 10_000
COMMENTS = frozenset({"title", "$comment", "examples", "$id", "$schema"})
"""Annotation keywords, which are ignored."""
OF_TYPE = frozenset({"type", "properties", "required", "description", "additionalProperties"})
OF_PROPERTY = frozenset({"type", "enum", "pattern", "default", "description"})


def to_json_schema(ontology: Ontology) -> dict[str, Any]:
    """The ontology as a JSON Schema document."""
    told: dict[str, Any] = {
        "$schema": DIALECT,
        "title": ontology.name,
        "$defs": {name: _type_schema(ontology.definitions(Owner.NODE, name)) for name in ontology.node_types},
    }
    if ontology.connection_types:
        told[CONNECTIONS] = [_connection_schema(ontology, type) for type in ontology.connection_types]
    return told


def _type_schema(definitions: Definitions, required: Iterable[str] = ()) -> dict[str, Any]:
    names = list(dict.fromkeys([*required, *(one.name for one in definitions if one.required)]))
    told: dict[str, Any] = {"type": "object"}
    if definitions:
        told["properties"] = {one.name: _property_schema(one) for one in definitions}
    return {**told, "required": names} if names else told


def _property_schema(one: PropertyDefinition) -> dict[str, Any]:
    told: dict[str, Any] = {"type": one.kind.value}
    if one.enum:
        told["enum"] = list(one.enum)
    for key in ("pattern", "default"):
        if getattr(one, key) is not None:
            told[key] = getattr(one, key)
    return {**told, "description": one.description} if one.description else told


def _connection_schema(ontology: Ontology, type: ConnectionType) -> dict[str, Any]:
    definitions = ontology.definitions(Owner.CONNECTION, type.name)
    told = {"name": type.name, "from_types": list(type.from_types), "to_types": list(type.to_types)}
    schema = _type_schema(definitions, type.required_properties)
    return {**told, **({"acyclic": True} if type.acyclic else {}), "schema": schema}


def from_json_schema(document: Any) -> Document:
    """The types in a JSON Schema document; refused with INVALID_ARGUMENT and the path of the fault."""
    whole = _object(document, "the document")
    _refuse_unknown_keys(whole, {"$defs", CONNECTIONS, "description"} | COMMENTS, "the document")
    types = _object(whole.get("$defs", {}), "$defs")
    connections = whole.get(CONNECTIONS, [])
    if not isinstance(connections, list) or len(types) + len(connections) > MAX_NAMES:
        raise LimitExceeded(f"{CONNECTIONS} is a list, and there are at most {MAX_NAMES} types", limit=MAX_NAMES)
    properties = [
        TypeProperties(Owner.NODE, name, _definitions(schema, f"$defs/{name}")[0]) for name, schema in types.items()
    ]
    found = [_connection(told, f"{CONNECTIONS}/{place}") for place, told in enumerate(connections)]
    properties += [told for _, told in found]
    return Document(list(types), [type for type, _ in found], [one for one in properties if one.definitions])


def _connection(schema: Any, place: str) -> tuple[ConnectionType, TypeProperties]:
    """Parse one connection type."""
    given = _object(schema, place)
    _refuse_unknown_keys(given, {"name", "from_types", "to_types", "acyclic", "schema"}, place)
    definitions, required = _definitions(given.get("schema", {"type": "object"}), f"{place}/schema")
    defined = {one.name for one in definitions}
    name = _text(given.get("name"), f"{place}/name")
    type = ConnectionType(
        name,
        _texts(given.get("from_types"), f"{place}/from_types"),
        _texts(given.get("to_types"), f"{place}/to_types"),
        tuple(name for name in required if name not in defined),
        given.get("acyclic") is True,
    )
    return type, TypeProperties(Owner.CONNECTION, name, definitions)


def _definitions(schema: Any, place: str) -> tuple[Definitions, tuple[str, ...]]:
    """The definitions of a type, and the names it requires."""
    given = _object(schema, place)
    _refuse_unknown_keys(given, OF_TYPE | COMMENTS, place)
    if given.get("type", "object") != "object" or given.get("additionalProperties", True) is not True:
        raise _invalid(place, "must be an object that may have further properties")
    required = _texts(given.get("required", []), f"{place}/required")
    properties = _object(given.get("properties", {}), f"{place}/properties")
    unknown = [name for name in required if name not in properties]
    if unknown and not place.startswith(CONNECTIONS):
        raise _invalid(f"{place}/required", f"names {unknown[0]!r}, which properties does not describe")
    found = [_property(name, told, name in required, f"{place}/properties/{name}") for name, told in properties.items()]
    return tuple(found), required


def _property(name: str, schema: Any, required: bool, place: str) -> PropertyDefinition:
    given = _object(schema, place)
    _refuse_unknown_keys(given, OF_PROPERTY | COMMENTS, place)
    kind = given.get("type")
    if kind not in list(PropertyKind):
        raise _invalid(f"{place}/type", f"must be one of {', '.join(PropertyKind)}")
    choices = given.get("enum", [])
    if not isinstance(choices, list) or not all(is_of_kind(PropertyKind(kind), value) for value in choices):
        raise _invalid(f"{place}/enum", f"must be a list of values of type {kind}")
    pattern, default = given.get("pattern"), given.get("default")
    if default is not None and not is_of_kind(PropertyKind(kind), default):
        raise _invalid(f"{place}/default", f"must be of type {kind}")
    return PropertyDefinition(
        name,
        PropertyKind(kind),
        required,
        tuple(choices),
        None if pattern is None else _text(pattern, f"{place}/pattern"),
        default,
        _text(given.get("description", ""), f"{place}/description"),
    )


def _invalid(place: str, why: str) -> InvalidArgument:
    return InvalidArgument(f"{place[:200]} {why}", argument="schema", place=place[:200])


def _refuse_unknown_keys(given: Mapping[str, Any], known: Iterable[str], place: str) -> None:
    others = sorted(set(given) - set(known))
    if others:
        raise _invalid(place, f"has {others[0][:80]!r}, which an ontology cannot keep")


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _invalid(place, "must be an object")
    return value


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise _invalid(place, "must be text")
    return value


def _texts(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _invalid(place, "must be a list of texts")
    return tuple(value)
