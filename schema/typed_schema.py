"""An ontology as a GraphQL schema: its node types, connection types and properties as types, fields and inputs.

Every field below a root is looked up by its response key in what the compiler's rendering gave for exactly this
selection, so the ordinary executor and the compiled way cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from graphql import (
    GraphQLArgument,
    GraphQLField,
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

from schema.compiled import Root
from schema.selection import Selection, own_choice
from schema.typed_changing import changes_of
from schema.typed_names import Kind, Link, Naming, Side
from schema.typed_scalars import (
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
    at_of,
    by_key,
    field,
    nth,
)
from schema.typed_shapes import MARK, TypedCompiler, TypedShapes
from schema.typed_watching import subscriptions_of
from ugs.errors import LimitExceeded
from ugs.ontology.growth import Step
from ugs.ontology.properties import PropertyDefinition, PropertyKind
from ugs.reads.rendering import Rendering
from ugs.values import parse_json

T = TypeVar("T")
MAX_TYPES = 1_000
"""A schema of more types is of no use to people and slow for tools."""

WHERES: dict[PropertyKind, GraphQLInputObjectType] = {
    PropertyKind.STRING: STRING_WHERE,
    PropertyKind.INTEGER: LONG_WHERE,
    PropertyKind.NUMBER: FLOAT_WHERE,
    PropertyKind.BOOLEAN: BOOLEAN_WHERE,
}


class TypedSchema:
    """The generated schema of one ontology."""

    def __init__(self, name: str, steps: Iterable[Step]) -> None:
        self.name = name
        self.naming = Naming(steps)
        if len(self.naming.kinds) + len(self.naming.links) > MAX_TYPES:
            raise LimitExceeded(f"Typed GraphQL is made of at most {MAX_TYPES} types", limit=MAX_TYPES)
        self._made: dict[str, Any] = {}
        self.shapes = TypedShapes(self.naming)
        self.roots = self.shapes.roots()
        self.objects = {kind.type: self._object(kind) for kind in self.naming.kinds.values()}
        self.wheres = {kind.type: self._where(kind) for kind in self.naming.kinds.values()}
        self.core = GraphQLSchema(
            query=GraphQLObjectType("Query", self._queries, description=f"What is remembered under {name}"),
            mutation=GraphQLObjectType("Mutation", lambda: changes_of(self), description=f"Changes under {name}"),
            subscription=subscriptions_of(self),
            types=[MEMORY_NODE, *self.objects.values()],
        )

    def text(self) -> str:
        """The schema in GraphQL's own language."""
        return print_schema(self.core) + "\n"

    # ── reading ──────────────────────────────────────────────────────────────

    def _queries(self) -> dict[str, GraphQLField]:
        told = {"ontology": GraphQLField(GraphQLNonNull(GraphQLString), resolve=self._told, description="Its name")}
        for kind in self.naming.kinds.values():
            told[kind.singular] = GraphQLField(
                self.objects[kind.type],
                args={"id": GraphQLArgument(GraphQLNonNull(GraphQLID), description="Its id"), **AT_ARGUMENT},
                resolve=self._root,
                description=f"The {kind.type} with this id; null without one",
            )
            told[kind.plural] = GraphQLField(
                GraphQLNonNull(self._page_of(f"{kind.name}", self.objects[kind.type])),
                args=self._listing(kind, ordered=True) | AT_ARGUMENT,
                resolve=self._root,
                description=f"Nodes of the type {kind.type}, a page at a time, by id unless told",
            )
        return told

    def _told(self, source: Any, info: GraphQLResolveInfo[Any]) -> str:
        return self.name

    async def _root(self, source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        compiler = TypedCompiler(Selection.of(info))
        root = self.roots[info.field_name](compiler, own_choice(info))
        return await answered(info, compiler, root, arguments.get("at"))

    async def found(self, info: GraphQLResolveInfo[Any], kind: Kind, id: str) -> Any:
        """The node with this id, with the fields chosen below the field that is being resolved."""
        compiler, choice = TypedCompiler(Selection.of(info)), own_choice(info)
        template = self.shapes.by_id(kind, compiler.selection, choice, lambda given: id)
        rendering = Rendering(compiler.row(choice, self.shapes.shapes[kind.type]))
        return await answered(info, compiler, Root(choice.key, template.bind, rendering), None)

    def _listing(self, kind: Kind | None, ordered: bool = False) -> dict[str, GraphQLArgument]:
        given = dict(PAGING)
        if kind is not None:
            given["where"] = GraphQLArgument(self.wheres[kind.type], description="Which of them")
        if ordered:
            given["orderBy"] = GraphQLArgument(GraphQLList(GraphQLNonNull(ORDER)), description="In which order")
        return given

    # ── types ────────────────────────────────────────────────────────────────

    def _object(self, kind: Kind) -> GraphQLObjectType:
        def fields() -> dict[str, GraphQLField]:
            found = dict(NODE_FIELDS)
            found |= {name: _property_field(one) for name, one in kind.properties.items()}
            sides = {name: self._side_field(side) for name, side in kind.sides.items() if self.naming.ends(side)}
            return found | sides

        told = f"A node of the type {kind.type}"
        return GraphQLObjectType(kind.name, fields, [MEMORY_NODE], description=told)

    def _where(self, kind: Kind) -> GraphQLInputObjectType:
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
                found[name] = GraphQLInputField(WHERES[definition.kind], description=_meaning(definition))
            return found

        return GraphQLInputObjectType(f"{kind.name}Where", fields, description=f"Which nodes of the type {kind.type}")

    def _side_field(self, side: Side) -> GraphQLField:
        """The nodes that a connection type leads to, or comes from."""
        ends, alone = self.naming.ends(side), self.naming.has_one_end(side)
        name = f"{side.link.name}{'Target' if side.outgoing else 'Source'}"
        target = self.objects[ends[0].type] if alone else self._union(name, [self.objects[end.type] for end in ends])
        way = "leads to from here" if side.outgoing else "comes from to here"
        return GraphQLField(
            GraphQLNonNull(self._page_of(name, target, side.link)),
            args=self._listing(ends[0] if alone else None),
            resolve=by_key,
            description=f"The nodes that {side.link.type.name} {way}, by the age of the connection",
        )

    def _union(self, name: str, types: list[GraphQLObjectType]) -> GraphQLUnionType:
        return self._kept(name, lambda: GraphQLUnionType(name, types, lambda value, *_: value[MARK], "One of these"))

    def _page_of(self, name: str, target: Any, link: Link | None = None) -> GraphQLObjectType:
        """A page of nodes; behind a connection type it also shows what the connections say."""
        edge_name, page_name = f"{name}Edge", f"{name}Connection"

        def edge() -> GraphQLObjectType:
            fields = {
                "cursor": field(GraphQLNonNull(GraphQLString), "Give it as `after` or `before` to page on from here"),
                "node": field(GraphQLNonNull(target), "The node"),
            }
            told = "A node on a page, with the cursor behind it"
            return GraphQLObjectType(edge_name, fields | _link_fields(link), description=told)

        def page() -> GraphQLObjectType:
            edges = self._kept(edge_name, edge)
            fields = {
                "edges": field(nth(edges), "The nodes with their cursors"),
                "nodes": field(nth(target), "The nodes alone"),
                "pageInfo": field(GraphQLNonNull(PAGE_INFO), "Where the page stands"),
                "totalCount": field(GraphQLNonNull(GraphQLInt), "How many there are in all; counted only when chosen"),
            }
            return GraphQLObjectType(page_name, fields, description="A page of nodes")

        return self._kept(page_name, page)

    def _kept(self, name: str, make: Callable[[], T]) -> T:
        """The type with this name, made once."""
        if name not in self._made:
            self._made[name] = make()
        found: T = self._made[name]
        return found


async def answered(info: GraphQLResolveInfo[Any], compiler: TypedCompiler, root: Root, at: Any) -> Any:
    """What the compiled way would write, as values."""
    variables = compiler.selection.variables
    plan = root.plan(variables)
    if plan is None:
        return None
    rows = await info.context.system.read(plan, at_of(at))
    late = [bind(variables) for bind in compiler.binders]
    return parse_json(root.rendering.write(rows, plan, late).encode())


def _meaning(definition: PropertyDefinition) -> str:
    """What a definition says, in one line for people."""
    told = [definition.description or f"The property {definition.name}"]
    if definition.enum:
        told.append(f"One of: {', '.join(str(value) for value in definition.enum[:50])}.")
    if definition.pattern is not None:
        told.append(f"Looks like {definition.pattern}.")
    return " ".join(told)


def _property_field(definition: PropertyDefinition) -> GraphQLField:
    return field(KINDS[definition.kind], _meaning(definition))


def _link_fields(link: Link | None) -> dict[str, GraphQLField]:
    if link is None:
        return {}
    found = {
        "id": field(GraphQLNonNull(GraphQLID), "The id of the connection"),
        "properties": field(GraphQLNonNull(JSON), "All properties of the connection"),
        "created": field(GraphQLNonNull(MILLIS), "When it was made, in Unix milliseconds"),
        "createdAt": field(GraphQLNonNull(DATE_TIME), "When it was made"),
        "content": field(CONTENT, "Notes about it; null without any"),
    }
    return found | {name: _property_field(one) for name, one in link.properties.items()}


NODE_FIELDS = {
    "id": field(GraphQLNonNull(GraphQLID), "Its id"),
    "type": field(GraphQLNonNull(GraphQLString), "Its node type, as the ontology calls it"),
    "created": field(GraphQLNonNull(MILLIS), "When it was created, in Unix milliseconds"),
    "modified": field(GraphQLNonNull(MILLIS), "When it was last changed, in Unix milliseconds"),
    "createdAt": field(GraphQLNonNull(DATE_TIME), "When it was created"),
    "modifiedAt": field(GraphQLNonNull(DATE_TIME), "When it was last changed"),
    "version": field(GraphQLNonNull(GraphQLInt), "Counts its changes"),
    "label": field(GraphQLNonNull(GraphQLString), "A name for people: the property label, name or title, else the id"),
    "properties": field(GraphQLNonNull(JSON), "All properties, defined or not"),
    "content": field(CONTENT, "What it says; null when it has no content"),
}
MEMORY_NODE = GraphQLInterfaceType(
    "MemoryNode",
    NODE_FIELDS,
    resolve_type=lambda value, *_: value[MARK],
    description="A node of any type",
)
AT_ARGUMENT = {"at": GraphQLArgument(AT, description="Where in time to read: now when left out")}
PAGING = {
    "first": GraphQLArgument(GraphQLInt, description="So many from the start; 50 unless told"),
    "after": GraphQLArgument(GraphQLString, description="Behind this cursor"),
    "last": GraphQLArgument(GraphQLInt, description="So many from the end"),
    "before": GraphQLArgument(GraphQLString, description="Before this cursor"),
}
