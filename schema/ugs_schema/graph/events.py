"""GraphQL types of events and versions."""

from __future__ import annotations

from enum import Enum
from typing import Any

import strawberry

from ugs.events import Event as KernelEvent
from ugs.feature_registry import REDUCERS
from ugs.graph.versions import ElementVersion as KernelVersion
from ugs.log.log_reader import HIDDEN
from ugs_schema.graph.types import Identified
from ugs_schema.pagination import PageInfo
from ugs_schema.scalars import Json, Millis, Position

EventType: Any = strawberry.enum(
    Enum("EventType", {name: name for name in (*REDUCERS, HIDDEN)}),  # type: ignore[call-overload]
    description="Everything that can happen",
)


@strawberry.type(description="Which batch an event belongs to")
class EventTx:
    id: str = strawberry.field(description="Id of the batch: that of its first event")
    index: int = strawberry.field(description="The event's place in the batch, from 0")
    size: int = strawberry.field(description="How many events the batch has")


@strawberry.type(description="Something that happened, at a place in the log that never changes")
class Event(Identified):
    event: strawberry.Private[KernelEvent]

    @strawberry.field(description="The id in the log, evt_<milliseconds>_<position>")
    def event_id(self) -> str:
        return self.event.id

    @strawberry.field(description="Its place in the log, from 1 without gaps; resume a subscription from here")
    def seq(self) -> Position:
        return Position(self.event.position)

    @strawberry.field(description="When it happened, in Unix milliseconds; never goes back")
    def timestamp(self) -> Millis:
        return Millis(self.event.timestamp)

    @strawberry.field(
        description="It is not for you to see: only its place in the log is true, the type is Hidden, the rest is empty"
    )
    def hidden(self) -> bool:
        return self.event.type == HIDDEN

    @strawberry.field(description="What happened")
    def type(self) -> EventType:
        return EventType[self.event.type]

    @strawberry.field(description="The element it is about; null for events about no single one")
    def element_id(self) -> strawberry.ID | None:
        return None if self.event.element is None else strawberry.ID(self.event.element)

    @strawberry.field(description="The version of the element it made")
    def version(self) -> int | None:
        return self.event.version

    @strawberry.field(description="The facts of the event")
    def data(self) -> Json:
        return Json(self.event.payload)

    @strawberry.field(description="Who caused it; null for the local user")
    def by(self) -> str | None:
        return self.event.by

    @strawberry.field(description="The batch it belongs to; null when it stands alone")
    def tx(self) -> EventTx | None:
        tx = self.event.tx
        return None if tx is None else EventTx(id=tx.id, index=tx.index, size=tx.size)


@strawberry.type(description="An event on a page, with the cursor behind it")
class EventEdge:
    cursor: str = strawberry.field(description="Give it as `after` to page on from here")
    node: Event = strawberry.field(description="The event")


@strawberry.type(description="A page of events, oldest first")
class EventConnection:
    edges: list[EventEdge] = strawberry.field(description="The events with their cursors")
    page_info: PageInfo = strawberry.field(description="Where the page stands")

    @strawberry.field(description="The events alone")
    def nodes(self) -> list[Event]:
        return [edge.node for edge in self.edges]


@strawberry.type(description="One state in the life of an element")
class ElementVersion:
    version: int = strawberry.field(description="Its number; address it as @(id:version)")
    timestamp: Millis = strawberry.field(description="When it came about")
    event: Event = strawberry.field(description="What made it")
    value: Json | None = strawberry.field(description="The element as JSON; null where it was deleted")
    deleted: bool = strawberry.field(description="Whether the element ended here")


def to_graphql_event(event: KernelEvent) -> Event:
    """The GraphQL object of an event."""
    return Event(id=strawberry.ID(f"event/{event.id}"), event=event)


def to_graphql_version(state: KernelVersion) -> ElementVersion:
    """The GraphQL object of an element's version."""
    return ElementVersion(
        version=state.version,
        timestamp=Millis(state.timestamp),
        event=to_graphql_event(state.event),
        value=None if state.element is None else Json(state.element.as_json()),
        deleted=state.element is None,
    )
