"""The store itself: snapshots, demonstration data, proof that state and log agree (seed §6.5)."""

from __future__ import annotations

from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments
from ugs_gateway.cli.output.results import Answer


async def snapshot(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Write the state down beside the log, so that the next start is quick."""
    return Answer("success", await client.snapshot())


async def load_demo(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Add the demonstration graph (8 nodes, 7 edges), all of it or nothing; with --force leave alone what is there."""
    done = await client.load_demo(arguments.flag("force"))
    return Answer("success", done.value, warnings=tuple(done.warnings))


async def verify(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Replay the log and compare with the state; exit code 1 when they differ."""
    found = await client.verify()
    return Answer("success", found, code=0 if found["ok"] else 1)
