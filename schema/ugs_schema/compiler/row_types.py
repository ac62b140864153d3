"""Row types: GraphQL types that show rows of a table, with each field declared once.

A `RowType` says which table a type shows, which fields it has, and what its rows are filtered and sorted by. A field
says what it shows of the row, and which related rows it needs. The fields of the GraphQL type, the read plan, the
rendering in queries and payloads, types generated from ontologies, inputs and costs are all made from that. The nested
reads of a row are keyed by the path of response keys from the row to the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from graphql import StringValueNode
from msgspec import Struct

from ugs.reads.expressions import JsonKey
from ugs.reads.filters import EVERYTHING, eq, in_
from ugs.reads.plan import Page, Read, ResultRow
from ugs.reads.rendering import (
    AnyMissing,
    Column,
    Computed,
    Expression,
    Piece,
    RelatedPage,
    RelatedRow,
    RenderArgs,
    RowTemplate,
    SumOfTotals,
    json_of,
)
from ugs.tables import Kind, Table
from ugs.values import from_text
from ugs_schema.compiler.aggregates import (
    PROPERTIES_FIELD,
    ParseValue,
    build_aggregate_templates,
    needs_rows,
    parse_named_value,
)
from ugs_schema.compiler.plan_templates import NO_VARIABLES, Arguments, NestedTemplate, ReadCriteria, ReadTemplate
from ugs_schema.compiler.selection import SelectedField, Selection

if TYPE_CHECKING:
    from ugs_schema.compiler.response_plan import Compiler

Nests = dict[str, NestedTemplate]
Pieces = list[Piece]
COUNT_ONLY = Page(limit=0)


class NotCompilable(Exception):
    """The selection has to be executed by graphql-core."""


class RowField(Struct, frozen=True):
    """A field of a row type."""

    name: str
    description: str

    def build_nests(self, selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        """The nested reads that the field needs."""
        return {}

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        """What the field shows; raises `NotCompilable` if the selection has to be executed by graphql-core."""
        raise NotCompilable(self.name)


class Shown(RowField, frozen=True):
    """A column of the row, or an expression of its columns (`ugs.reads.expressions`)."""

    type: Any
    """The annotation of the field for Strawberry."""
    piece: Column | Expression
    typed: str | None = None
    """The description in types generated from ontologies; None if the field is not there."""

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        # The only argument of such fields resolves addresses, which cannot be compiled.
        if selected_field.nodes[0].arguments:
            raise NotCompilable(self.name)
        return [self.piece]


class ShownJson(Shown, frozen=True):
    """A JSON column in which addresses can be resolved."""


class OneProperty(RowField, frozen=True):
    """A property that an argument names."""

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        arguments = selected_field.nodes[0].arguments or ()
        if any(argument.name.value == "resolveDepth" for argument in arguments):
            raise NotCompilable("resolveDepth")
        for argument in arguments:
            if argument.name.value == "key" and isinstance(argument.value, StringValueNode):
                return [JsonKey(PROPERTIES_FIELD, argument.value.value)]
        # The key comes with each request, so that no statement can be kept for it.
        index = compiler.render_args(Arguments(selected_field))

        def write(result_row: ResultRow, render_args: RenderArgs) -> str:
            return json_of(from_text(result_row.row.properties_text).get(render_args[index]["key"]))

        return [Computed(write)]


class RelatedOne(RowField, frozen=True):
    """The row that a relation leads to, null without one."""

    relation: str
    target: str
    """The name of its row type."""
    typed: str | None = None

    def build_nests(self, selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        target = ROW_TYPES[self.target]
        read = ReadTemplate(target.table, build_nests_below(selection, selected_field, target))
        return {path + selected_field.key: NestedTemplate(self.relation, read)}

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        return [RelatedRow(path + selected_field.key, compiler.row(selected_field, ROW_TYPES[self.target]))]


class RelatedColumn(RowField, frozen=True):
    """A column of the only row that a relation leads to."""

    type: Any
    relation: str
    table: Table
    column: str

    def build_nests(self, selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        return {path + selected_field.key: NestedTemplate(self.relation, ReadTemplate(self.table, {}))}

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        return [RelatedRow(path + selected_field.key, RowTemplate(self.table, (Column(self.column),)))]


class RelatedMany(RowField, frozen=True):
    """A page of the rows that a relation leads to."""

    relation: str
    target: str
    """The name of their row type."""
    parse_criteria: Callable[[dict[str, Any]], ReadCriteria]
    default_rows: int
    """The length of a page unless told, which `parse_criteria` uses too."""

    def build_nests(self, selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        read = build_connection_template(selection, selected_field, ROW_TYPES[self.target], self.parse_criteria)
        return {path + selected_field.key: NestedTemplate(self.relation, read)}

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        page = compiler.compile_connection(selected_field, ROW_TYPES[self.target])
        return [RelatedPage(path + selected_field.key, page)]


class RelatedCount(RowField, frozen=True):
    """How many rows some relations lead to: all of them, or the one that the argument `direction` names."""

    relations: tuple[str, ...]
    table: Table

    def build_nests(self, selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        read = ReadTemplate(self.table, {}, total=True, parse_criteria=lambda arguments: (EVERYTHING, (), COUNT_ONLY))
        return {f"{path}{selected_field.key}/{one}": NestedTemplate(one, read) for one in self.relations}

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        arguments, name = Arguments(selected_field), path + selected_field.key
        if arguments.constant:
            direction = getattr(arguments(NO_VARIABLES).get("direction"), "name", None)
            return [SumOfTotals(tuple(f"{name}/{one}" for one in self.choose(direction)))]
        index = compiler.render_args(arguments)

        def write(result_row: ResultRow, render_args: RenderArgs) -> str:
            relations = self.choose(getattr(render_args[index].get("direction"), "name", None))
            return str(sum(result_row.nest[f"{name}/{one}"].total or 0 for one in relations))

        return [Computed(write)]

    def choose(self, direction: str | None) -> tuple[str, ...]:
        """The relations that are counted for the name of a direction."""
        one = (direction or "").lower()
        return (one,) if one in self.relations else self.relations


class RelatedMissing(RowField, frozen=True):
    """Whether one of some relations leads nowhere."""

    relations: tuple[str, ...]
    table: Table

    def build_nests(self, selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        read = ReadTemplate(self.table, {})
        return {f"{path}{selected_field.key}/{one}": NestedTemplate(one, read) for one in self.relations}

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        return [AnyMissing(tuple(f"{path}{selected_field.key}/{one}" for one in self.relations))]


class Key(Struct, frozen=True):
    """A value of an enum that names a column: what rows are filtered and grouped by, or sorted by."""

    name: str
    column: str
    description: str


def get_typed_description(field: RowField) -> str | None:
    """The description of a field in types generated from ontologies; None if it is not there."""
    return getattr(field, "typed", None)


class RowType(Struct, frozen=True, dict=True, eq=False):
    """A GraphQL type that shows rows of a table."""

    table: Table
    type_name: str
    fields: tuple[RowField, ...]
    filters: tuple[Key, ...] = ()
    """The columns that filters and aggregates may name."""
    orders: tuple[Key, ...] = ()
    """The columns that rows may be sorted by."""
    parse_typed_value: ParseValue | None = None
    """Which value the arguments of aggregates name, if not one of `filters`."""

    @cached_property
    def by_name(self) -> Mapping[str, RowField]:
        """The fields by their names."""
        return {field.name: field for field in self.fields}

    @cached_property
    def filter_columns(self) -> Mapping[str, str]:
        return {key.name: key.column for key in self.filters}

    @cached_property
    def number_columns(self) -> frozenset[str]:
        """The columns among those of `filters` that hold numbers."""
        numbers = (Kind.INTEGER, Kind.REAL)
        return frozenset(key.column for key in self.filters if self.table.field(key.column).kind in numbers)

    @cached_property
    def order_columns(self) -> Mapping[str, str]:
        return {key.name: key.column for key in self.orders}

    @cached_property
    def parse_value(self) -> ParseValue | None:
        """Which value the arguments of aggregates name; None for types without aggregates."""
        if self.parse_typed_value is not None or not self.filters:
            return self.parse_typed_value
        return lambda arguments: parse_named_value(self.filter_columns, arguments)


ROW_TYPES: dict[str, RowType] = {}
"""The row types of the main schema by name."""


def register_row_types(row_types: Iterable[RowType]) -> None:
    """Make row types known to fields that lead to them, and to the compiler."""
    ROW_TYPES.update({row_type.type_name: row_type for row_type in row_types})


# ── nested reads ─────────────────────────────────────────────────────────────


def build_nests_below(selection: Selection, selected_field: SelectedField, row_type: RowType, path: str = "") -> Nests:
    """The nested reads for the fields selected below a field."""
    return build_nests(selection, selection.collect_subfields(selected_field, row_type.type_name), row_type, path)


def build_nests(selection: Selection, fields: Mapping[str, SelectedField], row_type: RowType, path: str = "") -> Nests:
    """The nested reads for these fields."""
    found: Nests = {}
    for field in fields.values():
        declared = row_type.by_name.get(field.name)
        if declared is not None:
            found |= declared.build_nests(selection, field, path)
    return found


def build_connection_template(
    selection: Selection,
    selected_field: SelectedField,
    row_type: RowType,
    parse_criteria: Callable[[dict[str, Any]], ReadCriteria],
) -> ReadTemplate:
    """The read of a connection field: page, total if selected, and nested reads of its rows."""
    fields = selection.collect_subfields(selected_field)
    nests = build_connection_nests(selection, fields, row_type)
    return build_page_template(selection, selected_field, row_type.table, nests, row_type.parse_value, parse_criteria)


def build_page_template(
    selection: Selection,
    selected_field: SelectedField,
    table: Table,
    nests: Nests,
    parse_value: ParseValue | None,
    parse_criteria: Callable[[dict[str, Any]], ReadCriteria],
) -> ReadTemplate:
    """The read of a page with the total and the aggregates that are selected."""
    fields = selection.collect_subfields(selected_field)
    total = any(field.name == "totalCount" for field in fields.values())
    aggregates = build_aggregate_templates(selection, fields, parse_value) if parse_value is not None else []
    return ReadTemplate(
        table,
        nests,
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


def build_connection_nests(selection: Selection, fields: Mapping[str, SelectedField], row_type: RowType) -> Nests:
    """The nested reads of a connection's rows, selected under `nodes` or `edges { node }`."""
    found: Nests = {}
    for field in fields.values():
        if field.name == "nodes":
            found |= build_nests_below(selection, field, row_type, f"{field.key}/")
        elif field.name == "edges":
            for inner in selection.collect_subfields(field).values():
                if inner.name == "node":
                    found |= build_nests_below(selection, inner, row_type, f"{field.key}/{inner.key}/")
    return found


def restrict_to_ids(read: Read, *ids: str) -> Read:
    """The read restricted to these ids."""
    where = eq("id", ids[0]) if len(ids) == 1 else in_("id", ids)
    return msgspec.structs.replace(read, where=where)
