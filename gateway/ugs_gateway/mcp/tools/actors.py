"""The tool of the profile `extended` that sends messages to the actors of nodes."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from ugs.actors.api import ActorGraph
from ugs.ontology.api import Memory
from ugs_gateway.mcp import inputs, outputs
from ugs_gateway.mcp.tools.base import ADDS, Json, MemoryTool, retry_key_of


class SendMessage(inputs.Arguments, frozen=True):
    node_id: inputs.NodeId
    type: Annotated[str, Meta(description="What is asked, such as get, update, start or complete")]
    payload: Annotated[dict[str, Any], Meta(description="What the message says")] | None = None


async def send_message(memory: Memory, arguments: SendMessage) -> Json:
    """Send a message to the actor of a node."""
    return {
        "response": await ActorGraph(memory.system, memory.principal).send(
            arguments.node_id, arguments.type, arguments.payload, key=retry_key_of(memory)
        )
    }


ACTOR_TOOLS = (
    MemoryTool(
        "send_message",
        "Send a message",
        "Ask the actor of a node (task, knowledge, artifact, pattern) to do or tell something.",
        SendMessage,
        outputs.record({"response": {"type": "object"}}),
        ADDS,
        send_message,
        keeps_key=True,
    ),
)
