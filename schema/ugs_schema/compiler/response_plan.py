"""Compiles a selection to a rendering: the pieces of text and columns that make the JSON response.

Pieces that are columns can be rendered by the store itself (`ugs.reads.rendering`); computed pieces are made from the
row in Python. A field that can be rendered neither way raises `NotCompilable`, and graphql-core executes the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ugs.reads.rendering import (
    Cursor,
    EndCursor,
    HasMore,
    Items,
    PageTemplate,
    Piece,
    RowTemplate,
    Text,
    Total,
    json_of,
)
from ugs_schema.compiler.aggregates import compile_aggregate
from ugs_schema.compiler.row_types import NotCompilable, Pieces, RowType
from ugs_schema.compiler.selection import SelectedField, Selection


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

    def row(self, selected_field: SelectedField, row_type: RowType, path: str = "") -> RowTemplate:
        """The template of a row with the fields selected below `choice`."""
        fields = self.selection.collect_subfields(selected_field, row_type.type_name).values()
        return build_row_template(
            row_type, ((field.key, self._compile_field(field, row_type, path)) for field in fields)
        )

    def _compile_field(self, field: SelectedField, row_type: RowType, path: str) -> Pieces:
        if field.name == "__typename":
            return [Text(f'"{row_type.type_name}"')]
        declared = row_type.by_name.get(field.name)
        if declared is None:
            raise NotCompilable(field.name)
        return declared.compile(self, field, path)

    # ── connections ──────────────────────────────────────────────────────────

    def compile_connection(self, selected_field: SelectedField, row_type: RowType) -> PageTemplate:
        """The template of a page with the fields selected below a connection field."""
        fields = self.selection.collect_subfields(selected_field).values()
        return PageTemplate(build_object((field.key, self._compile_part(field, row_type)) for field in fields))

    def _compile_part(self, field: SelectedField, row_type: RowType) -> Pieces:
        if field.name == "totalCount":
            return [Total()]
        if field.name == "__typename":
            return [Text(json_of(f"{row_type.type_name}Connection"))]
        if field.name == "nodes":
            return [Text("["), Items(self.row(field, row_type, f"{field.key}/")), Text("]")]
        if field.name == "pageInfo":
            fields = self.selection.collect_subfields(field).values()
            return list(build_object((inner.key, [PAGE_INFO[inner.name]]) for inner in fields))
        if field.name == "edges":
            return self._compile_edge_items(field, row_type)
        if field.name == "aggregate" and row_type.parse_value is not None:
            return [compile_aggregate(self.selection, field, row_type.parse_value, self.render_args)]
        raise NotCompilable(field.name)

    def _compile_edge_items(self, field: SelectedField, row_type: RowType) -> Pieces:
        fields = self.selection.collect_subfields(field).values()
        body = build_row_template(
            row_type, ((inner.key, self._compile_edge_part(inner, field, row_type)) for inner in fields)
        )
        return [Text("["), Items(body), Text("]")]

    def _compile_edge_part(self, inner: SelectedField, field: SelectedField, row_type: RowType) -> Pieces:
        if inner.name == "cursor":
            return [Cursor()]
        if inner.name == "node":
            return list(self.row(inner, row_type, f"{field.key}/{inner.key}/").pieces)
        return [Text(json_of(f"{row_type.type_name}Edge"))]


PAGE_INFO: Mapping[str, Piece] = {
    "hasNextPage": HasMore(behind=True),
    "hasPreviousPage": HasMore(behind=False),
    "startCursor": EndCursor(last=False),
    "endCursor": EndCursor(last=True),
    "__typename": Text('"PageInfo"'),
}


def build_row_template(row_type: RowType, fields: Iterable[tuple[str, Pieces]]) -> RowTemplate:
    return RowTemplate(row_type.table, build_object(fields))


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
