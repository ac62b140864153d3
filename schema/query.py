"""The root of all reading."""

from __future__ import annotations

import strawberry
from strawberry import UNSET

from schema.context import Info
from schema.elements import GraphEdge, GraphNode, shown_edge, shown_node
from schema.fields import field
from schema.moments import At, moment_of
from schema.system import BackendInfo, Stats, backend_of, stats_at
from ugs.errors import InvalidSyntax
from ugs.graph.model import Element
from ugs.graph.queries import at_version


@strawberry.type
class Query:
    @field("The node with this id, now, at a version, or at a place in time; null without one")
    async def graph_node(
        self, info: Info, id: strawberry.ID, version: int | None = UNSET, at: At | None = UNSET
    ) -> GraphNode | None:
        return shown_node(await element(info, id, version, at), moment_of(at))

    @field("The edge with this id, now, at a version, or at a place in time; null without one")
    async def graph_edge(
        self, info: Info, id: strawberry.ID, version: int | None = UNSET, at: At | None = UNSET
    ) -> GraphEdge | None:
        return shown_edge(await element(info, id, version, at), moment_of(at))

    @field("How large the graph is")
    async def stats(self, info: Info, at: At | None = UNSET) -> Stats:
        return await stats_at(info.context, moment_of(at))

    @field("What keeps the data")
    def backend(self, info: Info) -> BackendInfo:
        return backend_of(info.context)


async def element(info: Info, id: str, version: int | None, at: At | None) -> Element | None:
    """The node or edge under an id, at the version or the place in time asked for."""
    if not isinstance(version, int):
        return await info.context.graph.get(id, moment_of(at))
    if at:
        raise InvalidSyntax("ask for a version or for a place in time, not for both")
    async with info.context.system.session() as session:
        return await at_version(session, id, version)
