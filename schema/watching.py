"""Watching: events as they are committed, from any process, resumable by position.

A subscription is a position in the log. Who gives `afterSeq` hears everything since, once each, then what is new.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import strawberry

from schema.context import Info
from schema.events import Event, EventType, shown_event
from schema.filters import EdgeFilter, NodeFilter, edge_where, node_where
from schema.reading import own_arguments
from schema.scalars import Position
from ugs.errors import InvalidSyntax
from ugs.events import Event as KernelEvent
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.versions import life_of
from ugs.reads.where import Linked, Where, matcher, mentions
from ugs.storage import EventQuery
from ugs.system import System


@strawberry.type
class WatchingSubscription:
    @strawberry.subscription(description="Every event, or those of some types, as they are committed")
    async def events(
        self, info: Info, types: list[EventType] | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        wanted = None if types is None else {type.name for type in types}
        async for event in info.context.system.subscribe(after_seq):
            if wanted is None or event.type in wanted:
                yield shown_event(event)

    @strawberry.subscription(description="Events of one node or edge")
    async def element_changed(
        self, info: Info, id: strawberry.ID, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in info.context.system.subscribe(after_seq):
            if event.element == id:
                yield shown_event(event)

    @strawberry.subscription(description="Nodes that meet a filter were added, changed or deleted")
    async def nodes_changed(
        self, info: Info, filter: NodeFilter | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        where = node_where(own_arguments(info).get("filter"))
        async for event in matching(info.context.system, "Node", Node, where, after_seq):
            yield shown_event(event)

    @strawberry.subscription(description="Edges that meet a filter were added, changed or deleted")
    async def edges_changed(
        self, info: Info, filter: EdgeFilter | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        where = edge_where(own_arguments(info).get("filter"))
        async for event in matching(info.context.system, "Edge", Edge, where, after_seq):
            yield shown_event(event)


async def matching(system: System, kind: str, row: type, where: Where, after: int | None) -> AsyncIterator[KernelEvent]:
    """Events about rows that meet a condition after the event, or, when deleted, met it before."""
    if mentions(where, Linked):
        raise InvalidSyntax("a subscription cannot filter by what else exists (dangling)")
    matches = matcher(where, (NODES if row is Node else EDGES).words)
    async for event in system.subscribe(after):
        if event.type.startswith(kind) and event.element is not None:
            state = await state_around(system, event)
            if isinstance(state, row) and matches(state):
                yield event


async def state_around(system: System, event: KernelEvent) -> Node | Edge | None:
    """The element as the event left it, or as it was just before it was deleted."""
    async with system.session() as session:
        past = await session.events(EventQuery(element=event.element, until=event.position))
    life = life_of(event.element or "", past)
    states = [state.element for state in life[-2:] if state.element is not None]
    return states[-1] if states else None
