"""The six messages that every node answers, whatever its type."""

from __future__ import annotations

from typing import Any

from ugs.actors.addresses import Answer
from ugs.actors.behaviour import Behaviour, Payload, handles
from ugs.actors.errors import Refused
from ugs.actors.properties import KEPT, node_properties
from ugs.actors.turn import Turn
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
    async def get(self, turn: Turn, payload: object) -> Answer:
        edges = await turn.edges()
        return {
            "id": turn.id,
            "type": turn.type,
            "properties": node_properties(turn.id, turn.type, turn.properties, turn.created),
            "edges": {
                "from": [edge.as_json() for edge in edges if edge.source == turn.id],
                "to": [edge.as_json() for edge in edges if edge.target == turn.id],
            },
        }

    @handles("observe")
    async def observe(self, turn: Turn, payload: object) -> Answer:
        seen = [observation(event) for event in await turn.history()]
        return {"state": self.state_of(turn), "observations": seen, "metadata": await self.metadata(turn)}

    def state_of(self, turn: Turn) -> str:
        """What `observe` calls the state of the node."""
        return turn.state or "active"

    async def metadata(self, turn: Turn) -> dict[str, Any]:
        """What `observe` tells beside the events; types tell their own."""
        return {}

    @handles("update", UpdatePayload)
    async def update(self, turn: Turn, payload: UpdatePayload) -> Answer:
        changed = {key: value for key, value in payload.properties.items() if key not in KEPT}
        turn.update(changed)
        return {"updatedProperties": list(changed)}

    @handles("link", LinkPayload)
    async def link(self, turn: Turn, payload: LinkPayload) -> Answer:
        made = turn.link(payload.to_id, payload.edge_type, payload.properties)
        return {"edgeId": made.id, **made.as_json()}

    @handles("unlink", UnlinkPayload)
    async def unlink(self, turn: Turn, payload: UnlinkPayload) -> None:
        if all(link.id != payload.edge_id for link in await turn.edges()):
            raise Refused(f"Edge not found: {payload.edge_id}")
        turn.unlink(payload.edge_id)

    @handles("delete")
    async def delete(self, turn: Turn, payload: object) -> None:
        turn.delete()


def observation(event: Event) -> dict[str, Any]:
    """Something that happened to a node."""
    return {"timestamp": event.timestamp, "type": event.type, "data": from_text(event.data)}
