"""What walking and searching find: steps, paths, hubs, hits, resolutions and counts."""

from __future__ import annotations

import strawberry

from schema.context import Info
from schema.elements import GraphEdge, GraphElement, GraphNode, shown_edge, shown_node
from schema.paging import PageInfo
from schema.scalars import Json
from ugs.identity import Scope
from ugs.moments import At as KernelAt
from ugs.reads.plan import Found


@strawberry.type(description="A node that a traversal reached")
class TraversalStep:
    found: strawberry.Private[Found]
    edge: strawberry.Private[Found | None]
    at: strawberry.Private[KernelAt | None]
    depth: int = strawberry.field(description="How many steps from the start")

    @strawberry.field(description="The node")
    def node(self, info: Info) -> GraphNode:
        return shown_node(self.found, f"{info.path.key}/", self.at)

    @strawberry.field(description="The edge it was reached over; null for the start")
    def via(self, info: Info) -> GraphEdge | None:
        return None if self.edge is None else shown_edge(self.edge, f"{info.path.key}/", self.at)


@strawberry.type(description="A way through the graph")
class Path:
    stops: strawberry.Private[list[Found]]
    ways: strawberry.Private[list[Found]]
    at: strawberry.Private[KernelAt | None]
    total_weight: float = strawberry.field(description="The weights of the edges together")

    @strawberry.field(description="From the first to the last")
    def nodes(self, info: Info) -> list[GraphNode]:
        return [shown_node(found, f"{info.path.key}/", self.at) for found in self.stops]

    @strawberry.field(description="Between the nodes, one fewer than those")
    def edges(self, info: Info) -> list[GraphEdge]:
        return [shown_edge(found, f"{info.path.key}/", self.at) for found in self.ways]


@strawberry.type(description="A node with many edges")
class Hub:
    found: strawberry.Private[Found]
    at: strawberry.Private[KernelAt | None]
    degree: int = strawberry.field(description="Edges that touch it; a loop counts on both sides")
    in_degree: int = strawberry.field(description="Edges that arrive at it")
    out_degree: int = strawberry.field(description="Edges that leave from it")

    @strawberry.field(description="The node")
    def node(self, info: Info) -> GraphNode:
        return shown_node(self.found, f"{info.path.key}/", self.at)


@strawberry.type(description="A node that answers a search")
class SearchHit:
    found: strawberry.Private[Found]
    at: strawberry.Private[KernelAt | None]
    score: float = strawberry.field(description="How well it answers; comparable within one search only")

    @strawberry.field(description="The node")
    def node(self, info: Info) -> GraphNode:
        return shown_node(self.found, f"{info.path.key}/", self.at)


@strawberry.type(description="A hit on a page, with the cursor behind it")
class SearchHitEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: SearchHit = strawberry.field(description="The hit")


@strawberry.type(description="A page of hits, best first")
class SearchHitConnection:
    edges: list[SearchHitEdge] = strawberry.field(description="The hits with their cursors")
    page_info: PageInfo = strawberry.field(description="Where the page stands")
    total_count: int = strawberry.field(description="How many nodes match in all")


@strawberry.type(description="What an address leads to")
class Resolution:
    address: str = strawberry.field(description="As asked")
    element: GraphElement | None = strawberry.field(description="The element; null when the address leads nowhere")
    version: int | None = strawberry.field(description="The version of the element that was found")
    value: Json = strawberry.field(description="The element as JSON, or the address itself when it does not resolve")

    @strawberry.field(description="Whether it leads anywhere")
    def resolved(self) -> bool:
        return self.element is not None


@strawberry.type(description="How much lives in a scope")
class ScopeInfo:
    scope: Scope = strawberry.field(description="The scope")
    name: str = strawberry.field(description="Its name as ids carry it")
    node_count: int = strawberry.field(description="Nodes whose id is in it")
    edge_count: int = strawberry.field(description="Edges whose own id is in it")
