"""The system seen from outside: how large the graph is, and what keeps it."""

from __future__ import annotations

from collections.abc import Mapping

import strawberry

from schema.context import Info, RequestContext
from schema.fields import field
from ugs.graph.model import EDGES, NODES
from ugs.graph.queries import stats
from ugs.moments import At as KernelAt
from ugs.system import State

strawberry.enum(State, name="SystemState", description="Where the system is in its life")


@strawberry.type(description="How many elements have a type; null is the type of those without one")
class TypeCount:
    type: str | None
    count: int


@strawberry.type(description="How large the graph is")
class Stats:
    nodes: int
    edges: int
    types: int
    properties: int
    events: int
    at: strawberry.Private[KernelAt | None]

    @field("Node types by how often they occur")
    async def node_types(self, info: Info) -> list[TypeCount]:
        async with info.context.system.session_at(self.at) as session:
            return counted(await session.group(NODES, "type"))

    @field("Edge types by how often they occur")
    async def edge_types(self, info: Info) -> list[TypeCount]:
        async with info.context.system.session_at(self.at) as session:
            return counted(await session.group(EDGES, "type"))


def counted(counts: Mapping[str | None, int]) -> list[TypeCount]:
    """The most frequent type first, then by name."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return [TypeCount(type=type, count=count) for type, count in ranked]


async def stats_at(context: RequestContext, at: KernelAt | None) -> Stats:
    """The counts now or at a place in time."""
    async with context.system.session_at(at) as session:
        found = await stats(session)
        head = await session.head()
    return Stats(**found.as_json(), events=head.position, at=at)


@strawberry.type(description="What keeps the data")
class BackendInfo:
    name: str
    kind: str
    version: str | None
    state: State
    capabilities: list[str]


def backend_of(context: RequestContext) -> BackendInfo:
    """The store behind this gateway, without its secrets."""
    storage = context.system.storage
    able = storage.capabilities
    declared = [name for name in ("durable", "concurrent_writers") if getattr(able, name)]
    return BackendInfo(
        name=storage.describe(),
        kind=storage.scheme,
        version=getattr(storage, "version", None),
        state=context.system.state,
        capabilities=[*declared, *sorted(able.native)],
    )
