"""ugs stats: count nodes, edges, distinct node types and distinct property keys.

examples:
  ugs stats
  ugs stats --store sqlite:///graph.db
  ugs stats --at 5           as it was after the fifth event
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gateway.cli.opening import opened, store_argument, wait_for
from gateway.cli.outcome import put
from ugs.api import Graph
from ugs.moments import At


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    store_argument(parser)
    parser.add_argument("--at", metavar="POSITION", type=int, help="count as of this place in the log")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return wait_for(_run(options))


async def _run(options: Namespace) -> int:
    async with opened(options) as system:
        at = None if options.at is None else At(position=options.at)
        put((await Graph(system).stats(at)).as_json())
    return 0
