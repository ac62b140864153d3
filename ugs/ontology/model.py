"""Rows and tables of ontologies, their types, and content.

Content bodies (`ugs.graph.text.content_bodies`) are kept apart from content metadata (`Content`), so that lists never
load them.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.tables import Field, Index, Kind, Relation, Table
from ugs.values import JsonText, from_text


class Enforcement(StrEnum):
    """What plain graph commands do about types that no ontology allows."""

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
    """A connection type: node types it connects, and required properties."""

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
    """The definition of one property of a type."""

    ontology: str
    owner: str
    type: str
    name: str
    definition: JsonText
    position: int
    place: int


class Content(Struct, frozen=True, gc=False):
    """Metadata of the content of a node or connection."""

    id: str
    kind: str
    format: str
    encoding: str
    size: int
    extension: str
    """Fixed when the content is stored: a later change of format leaves the file where it is."""

    @property
    def path(self) -> str:
        """The relative path of the content file in the mirror."""
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
