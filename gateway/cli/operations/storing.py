"""The store itself: snapshots, demonstration data, proof that state and log agree (seed §6.5)."""

from __future__ import annotations

from gateway.cli.answers import Answer
from gateway.cli.ports import Port
from gateway.cli.usage import Asked


async def snapshot(asked: Asked, port: Port) -> Answer:
    """Write the state down beside the log, so that the next start is quick."""
    return Answer("success", await port.snapshot())


async def load_demo(asked: Asked, port: Port) -> Answer:
    """Add the demonstration graph (8 nodes, 7 edges), all of it or nothing; with --force leave alone what is there."""
    done = await port.load_demo(asked.flag("force"))
    return Answer("success", done.value, warnings=tuple(done.warnings))


async def verify(asked: Asked, port: Port) -> Answer:
    """Replay the log and compare with the state; exit code 1 when they differ."""
    found = await port.verify()
    return Answer("success", found, code=0 if found["ok"] else 1)
