"""The row types of the graph: nodes, edges and their content, with what lists of them are filtered and sorted by.

A field of nodes or edges is declared here and nowhere else; see `CONTRIBUTING.md`. What a resolver has to work out over
several reads (`ugs_schema.graph.types`) is not a field of a row.
"""

from __future__ import annotations

import strawberry

from ugs.graph.content import UTF8
from ugs.graph.model import EDGES, NODES
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.graph.text.labels import NAMING
from ugs.identity import PREFIXES, Scope
from ugs.ontology.model import CONTENTS
from ugs.reads.expressions import ByPrefix, FirstProperty, Instant, Joined
from ugs.reads.rendering import Column, Text
from ugs_schema import scalars
from ugs_schema.compiler.row_types import (
    Key,
    OneProperty,
    RelatedColumn,
    RelatedCount,
    RelatedMany,
    RelatedMissing,
    RelatedOne,
    RowType,
    Shown,
    ShownJson,
    register_row_types,
)
from ugs_schema.graph.content import Encoding
from ugs_schema.graph.list_arguments import parse_edges_at_node
from ugs_schema.pagination import DEFAULT_NESTED_ROWS
from ugs_schema.scalars import Json, Millis

SCOPES = tuple((prefix, f'"{scope.name}"') for scope, prefix in PREFIXES.items())

ELEMENT_FIELDS = (
    Shown("id", "Unique in the whole system", strawberry.ID, Column("id"), "Its id"),
    Shown(
        "type",
        "What kind of element it is; null when it has no type",
        str | None,
        Column("type"),
        "Its node type, as the ontology calls it",
    ),
    Shown("scope", "The namespace its id lives in", Scope, ByPrefix("id", SCOPES, f'"{Scope.DEFAULT.name}"')),
    ShownJson(
        "properties",
        "All properties; addresses are followed `resolveDepth` levels deep (at most 5)",
        Json,
        Column("properties_text"),
        "All properties, defined or not",
    ),
    OneProperty("property", "One property; null when there is none of that name"),
    RelatedOne(
        "content",
        "What it says; null when it has no content",
        "content",
        "Content",
        "What it says; null when it has no content",
    ),
    Shown(
        "created",
        "When it was created, in Unix milliseconds",
        Millis,
        Column("created"),
        "When it was created, in Unix milliseconds",
    ),
    Shown(
        "modified",
        "When it was last changed, in Unix milliseconds",
        Millis,
        Column("modified"),
        "When it was last changed, in Unix milliseconds",
    ),
    Shown("createdAt", "When it was created", scalars.Instant, Instant("created"), "When it was created"),
    Shown("modifiedAt", "When it was last changed", scalars.Instant, Instant("modified"), "When it was last changed"),
    Shown(
        "version",
        "Counts the changes of this element since its id was first used",
        int,
        Column("version"),
        "Counts its changes",
    ),
)
"""Fields of the interface `Element`."""

NODE = RowType(
    NODES,
    "GraphNode",
    (
        *ELEMENT_FIELDS,
        ShownJson("data", "Any JSON beside the properties", Json | None, Column("data_text")),
        Shown(
            "label",
            "A name for people: the property label, name or title, else the id",
            str,
            FirstProperty("properties_text", NAMING, "id"),
            "A name for people: the property label, name or title, else the id",
        ),
        RelatedMany(
            "outgoing",
            "Edges that leave from this node, in the sequence they were added",
            "outgoing",
            "GraphEdge",
            parse_edges_at_node,
            DEFAULT_NESTED_ROWS,
        ),
        RelatedMany(
            "incoming",
            "Edges that arrive at this node, in the sequence they were added",
            "incoming",
            "GraphEdge",
            parse_edges_at_node,
            DEFAULT_NESTED_ROWS,
        ),
        RelatedCount(
            "degree", "How many edges touch this node; a loop counts on both sides", ("outgoing", "incoming"), EDGES
        ),
    ),
    filters=(
        Key("ID", "id", "The id, a text"),
        Key("TYPE", "type", "The type, a text"),
        Key("CREATED", "created", "When the node was created, in Unix milliseconds"),
        Key("MODIFIED", "modified", "When it was last changed, in Unix milliseconds"),
        Key("VERSION", "version", "How often it was changed"),
    ),
    orders=(
        Key("ID", "id", "The id, by code point"),
        Key("CREATED", "created", "When the node was created"),
        Key("MODIFIED", "modified", "When the node was last changed"),
        Key("TYPE", "type", "The type; nodes without one first"),
        Key("DEGREE", "degree", "How many edges touch the node; a loop counts on both sides"),
    ),
)

EDGE = RowType(
    EDGES,
    "GraphEdge",
    (
        *ELEMENT_FIELDS,
        Shown("from", "Id of the node it leaves from", strawberry.ID, Column("source")),
        Shown("to", "Id of the node it arrives at", strawberry.ID, Column("target")),
        RelatedOne("fromNode", "The node it leaves from; null when that does not exist", "source_node", "GraphNode"),
        RelatedOne("toNode", "The node it arrives at; null when that does not exist", "target_node", "GraphNode"),
        RelatedMissing("dangling", "Whether one of its nodes does not exist", ("source_node", "target_node"), NODES),
        Shown("weight", "The cost of going along it, 1 unless told", float, Column("weight")),
    ),
    filters=(
        Key("ID", "id", "The id, a text"),
        Key("TYPE", "type", "The type, a text"),
        Key("FROM", "source", "The id of the node it leaves from"),
        Key("TO", "target", "The id of the node it arrives at"),
        Key("WEIGHT", "weight", "The weight"),
        Key("CREATED", "created", "When the edge was created, in Unix milliseconds"),
        Key("MODIFIED", "modified", "When it was last changed, in Unix milliseconds"),
        Key("VERSION", "version", "How often it was changed"),
    ),
    orders=(
        Key("ID", "id", "The id, by code point"),
        Key("CREATED", "seq", "The sequence in which edges were added"),
        Key("TYPE", "type", "The type; edges without one first"),
        Key("WEIGHT", "weight", "The weight"),
    ),
)

CONTENT = RowType(
    CONTENTS,
    "Content",
    (
        Shown("format", "What kind of content it is, such as markdown", str, Column("format")),
        Shown("encoding", "How the body is written", Encoding, ByPrefix("encoding", ((UTF8, '"UTF8"'),), '"BASE64"')),
        Shown("size", "How many bytes it has", int, Column("size")),
        Shown(
            "path",
            "Where the file projection keeps it",
            str,
            Joined((Text("_content/"), Column("kind"), Text("s/"), Column("id"), Text("."), Column("extension"))),
        ),
        RelatedColumn("body", "The content itself", str, "body", CONTENT_BODIES, "body"),
    ),
)

register_row_types((NODE, EDGE, CONTENT))
