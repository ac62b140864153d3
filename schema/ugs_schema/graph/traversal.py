"""Root query fields for traversal: neighbours, traversals, paths, hubs."""

from __future__ import annotations

from typing import Annotated

import strawberry

from ugs.errors import LimitExceeded
from ugs.graph import traversal
from ugs.graph.model import Node
from ugs.log.at import At as KernelAt
from ugs_schema.compiler.row_types import build_nests_below
from ugs_schema.compiler.selection import SelectedField, Selection, get_selected_field
from ugs_schema.context import Info
from ugs_schema.graph.hydration import Hydration
from ugs_schema.graph.result_types import Hub, Path, TraversalStep
from ugs_schema.graph.row_types import EDGE, NODE
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.graph.types import Direction, GraphNode, Strategy, to_graphql_node
from ugs_schema.list_page import PAGING_DESCRIPTION, check_page, count_rows_to_read


@strawberry.type
class WalkingQuery:
    @strawberry.field(
        description="Adjacent nodes, each once, in the sequence of the edges that lead to them" + PAGING_DESCRIPTION
    )
    async def neighbors(
        self,
        info: Info,
        id: strawberry.ID,
        direction: Direction = Direction.BOTH,
        edge_type: str | None = None,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[GraphNode]:
        types, limit = None if edge_type is None else [edge_type], count_rows_to_read(first)
        rows = await info.context.graph.neighbors(id, direction.name.lower(), types, parse_at(at), limit, after)
        return await load_nodes(info, check_page(rows, first), parse_at(at))

    @strawberry.field(
        description="Nodes within a number of steps, in the order they are visited, the start first"
        + PAGING_DESCRIPTION
    )
    async def traverse(
        self,
        info: Info,
        id: strawberry.ID,
        depth: int = 3,
        direction: Direction = Direction.OUTGOING,
        strategy: Strategy = Strategy.BFS,
        edge_types: list[str] | None = None,
        at: At | None = None,
        first: int | None = None,
        after: strawberry.ID | None = None,
    ) -> list[TraversalStep]:
        moment, limit = parse_at(at), count_rows_to_read(first)
        way = traversal.Strategy[strategy.name]
        steps = check_page(
            await info.context.graph.traverse(id, depth, direction.name.lower(), way, edge_types, moment, limit, after),
            first,
        )
        hydration, fields = make_hydration(info, moment)
        hydration.add_selected(NODE, fields, "node").add_selected(EDGE, fields, "via")
        nodes = await hydration.nodes(step.node for step in steps)
        edges = await hydration.edges(step.via for step in steps if step.via is not None)
        return [
            TraversalStep(
                result_row=nodes[step.node.id],
                edge=None if step.via is None else edges[step.via.id],
                at=moment,
                depth=step.depth,
            )
            for step in steps
        ]

    @strawberry.field(description="The cheapest way from one node to another; null when there is none")
    async def path(
        self,
        info: Info,
        source: Annotated[strawberry.ID, strawberry.argument(name="from", description="Where the way begins")],
        to: Annotated[strawberry.ID, strawberry.argument(description="Where it ends")],
        at: At | None = None,
    ) -> Path | None:
        moment = parse_at(at)
        way = await info.context.graph.path(source, to, moment)
        if way is None:
            return None
        hydration, fields = make_hydration(info, moment)
        hydration.add_selected(NODE, fields, "nodes").add_selected(EDGE, fields, "edges")
        nodes, edges = await hydration.nodes(way.nodes), await hydration.edges(way.edges)
        return Path(
            node_rows=[nodes[node.id] for node in way.nodes],
            edge_rows=[edges[edge.id] for edge in way.edges],
            at=moment,
            total_weight=float(way.weight),
        )

    @strawberry.field(description="Nodes with the most edges, ties by id")
    async def hubs(self, info: Info, limit: int = 10, at: At | None = None) -> list[Hub]:
        if not 0 <= limit <= 500:
            raise LimitExceeded("limit lies between 0 and 500", limit=500)
        hubs = await info.context.graph.hubs(limit, parse_at(at))
        hydration, fields = make_hydration(info, parse_at(at))
        result_row = await hydration.add_selected(NODE, fields, "node").nodes(hub.node for hub in hubs)
        return [
            Hub(
                result_row=result_row[hub.node.id],
                at=parse_at(at),
                degree=hub.degree,
                in_degree=hub.incoming,
                out_degree=hub.outgoing,
            )
            for hub in hubs
        ]


def make_hydration(info: Info, at: KernelAt | None) -> tuple[Hydration, dict[str, SelectedField]]:
    """A hydration for the field being resolved, and the fields selected below it."""
    raw = info._raw_info
    selection = Selection.from_info(raw)
    return Hydration(info.context.system, selection, at), selection.collect_subfields(get_selected_field(raw))


async def load_nodes(info: Info, rows: list[Node], at: KernelAt | None) -> list[GraphNode]:
    """The nodes of a list field with everything selected below them, in few reads."""
    hydration, _ = make_hydration(info, at)
    raw = info._raw_info
    hydration.nests["GraphNode"] = build_nests_below(Selection.from_info(raw), get_selected_field(raw), NODE)
    result_row = await hydration.nodes(rows)
    return [to_graphql_node(result_row[row.id], at=at) for row in rows]
