"""ugs mirror: write registry, ontology and content of a store as files into a folder, and remove what is out of date.

The log decides: files that differ are written again. `ugs serve --mirror` and `ugs mcp --mirror` keep them in step.

examples:
  ugs mirror ./memory --store sqlite:///memory.db
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from gateway.cli.opening import opened, store_argument, wait_for


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the files are")
    store_argument(parser)
    parser.add_argument("--ontology", metavar="NAME", default="default", help="the ontology to write")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return wait_for(_run(options))


async def _run(options: Namespace) -> int:
    from gateway.mirror.mirror import FileMirror

    async with opened(options) as system:
        mirror = FileMirror(options.folder, system, options.ontology)
        changed = await mirror.repair()
        options.speech.put({"folder": str(options.folder), "position": mirror.position, "changed": changed})
    return 0
