"""ugs snapshot: write the state down beside the log, so that the next start is quick.

A folder gets a new snapshot.json; a database keeps the document in its own table, as a record of the moment.

examples:
  ugs snapshot --store file:./data
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gateway.cli.opening import opened, store_argument, wait_for
from gateway.cli.outcome import put


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    store_argument(parser)


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return wait_for(_run(options))


async def _run(options: Namespace) -> int:
    async with opened(options) as system:
        written = await system.snapshot()
    put({"timestamp": written.timestamp, "events": written.event_count, "stats": written.stats.as_json()})
    return 0
