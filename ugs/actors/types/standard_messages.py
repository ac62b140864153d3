"""The six messages that every node answers, whatever its type."""

from __future__ import annotations

from typing import Any

from ugs.actors.addresses import Answer
from ugs.actors.behaviour import Behaviour, Payload, handles
from ugs.actors.errors import Refused
from ugs.actors.properties import READ_ONLY_PROPERTIES, node_properties
from ugs.actors.runtime.message_context import MessageContext
from ugs.events import Event
from ugs.values import from_text


class UpdatePayload(Payload, frozen=True):
    properties: dict[str, Any]


class LinkPayload(Payload, frozen=True):
    to_id: str
    edge_type: str
    properties: dict[str, Any] = {}


class UnlinkPayload(Payload, frozen=True):
    edge_id: str


class Actor(Behaviour):
    """A node of any type; own types inherit from it and add their messages."""

    @handles("get")
    async def get(self, context: MessageContext, payload: object) -> Answer:
        edges = await context.edges()
        return {
            "id": context.id,
            "type": context.type,
            "properties": node_properties(context.id, context.type, context.properties, context.created),
            "edges": {
                "from": [edge.as_json() for edge in edges if edge.source == context.id],
                "to": [edge.as_json() for edge in edges if edge.target == context.id],
            },
        }

    @handles("observe")
    async def observe(self, context: MessageContext, payload: object) -> Answer:
        seen = [observation(event) for event in await context.history()]
        return {"state": self.state_of(context), "observations": seen, "metadata": await self.metadata(context)}

    def state_of(self, context: MessageContext) -> str:
        """What `observe` calls the state of the node."""
        return context.state or "active"

    async def metadata(self, context: MessageContext) -> dict[str, Any]:
        """What `observe` tells beside the events; types tell their own."""
        return {}

    @handles("update", UpdatePayload)
    async def update(self, context: MessageContext, payload: UpdatePayload) -> Answer:
        changed = {key: value for key, value in payload.properties.items() if key not in READ_ONLY_PROPERTIES}
        context.update(changed)
        return {"updatedProperties": list(changed)}

    @handles("link", LinkPayload)
    async def link(self, context: MessageContext, payload: LinkPayload) -> Answer:
        made = context.link(payload.to_id, payload.edge_type, payload.properties)
        return {"edgeId": made.id, **made.as_json()}

    @handles("unlink", UnlinkPayload)
    async def unlink(self, context: MessageContext, payload: UnlinkPayload) -> None:
        if all(link.id != payload.edge_id for link in await context.edges()):
            raise Refused(f"Edge not found: {payload.edge_id}")
        context.unlink(payload.edge_id)

    @handles("delete")
    async def delete(self, context: MessageContext, payload: object) -> None:
        context.delete()


def observation(event: Event) -> dict[str, Any]:
    """Something that happened to a node."""
    return {"timestamp": event.timestamp, "type": event.type, "data": from_text(event.data)}
