"""Walking: neighbours, traversals, paths, hubs."""

from __future__ import annotations

from typing import Annotated

import strawberry

from schema.context import Info
from schema.elements import Direction, GraphNode, Strategy, shown_node
from schema.hydrate import Hydration
from schema.moments import At, moment_of
from schema.selection import Choice, Selection, own_choice
from schema.shapes import EDGE, NODE, nests_below
from schema.steps import Hub, Path, TraversalStep
from ugs.errors import LimitExceeded
from ugs.graph import walk
from ugs.graph.model import Node
from ugs.moments import At as KernelAt


@strawberry.type
class WalkingQuery:
    @strawberry.field(description="Adjacent nodes, each once, in the sequence of the edges that lead to them")
    async def neighbors(
        self,
        info: Info,
        id: strawberry.ID,
        direction: Direction = Direction.BOTH,
        edge_type: str | None = None,
        at: At | None = None,
    ) -> list[GraphNode]:
        types = None if edge_type is None else [edge_type]
        rows = await info.context.graph.neighbors(id, direction.name.lower(), types, moment_of(at))
        return await nodes_shown(info, rows, moment_of(at))

    @strawberry.field(description="Nodes within a number of steps, in the order they are visited, the start first")
    async def traverse(
        self,
        info: Info,
        id: strawberry.ID,
        depth: int = 3,
        direction: Direction = Direction.OUTGOING,
        strategy: Strategy = Strategy.BFS,
        edge_types: list[str] | None = None,
        at: At | None = None,
    ) -> list[TraversalStep]:
        moment = moment_of(at)
        way = walk.Strategy[strategy.name]
        steps = await info.context.graph.traverse(id, depth, direction.name.lower(), way, edge_types, moment)
        brought, fields = hydration(info, moment)
        brought.choose(NODE, fields, "node").choose(EDGE, fields, "via")
        nodes = await brought.nodes(step.node for step in steps)
        edges = await brought.edges(step.via for step in steps if step.via is not None)
        return [
            TraversalStep(
                found=nodes[step.node.id],
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
        moment = moment_of(at)
        way = await info.context.graph.path(source, to, moment)
        if way is None:
            return None
        brought, fields = hydration(info, moment)
        brought.choose(NODE, fields, "nodes").choose(EDGE, fields, "edges")
        nodes, edges = await brought.nodes(way.nodes), await brought.edges(way.edges)
        return Path(
            stops=[nodes[node.id] for node in way.nodes],
            ways=[edges[edge.id] for edge in way.edges],
            at=moment,
            total_weight=float(way.weight),
        )

    @strawberry.field(description="Nodes with the most edges, ties by id")
    async def hubs(self, info: Info, limit: int = 10, at: At | None = None) -> list[Hub]:
        if not 0 <= limit <= 500:
            raise LimitExceeded("limit lies between 0 and 500", limit=500)
        hubs = await info.context.graph.hubs(limit, moment_of(at))
        brought, fields = hydration(info, moment_of(at))
        found = await brought.choose(NODE, fields, "node").nodes(hub.node for hub in hubs)
        return [
            Hub(
                found=found[hub.node.id],
                at=moment_of(at),
                degree=hub.degree,
                in_degree=hub.incoming,
                out_degree=hub.outgoing,
            )
            for hub in hubs
        ]


def hydration(info: Info, at: KernelAt | None) -> tuple[Hydration, dict[str, Choice]]:
    """A hydration for the running field, and the fields chosen below it."""
    raw = info._raw_info
    selection = Selection.of(raw)
    return Hydration(info.context.system, selection, at), selection.below(own_choice(raw))


async def nodes_shown(info: Info, rows: list[Node], at: KernelAt | None) -> list[GraphNode]:
    """Rows of the running list field with everything that is chosen below them, in few reads."""
    brought, _ = hydration(info, at)
    raw = info._raw_info
    brought.nests["GraphNode"] = nests_below(Selection.of(raw), own_choice(raw), NODE)
    found = await brought.nodes(rows)
    return [shown_node(found[row.id], at=at) for row in rows]
