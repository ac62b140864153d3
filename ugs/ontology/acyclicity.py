"""Cycle check for connection types that are declared acyclic."""

from __future__ import annotations

from ugs.graph.model import EDGES
from ugs.ontology.definition import ConnectionType
from ugs.ontology.errors import InvalidTopology
from ugs.reads.filters import all_of, eq, in_
from ugs.unit_of_work import UnitOfWork


async def refuse_cycle(uow: UnitOfWork, type: ConnectionType, source: str, target: str) -> None:
    """Refuse a connection whose target already reaches its source over connections of the same type (C-133).

    Costs one breadth-first traversal from the target, bounded by what is reachable over that type.
    """
    seen: set[str] = set()
    frontier = {target}
    while frontier:
        if source in frontier:
            raise InvalidTopology(
                f"Cannot connect {source} to {target} with {type.name}: it would close a circle",
                type=type.name,
                from_node_id=source,
                to_node_id=target,
            )
        seen |= frontier
        onward = all_of(eq("type", type.name), in_("source", sorted(frontier)))
        frontier = {edge.target for edge in await uow.fetch(EDGES, onward)} - seen
