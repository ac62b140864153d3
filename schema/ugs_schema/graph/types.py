"""GraphQL types of nodes and edges.

Related rows are read together with the row (`ugs_schema.compiler.field_plans`), so most resolvers only pick values.
Fields that follow more than one relation query the system themselves, within limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, EnumMeta
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import strawberry
from graphql import get_named_type
from strawberry.types.field import StrawberryField

from ugs.errors import InvalidSyntax
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.queries import follow_all, places_of_addresses, referenced_by
from ugs.log.at import At as KernelAt
from ugs.reads.cursors import cursor_of
from ugs.reads.plan import Order, Page, ResultPage, ResultRow
from ugs.reads.rendering import Column
from ugs.tables import Kind, Table
from ugs.values import JsonText, from_text
from ugs_schema.compiler.plan_templates import ReadTemplate
from ugs_schema.compiler.row_types import (
    ROW_TYPES,
    RelatedColumn,
    RelatedCount,
    RelatedMany,
    RelatedMissing,
    RelatedOne,
    RowField,
    Shown,
    ShownJson,
    restrict_to_ids,
)
from ugs_schema.compiler.selection import Selection, get_selected_field
from ugs_schema.context import Info
from ugs_schema.graph.aggregates import GraphEdgeAggregate, GraphNodeAggregate, show_aggregate
from ugs_schema.graph.filters import EdgeFilter
from ugs_schema.graph.list_arguments import parse_edges_at_node
from ugs_schema.graph.order_by import EdgeOrder
from ugs_schema.graph.row_types import CONTENT, EDGE, ELEMENT_FIELDS, NODE
from ugs_schema.list_page import cut_page
from ugs_schema.pagination import PageInfo, build_page_info, parse_page_size
from ugs_schema.scalars import Instant, Json, parse_instant

if TYPE_CHECKING:
    from ugs_schema.facts.types import Entity
    from ugs_schema.ontologies.types import Ontology

MAX_RESOLVE_DEPTH = 5


@strawberry.enum(description="Which way edges are followed")
class Direction(Enum):
    OUTGOING = strawberry.enum_value("outgoing", description="From the edge's source to its target")
    INCOMING = strawberry.enum_value("incoming", description="From the edge's target to its source")
    BOTH = strawberry.enum_value("both", description="Either way")


@strawberry.enum(description="In which order a traversal visits nodes")
class Strategy(Enum):
    BFS = strawberry.enum_value("bfs", description="Level by level")
    DFS = strawberry.enum_value("dfs", description="Branch by branch")


async def expand_addresses(info: Info, value: Any, depth: int | None, at: KernelAt | None) -> Any:
    """The value with its addresses resolved to this depth."""
    depth = depth or 0
    if not 0 <= depth <= MAX_RESOLVE_DEPTH:
        raise InvalidSyntax(f"resolveDepth lies between 0 and {MAX_RESOLVE_DEPTH}, got {depth}")
    return value if depth == 0 else await info.context.graph.expand(value, depth, at)


@strawberry.interface(name="Node", description="Anything with a global id")
class Identified:
    id: strawberry.ID = strawberry.field(description="Unique in the whole system; graph elements show their own id")


class RowObject:
    """What objects that show a row have in common."""

    result_row: ResultRow
    path: str
    at: KernelAt | None

    @property
    def row(self) -> Any:
        return self.result_row.row

    async def get_related(self, info: Info, suffix: str = "") -> ResultPage:
        """The related rows of the field being resolved; read now if the row was not read with a plan for this
        selection."""
        name = f"{self.path}{info.path.key}{suffix}"
        if name not in self.result_row.nest:
            await self._read_related(info)
        return self.result_row.nest[name]

    async def _read_related(self, info: Info) -> None:
        row_type = ROW_TYPES[info._raw_info.parent_type.name]
        selection, selected_field = Selection.from_info(info._raw_info), get_selected_field(info._raw_info)
        nest = row_type.by_name[selected_field.name].build_nests(selection, selected_field, self.path)
        plan = restrict_to_ids(ReadTemplate(row_type.table, nest).bind(selection.variables), self.row.id)
        result_row = await info.context.system.read(plan, self.at)
        empty = {name: ResultPage([], total=0) for name in nest}
        self.result_row.nest.update(result_row.items[0].nest if result_row.items else empty)


# ── how graphql-core resolves the declared fields ────────────────────────────


def make_value_reader(field: Shown, table: Table) -> Callable[[Any], Any]:
    """A function that gives the value of a field from the row, as its scalar or enum serializes it."""
    piece, types = field.piece, {field.type, *get_args(field.type)}
    enum = next((type for type in types if isinstance(type, EnumMeta)), None)
    is_json = isinstance(piece, Column) and table.field(piece.field).kind is Kind.JSON
    is_real = isinstance(piece, Column) and table.field(piece.field).kind is Kind.REAL

    def read(row: Any) -> Any:
        if isinstance(piece, Column):
            value = getattr(row, piece.field)
            if value is None:
                return None
            return from_text(value) if is_json else float(value) if is_real else value
        value = from_text(JsonText(piece.text(*[getattr(row, name) for name in piece.fields])))
        if enum is not None:
            return enum[value]
        return parse_instant(value) if Instant in types else value

    return read


def make_shown_resolver(field: Shown, table: Table) -> Callable[..., Any]:
    read = make_value_reader(field, table)

    def resolve(self: Any) -> Any:
        return read(self.row)

    return resolve


def make_json_resolver(field: Shown, table: Table) -> Callable[..., Any]:
    read = make_value_reader(field, table)

    async def resolve(self: Any, info: Info, resolve_depth: int | None = 0) -> Any:
        return await expand_addresses(info, read(self.row), resolve_depth, self.at)

    return resolve


async def resolve_property(self: Any, info: Info, key: str, resolve_depth: int | None = 0) -> Json | None:
    value = await expand_addresses(info, self.row.properties.get(key), resolve_depth, self.at)
    return None if value is None else Json(value)


async def resolve_related_one(self: Any, info: Info) -> Any:
    items = (await self.get_related(info)).items
    return show_row(items[0], info, self.at) if items else None


async def resolve_edges(
    self: Any,
    info: Info,
    type: str | None = None,
    filter: EdgeFilter | None = None,
    order_by: list[EdgeOrder] | None = None,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Any:
    return await get_edge_page(self, info)


def make_count_resolver(field: RelatedCount) -> Callable[..., Any]:
    async def resolve(self: Any, info: Info, direction: Direction = Direction.BOTH) -> int:
        relations = field.choose(direction.name)
        return sum([(await self.get_related(info, f"/{one}")).total or 0 for one in relations])

    return resolve


def make_missing_resolver(field: RelatedMissing) -> Callable[..., Any]:
    async def resolve(self: Any, info: Info) -> bool:
        return not all([(await self.get_related(info, f"/{one}")).items for one in field.relations])

    return resolve


def make_column_resolver(field: RelatedColumn) -> Callable[..., Any]:
    async def resolve(self: Any, info: Info) -> Any:
        return next((getattr(item.row, field.column) for item in (await self.get_related(info)).items), None)

    return resolve


def make_field(declared: RowField, table: Table) -> Any:
    """The Strawberry field of a declared field."""
    shown: Any = None
    if isinstance(declared, Shown):
        make = make_json_resolver if isinstance(declared, ShownJson) else make_shown_resolver
        resolver, shown = make(declared, table), declared.type
    elif isinstance(declared, RelatedOne):
        resolver = resolve_related_one
        shown = Annotated[declared.target, strawberry.lazy(__name__)] | None
    elif isinstance(declared, RelatedMany):
        resolver = resolve_edges
        shown = Annotated[f"{declared.target}Connection", strawberry.lazy(__name__)]
    elif isinstance(declared, RelatedCount):
        resolver, shown = make_count_resolver(declared), int
    elif isinstance(declared, RelatedMissing):
        resolver, shown = make_missing_resolver(declared), bool
    elif isinstance(declared, RelatedColumn):
        resolver, shown = make_column_resolver(declared), declared.type
    else:
        resolver, shown = resolve_property, Json | None
    return strawberry.field(resolver, name=declared.name, description=declared.description, graphql_type=shown)


Shows = TypeVar("Shows", bound=type)


def show_fields(fields: Iterable[RowField], table: Table) -> Callable[[Shows], Shows]:
    """Give a class the declared fields, in front of its own."""

    def decorate(shows: Shows) -> Shows:
        own = {name: value for name, value in vars(shows).items() if isinstance(value, StrawberryField)}
        for name in own:
            delattr(shows, name)
        for declared in fields:
            if declared.name != "id":
                setattr(shows, f"show_{declared.name}", make_field(declared, table))
        for name, value in own.items():
            setattr(shows, name, value)
        return shows

    return decorate


@strawberry.interface(description="A node or an edge")
@show_fields(ELEMENT_FIELDS, NODES)
class Element(RowObject, Identified):
    result_row: strawberry.Private[ResultRow]
    path: strawberry.Private[str] = ""
    at: strawberry.Private[KernelAt | None] = None


@strawberry.type(description="What a node or an edge says")
@show_fields(CONTENT.fields, CONTENT.table)
class Content(RowObject):
    result_row: strawberry.Private[ResultRow]
    path: strawberry.Private[str] = ""
    at: strawberry.Private[KernelAt | None] = None


@strawberry.type(description="A vertex of the graph")
@show_fields(NODE.fields[len(ELEMENT_FIELDS) :], NODES)
class GraphNode(Element):
    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, GraphNode)

    @strawberry.field(description="The ontology that knows its type, the first by name; null when none does")
    async def ontology(self, info: Info) -> Annotated[Ontology, strawberry.lazy("ugs_schema.ontologies.types")] | None:
        # Imported here to avoid an import cycle: ontologies use node types.
        from ugs_schema.ontologies.loaders import find_ontology_of_type

        return await find_ontology_of_type(info, self.row.type, self.at)

    @strawberry.field(description="The entity that points at this node, in your project unless told; null without one")
    async def entity(
        self, info: Info, tenant_id: str | None = None, project_id: str | None = None
    ) -> Annotated[Entity, strawberry.lazy("ugs_schema.facts.types")] | None:
        # Imported here to avoid an import cycle: facts use node types.
        from ugs_schema.facts.answers import find_entity_of_node
        from ugs_schema.facts.loaders import get_shared_loader

        return await find_entity_of_node(await get_shared_loader(info, self.at), self.row.id, tenant_id, project_id)

    @strawberry.field(
        description="The addresses in its properties and data, with what they lead to; more than 200 with `first` and "
        "`after` (the path of the last one)"
    )
    async def references(self, info: Info, first: int | None = None, after: str | None = None) -> list[Reference]:
        addresses = cut_page(places_of_addresses(self.row), first, after, lambda place: place[0])
        async with info.context.system.session_at(self.at) as session:
            result_row = await follow_all(session, addresses)
        return [
            Reference(address=str(one.address), path=one.path, target=to_graphql_if_found(one.target, self.at))
            for one in result_row
        ]

    @strawberry.field(description="Elements that mention this node in their properties or data")
    async def referenced_by(self, info: Info, first: int | None = 20) -> list[GraphElement]:
        limit = parse_page_size({"first": first}, "first")
        async with info.context.system.session_at(self.at) as session:
            rows = await referenced_by(session, self.row.id, Page(limit=limit))
        return [to_graphql_element(row, self.at) for row in rows]


@strawberry.type(description="A directed, weighted relationship")
@show_fields(EDGE.fields[len(ELEMENT_FIELDS) :], EDGES)
class GraphEdge(Element):
    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, GraphEdge)


GraphElement = Annotated[GraphNode | GraphEdge, strawberry.union("GraphElement", description="A node or an edge")]


@strawberry.type(description="An address inside an element, and what it leads to")
class Reference:
    address: str = strawberry.field(description="As written, such as @(alice) or @(alice:3)")
    path: str = strawberry.field(description="Where it stands, such as properties.manager")
    target: GraphElement | None = strawberry.field(description="What it leads to now; null when nowhere")

    @strawberry.field(description="Whether it leads anywhere")
    def resolved(self) -> bool:
        return self.target is not None


@strawberry.type(description="A node on a page, with the cursor behind it")
class GraphNodeEdge:
    cursor: str = strawberry.field(description="Give it as `after` or `before` to page on from here")
    result_row: strawberry.Private[ResultRow]
    key: strawberry.Private[str]
    at: strawberry.Private[KernelAt | None] = None

    @strawberry.field(description="The node")
    def node(self, info: Info) -> GraphNode:
        return to_graphql_node(self.result_row, f"{self.key}/{info.path.key}/", self.at)


@strawberry.type(description="An edge on a page, with the cursor behind it")
class GraphEdgeEdge:
    cursor: str = strawberry.field(description="Give it as `after` or `before` to page on from here")
    result_row: strawberry.Private[ResultRow]
    key: strawberry.Private[str]
    at: strawberry.Private[KernelAt | None] = None

    @strawberry.field(description="The edge")
    def node(self, info: Info) -> GraphEdge:
        return to_graphql_edge(self.result_row, f"{self.key}/{info.path.key}/", self.at)


class RowPage:
    """A page of rows with its cursors, for both connection types."""

    def __init__(self, rows: ResultPage, page: Page, cursors: Sequence[str], at: KernelAt | None) -> None:
        self.rows, self.page, self.cursors, self.at = rows, page, cursors, at


AGGREGATE = "All rows of the list in short, whatever page is shown: counts, sums, minima and maxima, in groups too"


@strawberry.type(description="A page")
class RowConnection:
    """Common fields of both connection types; not a type of the schema."""

    paged: strawberry.Private[RowPage]

    @strawberry.field(description="Where the page stands")
    def page_info(self) -> PageInfo:
        return build_page_info(self.paged.page, self.paged.rows.more, self.paged.cursors)

    @strawberry.field(description="How many there are in all; counted only when chosen")
    def total_count(self) -> int:
        return self.paged.rows.total or 0


@strawberry.type(description="A page of nodes")
class GraphNodeConnection(RowConnection):
    @strawberry.field(description=AGGREGATE)
    def aggregate(self, info: Info) -> GraphNodeAggregate:
        assert NODE.parse_value is not None
        return GraphNodeAggregate(shown=show_aggregate(self.paged.rows, info, NODE.parse_value))

    @strawberry.field(description="The nodes with their cursors")
    def edges(self, info: Info) -> list[GraphNodeEdge]:
        pairs = zip(self.paged.cursors, self.paged.rows.items, strict=True)
        return [GraphNodeEdge(cursor=c, result_row=f, key=str(info.path.key), at=self.paged.at) for c, f in pairs]

    @strawberry.field(description="The nodes alone")
    def nodes(self, info: Info) -> list[GraphNode]:
        return [to_graphql_node(result_row, f"{info.path.key}/", self.paged.at) for result_row in self.paged.rows.items]


@strawberry.type(description="A page of edges")
class GraphEdgeConnection(RowConnection):
    @strawberry.field(description=AGGREGATE)
    def aggregate(self, info: Info) -> GraphEdgeAggregate:
        assert EDGE.parse_value is not None
        return GraphEdgeAggregate(shown=show_aggregate(self.paged.rows, info, EDGE.parse_value))

    @strawberry.field(description="The edges with their cursors")
    def edges(self, info: Info) -> list[GraphEdgeEdge]:
        pairs = zip(self.paged.cursors, self.paged.rows.items, strict=True)
        return [GraphEdgeEdge(cursor=c, result_row=f, key=str(info.path.key), at=self.paged.at) for c, f in pairs]

    @strawberry.field(description="The edges alone")
    def nodes(self, info: Info) -> list[GraphEdge]:
        return [to_graphql_edge(result_row, f"{info.path.key}/", self.paged.at) for result_row in self.paged.rows.items]


def to_graphql_node(result_row: ResultRow, path: str = "", at: KernelAt | None = None) -> GraphNode:
    """The GraphQL object of a node."""
    return GraphNode(id=strawberry.ID(result_row.row.id), result_row=result_row, path=path, at=at)


def to_graphql_edge(result_row: ResultRow, path: str = "", at: KernelAt | None = None) -> GraphEdge:
    """The GraphQL object of an edge."""
    return GraphEdge(id=strawberry.ID(result_row.row.id), result_row=result_row, path=path, at=at)


def show_row(result_row: ResultRow, info: Info, at: KernelAt | None) -> Any:
    """The object of a related row, of the type that the field being resolved has."""
    name = get_named_type(info._raw_info.return_type).name
    if name == "Content":
        return Content(result_row=result_row, at=at)
    return to_graphql_node(result_row, at=at) if name == "GraphNode" else to_graphql_edge(result_row, at=at)


def to_graphql_element(row: Node | Edge, at: KernelAt | None = None) -> GraphNode | GraphEdge:
    """The GraphQL object of a row without related rows."""
    return (
        to_graphql_node(ResultRow(row, {}), at=at)
        if isinstance(row, Node)
        else to_graphql_edge(ResultRow(row, {}), at=at)
    )


def to_graphql_if_found(row: Node | Edge | None, at: KernelAt | None = None) -> GraphNode | GraphEdge | None:
    """As `to_graphql_element`, for a row that may be missing."""
    return None if row is None else to_graphql_element(row, at)


def build_page(
    rows: ResultPage, page: Page, order: tuple[Order, ...], at: KernelAt | None, edges: bool = False
) -> RowPage:
    """A page with the cursor of each row."""
    table = EDGES if edges else NODES
    return RowPage(rows, page, [cursor_of(result_row.row, table, order) for result_row in rows.items], at)


async def get_edge_page(node: GraphNode, info: Info) -> GraphEdgeConnection:
    """The connection of edges that was read with a node for this field."""
    raw = info._raw_info
    _, order, page = parse_edges_at_node(Selection.from_info(raw).arguments(get_selected_field(raw)))
    return GraphEdgeConnection(paged=build_page(await node.get_related(info), page, order, node.at, edges=True))
