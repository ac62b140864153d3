"""ugs rebuild: throw the tables away and write what the log says, in one transaction. The log is not touched.

With --history the tables stay, and the versions of their rows are made from the log, by which SQLite and PostgreSQL
answer questions about the past: those that are missing, or all of them anew if none is. The store can be read and
written meanwhile, and what was interrupted goes on where it ended.

examples:
  ugs rebuild --store sqlite:///graph.db
  ugs rebuild --history --store sqlite:///graph.db
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.open_store import add_store_options, open_system, run_coroutine
from ugs_gateway.cli.output.progress import Progress
from ugs_gateway.observability.redaction import without_secrets


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_store_options(parser)
    parser.add_argument("--history", action="store_true", help="make the versions of rows for questions about the past")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return run_coroutine(_run(options))


async def _run(options: Namespace) -> int:
    async with open_system(options) as system:
        progress = Progress("replaying")
        try:
            events = await (system.rebuild_history(progress) if options.history else system.rebuild(progress))
        finally:
            progress.end()
        if events is None:
            raise InvalidSyntax(
                f"{without_secrets(system.storage.describe())} stores no versions of rows: it keeps them in memory, "
                "or was opened with history=off or native=off"
            )
        options.speech.put({"events": events, "digest": await system.digest()})
    return 0
