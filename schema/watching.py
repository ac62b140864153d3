"""Watching: events as they are committed, from any process, resumable by position.

A subscription is a position in the log. Who gives `afterSeq` hears everything since, once each, then what is new.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import strawberry

from schema.context import Info
from schema.events import Event, EventType, shown_event
from schema.filters import EdgeFilter, NodeFilter, edge_where, node_where
from schema.reading import own_arguments
from schema.scalars import Position
from ugs.bus import Interest
from ugs.errors import InvalidSyntax
from ugs.events import Event as KernelEvent
from ugs.features import REDUCERS
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.versions import life_of
from ugs.reads.where import Linked, Where, matcher, mentions
from ugs.storage import EventQuery
from ugs.system import System

KEPT_STATES = 1_000


@strawberry.type
class WatchingSubscription:
    @strawberry.subscription(description="Every event, or those of some types, as they are committed")
    async def events(
        self, info: Info, types: list[EventType] | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in some_events(info.context.system, own_arguments(info)):
            yield shown_event(event)

    @strawberry.subscription(description="Events of one node or edge")
    async def element_changed(
        self, info: Info, id: strawberry.ID, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in events_of_element(info.context.system, own_arguments(info)):
            yield shown_event(event)

    @strawberry.subscription(description="Nodes that meet a filter were added, changed or deleted")
    async def nodes_changed(
        self, info: Info, filter: NodeFilter | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in events_of_nodes(info.context.system, own_arguments(info)):
            yield shown_event(event)

    @strawberry.subscription(description="Edges that meet a filter were added, changed or deleted")
    async def edges_changed(
        self, info: Info, filter: EdgeFilter | None = None, after_seq: Position | None = None
    ) -> AsyncIterator[Event]:
        async for event in events_of_edges(info.context.system, own_arguments(info)):
            yield shown_event(event)


Given = Mapping[str, Any]
"""Arguments by the schema's names."""
Events = AsyncIterator[KernelEvent]


def some_events(system: System, given: Given) -> Events:
    types = given.get("types")
    wanted = None if types is None else frozenset(getattr(type, "name", type) for type in types)
    return system.subscribe(given.get("afterSeq"), Interest(types=wanted))


def events_of_element(system: System, given: Given) -> Events:
    return system.subscribe(given.get("afterSeq"), Interest(element=given["id"]))


def events_of_nodes(system: System, given: Given) -> Events:
    return matching(system, "Node", Node, node_where(given.get("filter")), given.get("afterSeq"))


def events_of_edges(system: System, given: Given) -> Events:
    return matching(system, "Edge", Edge, edge_where(given.get("filter")), given.get("afterSeq"))


WATCHES: Mapping[str, Callable[[System, Given], Events]] = {
    "events": some_events,
    "elementChanged": events_of_element,
    "nodesChanged": events_of_nodes,
    "edgesChanged": events_of_edges,
}
"""The events behind each subscription that shows events."""


async def matching(system: System, kind: str, row: type, where: Where, after: int | None) -> Events:
    """Events about rows that meet a condition after the event, or, when deleted, met it before."""
    if mentions(where, Linked):
        raise InvalidSyntax("a subscription cannot filter by what else exists (dangling)")
    matches = matcher(where, (NODES if row is Node else EDGES).words)
    known = system.companions.setdefault(States, States(system))
    assert isinstance(known, States)
    async for event in system.subscribe(after, Interest(types=TYPES_OF[kind])):
        if event.element is not None:
            state = await known.around(event)
            if isinstance(state, row) and matches(state):
                yield event


TYPES_OF = {kind: frozenset(name for name in REDUCERS if name.startswith(kind)) for kind in ("Node", "Edge")}


class States:
    """The elements that recent events were about, found once for all who watch."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._known: OrderedDict[int, asyncio.Task[Node | Edge | None]] = OrderedDict()

    async def around(self, event: KernelEvent) -> Node | Edge | None:
        """As `state_around`; whoever asks first does the work."""
        found = self._known.get(event.position)
        if found is None or (found.done() and (found.cancelled() or found.exception() is not None)):
            found = self._known[event.position] = asyncio.create_task(state_around(self.system, event))
            if len(self._known) > KEPT_STATES:
                self._known.popitem(last=False)
        return found.result() if found.done() else await asyncio.shield(found)


async def state_around(system: System, event: KernelEvent) -> Node | Edge | None:
    """The element as the event left it, or as it was just before it was deleted."""
    async with system.session() as session:
        past = await session.events(EventQuery(element=event.element, until=event.position))
    life = life_of(event.element or "", past)
    states = [state.element for state in life[-2:] if state.element is not None]
    return states[-1] if states else None
