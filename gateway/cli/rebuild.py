"""ugs rebuild: throw the tables away and write what the log says, in one transaction. The log is not touched.

examples:
  ugs rebuild --store sqlite:///graph.db
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gateway.cli.opening import opened, store_argument, wait_for
from gateway.cli.progress import Progress


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    store_argument(parser)


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return wait_for(_run(options))


async def _run(options: Namespace) -> int:
    async with opened(options) as system:
        progress = Progress("replaying")
        try:
            events = await system.rebuild(progress)
        finally:
            progress.end()
        options.speech.put({"events": events, "digest": await system.digest()})
    return 0
