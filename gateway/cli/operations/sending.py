"""Messages to the actors of nodes (seed 003)."""

from __future__ import annotations

from gateway.cli.answers import Answer
from gateway.cli.operations.asking import read_json
from gateway.cli.ports import Port
from gateway.cli.usage import Asked
from ugs.errors import InvalidJSON


async def send(asked: Asked, port: Port) -> Answer:
    """Ask the actor of a node to do something; the payload is a JSON object, or `-` for standard input.

    Exit code 1 when the actor refuses; then nothing has changed.
    """
    payload = read_json(asked.words["payload"], "payload") if "payload" in asked.words else {}
    if not isinstance(payload, dict):
        raise InvalidJSON("payload must be an object")
    answer = await port.send(asked.words["id"], asked.words["message"], payload)
    return Answer("success", answer, code=0 if answer.get("success", True) else 1)
