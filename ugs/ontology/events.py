"""Reducers of ontology events, and of graph events that carry content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Raw

from ugs.changes import Change, Drop, Patch, Put
from ugs.events import Event
from ugs.graph.content import extension_for, folded, size_of
from ugs.graph.model import EDGES, NODES
from ugs.graph.text.content_bodies import CONTENT_BODIES, ContentBody
from ugs.ontology.model import (
    CONNECTION_TYPES,
    CONTENTS,
    NODE_TYPES,
    ONTOLOGIES,
    PROPERTIES,
    ConnectionTypeRow,
    Content,
    Enforcement,
    NodeTypeRow,
    OntologyRow,
    PropertyRow,
)
from ugs.reads.filters import eq
from ugs.reads.plan import Page
from ugs.records import Part, RecordKind, restore_rows
from ugs.storage import Session
from ugs.tables import Row
from ugs.values import to_text

CONTENT_KEY = '"content"'


def connection_row(ontology: str, payload: Mapping[str, Any], position: int, place: int = 0) -> ConnectionTypeRow:
    """The table row of a connection type, from its event data."""
    return ConnectionTypeRow(
        ontology,
        payload["name"],
        to_text(payload["from_types"]),
        to_text(payload["to_types"]),
        to_text(payload.get("required_properties", [])),
        payload.get("acyclic", False),
        position,
        place,
    )


def create(event: Event) -> list[Change]:
    data = event.payload
    name = data["name"]
    types = [
        Put(NODE_TYPES, NodeTypeRow(name, type, event.position, place)) for place, type in enumerate(data["node_types"])
    ]
    connections = [
        Put(CONNECTION_TYPES, connection_row(name, told, event.position, place))
        for place, told in enumerate(data["connection_types"])
    ]
    row = OntologyRow(name, data.get("enforcement", Enforcement.OFF.value), event.timestamp)
    return [Put(ONTOLOGIES, row), *types, *connections, *_property_changes(event)]


def property_rows(event: Event, payload: Iterable[Mapping[str, Any]]) -> list[Change]:
    """The changes for the property definitions in an event, in its order."""
    ontology = event.payload["name"]
    each = [(one["owner"], one["type"], definition) for one in payload for definition in one["definitions"]]
    return [
        Put(PROPERTIES, PropertyRow(ontology, owner, type, one["name"], to_text(one), event.position, place))
        for place, (owner, type, one) in enumerate(each)
    ]


def add_properties(event: Event) -> list[Change]:
    return property_rows(event, [event.payload])


def add_node_type(event: Event) -> list[Change]:
    data = event.payload
    type = Put(NODE_TYPES, NodeTypeRow(data["name"], data["type_name"], event.position, 0))
    return [type, *_property_changes(event)]


def _property_changes(event: Event) -> list[Change]:
    return property_rows(event, event.payload.get("properties", ()))


def add_connection_type(event: Event) -> list[Change]:
    data = event.payload
    row = connection_row(data["name"], data["connection_type"], event.position)
    return [Put(CONNECTION_TYPES, row), *_property_changes(event)]


def set_enforcement(event: Event) -> list[Change]:
    data = event.payload
    return [Patch(ONTOLOGIES, data["name"], {"enforcement": data["enforcement"]})]


def mentions_content(data: str | Raw) -> bool:
    """Whether event data may contain content, decided by a substring search without decoding the JSON."""
    return CONTENT_KEY in (data if isinstance(data, str) else str(data, "utf-8"))


def content_reducer(kind: str) -> Callable[[Event], list[Change]]:
    """A reducer for graph events that may carry content. Most carry none; those cost one substring search."""

    def kept(event: Event) -> list[Change]:
        if not mentions_content(event.data):
            return []
        data = event.payload
        content = data.get("content", {})
        if content is None:
            return drop_content(event)
        return content_changes(kind, data["id"], content) if isinstance(content, dict) and content else []

    return kept


def content_changes(kind: str, id: str, content: Mapping[str, Any]) -> list[Change]:
    """Replace the content as a whole, or change only its format when no body is given."""
    if "body" not in content:
        return [Patch(CONTENTS, id, {"format": content["format"]})]
    format, encoding, body = content["format"], content["encoding"], content["body"]
    extension = extension_for(format, encoding) if kind == "node" else "md"
    return [
        Put(CONTENTS, Content(id, kind, format, encoding, size_of(body, encoding), extension)),
        Put(CONTENT_BODIES, ContentBody(id, kind, body, folded(body, encoding))),
    ]


def drop_content(event: Event) -> list[Change]:
    where = eq("id", event.element)
    return [Drop(CONTENTS, where), Drop(CONTENT_BODIES, where)]


async def is_in_use(session: Session, row: Row, removed: frozenset[str]) -> bool:
    """Whether a node or an edge outside a set has the type that a row declares."""
    if not isinstance(row, NodeTypeRow | ConnectionTypeRow):
        return False
    table = NODES if isinstance(row, NodeTypeRow) else EDGES
    found = await session.fetch(table, eq("type", row.name), page=Page(limit=len(removed) + 1))
    return any(element.id not in removed for element in found)


RECORD_KIND = RecordKind(
    name="ontology",
    key="name",
    restored="OntologyRestored",
    parts=(
        Part(ONTOLOGIES, "name"),
        Part(NODE_TYPES, "ontology", "node_types"),
        Part(CONNECTION_TYPES, "ontology", "connection_types"),
        Part(PROPERTIES, "ontology", "properties"),
    ),
    types=frozenset(
        {
            *("OntologyCreated", "OntologyNodeTypeAdded", "OntologyConnectionTypeAdded", "OntologyPropertiesAdded"),
            *("OntologyEnforcementSet", "OntologyRestored"),
        }
    ),
    is_in_use=is_in_use,
    is_element=False,
)
"""What `changes` lists of an ontology and an undo restores."""

REDUCERS: Mapping[str, Callable[[Event], list[Change]]] = {
    "OntologyCreated": create,
    "OntologyNodeTypeAdded": add_node_type,
    "OntologyConnectionTypeAdded": add_connection_type,
    "OntologyPropertiesAdded": add_properties,
    "OntologyEnforcementSet": set_enforcement,
    "OntologyRestored": restore_rows(RECORD_KIND),
    "NodeAdded": content_reducer("node"),
    "NodeUpdated": content_reducer("node"),
    "NodeDeleted": drop_content,
    "EdgeAdded": content_reducer("edge"),
    "EdgeUpdated": content_reducer("edge"),
    "EdgeDeleted": drop_content,
}
