"""Generates a GraphQL schema from an ontology: node types, connection types and properties become types, fields and
inputs.

Resolvers look up fields by response key in what the compiler rendered for the same selection, so graphql-core and the
compiled path cannot give different answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLFloat,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLString,
    GraphQLUnionType,
    print_schema,
)
from strawberry import ID

from ugs.errors import LimitExceeded
from ugs.ontology.history import Addition
from ugs.ontology.properties import PropertyDefinition, PropertyKind
from ugs.reads.rendering import Rendering
from ugs.values import parse_json
from ugs_schema.compiler.aggregates import DEFAULT_GROUPS
from ugs_schema.compiler.queries import Root
from ugs_schema.compiler.row_types import Shown, get_typed_description
from ugs_schema.compiler.selection import Selection, get_selected_field
from ugs_schema.generated.field_plans import MARK, TypedCompiler, TypedPlans
from ugs_schema.generated.mutations import build_mutations
from ugs_schema.generated.names import Kind, Link, Naming, Side
from ugs_schema.generated.scalars import (
    AT,
    BOOLEAN_WHERE,
    CONTENT,
    DATE_TIME,
    FLOAT_WHERE,
    JSON,
    KINDS,
    LONG_WHERE,
    MILLIS,
    MILLIS_WHERE,
    ORDER,
    PAGE_INFO,
    STRING_WHERE,
    field,
    non_null_list,
    pick_by_key,
    to_at,
)
from ugs_schema.generated.subscriptions import build_subscription_type
from ugs_schema.graph.row_types import NODE
from ugs_schema.scalars import Instant, Json, Millis

T = TypeVar("T")
MAX_TYPES = 1_000
"""A schema with more types is unusable for people and slow for tools."""

WHERES: dict[PropertyKind, GraphQLInputObjectType] = {
    PropertyKind.STRING: STRING_WHERE,
    PropertyKind.INTEGER: LONG_WHERE,
    PropertyKind.NUMBER: FLOAT_WHERE,
    PropertyKind.BOOLEAN: BOOLEAN_WHERE,
}


class TypedSchema:
    """The generated schema of one ontology."""

    def __init__(self, name: str, steps: Iterable[Addition]) -> None:
        self.name = name
        self.naming = Naming(steps)
        if len(self.naming.kinds) + len(self.naming.links) > MAX_TYPES:
            raise LimitExceeded(f"Typed GraphQL is made of at most {MAX_TYPES} types", limit=MAX_TYPES)
        self._types: dict[str, Any] = {}
        self.row_types = TypedPlans(self.naming)
        self.roots = self.row_types.roots()
        self.objects = {kind.type: self._make_object(kind) for kind in self.naming.kinds.values()}
        self.wheres = {kind.type: self._make_where(kind) for kind in self.naming.kinds.values()}
        self.core = GraphQLSchema(
            query=GraphQLObjectType("Query", self._make_queries, description=f"What is remembered under {name}"),
            mutation=GraphQLObjectType("Mutation", lambda: build_mutations(self), description=f"Changes under {name}"),
            subscription=build_subscription_type(self),
            types=[MEMORY_NODE, *self.objects.values()],
        )

    @cached_property
    def text(self) -> str:
        """The schema as SDL; printing a large one takes seconds, so that is done in a thread and once."""
        return print_schema(self.core) + "\n"

    # ── reading ──────────────────────────────────────────────────────────────

    def _make_queries(self) -> dict[str, GraphQLField]:
        description = {
            "ontology": GraphQLField(GraphQLNonNull(GraphQLString), resolve=self._resolve_name, description="Its name")
        }
        for kind in self.naming.kinds.values():
            description[kind.singular] = GraphQLField(
                self.objects[kind.type],
                args={"id": GraphQLArgument(GraphQLNonNull(GraphQLID), description="Its id"), **AT_ARGUMENT},
                resolve=self._resolve_root,
                description=f"The {kind.type} with this id; null without one",
            )
            description[kind.plural] = GraphQLField(
                GraphQLNonNull(self._make_connection_type(f"{kind.name}", self.objects[kind.type])),
                args=self._make_list_arguments(kind, ordered=True) | AT_ARGUMENT,
                resolve=self._resolve_root,
                description=f"Nodes of the type {kind.type}, a page at a time, by id unless told",
            )
        return description

    def _resolve_name(self, source: Any, info: GraphQLResolveInfo[Any]) -> str:
        return self.name

    async def _resolve_root(self, source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        compiler = TypedCompiler(Selection.from_info(info))
        root = self.roots[info.field_name](compiler, get_selected_field(info))
        return await run_root(info, compiler, root, arguments.get("at"))

    async def find_node(self, info: GraphQLResolveInfo[Any], kind: Kind, id: str) -> Any:
        """The node with this id, with the fields selected below the field being resolved."""
        compiler, selected_field = TypedCompiler(Selection.from_info(info)), get_selected_field(info)
        template = self.row_types.build_read_by_id(kind, compiler.selection, selected_field, lambda arguments: id)
        rendering = Rendering(compiler.row(selected_field, self.row_types.row_types[kind.type]))
        return await run_root(info, compiler, Root(selected_field.key, template.bind, rendering), None)

    def _make_list_arguments(self, kind: Kind | None, ordered: bool = False) -> dict[str, GraphQLArgument]:
        arguments = dict(PAGING)
        if kind is not None:
            arguments["where"] = GraphQLArgument(self.wheres[kind.type], description="Which of them")
        if ordered:
            arguments["orderBy"] = GraphQLArgument(GraphQLList(GraphQLNonNull(ORDER)), description="In which order")
        return arguments

    # ── types ────────────────────────────────────────────────────────────────

    def _make_object(self, kind: Kind) -> GraphQLObjectType:
        def fields() -> dict[str, GraphQLField]:
            found = dict(NODE_FIELDS)
            found |= {name: _make_property_field(one) for name, one in kind.properties.items()}
            sides = {name: self._make_side_field(side) for name, side in kind.sides.items() if self.naming.ends(side)}
            return found | sides

        description = f"A node of the type {kind.type}"
        return GraphQLObjectType(kind.name, fields, [MEMORY_NODE], description=description)

    def _make_where(self, kind: Kind) -> GraphQLInputObjectType:
        def fields() -> dict[str, GraphQLInputField]:
            many, one = GraphQLList(GraphQLNonNull(self.wheres[kind.type])), self.wheres[kind.type]
            found = {
                "id": GraphQLInputField(GraphQLList(GraphQLNonNull(GraphQLID)), description="One of these ids"),
                "created": GraphQLInputField(MILLIS_WHERE, description="When it was created"),
                "modified": GraphQLInputField(MILLIS_WHERE, description="When it was last changed"),
                "match": GraphQLInputField(JSON, description="An object: each of its properties is equal"),
                "and": GraphQLInputField(many, description="All of these hold"),
                "or": GraphQLInputField(many, description="One of these holds"),
                "not": GraphQLInputField(one, description="This does not hold"),
            }
            for name, definition in kind.properties.items():
                found[name] = GraphQLInputField(WHERES[definition.kind], description=_describe(definition))
            for name, side in kind.sides.items():
                ends = self.naming.ends(side)
                if ends and self.naming.has_one_end(side):
                    way = "leads to" if side.outgoing else "comes from"
                    text = f"Of the nodes that {side.link.type.name} {way}"
                    found[name] = GraphQLInputField(self._make_related(ends[0]), description=text)
            return found

        return GraphQLInputObjectType(f"{kind.name}Where", fields, description=f"Which nodes of the type {kind.type}")

    def _make_related(self, kind: Kind) -> GraphQLInputObjectType:
        """The conditions on nodes of this type at the other end of a connection."""
        where, name = self.wheres[kind.type], f"{kind.name}WhereRelated"
        descriptions = {
            "some": "At least one meets this",
            "none": "None meets this",
            "every": "None fails to meet this",
        }
        fields = {quantifier: GraphQLInputField(where, description=text) for quantifier, text in descriptions.items()}
        description = f"Which nodes of the type {kind.type} there are; all conditions that are given must hold"
        return self._get_or_make(name, lambda: GraphQLInputObjectType(name, fields, description=description))

    def _make_side_field(self, side: Side) -> GraphQLField:
        """The field with the nodes at the other end of a connection type."""
        ends, has_one_end = self.naming.ends(side), self.naming.has_one_end(side)
        name = f"{side.link.name}{'Target' if side.outgoing else 'Source'}"
        target = (
            self.objects[ends[0].type]
            if has_one_end
            else self._make_union(name, [self.objects[end.type] for end in ends])
        )
        way = "leads to from here" if side.outgoing else "comes from to here"
        return GraphQLField(
            GraphQLNonNull(self._make_connection_type(name, target, side.link)),
            args=self._make_list_arguments(ends[0] if has_one_end else None),
            resolve=pick_by_key,
            description=f"The nodes that {side.link.type.name} {way}, by the age of the connection",
        )

    def _make_union(self, name: str, types: list[GraphQLObjectType]) -> GraphQLUnionType:
        return self._get_or_make(
            name, lambda: GraphQLUnionType(name, types, lambda value, *_: value[MARK], "One of these")
        )

    def _make_connection_type(self, name: str, target: Any, link: Link | None = None) -> GraphQLObjectType:
        """The connection type for a page of nodes; for a connection type of the ontology its edges have the
        connection's fields."""
        edge_name, page_name = f"{name}Edge", f"{name}Connection"

        def edge() -> GraphQLObjectType:
            fields = {
                "cursor": field(GraphQLNonNull(GraphQLString), "Give it as `after` or `before` to page on from here"),
                "node": field(GraphQLNonNull(target), "The node"),
            }
            description = "A node on a page, with the cursor behind it"
            return GraphQLObjectType(edge_name, fields | _make_link_fields(link), description=description)

        def page() -> GraphQLObjectType:
            edges = self._get_or_make(edge_name, edge)
            fields = {
                "edges": field(non_null_list(edges), "The nodes with their cursors"),
                "nodes": field(non_null_list(target), "The nodes alone"),
                "pageInfo": field(GraphQLNonNull(PAGE_INFO), "Where the page stands"),
                "totalCount": field(GraphQLNonNull(GraphQLInt), "How many there are in all; counted only when chosen"),
            }
            shown = f"nodes of the type {name}" if link is None else f"connections of the type {link.type.name}"
            aggregate = GraphQLNonNull(self._make_aggregate_type(name, shown))
            fields["aggregate"] = field(aggregate, AGGREGATE if link is None else LINK_AGGREGATE)
            return GraphQLObjectType(page_name, fields, description="A page of nodes")

        return self._get_or_make(page_name, page)

    def _make_aggregate_type(self, base: str, shown: str) -> GraphQLObjectType:
        """The type of the aggregates of a list."""
        group_name, name = (self.naming.take_type_name(f"{base}{part}") for part in ("Group", "Aggregate"))
        keys = field(GraphQLNonNull(GraphQLList(JSON)), "The values that its rows have in common, in the order of `by`")
        group = GraphQLObjectType(group_name, {**AGGREGATES, "keys": keys}, description=f"Some {shown} in short")
        groups = GraphQLField(
            non_null_list(group),
            args=GROUPING,
            resolve=pick_by_key,
            description="In groups, those with most rows first",
        )
        return GraphQLObjectType(name, {**AGGREGATES, "groupBy": groups}, description=f"All {shown} of a list in short")

    def _get_or_make(self, name: str, make: Callable[[], T]) -> T:
        """The type with this name, created on first use."""
        if name not in self._types:
            self._types[name] = make()
        found: T = self._types[name]
        return found


async def run_root(info: GraphQLResolveInfo[Any], compiler: TypedCompiler, root: Root, at: Any) -> Any:
    """Run a compiled root field and parse its rendering back into values."""
    variables = compiler.selection.variables
    plan = root.plan(variables)
    if plan is None:
        return None
    rows = await info.context.system.read(plan, to_at(at))
    render_args = [bind(variables) for bind in compiler.binders]
    return parse_json(root.rendering.write(rows, plan, render_args).encode())


def _describe(definition: PropertyDefinition) -> str:
    """The description of a property's field."""
    description = [definition.description or f"The property {definition.name}"]
    if definition.enum:
        description.append(f"One of: {', '.join(str(value) for value in definition.enum[:50])}.")
    if definition.pattern is not None:
        description.append(f"Looks like {definition.pattern}.")
    return " ".join(description)


def _make_property_field(definition: PropertyDefinition) -> GraphQLField:
    return field(KINDS[definition.kind], _describe(definition))


def _make_link_fields(link: Link | None) -> dict[str, GraphQLField]:
    if link is None:
        return {}
    found = {
        "id": field(GraphQLNonNull(GraphQLID), "The id of the connection"),
        "properties": field(GraphQLNonNull(JSON), "All properties of the connection"),
        "created": field(GraphQLNonNull(MILLIS), "When it was made, in Unix milliseconds"),
        "createdAt": field(GraphQLNonNull(DATE_TIME), "When it was made"),
        "content": field(CONTENT, "Notes about it; null without any"),
    }
    return found | {name: _make_property_field(one) for name, one in link.properties.items()}


TYPED: Mapping[Any, Any] = {
    ID: GraphQLNonNull(GraphQLID),
    str: GraphQLNonNull(GraphQLString),
    str | None: GraphQLNonNull(GraphQLString),
    int: GraphQLNonNull(GraphQLInt),
    Millis: GraphQLNonNull(MILLIS),
    Instant: GraphQLNonNull(DATE_TIME),
    Json: GraphQLNonNull(JSON),
}
"""The GraphQL types of declared fields in generated schemas; nodes of an ontology always have a type."""
NODE_FIELDS = {
    declared.name: field(TYPED[declared.type] if isinstance(declared, Shown) else CONTENT, description)
    for declared in NODE.fields
    if (description := get_typed_description(declared))
}
MEMORY_NODE = GraphQLInterfaceType(
    "MemoryNode",
    NODE_FIELDS,
    resolve_type=lambda value, *_: value[MARK],
    description="A node of any type",
)
AGGREGATE = "All nodes of the list in short, whatever page is shown"
LINK_AGGREGATE = "All connections of the list in short, by their own properties, whatever page is shown"
OF = {"of": GraphQLArgument(GraphQLNonNull(GraphQLString), description="Which field")}


def _make_aggregate_field(type: Any, description: str) -> GraphQLField:
    return GraphQLField(type, args=OF, resolve=pick_by_key, description=description)


AGGREGATES = {
    "count": field(GraphQLNonNull(GraphQLInt), "How many there are"),
    "sum": _make_aggregate_field(GraphQLFloat, "The sum of the numbers of a field; null without any"),
    "avg": _make_aggregate_field(GraphQLFloat, "The average of the numbers of a field; null without any"),
    "min": _make_aggregate_field(JSON, "The smallest value of a field; null without any"),
    "max": _make_aggregate_field(JSON, "The greatest value of a field; null without any"),
}
GROUPING = {
    "by": GraphQLArgument(
        GraphQLNonNull(GraphQLList(GraphQLNonNull(GraphQLString))), description="The fields, up to four"
    ),
    "first": GraphQLArgument(GraphQLInt, default_value=DEFAULT_GROUPS, description="So many groups, at most 500"),
}
AT_ARGUMENT = {"at": GraphQLArgument(AT, description="Where in time to read: now when left out")}
PAGING = {
    "first": GraphQLArgument(GraphQLInt, description="So many from the start; 50 unless told"),
    "after": GraphQLArgument(GraphQLString, description="Behind this cursor"),
    "last": GraphQLArgument(GraphQLInt, description="So many from the end"),
    "before": GraphQLArgument(GraphQLString, description="Before this cursor"),
}
