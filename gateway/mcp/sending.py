"""The further tool of the profile `extended` that sends messages to the actors of nodes."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from gateway.mcp import inputs, outputs
from gateway.mcp.tool import ADDS, Json, MemoryTool
from ugs.actors.api import ActorGraph
from ugs.ontology.api import Memory


class SendMessage(inputs.Arguments, frozen=True):
    node_id: inputs.NodeId
    type: Annotated[str, Meta(description="What is asked, such as get, update, start or complete")]
    payload: Annotated[dict[str, Any], Meta(description="What the message says")] | None = None


async def send_message(memory: Memory, given: SendMessage) -> Json:
    return {
        "response": await ActorGraph(memory.system, memory.principal).send(given.node_id, given.type, given.payload)
    }


SENDING = (
    MemoryTool(
        "send_message",
        "Send a message",
        "Ask the actor of a node (task, knowledge, artifact, pattern) to do or tell something.",
        SendMessage,
        outputs.record({"response": {"type": "object"}}),
        ADDS,
        send_message,
    ),
)
