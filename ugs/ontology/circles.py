"""Connection types that must not run in circles."""

from __future__ import annotations

from ugs.desk import Desk
from ugs.graph.model import EDGES
from ugs.ontology.definition import ConnectionType
from ugs.ontology.errors import InvalidTopology
from ugs.reads.where import all_of, eq, in_


async def refuse_circle(desk: Desk, type: ConnectionType, source: str, target: str) -> None:
    """Refuse a connection from whose end its own start can be reached (C-133)."""
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
        frontier = {edge.target for edge in await desk.fetch(EDGES, onward)} - seen
