"""ugs rebuild: throw the tables away and write what the log says, in one transaction. The log is not touched.

examples:
  ugs rebuild --store sqlite:///graph.db
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ugs_gateway.cli.open_store import add_store_options, open_system, run_coroutine
from ugs_gateway.cli.output.progress import Progress


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_store_options(parser)


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return run_coroutine(_run(options))


async def _run(options: Namespace) -> int:
    async with open_system(options) as system:
        progress = Progress("replaying")
        try:
            events = await system.rebuild(progress)
        finally:
            progress.end()
        options.speech.put({"events": events, "digest": await system.digest()})
    return 0
