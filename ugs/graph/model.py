"""The rows and tables of the graph: nodes, edges, tombstones and counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw, Struct

from ugs.graph.text.tokenizer import node_words, reference_words
from ugs.identity import Scope, scope_of
from ugs.tables import Arc, Count, Field, Index, Kind, Relation, Table, Vertex
from ugs.values import EMPTY_OBJECT, Json, JsonText, from_text, whole

CONFIG_NODE = "_system_config"
"""The node whose properties override built-in defaults (INV-5)."""


class Node(Struct, frozen=True, gc=False):
    """A vertex: typed, with properties and an arbitrary payload. JSON is kept as text and decoded on access."""

    id: str
    type: str | None
    properties_text: JsonText
    data_text: JsonText | None
    created: int
    modified: int
    version: int

    @property
    def properties(self) -> dict[str, Json]:
        properties: dict[str, Json] = from_text(self.properties_text)
        return properties

    @property
    def data(self) -> Json:
        return None if self.data_text is None else from_text(self.data_text)

    @property
    def scope(self) -> Scope:
        return scope_of(self.id)

    def as_json(self) -> dict[str, Json]:
        """The node with exactly the seed's keys."""
        return self._record(self.properties, self.data)

    def as_json_text(self) -> dict[str, Any]:
        """The same for encoding: properties and data stay the text they are stored as."""
        return self._record(_raw(self.properties_text), None if self.data_text is None else _raw(self.data_text))

    def _record(self, properties: Any, data: Any) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": self.type,
            "properties": properties,
            "data": data,
            "created": self.created,
            "modified": self.modified,
        }


class Edge(Struct, frozen=True, gc=False):
    """A directed, weighted relationship; its end nodes may be missing."""

    id: str
    source: str
    target: str
    type: str | None
    weight: int | float
    properties_text: JsonText
    created: int
    modified: int
    version: int
    seq: int
    """Position of the event that added it: neighbours are listed in this order."""

    @property
    def properties(self) -> dict[str, Json]:
        properties: dict[str, Json] = from_text(self.properties_text)
        return properties

    @property
    def scope(self) -> Scope:
        return scope_of(self.id)

    def as_json(self) -> dict[str, Json]:
        """The edge with exactly the seed's keys."""
        return self._record(self.properties)

    def as_json_text(self) -> dict[str, Any]:
        """The same for encoding: properties stay the text they are stored as."""
        return self._record(_raw(self.properties_text))

    def _record(self, properties: Any) -> dict[str, Any]:
        return {
            "id": self.id,
            "from": self.source,
            "to": self.target,
            "type": self.type,
            "weight": whole(self.weight),
            "properties": properties,
            "created": self.created,
        }


def _raw(text: JsonText) -> Raw:
    return Raw(text.encode())


Element = Node | Edge


class Tombstone(Struct, frozen=True, gc=False):
    """The last version of a deleted element's id, so that versions continue when the id is reused."""

    id: str
    version: int


class Counter(Struct, frozen=True, gc=False):
    """The greatest number ever issued under a name."""

    name: str
    value: int


def words_of_node(node: Node) -> Mapping[str, float]:
    return node_words(node.id, node.type, node.properties_text, node.data_text)


def words_of_edge(edge: Edge) -> Mapping[str, float]:
    return {} if edge.properties_text == EMPTY_OBJECT else reference_words(edge.properties_text)


EDGES = Table(
    "edges",
    Edge,
    [
        Field("id", plain=True),
        Field("source", plain=True),
        Field("target", plain=True),
        Field("type", nullable=True),
        Field("weight", Kind.REAL),
        Field("properties_text", Kind.JSON, indexed=True, column="properties"),
        Field("created", Kind.INTEGER),
        Field("modified", Kind.INTEGER),
        Field("version", Kind.INTEGER),
        Field("seq", Kind.INTEGER),
    ],
    key=["id"],
    indexes=[
        Index(("source", "seq", "id")),
        Index(("target", "seq", "id")),
        Index(("type", "id")),
        Index(("weight",)),
    ],
    relations=[
        Relation("source_node", "nodes", local="source", remote="id", many=False),
        Relation("target_node", "nodes", local="target", remote="id", many=False),
        Relation("content", "contents", local="id", remote="id", many=False),
    ],
    words=words_of_edge,
    shape=Arc(source="source", target="target", label="type", properties="properties_text", vertices="nodes"),
)

NODES = Table(
    "nodes",
    Node,
    [
        Field("id", plain=True),
        Field("type", nullable=True),
        Field("properties_text", Kind.JSON, indexed=True, column="properties"),
        Field("data_text", Kind.JSON, nullable=True, column="data"),
        Field("created", Kind.INTEGER),
        Field("modified", Kind.INTEGER),
        Field("version", Kind.INTEGER),
    ],
    key=["id"],
    indexes=[Index(("type", "id")), Index(("created", "id")), Index(("modified", "id"))],
    relations=[
        Relation("outgoing", "edges", local="id", remote="source"),
        Relation("incoming", "edges", local="id", remote="target"),
        Relation("content", "contents", local="id", remote="id", many=False),
        Relation("content_body", "content_bodies", local="id", remote="id", many=False),
    ],
    counts=[Count("degree", EDGES, ("outgoing", "incoming"))],
    words=words_of_node,
    shape=Vertex(label="type", properties="properties_text"),
)

TOMBSTONES = Table("tombstones", Tombstone, [Field("id"), Field("version", Kind.INTEGER)], key=["id"])

COUNTERS = Table("counters", Counter, [Field("name"), Field("value", Kind.INTEGER)], key=["name"], versioned=False)

TABLES = (NODES, EDGES, TOMBSTONES, COUNTERS)
