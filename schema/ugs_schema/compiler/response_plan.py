"""Compiles a selection to a rendering: the pieces of text and columns that make the JSON response.

Pieces that are columns can be rendered by the store itself (`ugs.reads.rendering`); computed pieces are made from the
row in Python. A field that can be rendered neither way raises `NotCompilable`, and graphql-core executes the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graphql import StringValueNode

from ugs.reads.expressions import JsonKey
from ugs.reads.plan import ResultRow
from ugs.reads.rendering import (
    Computed,
    Cursor,
    EndCursor,
    HasMore,
    Items,
    PageTemplate,
    Piece,
    RelatedPage,
    RelatedRow,
    RenderArgs,
    RowTemplate,
    Text,
    Total,
    json_of,
)
from ugs.values import from_text
from ugs_schema.compiler.aggregates import compile_aggregate
from ugs_schema.compiler.field_plans import TYPE_PLANS, TypePlan
from ugs_schema.compiler.plan_templates import Arguments
from ugs_schema.compiler.selection import SelectedField, Selection

Pieces = list[Piece]


class NotCompilable(Exception):
    """The selection has to be executed by graphql-core."""


class Compiler:
    """Compiles selections to row and page templates."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.binders: list[Callable[[Any], Any]] = []

    def render_args(self, binder: Callable[[Any], Any]) -> int:
        """Register a function of the variables; returns the index of its value in `RenderArgs` at rendering."""
        self.binders.append(binder)
        return len(self.binders) - 1

    # ── rows ─────────────────────────────────────────────────────────────────

    def row(self, selected_field: SelectedField, type_plan: TypePlan, path: str = "") -> RowTemplate:
        """The template of a row with the fields selected below `choice`."""
        fields = self.selection.collect_subfields(selected_field, type_plan.type_name).values()
        return build_row_template(
            type_plan, ((field.key, self._compile_field(field, type_plan, path)) for field in fields)
        )

    def _compile_field(self, field: SelectedField, type_plan: TypePlan, path: str) -> Pieces:
        if field.name == "__typename":
            return [Text(f'"{type_plan.type_name}"')]
        piece = type_plan.plain.get(field.name)
        if piece is not None:
            self._check_no_arguments(field)
            return [piece]
        make = type_plan.field_compilers.get(field.name) or (
            FIELD_COMPILERS[field.name] if field.name in type_plan.compiled_fields else None
        )
        if make is None:
            raise NotCompilable(field.name)
        return make(self, field, path)

    def _check_no_arguments(self, field: SelectedField) -> None:
        """Plain fields have no arguments except those that resolve addresses, which cannot be compiled."""
        if field.nodes[0].arguments:
            raise NotCompilable(field.name)

    @staticmethod
    def get_literal(field: SelectedField, name: str) -> str | None:
        """The text of an argument that the document spells out."""
        for argument in field.nodes[0].arguments or ():
            if argument.name.value == name and isinstance(argument.value, StringValueNode):
                return argument.value.value
        return None

    def compile_property(self, field: SelectedField, path: str) -> Pieces:
        for argument in field.nodes[0].arguments or ():
            if argument.name.value == "resolveDepth":
                raise NotCompilable("resolveDepth")
        key = self.get_literal(field, "key")
        if key is not None:
            return [JsonKey("properties_text", key)]
        # The key comes with each request, so that no statement can be kept for it.
        index = self.render_args(Arguments(field))

        def write(result_row: ResultRow, render_args: RenderArgs) -> str:
            return json_of(from_text(result_row.row.properties_text).get(render_args[index]["key"]))

        return [Computed(write)]

    def compile_degree(self, field: SelectedField, path: str) -> Pieces:
        index, name = self.render_args(Arguments(field)), path + field.key

        def write(result_row: ResultRow, render_args: RenderArgs) -> str:
            direction = getattr(render_args[index].get("direction"), "name", "BOTH")
            sides = ("outgoing", "incoming") if direction == "BOTH" else (direction.lower(),)
            return str(sum(result_row.nest[f"{name}/{side}"].total or 0 for side in sides))

        return [Computed(write)]

    def compile_end(self, field: SelectedField, path: str) -> Pieces:
        return [RelatedRow(path + field.key, self.row(field, TYPE_PLANS["GraphNode"]))]

    def compile_dangling(self, field: SelectedField, path: str) -> Pieces:
        ends = [f"{path}{field.key}/{end}" for end in ("source_node", "target_node")]

        def write(result_row: ResultRow, render_args: RenderArgs) -> str:
            return json_of(not all(result_row.nest[end].items for end in ends))

        return [Computed(write)]

    def compile_edges(self, field: SelectedField, path: str) -> Pieces:
        return [RelatedPage(path + field.key, self.compile_connection(field, TYPE_PLANS["GraphEdge"]))]

    # ── connections ──────────────────────────────────────────────────────────

    def compile_connection(self, selected_field: SelectedField, type_plan: TypePlan) -> PageTemplate:
        """The template of a page with the fields selected below a connection field."""
        fields = self.selection.collect_subfields(selected_field).values()
        return PageTemplate(build_object((field.key, self._compile_part(field, type_plan)) for field in fields))

    def _compile_part(self, field: SelectedField, type_plan: TypePlan) -> Pieces:
        if field.name == "totalCount":
            return [Total()]
        if field.name == "__typename":
            return [Text(json_of(f"{type_plan.type_name}Connection"))]
        if field.name == "nodes":
            return [Text("["), Items(self.row(field, type_plan, f"{field.key}/")), Text("]")]
        if field.name == "pageInfo":
            fields = self.selection.collect_subfields(field).values()
            return list(build_object((inner.key, [PAGE_INFO[inner.name]]) for inner in fields))
        if field.name == "edges":
            return self._compile_edge_items(field, type_plan)
        if field.name == "aggregate" and type_plan.parse_value is not None:
            return [compile_aggregate(self.selection, field, type_plan.parse_value, self.render_args)]
        raise NotCompilable(field.name)

    def _compile_edge_items(self, field: SelectedField, type_plan: TypePlan) -> Pieces:
        fields = self.selection.collect_subfields(field).values()
        body = build_row_template(
            type_plan, ((inner.key, self._compile_edge_part(inner, field, type_plan)) for inner in fields)
        )
        return [Text("["), Items(body), Text("]")]

    def _compile_edge_part(self, inner: SelectedField, field: SelectedField, type_plan: TypePlan) -> Pieces:
        if inner.name == "cursor":
            return [Cursor()]
        if inner.name == "node":
            return list(self.row(inner, type_plan, f"{field.key}/{inner.key}/").pieces)
        return [Text(json_of(f"{type_plan.type_name}Edge"))]


FIELD_COMPILERS: Mapping[str, Callable[[Compiler, SelectedField, str], Pieces]] = {
    "property": Compiler.compile_property,
    "degree": Compiler.compile_degree,
    "fromNode": Compiler.compile_end,
    "toNode": Compiler.compile_end,
    "dangling": Compiler.compile_dangling,
    "outgoing": Compiler.compile_edges,
    "incoming": Compiler.compile_edges,
}
"""Fields that need related rows or arguments."""

PAGE_INFO: Mapping[str, Piece] = {
    "hasNextPage": HasMore(behind=True),
    "hasPreviousPage": HasMore(behind=False),
    "startCursor": EndCursor(last=False),
    "endCursor": EndCursor(last=True),
    "__typename": Text('"PageInfo"'),
}


def build_row_template(type_plan: TypePlan, fields: Iterable[tuple[str, Pieces]]) -> RowTemplate:
    return RowTemplate(type_plan.table, build_object(fields))


def build_object(fields: Iterable[tuple[str, Pieces]]) -> tuple[Piece, ...]:
    """The pieces of a JSON object, with adjacent texts merged. GraphQL names need no escaping in JSON."""
    pieces: Pieces = []
    for number, (key, value) in enumerate(fields):
        pieces += [Text(f'{"," if number else "{"}"{key}":'), *value]
    return merge_texts([*pieces, Text("}")]) if pieces else (Text("{}"),)


def merge_texts(pieces: Pieces) -> tuple[Piece, ...]:
    """The pieces with adjacent texts merged."""
    result_row: Pieces = []
    for piece in pieces:
        last = result_row[-1] if result_row else None
        if isinstance(piece, Text) and isinstance(last, Text):
            result_row[-1] = Text(last.text + piece.text)
        else:
            result_row.append(piece)
    return tuple(result_row)
