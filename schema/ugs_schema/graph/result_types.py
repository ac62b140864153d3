"""Result types of traversal and search: steps, paths, hubs, hits, resolutions and counts."""

from __future__ import annotations

import strawberry

from ugs.identity import Scope
from ugs.log.at import At as KernelAt
from ugs.reads.plan import ResultRow
from ugs_schema.context import Info
from ugs_schema.graph.types import GraphEdge, GraphElement, GraphNode, to_graphql_edge, to_graphql_node
from ugs_schema.pagination import PageInfo
from ugs_schema.scalars import Json


@strawberry.type(description="A node that a traversal reached")
class TraversalStep:
    result_row: strawberry.Private[ResultRow]
    edge: strawberry.Private[ResultRow | None]
    at: strawberry.Private[KernelAt | None]
    depth: int = strawberry.field(description="How many steps from the start")

    @strawberry.field(description="The node")
    def node(self, info: Info) -> GraphNode:
        return to_graphql_node(self.result_row, f"{info.path.key}/", self.at)

    @strawberry.field(description="The edge it was reached over; null for the start")
    def via(self, info: Info) -> GraphEdge | None:
        return None if self.edge is None else to_graphql_edge(self.edge, f"{info.path.key}/", self.at)


@strawberry.type(description="A way through the graph")
class Path:
    node_rows: strawberry.Private[list[ResultRow]]
    edge_rows: strawberry.Private[list[ResultRow]]
    at: strawberry.Private[KernelAt | None]
    total_weight: float = strawberry.field(description="The weights of the edges together")

    @strawberry.field(description="From the first to the last")
    def nodes(self, info: Info) -> list[GraphNode]:
        return [to_graphql_node(result_row, f"{info.path.key}/", self.at) for result_row in self.node_rows]

    @strawberry.field(description="Between the nodes, one fewer than those")
    def edges(self, info: Info) -> list[GraphEdge]:
        return [to_graphql_edge(result_row, f"{info.path.key}/", self.at) for result_row in self.edge_rows]


@strawberry.type(description="A node with many edges")
class Hub:
    result_row: strawberry.Private[ResultRow]
    at: strawberry.Private[KernelAt | None]
    degree: int = strawberry.field(description="Edges that touch it; a loop counts on both sides")
    in_degree: int = strawberry.field(description="Edges that arrive at it")
    out_degree: int = strawberry.field(description="Edges that leave from it")

    @strawberry.field(description="The node")
    def node(self, info: Info) -> GraphNode:
        return to_graphql_node(self.result_row, f"{info.path.key}/", self.at)


@strawberry.type(description="A node that answers a search")
class SearchHit:
    result_row: strawberry.Private[ResultRow]
    at: strawberry.Private[KernelAt | None]
    score: float = strawberry.field(description="How well it answers; comparable within one search only")

    @strawberry.field(description="The node")
    def node(self, info: Info) -> GraphNode:
        return to_graphql_node(self.result_row, f"{info.path.key}/", self.at)


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
