"""Ontologies, their types, and content, as rows and as the tables that hold them.

What content says (`ugs.graph.bodies`) stands apart from what is known about it (`Content`), so that listings never load
it.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ugs.catalog import Field, Index, Kind, Relation, Table
from ugs.graph.bodies import CONTENT_BODIES
from ugs.values import JsonText, from_text


class Enforcement(StrEnum):
    """What the doors of the plain graph do about types that no ontology allows."""

    OFF = "OFF"
    WARN = "WARN"
    STRICT = "STRICT"


class OntologyRow(Struct, frozen=True, gc=False):
    """A named, append-only set of types."""

    name: str
    enforcement: str
    created: int


class NodeTypeRow(Struct, frozen=True, gc=False):
    """A node type, in the order in which types were added."""

    ontology: str
    name: str
    position: int
    place: int


class ConnectionTypeRow(Struct, frozen=True, gc=False):
    """A connection type: from where to where, and what it must say."""

    ontology: str
    name: str
    from_text: JsonText
    to_text: JsonText
    required_text: JsonText
    acyclic: bool
    position: int
    place: int

    @property
    def from_types(self) -> list[str]:
        types: list[str] = from_text(self.from_text)
        return types

    @property
    def to_types(self) -> list[str]:
        types: list[str] = from_text(self.to_text)
        return types

    @property
    def required_properties(self) -> list[str]:
        names: list[str] = from_text(self.required_text)
        return names


class PropertyRow(Struct, frozen=True, gc=False):
    """What an ontology says about one property of a type."""

    ontology: str
    owner: str
    type: str
    name: str
    definition: JsonText
    position: int
    place: int


class Content(Struct, frozen=True, gc=False):
    """What is known about the content of a node or connection."""

    id: str
    kind: str
    format: str
    encoding: str
    size: int
    extension: str
    """Chosen when the content was given: a format that changes alone leaves the file where it is."""

    @property
    def path(self) -> str:
        """Where the file projection keeps it."""
        folder = "nodes" if self.kind == "node" else "connections"
        return f"_content/{folder}/{self.id}.{self.extension}"


ONTOLOGIES = Table(
    "ontologies",
    OntologyRow,
    [Field("name"), Field("enforcement"), Field("created", Kind.INTEGER)],
    key=["name"],
)

NODE_TYPES = Table(
    "ontology_node_types",
    NodeTypeRow,
    [Field("ontology"), Field("name"), Field("position", Kind.INTEGER), Field("place", Kind.INTEGER)],
    key=["ontology", "name"],
)

CONNECTION_TYPES = Table(
    "ontology_connection_types",
    ConnectionTypeRow,
    [
        Field("ontology"),
        Field("name"),
        Field("from_text", Kind.JSON, column="from_types"),
        Field("to_text", Kind.JSON, column="to_types"),
        Field("required_text", Kind.JSON, column="required_properties"),
        Field("acyclic", Kind.BOOLEAN),
        Field("position", Kind.INTEGER),
        Field("place", Kind.INTEGER),
    ],
    key=["ontology", "name"],
)

PROPERTIES = Table(
    "ontology_properties",
    PropertyRow,
    [
        Field("ontology"),
        Field("owner"),
        Field("type"),
        Field("name"),
        Field("definition", Kind.JSON),
        Field("position", Kind.INTEGER),
        Field("place", Kind.INTEGER),
    ],
    key=["ontology", "owner", "type", "name"],
)

CONTENTS = Table(
    "contents",
    Content,
    [
        Field("id"),
        Field("kind"),
        Field("format"),
        Field("encoding"),
        Field("size", Kind.INTEGER),
        Field("extension"),
    ],
    key=["id"],
    indexes=[Index(("kind", "id"))],
    relations=[Relation("body", "content_bodies", "id", "id", many=False)],
)

TABLES = (ONTOLOGIES, NODE_TYPES, CONNECTION_TYPES, PROPERTIES, CONTENTS, CONTENT_BODIES)
