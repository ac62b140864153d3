"""Compiles a selection to a read plan: which related rows each selected field needs.

A `TypePlan` describes a GraphQL type that shows rows of a table, and which of its fields need other tables. The nested
reads of a row are keyed by the path of response keys from the row to the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from ugs.graph.model import EDGES, NODES
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.graph.text.labels import NAMING
from ugs.identity import PREFIXES, Scope
from ugs.ontology.model import CONTENTS
from ugs.reads.expressions import ByPrefix, FirstProperty, Instant
from ugs.reads.filters import EVERYTHING, Linked, Not, Op, Property, all_of, eq, in_
from ugs.reads.plan import Order, Page, Read
from ugs.reads.rendering import Column, Piece
from ugs.tables import Table
from ugs.values import check_key, check_type, check_value
from ugs_schema.compiler.aggregates import ParseValue, build_aggregate_templates, needs_rows, parse_named_value
from ugs_schema.compiler.plan_templates import Arguments, NestedTemplate, ReadCriteria, ReadTemplate
from ugs_schema.compiler.selection import SelectedField, Selection
from ugs_schema.graph.filters import EDGE_FIELDS as EDGE_FILTER_FIELDS
from ugs_schema.graph.filters import NODE_FIELDS as NODE_FILTER_FIELDS
from ugs_schema.graph.filters import build_edge_where, build_node_where
from ugs_schema.graph.order_by import EDGE_COLUMNS, NODE_COLUMNS, parse_order
from ugs_schema.pagination import DEFAULT_NESTED_ROWS, parse_page

Nests = dict[str, NestedTemplate]
Builder = Callable[[Selection, SelectedField, str], Nests]
"""Maps a selected field and its path to the nested reads it needs."""

COUNT_ONLY = Page(limit=0)
BY_SEQUENCE = (Order("seq"),)


class TypePlan(Struct, frozen=True):
    """A GraphQL type that shows rows of a table."""

    table: Table
    type_name: str
    related: Mapping[str, Builder]
    plain: Mapping[str, Piece]
    """Fields without arguments that are rendered from the row alone."""
    compiled_fields: frozenset[str] = frozenset()
    """Fields that `ugs_schema.compiler.response_plan` renders from more than the row."""
    field_compilers: Mapping[str, Callable[[Any, SelectedField, str], list[Piece]]] = {}
    """Additional fields with their own rendering functions, called with compiler, field and path."""
    parse_value: ParseValue | None = None
    """Which value the arguments of aggregates name."""


def build_nests_below(
    selection: Selection, selected_field: SelectedField, type_plan: TypePlan, path: str = ""
) -> Nests:
    """The nested reads for the fields selected below a field."""
    return build_nests(selection, selection.collect_subfields(selected_field, type_plan.type_name), type_plan, path)


def build_nests(
    selection: Selection, fields: Mapping[str, SelectedField], type_plan: TypePlan, path: str = ""
) -> Nests:
    """The nested reads for these fields."""
    found: Nests = {}
    for field in fields.values():
        build = type_plan.related.get(field.name)
        if build is not None:
            found |= build(selection, field, path)
    return found


def build_connection_template(
    selection: Selection,
    selected_field: SelectedField,
    type_plan: TypePlan,
    parse_criteria: Callable[[dict[str, Any]], ReadCriteria],
) -> ReadTemplate:
    """The read of a connection field: page, total if selected, and nested reads of its rows."""
    fields = selection.collect_subfields(selected_field)
    total = any(field.name == "totalCount" for field in fields.values())
    parse_value = type_plan.parse_value
    aggregates = build_aggregate_templates(selection, fields, parse_value) if parse_value is not None else []
    return ReadTemplate(
        type_plan.table,
        build_connection_nests(selection, fields, type_plan),
        total,
        Arguments(selected_field),
        omit_rows(parse_criteria) if aggregates and not needs_rows(fields) else parse_criteria,
        aggregates,
    )


def omit_rows(parse_criteria: Callable[[dict[str, Any]], ReadCriteria]) -> Callable[[dict[str, Any]], ReadCriteria]:
    """The criteria for a read whose rows are not shown."""

    def parse(arguments: dict[str, Any]) -> ReadCriteria:
        where, _, _ = parse_criteria(arguments)
        return where, (), COUNT_ONLY

    return parse


def build_connection_nests(selection: Selection, fields: Mapping[str, SelectedField], type_plan: TypePlan) -> Nests:
    """The nested reads of a connection's rows, selected under `nodes` or `edges { node }`."""
    found: Nests = {}
    for field in fields.values():
        if field.name == "nodes":
            found |= build_nests_below(selection, field, type_plan, f"{field.key}/")
        elif field.name == "edges":
            for inner in selection.collect_subfields(field).values():
                if inner.name == "node":
                    found |= build_nests_below(selection, inner, type_plan, f"{field.key}/{inner.key}/")
    return found


def restrict_to_ids(read: Read, *ids: str) -> Read:
    """The read restricted to these ids."""
    where = eq("id", ids[0]) if len(ids) == 1 else in_("id", ids)
    return msgspec.structs.replace(read, where=where)


# ── what the arguments of connection fields ask for ──────────────────────────


def parse_node_list(arguments: dict[str, Any]) -> ReadCriteria:
    """`graphNodes`; default order by id."""
    order = parse_order(arguments.get("orderBy"), NODE_COLUMNS)
    return build_node_where(arguments.get("filter")), order, parse_page(arguments, NODES, order)


def parse_edge_list(arguments: dict[str, Any]) -> ReadCriteria:
    """`graphEdges`; default order by id."""
    order = parse_order(arguments.get("orderBy"), EDGE_COLUMNS)
    return build_edge_where(arguments.get("filter")), order, parse_page(arguments, EDGES, order)


def parse_edges_at_node(arguments: dict[str, Any]) -> ReadCriteria:
    """`outgoing` and `incoming`; default order by sequence."""
    order = parse_order(arguments.get("orderBy"), EDGE_COLUMNS) or BY_SEQUENCE
    type = arguments.get("type")
    of_type = EVERYTHING if type is None else eq("type", check_type(type))
    page = parse_page(arguments, EDGES, order, DEFAULT_NESTED_ROWS)
    return all_of(of_type, build_edge_where(arguments.get("filter"))), order, page


def parse_nodes_by_property(arguments: dict[str, Any]) -> ReadCriteria:
    """`findByProperty`."""
    value = arguments.get("value")
    check_value(value)
    where = Property("properties_text", check_key(arguments["key"]), Op.EQ, value)
    return where, (), parse_page(arguments, NODES, ())


def parse_root_nodes(arguments: dict[str, Any]) -> ReadCriteria:
    """`roots`."""
    return Not(Linked("incoming")), (), parse_page(arguments, NODES, ())


# ── what fields of nodes and edges need ──────────────────────────────────────


def make_edges_builder(relation: str) -> Builder:
    """A connection of the edges at one side of a node."""

    def build(selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        read = build_connection_template(selection, selected_field, EDGE_PLAN, parse_edges_at_node)
        return {path + selected_field.key: NestedTemplate(relation, read)}

    return build


def make_end_builder(relation: str) -> Builder:
    """The node at one end of an edge."""

    def build(selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        read = ReadTemplate(NODES, build_nests_below(selection, selected_field, NODE_PLAN))
        return {path + selected_field.key: NestedTemplate(relation, read)}

    return build


def build_edge_counts(selection: Selection, selected_field: SelectedField, path: str) -> Nests:
    """The number of outgoing and incoming edges, without their rows."""
    read = ReadTemplate(EDGES, {}, total=True, parse_criteria=lambda arguments: (EVERYTHING, (), COUNT_ONLY))
    return {f"{path}{selected_field.key}/{side}": NestedTemplate(side, read) for side in ("outgoing", "incoming")}


def build_both_ends(selection: Selection, selected_field: SelectedField, path: str) -> Nests:
    """Both nodes of an edge, to check that they exist."""
    read = ReadTemplate(NODES, {})
    return {f"{path}{selected_field.key}/{end}": NestedTemplate(end, read) for end in ("source_node", "target_node")}


def build_content(selection: Selection, selected_field: SelectedField, path: str) -> Nests:
    """An element's content metadata, and the content itself if it is selected."""
    chosen = {field.name for field in selection.collect_subfields(selected_field).values()}
    body = {"body": NestedTemplate("body", ReadTemplate(CONTENT_BODIES, {}))} if "body" in chosen else {}
    return {path + selected_field.key: NestedTemplate("content", ReadTemplate(CONTENTS, body))}


# ── what fields of nodes and edges show ──────────────────────────────────────


COMMON: Mapping[str, Piece] = {
    "id": Column("id"),
    "type": Column("type"),
    "scope": ByPrefix(
        "id", tuple((prefix, f'"{scope.name}"') for scope, prefix in PREFIXES.items()), f'"{Scope.DEFAULT.name}"'
    ),
    "created": Column("created"),
    "modified": Column("modified"),
    "createdAt": Instant("created"),
    "modifiedAt": Instant("modified"),
    "version": Column("version"),
    "properties": Column("properties_text"),
}
NODE_FIELDS: Mapping[str, Piece] = {
    **COMMON,
    "data": Column("data_text"),
    "label": FirstProperty("properties_text", NAMING, "id"),
}
EDGE_FIELDS: Mapping[str, Piece] = {
    **COMMON,
    "from": Column("source"),
    "to": Column("target"),
    "weight": Column("weight"),
}

NODE_PLAN = TypePlan(
    NODES,
    "GraphNode",
    {
        "outgoing": make_edges_builder("outgoing"),
        "incoming": make_edges_builder("incoming"),
        "degree": build_edge_counts,
        "content": build_content,
    },
    NODE_FIELDS,
    frozenset({"property", "degree", "outgoing", "incoming"}),
    parse_value=partial(parse_named_value, NODE_FILTER_FIELDS),
)
EDGE_PLAN = TypePlan(
    EDGES,
    "GraphEdge",
    {
        "fromNode": make_end_builder("source_node"),
        "toNode": make_end_builder("target_node"),
        "dangling": build_both_ends,
        "content": build_content,
    },
    EDGE_FIELDS,
    frozenset({"property", "fromNode", "toNode", "dangling"}),
    parse_value=partial(parse_named_value, EDGE_FILTER_FIELDS),
)
TYPE_PLANS = {type_plan.type_name: type_plan for type_plan in (NODE_PLAN, EDGE_PLAN)}
