"""From a selection to a plan: which related rows each chosen field needs, all in one read.

A shape says, for a GraphQL type that shows rows of a table, which of its fields reach into other tables. The related
rows of a row are kept under names: the response key of the field, behind the path that leads from the row to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from schema.filters import edge_where, node_where
from schema.orders import EDGE_COLUMNS, NODE_COLUMNS, order_asked
from schema.paging import page_asked
from schema.scalars import instant_text
from schema.selection import Choice, Selection
from schema.templates import Arguments, Asked, NestedTemplate, ReadTemplate
from ugs.catalog import Table
from ugs.graph.bodies import CONTENT_BODIES
from ugs.graph.model import EDGES, NODES
from ugs.graph.naming import label_of
from ugs.identity import scope_of
from ugs.ontology.model import CONTENTS
from ugs.reads.plan import Order, Page, Read
from ugs.reads.rendering import Column, Made, Piece, json_of
from ugs.reads.where import EVERYTHING, Linked, Not, Op, Property, all_of, eq, in_
from ugs.values import check_key, check_type, check_value

Nests = dict[str, NestedTemplate]
Builder = Callable[[Selection, Choice, str], Nests]
"""Given a field and the path to it, the related rows it needs."""

COUNT_ONLY = Page(limit=0)
BY_SEQUENCE = (Order("seq"),)


class Shape(Struct, frozen=True):
    """A GraphQL type that shows rows of a table."""

    table: Table
    type_name: str
    related: Mapping[str, Builder]
    plain: Mapping[str, Piece]
    """Fields without arguments that are written from the row alone."""
    made: frozenset[str] = frozenset()
    """Fields that `schema.writers` knows how to write from more than the row."""
    makers: Mapping[str, Callable[[Any, Choice, str], list[Piece]]] = {}
    """Fields that the shape itself knows how to write, given the compiler, the field and the path to it."""


def nests_below(selection: Selection, choice: Choice, shape: Shape, path: str = "") -> Nests:
    """What a row must bring along for the fields chosen below a field that shows it."""
    return nests_for(selection, selection.below(choice, shape.type_name), shape, path)


def nests_for(selection: Selection, fields: Mapping[str, Choice], shape: Shape, path: str = "") -> Nests:
    """What a row must bring along for these fields."""
    found: Nests = {}
    for field in fields.values():
        build = shape.related.get(field.name)
        if build is not None:
            found |= build(selection, field, path)
    return found


def connection_template(
    selection: Selection, choice: Choice, shape: Shape, asked: Callable[[dict[str, Any]], Asked]
) -> ReadTemplate:
    """The read behind a connection field: its page, its total when chosen, and what its rows need."""
    fields = selection.below(choice)
    total = any(field.name == "totalCount" for field in fields.values())
    return ReadTemplate(shape.table, connection_nests(selection, fields, shape), total, Arguments(choice), asked)


def connection_nests(selection: Selection, fields: Mapping[str, Choice], shape: Shape) -> Nests:
    """What the rows of a connection need, whether they are shown under `nodes` or under `edges { node }`."""
    found: Nests = {}
    for field in fields.values():
        if field.name == "nodes":
            found |= nests_below(selection, field, shape, f"{field.key}/")
        elif field.name == "edges":
            for inner in selection.below(field).values():
                if inner.name == "node":
                    found |= nests_below(selection, inner, shape, f"{field.key}/{inner.key}/")
    return found


def only(read: Read, *ids: str) -> Read:
    """The read narrowed to these ids."""
    where = eq("id", ids[0]) if len(ids) == 1 else in_("id", ids)
    return msgspec.structs.replace(read, where=where)


# ── what the arguments of connection fields ask for ──────────────────────────


def listed_nodes(arguments: dict[str, Any]) -> Asked:
    """`graphNodes`: by id unless told."""
    order = order_asked(arguments.get("orderBy"), NODE_COLUMNS)
    return node_where(arguments.get("filter")), order, page_asked(arguments, NODES, order)


def listed_edges(arguments: dict[str, Any]) -> Asked:
    """`graphEdges`: by id unless told."""
    order = order_asked(arguments.get("orderBy"), EDGE_COLUMNS)
    return edge_where(arguments.get("filter")), order, page_asked(arguments, EDGES, order)


def edges_at_node(arguments: dict[str, Any]) -> Asked:
    """`outgoing` and `incoming`: by sequence unless told."""
    order = order_asked(arguments.get("orderBy"), EDGE_COLUMNS) or BY_SEQUENCE
    type = arguments.get("type")
    of_type = EVERYTHING if type is None else eq("type", check_type(type))
    return all_of(of_type, edge_where(arguments.get("filter"))), order, page_asked(arguments, EDGES, order)


def nodes_by_property(arguments: dict[str, Any]) -> Asked:
    """`findByProperty`."""
    check_value(arguments["value"])
    where = Property("properties_text", check_key(arguments["key"]), Op.EQ, arguments["value"])
    return where, (), page_asked(arguments, NODES, ())


def root_nodes(arguments: dict[str, Any]) -> Asked:
    """`roots`."""
    return Not(Linked("incoming")), (), page_asked(arguments, NODES, ())


# ── what fields of nodes and edges need ──────────────────────────────────────


def edges_of(relation: str) -> Builder:
    """A connection of the edges at one side of a node."""

    def build(selection: Selection, choice: Choice, path: str) -> Nests:
        read = connection_template(selection, choice, EDGE, edges_at_node)
        return {path + choice.key: NestedTemplate(relation, read)}

    return build


def end_of(relation: str) -> Builder:
    """The node at one end of an edge."""

    def build(selection: Selection, choice: Choice, path: str) -> Nests:
        read = ReadTemplate(NODES, nests_below(selection, choice, NODE))
        return {path + choice.key: NestedTemplate(relation, read)}

    return build


def count_of_edges(selection: Selection, choice: Choice, path: str) -> Nests:
    """Both sides of a node, counted and not listed."""
    read = ReadTemplate(EDGES, {}, total=True, asked=lambda arguments: (EVERYTHING, (), COUNT_ONLY))
    return {f"{path}{choice.key}/{side}": NestedTemplate(side, read) for side in ("outgoing", "incoming")}


def both_ends(selection: Selection, choice: Choice, path: str) -> Nests:
    """Both nodes of an edge, to see whether they exist."""
    read = ReadTemplate(NODES, {})
    return {f"{path}{choice.key}/{end}": NestedTemplate(end, read) for end in ("source_node", "target_node")}


def content_of(selection: Selection, choice: Choice, path: str) -> Nests:
    """What is known about an element's content, and the content itself when it is chosen."""
    chosen = {field.name for field in selection.below(choice).values()}
    body = {"body": NestedTemplate("body", ReadTemplate(CONTENT_BODIES, {}))} if "body" in chosen else {}
    return {path + choice.key: NestedTemplate("content", ReadTemplate(CONTENTS, body))}


# ── what fields of nodes and edges show ──────────────────────────────────────


COMMON: Mapping[str, Piece] = {
    "id": Column("id"),
    "type": Column("type"),
    "scope": Made(lambda found, late: f'"{scope_of(found.row.id).name}"'),
    "created": Column("created"),
    "modified": Column("modified"),
    "createdAt": Made(lambda found, late: f'"{instant_text(found.row.created)}"'),
    "modifiedAt": Made(lambda found, late: f'"{instant_text(found.row.modified)}"'),
    "version": Column("version"),
    "properties": Column("properties_text"),
}
NODE_FIELDS: Mapping[str, Piece] = {
    **COMMON,
    "data": Column("data_text"),
    "label": Made(lambda found, late: json_of(label_of(found.row.id, found.row.properties))),
}
EDGE_FIELDS: Mapping[str, Piece] = {
    **COMMON,
    "from": Column("source"),
    "to": Column("target"),
    "weight": Column("weight"),
}

NODE = Shape(
    NODES,
    "GraphNode",
    {
        "outgoing": edges_of("outgoing"),
        "incoming": edges_of("incoming"),
        "degree": count_of_edges,
        "content": content_of,
    },
    NODE_FIELDS,
    frozenset({"property", "degree", "outgoing", "incoming"}),
)
EDGE = Shape(
    EDGES,
    "GraphEdge",
    {"fromNode": end_of("source_node"), "toNode": end_of("target_node"), "dangling": both_ends, "content": content_of},
    EDGE_FIELDS,
    frozenset({"property", "fromNode", "toNode", "dangling"}),
)
SHAPES = {shape.type_name: shape for shape in (NODE, EDGE)}
