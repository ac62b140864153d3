"""Nodes and edges as GraphQL shows them.

What a field needs from other tables has come along with the row (`schema.shapes`), so resolvers only pick. Fields
that walk further than one relation ask the system themselves; limits keep them in bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from schema.contents import Content, shown_content
from schema.context import Info
from schema.filters import EdgeFilter
from schema.orders import EdgeOrder
from schema.paging import PageInfo, page_info, page_size
from schema.scalars import Instant, Json, Millis, instant_of
from schema.selection import Selection, own_choice
from schema.shapes import EDGE, NODE, edges_at_node, only
from schema.templates import ReadTemplate
from ugs.errors import InvalidSyntax
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.naming import label_of
from ugs.graph.queries import referenced_by, references
from ugs.identity import Scope
from ugs.moments import At as KernelAt
from ugs.reads.cursors import cursor_of
from ugs.reads.plan import Found, Order, Page, Rows

if TYPE_CHECKING:
    from schema.facts_types import Entity
    from schema.ontology_types import Ontology

MOST_RESOLVED = 5


@strawberry.enum(description="Which way edges are followed")
class Direction(Enum):
    OUTGOING = strawberry.enum_value("outgoing", description="From the edge's source to its target")
    INCOMING = strawberry.enum_value("incoming", description="From the edge's target to its source")
    BOTH = strawberry.enum_value("both", description="Either way")


@strawberry.enum(description="In which order a traversal visits nodes")
class Strategy(Enum):
    BFS = strawberry.enum_value("bfs", description="Level by level")
    DFS = strawberry.enum_value("dfs", description="Branch by branch")


async def expanded(info: Info, value: Any, depth: int | None, at: KernelAt | None) -> Any:
    """The value with its addresses followed as deep as asked."""
    depth = depth or 0
    if not 0 <= depth <= MOST_RESOLVED:
        raise InvalidSyntax(f"resolveDepth lies between 0 and {MOST_RESOLVED}, got {depth}")
    return value if depth == 0 else await info.context.graph.expand(value, depth, at)


@strawberry.interface(name="Node", description="Anything with a global id")
class Identified:
    id: strawberry.ID = strawberry.field(description="Unique in the whole system; graph elements show their own id")


@strawberry.interface(description="A node or an edge")
class Element(Identified):
    found: strawberry.Private[Found]
    path: strawberry.Private[str] = ""
    at: strawberry.Private[KernelAt | None] = None

    @property
    def row(self) -> Any:
        return self.found.row

    async def related(self, info: Info, more: str = "") -> Rows:
        """What came along for the field that is being resolved; a row without a plan fetches it now."""
        name = f"{self.path}{info.path.key}{more}"
        if name not in self.found.nest:
            await self._bring(info)
        return self.found.nest[name]

    async def _bring(self, info: Info) -> None:
        shape = NODE if isinstance(self.row, Node) else EDGE
        selection, choice = Selection.of(info._raw_info), own_choice(info._raw_info)
        nest = shape.related[choice.name](selection, choice, self.path)
        plan = only(ReadTemplate(shape.table, nest).bind(selection.variables), self.row.id)
        found = await info.context.system.read(plan, self.at)
        empty = {name: Rows([], total=0) for name in nest}
        self.found.nest.update(found.items[0].nest if found.items else empty)

    @strawberry.field(description="What kind of element it is; null when it has no type")
    def type(self) -> str | None:
        return self.row.type  # type: ignore[no-any-return]

    @strawberry.field(description="The namespace its id lives in")
    def scope(self) -> Scope:
        return self.row.scope  # type: ignore[no-any-return]

    @strawberry.field(description="All properties; addresses are followed `resolveDepth` levels deep (at most 5)")
    async def properties(self, info: Info, resolve_depth: int | None = 0) -> Json:
        return Json(await expanded(info, self.row.properties, resolve_depth, self.at))

    @strawberry.field(description="One property; null when there is none of that name")
    async def property(self, info: Info, key: str, resolve_depth: int | None = 0) -> Json | None:
        value = await expanded(info, self.row.properties.get(key), resolve_depth, self.at)
        return None if value is None else Json(value)

    @strawberry.field(description="What it says; null when it has no content")
    async def content(self, info: Info) -> Content | None:
        return shown_content(await self.related(info))

    @strawberry.field(description="When it was created, in Unix milliseconds")
    def created(self) -> Millis:
        return Millis(self.row.created)

    @strawberry.field(description="When it was last changed, in Unix milliseconds")
    def modified(self) -> Millis:
        return Millis(self.row.modified)

    @strawberry.field(description="When it was created")
    def created_at(self) -> Instant:
        return instant_of(self.row.created)

    @strawberry.field(description="When it was last changed")
    def modified_at(self) -> Instant:
        return instant_of(self.row.modified)

    @strawberry.field(description="Counts the changes of this element since its id was first used")
    def version(self) -> int:
        return self.row.version  # type: ignore[no-any-return]


@strawberry.type(description="A vertex of the graph")
class GraphNode(Element):
    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, GraphNode)

    @strawberry.field(description="Any JSON beside the properties")
    async def data(self, info: Info, resolve_depth: int | None = 0) -> Json | None:
        value = await expanded(info, self.row.data, resolve_depth, self.at)
        return None if value is None else Json(value)

    @strawberry.field(description="A name for people: the property label, name or title, else the id")
    def label(self) -> str:
        return label_of(self.row.id, self.row.properties)

    @strawberry.field(description="Edges that leave from this node, in the sequence they were added")
    async def outgoing(
        self,
        info: Info,
        type: str | None = None,
        filter: EdgeFilter | None = None,
        order_by: list[EdgeOrder] | None = None,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> GraphEdgeConnection:
        return await edge_page(self, info)

    @strawberry.field(description="Edges that arrive at this node, in the sequence they were added")
    async def incoming(
        self,
        info: Info,
        type: str | None = None,
        filter: EdgeFilter | None = None,
        order_by: list[EdgeOrder] | None = None,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> GraphEdgeConnection:
        return await edge_page(self, info)

    @strawberry.field(description="How many edges touch this node; a loop counts on both sides")
    async def degree(self, info: Info, direction: Direction = Direction.BOTH) -> int:
        sides = ("outgoing", "incoming") if direction is Direction.BOTH else (direction.name.lower(),)
        return sum([(await self.related(info, f"/{side}")).total or 0 for side in sides])

    @strawberry.field(description="The ontology that knows its type, the first by name; null when none does")
    async def ontology(self, info: Info) -> Annotated[Ontology, strawberry.lazy("schema.ontology_types")] | None:
        # Ontologies show nodes; nodes need not know of ontologies before somebody asks.
        from schema.ontology_sharing import ontology_of_type

        return await ontology_of_type(info, self.row.type, self.at)

    @strawberry.field(description="The entity that points at this node, in your project unless told; null without one")
    async def entity(
        self, info: Info, tenant_id: str | None = None, project_id: str | None = None
    ) -> Annotated[Entity, strawberry.lazy("schema.facts_types")] | None:
        # Facts know of nodes; nodes need not know of facts before somebody asks.
        from schema.facts_answers import entity_of_node
        from schema.facts_lots import shared_lot

        return await entity_of_node(await shared_lot(info, self.at), self.row.id, tenant_id, project_id)

    @strawberry.field(description="The addresses in its properties and data, with what they lead to")
    async def references(self, info: Info) -> list[Reference]:
        async with info.context.system.session_at(self.at) as session:
            found = await references(session, self.row)
        return [Reference(address=str(one.address), path=one.path, target=shown(one.target, self.at)) for one in found]

    @strawberry.field(description="Elements that mention this node in their properties or data")
    async def referenced_by(self, info: Info, first: int | None = 20) -> list[GraphElement]:
        limit = page_size({"first": first}, "first")
        async with info.context.system.session_at(self.at) as session:
            rows = await referenced_by(session, self.row.id, Page(limit=limit))
        return [shown_row(row, self.at) for row in rows]


@strawberry.type(description="A directed, weighted relationship")
class GraphEdge(Element):
    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, GraphEdge)

    @strawberry.field(name="from", description="Id of the node it leaves from")
    def source(self) -> strawberry.ID:
        return strawberry.ID(self.row.source)

    @strawberry.field(name="to", description="Id of the node it arrives at")
    def target(self) -> strawberry.ID:
        return strawberry.ID(self.row.target)

    @strawberry.field(description="The node it leaves from; null when that does not exist")
    async def from_node(self, info: Info) -> GraphNode | None:
        return await self._end(info)

    @strawberry.field(description="The node it arrives at; null when that does not exist")
    async def to_node(self, info: Info) -> GraphNode | None:
        return await self._end(info)

    async def _end(self, info: Info) -> GraphNode | None:
        items = (await self.related(info)).items
        return shown_node(items[0], at=self.at) if items else None

    @strawberry.field(description="Whether one of its nodes does not exist")
    async def dangling(self, info: Info) -> bool:
        return not all([(await self.related(info, f"/{end}")).items for end in ("source_node", "target_node")])

    @strawberry.field(description="The cost of going along it, 1 unless told")
    def weight(self) -> float:
        return float(self.row.weight)


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
    found: strawberry.Private[Found]
    key: strawberry.Private[str]
    at: strawberry.Private[KernelAt | None] = None

    @strawberry.field(description="The node")
    def node(self, info: Info) -> GraphNode:
        return shown_node(self.found, f"{self.key}/{info.path.key}/", self.at)


@strawberry.type(description="An edge on a page, with the cursor behind it")
class GraphEdgeEdge:
    cursor: str = strawberry.field(description="Give it as `after` or `before` to page on from here")
    found: strawberry.Private[Found]
    key: strawberry.Private[str]
    at: strawberry.Private[KernelAt | None] = None

    @strawberry.field(description="The edge")
    def node(self, info: Info) -> GraphEdge:
        return shown_edge(self.found, f"{self.key}/{info.path.key}/", self.at)


class Paged:
    """What both connections share: a page of rows in an order."""

    def __init__(self, rows: Rows, page: Page, cursors: Sequence[str], at: KernelAt | None) -> None:
        self.rows, self.page, self.cursors, self.at = rows, page, cursors, at


@strawberry.type(description="A page")
class PageOfRows:
    """What both connections show alike; no type of its own in the schema."""

    paged: strawberry.Private[Paged]

    @strawberry.field(description="Where the page stands")
    def page_info(self) -> PageInfo:
        return page_info(self.paged.page, self.paged.rows.more, self.paged.cursors)

    @strawberry.field(description="How many there are in all; counted only when chosen")
    def total_count(self) -> int:
        return self.paged.rows.total or 0


@strawberry.type(description="A page of nodes")
class GraphNodeConnection(PageOfRows):
    @strawberry.field(description="The nodes with their cursors")
    def edges(self, info: Info) -> list[GraphNodeEdge]:
        pairs = zip(self.paged.cursors, self.paged.rows.items, strict=True)
        return [GraphNodeEdge(cursor=c, found=f, key=str(info.path.key), at=self.paged.at) for c, f in pairs]

    @strawberry.field(description="The nodes alone")
    def nodes(self, info: Info) -> list[GraphNode]:
        return [shown_node(found, f"{info.path.key}/", self.paged.at) for found in self.paged.rows.items]


@strawberry.type(description="A page of edges")
class GraphEdgeConnection(PageOfRows):
    @strawberry.field(description="The edges with their cursors")
    def edges(self, info: Info) -> list[GraphEdgeEdge]:
        pairs = zip(self.paged.cursors, self.paged.rows.items, strict=True)
        return [GraphEdgeEdge(cursor=c, found=f, key=str(info.path.key), at=self.paged.at) for c, f in pairs]

    @strawberry.field(description="The edges alone")
    def nodes(self, info: Info) -> list[GraphEdge]:
        return [shown_edge(found, f"{info.path.key}/", self.paged.at) for found in self.paged.rows.items]


def shown_node(found: Found, path: str = "", at: KernelAt | None = None) -> GraphNode:
    """A node as GraphQL shows it."""
    return GraphNode(id=strawberry.ID(found.row.id), found=found, path=path, at=at)


def shown_edge(found: Found, path: str = "", at: KernelAt | None = None) -> GraphEdge:
    """An edge as GraphQL shows it."""
    return GraphEdge(id=strawberry.ID(found.row.id), found=found, path=path, at=at)


def shown_row(row: Node | Edge, at: KernelAt | None = None) -> GraphNode | GraphEdge:
    """A bare row as GraphQL shows it; nothing has come along with it."""
    return shown_node(Found(row, {}), at=at) if isinstance(row, Node) else shown_edge(Found(row, {}), at=at)


def shown(row: Node | Edge | None, at: KernelAt | None = None) -> GraphNode | GraphEdge | None:
    """The same for a row that may be missing."""
    return None if row is None else shown_row(row, at)


def paged_rows(rows: Rows, page: Page, order: tuple[Order, ...], at: KernelAt | None, edges: bool = False) -> Paged:
    """A page with the cursor of each row."""
    table = EDGES if edges else NODES
    return Paged(rows, page, [cursor_of(found.row, table, order) for found in rows.items], at)


async def edge_page(node: GraphNode, info: Info) -> GraphEdgeConnection:
    """The edges that came along with a node for this field."""
    raw = info._raw_info
    _, order, page = edges_at_node(Selection.of(raw).arguments(own_choice(raw)))
    return GraphEdgeConnection(paged=paged_rows(await node.related(info), page, order, node.at, edges=True))
