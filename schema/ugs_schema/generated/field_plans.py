"""Field plans of generated types: which rows each field needs and how it is rendered.

Queries of generated schemas use the same compiler as the main schema: one plan, one read, rendered to text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ugs.graph.model import EDGES, NODES
from ugs.identity import is_identifier
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.properties import PropertyDefinition
from ugs.reads.aggregation import Value
from ugs.reads.expressions import Instant, JsonKey
from ugs.reads.filters import Linked, all_of, eq, in_
from ugs.reads.rendering import (
    Cases,
    Column,
    Cursor,
    Items,
    PageTemplate,
    Piece,
    RelatedPage,
    RelatedRow,
    Rendering,
    RowTemplate,
    Text,
    Total,
    json_of,
)
from ugs_schema.compiler.aggregates import ParseValue, compile_aggregate
from ugs_schema.compiler.plan_templates import Arguments, NestedTemplate, ReadCriteria, ReadTemplate
from ugs_schema.compiler.queries import Root, RootCompilers, make_page_compiler
from ugs_schema.compiler.response_plan import PAGE_INFO, Compiler, build_object
from ugs_schema.compiler.row_types import (
    Nests,
    Pieces,
    RowField,
    RowType,
    Shown,
    build_nests_below,
    build_page_template,
    get_typed_description,
)
from ugs_schema.compiler.selection import SelectedField, Selection
from ugs_schema.generated.filters import build_where
from ugs_schema.generated.names import Kind, Link, Naming, Side
from ugs_schema.graph.list_arguments import BY_SEQUENCE, parse_order
from ugs_schema.graph.row_types import NODE
from ugs_schema.pagination import parse_page

EDGE_COMMON: Mapping[str, Piece] = {
    "id": Column("id"),
    "created": Column("created"),
    "createdAt": Instant("created"),
    "properties": Column("properties_text"),
}
CONTENT_FIELD = NODE.by_name["content"]
"""Content of nodes, and of edges."""


def make_property_piece(definition: PropertyDefinition) -> JsonKey:
    """The rendering of a defined property; a stored value of another kind is shown as null."""
    return JsonKey("properties_text", definition.name, definition.kind.value)


class ConnectionField(RowField, frozen=True):
    """A page of the connections of one type at a node, each with the node at its other end."""

    build: Callable[[Selection, SelectedField, str], Nests]
    write: Callable[[Compiler, SelectedField, str], Pieces]

    def build_nests(self, selection: Selection, selected_field: SelectedField, path: str) -> Nests:
        return self.build(selection, selected_field, path)

    def compile(self, compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
        return self.write(compiler, selected_field, path)


class TypedCompiler(Compiler):
    """A compiler that adds the type's name to members of a union, so that graphql-core can resolve their types."""

    marking = True


class TypedPlans:
    """The field plans of all node types of an ontology."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        self.row_types = {kind.type: self._make_row_type(kind) for kind in naming.kinds.values()}

    def roots(self) -> RootCompilers:
        """The compile function of each root field."""
        found: dict[str, Callable[[Compiler, SelectedField], Root]] = {}
        for kind in self.naming.kinds.values():
            found[kind.singular] = self._make_row_compiler(kind)
            found[kind.plural] = make_page_compiler(self.row_types[kind.type], make_list_parser(self.naming, kind))
        return found

    def _make_row_type(self, kind: Kind) -> RowType:
        fields: dict[str, RowField] = {field.name: field for field in NODE.fields if get_typed_description(field)}
        for name, definition in kind.properties.items():
            fields[name] = Shown(name, "", None, make_property_piece(definition))
        for name, side in kind.sides.items():
            builder, compiler = self._make_nests_builder(side), self._make_field_compiler(side)
            fields[name] = ConnectionField(name, "", builder, compiler)
        return RowType(NODES, kind.name, tuple(fields.values()), parse_typed_value=make_value_parser(kind))

    def build_read_by_id(
        self, kind: Kind, selection: Selection, selected_field: SelectedField, ids: Callable[[Any], str]
    ) -> ReadTemplate:
        """The read of one node of a type."""
        row_type = self.row_types[kind.type]

        def parse_criteria(arguments: dict[str, Any]) -> ReadCriteria:
            return all_of(eq("id", ids(arguments)), eq("type", kind.type)), (), parse_page({"first": 1}, NODES, ())

        return ReadTemplate(
            NODES,
            build_nests_below(selection, selected_field, row_type),
            False,
            Arguments(selected_field),
            parse_criteria,
        )

    def _make_row_compiler(self, kind: Kind) -> Callable[[Compiler, SelectedField], Root]:
        def make(compiler: Compiler, selected_field: SelectedField) -> Root:
            arguments = Arguments(selected_field)
            template = self.build_read_by_id(
                kind, compiler.selection, selected_field, lambda arguments: str(arguments["id"])
            )

            def plan(variables: Any) -> Any:
                return template.bind(variables) if is_identifier(arguments(variables)["id"]) else None

            return Root(selected_field.key, plan, Rendering(compiler.row(selected_field, self.row_types[kind.type])))

        return make

    # ── connections, seen from a node ────────────────────────────────────────

    def _make_nests_builder(self, side: Side) -> Callable[[Selection, SelectedField, str], Nests]:
        """The nested read of a node's connections, each with the node at its other end."""
        relation, end = ("outgoing", "target_node") if side.outgoing else ("incoming", "source_node")
        parse_value, parse_criteria = make_link_value_parser(side.link), self._make_criteria_parser(side, end)

        def build(selection: Selection, selected_field: SelectedField, path: str) -> Nests:
            fields = selection.collect_subfields(selected_field).values()
            nests: Nests = {}
            for field in fields:
                if field.name == "nodes":
                    nests[f"{field.key}/end"] = NestedTemplate(end, self._build_end(selection, field, side))
                elif field.name == "edges":
                    nests |= self._build_edge_nests(selection, field, side, end)
            read = build_page_template(selection, selected_field, EDGES, nests, parse_value, parse_criteria)
            return {path + selected_field.key: NestedTemplate(relation, read)}

        return build

    def _build_edge_nests(self, selection: Selection, field: SelectedField, side: Side, end: str) -> Nests:
        nests: Nests = {}
        for inner in selection.collect_subfields(field).values():
            if inner.name == "node":
                nests[f"{field.key}/{inner.key}/end"] = NestedTemplate(end, self._build_end(selection, inner, side))
            elif inner.name == "content":
                nests |= CONTENT_FIELD.build_nests(selection, inner, f"{field.key}/")
        return nests

    def _build_end(self, selection: Selection, selected_field: SelectedField, side: Side) -> ReadTemplate:
        nests: Nests = {}
        for kind, path in self._list_paths(side):
            nests |= build_nests_below(selection, selected_field, self.row_types[kind.type], path)
        return ReadTemplate(NODES, nests)

    def _list_paths(self, side: Side) -> list[tuple[Kind, str]]:
        """The node types at the other end with the path of their nested reads; if several types are possible, each has
        its own."""
        alone = self.naming.has_one_end(side)
        return [(kind, "" if alone else f"{kind.name}/") for kind in self.naming.ends(side)]

    def _make_criteria_parser(self, side: Side, end: str) -> Callable[[dict[str, Any]], ReadCriteria]:
        ends = self.naming.ends(side)
        alone = self.naming.has_one_end(side)

        def parse_criteria(arguments: dict[str, Any]) -> ReadCriteria:
            type_matches = in_("type", [kind.type for kind in ends])
            if alone:
                type_matches = all_of(type_matches, build_where(self.naming, ends[0], arguments.get("where")))
            where = all_of(eq("type", side.link.type.name), Linked(end, type_matches))
            return where, BY_SEQUENCE, parse_page(arguments, EDGES, BY_SEQUENCE)

        return parse_criteria

    def _make_field_compiler(self, side: Side) -> Callable[[Any, SelectedField, str], list[Piece]]:
        def make(compiler: Compiler, selected_field: SelectedField, path: str) -> Pieces:
            fields = compiler.selection.collect_subfields(selected_field).values()
            parts = PageTemplate(
                build_object((field.key, self._compile_part(compiler, field, side)) for field in fields)
            )
            return [RelatedPage(path + selected_field.key, parts)]

        return make

    def _compile_part(self, compiler: Compiler, field: SelectedField, side: Side) -> Pieces:
        if field.name == "totalCount":
            return [Total()]
        if field.name == "pageInfo":
            fields = compiler.selection.collect_subfields(field).values()
            return list(build_object((inner.key, [PAGE_INFO[inner.name]]) for inner in fields))
        if field.name == "nodes":
            body = RowTemplate(EDGES, (RelatedRow(f"{field.key}/end", self._compile_end(compiler, field, side)),))
            return [Text("["), Items(body), Text("]")]
        if field.name == "edges":
            fields = compiler.selection.collect_subfields(field).values()
            pieces = build_object(
                (inner.key, self._compile_edge_part(compiler, inner, field, side)) for inner in fields
            )
            return [Text("["), Items(RowTemplate(EDGES, pieces)), Text("]")]
        if field.name == "aggregate":
            parse_value = make_link_value_parser(side.link)
            return [compile_aggregate(compiler.selection, field, parse_value, compiler.render_args)]
        return [Text(json_of(field.parent.name))]

    def _compile_edge_part(self, compiler: Compiler, inner: SelectedField, field: SelectedField, side: Side) -> Pieces:
        if inner.name == "cursor":
            return [Cursor()]
        if inner.name == "node":
            return [RelatedRow(f"{field.key}/{inner.key}/end", self._compile_end(compiler, inner, side))]
        if inner.name == "content":
            return CONTENT_FIELD.compile(compiler, inner, f"{field.key}/")
        if inner.name in side.link.properties:
            return [make_property_piece(side.link.properties[inner.name])]
        return [EDGE_COMMON.get(inner.name) or Text(json_of(inner.parent.name))]

    def _compile_end(self, compiler: Compiler, selected_field: SelectedField, side: Side) -> RowTemplate:
        bodies = {
            kind.type: compiler.row(selected_field, self.row_types[kind.type], path)
            for kind, path in self._list_paths(side)
        }
        if self.naming.has_one_end(side):
            return next(iter(bodies.values()))
        if isinstance(compiler, TypedCompiler):
            bodies = {type: add_type_mark(body, self.row_types[type]) for type, body in bodies.items()}
        return RowTemplate(NODES, (Cases("type", bodies),))


MARK = "__kind"


def add_type_mark(body: RowTemplate, row_type: RowType) -> RowTemplate:
    """A row template that also renders the name of its type."""
    first, *rest = body.pieces
    assert isinstance(first, Text)
    comma = "" if first.text == "{}" else ","
    head = Text(f'{{"{MARK}":{json_of(row_type.type_name)}{comma}{first.text[1:]}')
    return RowTemplate(body.table, (head, *rest))


COLUMNS = {"id": "id", "created": "created", "modified": "modified", "version": "version"}
"""Columns of nodes that are aggregated like properties."""


LINK_COLUMNS = {"id": "id", "created": "created"}
"""As `COLUMNS`, of the edges between them."""


def make_value_parser(kind: Kind) -> ParseValue:
    """Which value an aggregate of nodes of a type is of."""
    return _make_parser(kind.type, COLUMNS, kind.properties)


def make_link_value_parser(link: Link) -> ParseValue:
    """Which value an aggregate of connections of a type is of."""
    return _make_parser(link.type.name, LINK_COLUMNS, link.properties)


def _make_parser(type: str, columns: Mapping[str, str], properties: Mapping[str, PropertyDefinition]) -> ParseValue:
    """`of` in arguments, or an entry of `by`, names a field."""

    def parse(given: Any) -> Value:
        name = given if isinstance(given, str) else given["of"]
        if name in properties:
            return Value("properties_text", properties[name].name)
        if name in columns:
            return Value(columns[name])
        known = ", ".join([*columns, *properties][:50])
        raise InvalidArgument(f"{type} has no {name[:80]!r} to aggregate; it has {known}", argument="of")

    return parse


def make_list_parser(naming: Naming, kind: Kind) -> Callable[[dict[str, Any]], ReadCriteria]:
    """Translate the arguments of a list of one type; default order by id."""

    def parse_criteria(arguments: dict[str, Any]) -> ReadCriteria:
        order = parse_order(arguments.get("orderBy"), NODE.order_columns)
        where = all_of(eq("type", kind.type), build_where(naming, kind, arguments.get("where")))
        return where, order, parse_page(arguments, NODES, order)

    return parse_criteria
