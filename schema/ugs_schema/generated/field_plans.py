"""Field plans of generated types: which rows each field needs and how it is rendered.

Queries of generated schemas use the same compiler as the main schema: one plan, one read, rendered to text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ugs.graph.content import UTF8
from ugs.graph.model import EDGES, NODES
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.identity import is_identifier
from ugs.ontology.errors import InvalidArgument
from ugs.ontology.model import CONTENTS
from ugs.ontology.properties import PropertyDefinition
from ugs.reads.aggregation import Value
from ugs.reads.expressions import Instant, JsonKey
from ugs.reads.filters import Linked, all_of, eq, in_
from ugs.reads.rendering import (
    Cases,
    Column,
    Computed,
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
from ugs_schema.compiler.field_plans import (
    BY_SEQUENCE,
    NODE_FIELDS,
    Builder,
    Nests,
    TypePlan,
    build_content,
    build_nests_below,
)
from ugs_schema.compiler.plan_templates import Arguments, NestedTemplate, ReadCriteria, ReadTemplate
from ugs_schema.compiler.queries import Root, RootCompilers, make_page_compiler
from ugs_schema.compiler.response_plan import PAGE_INFO, Compiler, Pieces, build_object
from ugs_schema.compiler.selection import SelectedField, Selection
from ugs_schema.generated.filters import build_where
from ugs_schema.generated.names import Kind, Naming, Side
from ugs_schema.graph.order_by import NODE_COLUMNS, parse_order
from ugs_schema.pagination import parse_page

COMMON = ("id", "type", "created", "modified", "createdAt", "modifiedAt", "version", "label", "properties")
EDGE_COMMON: Mapping[str, Piece] = {
    "id": Column("id"),
    "created": Column("created"),
    "createdAt": Instant("created"),
    "properties": Column("properties_text"),
}
CONTENT_FIELDS: Mapping[str, Piece] = {
    "format": Column("format"),
    "encoding": Computed(lambda found, render_args: '"UTF8"' if found.row.encoding == UTF8 else '"BASE64"'),
    "size": Column("size"),
    "path": Computed(lambda found, render_args: json_of(found.row.path)),
    "body": RelatedRow("body", RowTemplate(CONTENT_BODIES, (Column("body"),))),
    "__typename": Text('"Content"'),
}


def make_property_piece(definition: PropertyDefinition) -> Piece:
    """The rendering of a defined property; a stored value of another kind is shown as null."""
    return JsonKey("properties_text", definition.name, definition.kind.value)


def compile_content(compiler: Compiler, field: SelectedField, path: str) -> Pieces:
    """The rendering of an element's content."""
    fields = compiler.selection.collect_subfields(field).values()
    return [
        RelatedRow(
            path + field.key,
            RowTemplate(CONTENTS, build_object((inner.key, [CONTENT_FIELDS[inner.name]]) for inner in fields)),
        )
    ]


class TypedCompiler(Compiler):
    """A compiler that adds the type's name to members of a union, so that graphql-core can resolve their types."""

    marking = True


class TypedPlans:
    """The field plans of all node types of an ontology."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        self.type_plans = {kind.type: self._make_type_plan(kind) for kind in naming.kinds.values()}

    def roots(self) -> RootCompilers:
        """The compile function of each root field."""
        found: dict[str, Callable[[Compiler, SelectedField], Root]] = {}
        for kind in self.naming.kinds.values():
            found[kind.singular] = self._make_row_compiler(kind)
            found[kind.plural] = make_page_compiler(self.type_plans[kind.type], make_list_parser(self.naming, kind))
        return found

    def _make_type_plan(self, kind: Kind) -> TypePlan:
        plain = {name: NODE_FIELDS[name] for name in COMMON}
        plain |= {name: make_property_piece(definition) for name, definition in kind.properties.items()}
        related: dict[str, Builder] = {"content": build_content}
        field_compilers: dict[str, Callable[[Any, SelectedField, str], list[Piece]]] = {"content": compile_content}
        for name, side in kind.sides.items():
            related[name], field_compilers[name] = self._make_nests_builder(side), self._make_field_compiler(side)
        return TypePlan(
            NODES, kind.name, related, plain, field_compilers=field_compilers, parse_value=make_value_parser(kind)
        )

    def build_read_by_id(
        self, kind: Kind, selection: Selection, selected_field: SelectedField, ids: Callable[[Any], str]
    ) -> ReadTemplate:
        """The read of one node of a type."""
        type_plan = self.type_plans[kind.type]

        def parse_criteria(arguments: dict[str, Any]) -> ReadCriteria:
            return all_of(eq("id", ids(arguments)), eq("type", kind.type)), (), parse_page({"first": 1}, NODES, ())

        return ReadTemplate(
            NODES,
            build_nests_below(selection, selected_field, type_plan),
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

            return Root(selected_field.key, plan, Rendering(compiler.row(selected_field, self.type_plans[kind.type])))

        return make

    # ── connections, seen from a node ────────────────────────────────────────

    def _make_nests_builder(self, side: Side) -> Builder:
        """The nested read of a node's connections, each with the node at its other end."""
        relation, end = ("outgoing", "target_node") if side.outgoing else ("incoming", "source_node")

        def build(selection: Selection, selected_field: SelectedField, path: str) -> Nests:
            fields = selection.collect_subfields(selected_field).values()
            total = any(field.name == "totalCount" for field in fields)
            nests: Nests = {}
            for field in fields:
                if field.name == "nodes":
                    nests[f"{field.key}/end"] = NestedTemplate(end, self._build_end(selection, field, side))
                elif field.name == "edges":
                    nests |= self._build_edge_nests(selection, field, side, end)
            read = ReadTemplate(EDGES, nests, total, Arguments(selected_field), self._make_criteria_parser(side, end))
            return {path + selected_field.key: NestedTemplate(relation, read)}

        return build

    def _build_edge_nests(self, selection: Selection, field: SelectedField, side: Side, end: str) -> Nests:
        nests: Nests = {}
        for inner in selection.collect_subfields(field).values():
            if inner.name == "node":
                nests[f"{field.key}/{inner.key}/end"] = NestedTemplate(end, self._build_end(selection, inner, side))
            elif inner.name == "content":
                nests |= build_content(selection, inner, f"{field.key}/")
        return nests

    def _build_end(self, selection: Selection, selected_field: SelectedField, side: Side) -> ReadTemplate:
        nests: Nests = {}
        for kind, path in self._list_paths(side):
            nests |= build_nests_below(selection, selected_field, self.type_plans[kind.type], path)
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
        return [Text(json_of(field.parent.name))]

    def _compile_edge_part(self, compiler: Compiler, inner: SelectedField, field: SelectedField, side: Side) -> Pieces:
        if inner.name == "cursor":
            return [Cursor()]
        if inner.name == "node":
            return [RelatedRow(f"{field.key}/{inner.key}/end", self._compile_end(compiler, inner, side))]
        if inner.name == "content":
            return compile_content(compiler, inner, f"{field.key}/")
        if inner.name in side.link.properties:
            return [make_property_piece(side.link.properties[inner.name])]
        return [EDGE_COMMON.get(inner.name) or Text(json_of(inner.parent.name))]

    def _compile_end(self, compiler: Compiler, selected_field: SelectedField, side: Side) -> RowTemplate:
        bodies = {
            kind.type: compiler.row(selected_field, self.type_plans[kind.type], path)
            for kind, path in self._list_paths(side)
        }
        if self.naming.has_one_end(side):
            return next(iter(bodies.values()))
        if isinstance(compiler, TypedCompiler):
            bodies = {type: add_type_mark(body, self.type_plans[type]) for type, body in bodies.items()}
        return RowTemplate(NODES, (Cases("type", bodies),))


MARK = "__kind"


def add_type_mark(body: RowTemplate, type_plan: TypePlan) -> RowTemplate:
    """A row template that also renders the name of its type."""
    first, *rest = body.pieces
    assert isinstance(first, Text)
    comma = "" if first.text == "{}" else ","
    head = Text(f'{{"{MARK}":{json_of(type_plan.type_name)}{comma}{first.text[1:]}')
    return RowTemplate(body.table, (head, *rest))


COLUMNS = {"id": "id", "created": "created", "modified": "modified", "version": "version"}
"""Columns of nodes that are aggregated like properties."""


def make_value_parser(kind: Kind) -> Callable[[Any], Value]:
    """Which value an aggregate is of: `of` in arguments, or an entry of `by`, names a field of the type."""

    def parse(given: Any) -> Value:
        name = given if isinstance(given, str) else given["of"]
        if name in kind.properties:
            return Value("properties_text", kind.properties[name].name)
        if name in COLUMNS:
            return Value(COLUMNS[name])
        known = ", ".join([*COLUMNS, *kind.properties][:50])
        raise InvalidArgument(f"{kind.type} has no {name[:80]!r} to aggregate; it has {known}", argument="of")

    return parse


def make_list_parser(naming: Naming, kind: Kind) -> Callable[[dict[str, Any]], ReadCriteria]:
    """Translate the arguments of a list of one type; default order by id."""

    def parse_criteria(arguments: dict[str, Any]) -> ReadCriteria:
        order = parse_order(arguments.get("orderBy"), NODE_COLUMNS)
        where = all_of(eq("type", kind.type), build_where(naming, kind, arguments.get("where")))
        return where, order, parse_page(arguments, NODES, order)

    return parse_criteria
