"""Subscriptions to events of the graph, as they are committed by any process, resumable by position.

A subscription is a position in the log. With `afterSeq` it first delivers every event since, once each, then new ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import strawberry

from ugs.bus import Interest
from ugs.errors import InvalidSyntax
from ugs.events import Event as KernelEvent
from ugs.feature_registry import REDUCERS
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.versions import build_versions
from ugs.log.log_reader import LogReader
from ugs.reads.filters import Linked, Where, matcher, mentions
from ugs.storage import EventQuery
from ugs.support.bounded_cache import BoundedCache
from ugs.system import System
from ugs_schema.context import Info
from ugs_schema.graph.events import Event, EventType, to_graphql_event
from ugs_schema.graph.filters import EdgeFilter, NodeFilter
from ugs_schema.graph.list_arguments import build_edge_where, build_node_where
from ugs_schema.graph.queries import get_arguments
from ugs_schema.scalars import Position

MAX_STATES, MAX_STATE_BYTES = 1_000, 16 << 20
STATE_BYTES = 4_096
"""Estimated memory of an element besides its event's data."""


@strawberry.type
class WatchingSubscription:
    @strawberry.subscription(description="Every event, or those of some types, as they are committed")
    async def events(
        self, info: Info, types: list[EventType] | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in follow_events(info.context.log, get_arguments(info)):
            yield to_graphql_event(event)

    @strawberry.subscription(description="Events of one node or edge")
    async def element_changed(
        self, info: Info, id: strawberry.ID, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in follow_element(info.context.log, get_arguments(info)):
            yield to_graphql_event(event)

    @strawberry.subscription(description="Nodes that meet a filter were added, changed or deleted")
    async def nodes_changed(
        self, info: Info, filter: NodeFilter | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in follow_nodes(info.context.log, get_arguments(info)):
            yield to_graphql_event(event)

    @strawberry.subscription(description="Edges that meet a filter were added, changed or deleted")
    async def edges_changed(
        self, info: Info, filter: EdgeFilter | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in follow_edges(info.context.log, get_arguments(info)):
            yield to_graphql_event(event)


ArgumentValues = Mapping[str, Any]
"""Arguments by their names in the schema."""
Events = AsyncIterator[KernelEvent]


def follow_events(log: LogReader, arguments: ArgumentValues) -> Events:
    types = arguments.get("types")
    wanted = None if types is None else frozenset(getattr(type, "name", type) for type in types)
    return log.follow(arguments.get("afterSeq"), Interest(types=wanted))


def follow_element(log: LogReader, arguments: ArgumentValues) -> Events:
    return log.follow(arguments.get("afterSeq"), Interest(element=arguments["id"]))


def follow_nodes(log: LogReader, arguments: ArgumentValues) -> Events:
    return follow_matching(log, "Node", Node, build_node_where(arguments.get("filter")), arguments.get("afterSeq"))


def follow_edges(log: LogReader, arguments: ArgumentValues) -> Events:
    return follow_matching(log, "Edge", Edge, build_edge_where(arguments.get("filter")), arguments.get("afterSeq"))


EVENT_SOURCES: Mapping[str, Callable[[LogReader, ArgumentValues], Events]] = {
    "events": follow_events,
    "elementChanged": follow_element,
    "nodesChanged": follow_nodes,
    "edgesChanged": follow_edges,
}
"""The event source of each subscription that shows events."""


async def follow_matching(log: LogReader, kind: str, row: type, where: Where, after: int | None) -> Events:
    """Events about rows that match a condition after the event, or for deletions matched it before."""
    check_followable(where)
    matches = matcher(where, (NODES if row is Node else EDGES).words)
    known = log.system.companions.setdefault(States, States(log.system))
    assert isinstance(known, States)
    async for event in log.follow(after, Interest(types=TYPES_OF[kind])):
        if event.element is not None:
            state = await known.get_state(event)
            if isinstance(state, row) and matches(state):
                yield event


def check_followable(where: Where) -> None:
    """Refuse a condition on other rows than the one that changed."""
    if mentions(where, Linked):
        raise InvalidSyntax(
            "a subscription cannot filter by what else exists (dangling, hasContent, edges and their nodes)"
        )


TYPES_OF = {kind: frozenset(name for name in REDUCERS if name.startswith(kind)) for kind in ("Node", "Edge")}


class States:
    """The elements of recent events, computed once for all subscribers."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._known: BoundedCache[int, asyncio.Task[Node | Edge | None]] = BoundedCache(MAX_STATES, MAX_STATE_BYTES)

    async def get_state(self, event: KernelEvent) -> Node | Edge | None:
        """As `read_state`, cached; concurrent callers share one task."""
        task = self._known.get(event.position)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(read_state(self.system, event))
            self._known.put(event.position, task, STATE_BYTES + 2 * len(event.data))
        return task.result() if task.done() else await asyncio.shield(task)


async def read_state(system: System, event: KernelEvent) -> Node | Edge | None:
    """The element as the event left it, or as it was before its deletion."""
    async with system.session() as session:
        events = await session.events(EventQuery(element=event.element, until=event.position))
    life = build_versions(event.element or "", events)
    states = [state.element for state in life[-2:] if state.element is not None]
    return states[-1] if states else None
