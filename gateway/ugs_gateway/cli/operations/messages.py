"""Messages to the actors of nodes (seed 003)."""

from __future__ import annotations

from ugs.errors import InvalidJSON
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments
from ugs_gateway.cli.operations.queries import read_json
from ugs_gateway.cli.output.results import Answer


async def send(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Ask the actor of a node to do something; the payload is a JSON object, or `-` for standard input.

    Exit code 1 when the actor refuses; then nothing has changed.
    """
    payload = read_json(arguments.words["payload"], "payload") if "payload" in arguments.words else {}
    if not isinstance(payload, dict):
        raise InvalidJSON("payload must be an object")
    answer = await client.send(arguments.words["id"], arguments.words["message"], payload)
    return Answer("success", answer, code=0 if answer.get("success", True) else 1)
