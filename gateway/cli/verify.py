"""ugs verify: replay the log beside the store and compare both states; exit code 0 when they are equal.

examples:
  ugs verify --store file:./data
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gateway.cli.opening import opened, store_argument, wait_for
from gateway.cli.outcome import put, say
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
            found = await system.verify(progress)
        finally:
            progress.end()
    put({"ok": found.ok, "events": found.events, "stored": found.stored, "replayed": found.replayed})
    if not found.ok:
        say("The state differs from what the log says. `ugs rebuild` writes it anew from the log.")
    return 0 if found.ok else 1
