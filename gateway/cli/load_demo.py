"""ugs load-demo: add the demonstration graph (8 nodes, 7 edges), all of it or nothing.

examples:
  ugs load-demo
  ugs load-demo --force      leave alone what is already there
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from gateway.cli.opening import opened, store_argument, wait_for
from gateway.cli.outcome import put
from ugs.api import Graph
from ugs.graph.model import Node


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    store_argument(parser)
    parser.add_argument("--force", action="store_true", help="skip ids that exist instead of refusing")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return wait_for(_run(options))


async def _run(options: Namespace) -> int:
    async with opened(options) as system:
        changed = await Graph(system).load_demo(options.force)
    nodes = sum(isinstance(element, Node) for element in changed.elements)
    put({"nodes": nodes, "edges": len(changed.elements) - nodes, "events": len(changed.events)})
    return 0
