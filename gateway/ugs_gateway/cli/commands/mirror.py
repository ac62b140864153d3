"""ugs mirror: write registry, ontology and content of a store as files into a folder, and remove what is out of date.

The log decides: files that differ are written again. `ugs serve --mirror` and `ugs mcp --mirror` keep them in step.

examples:
  ugs mirror ./memory --store sqlite:///memory.db
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ugs_gateway.cli.open_store import add_store_options, open_system, run_coroutine


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the files are")
    add_store_options(parser)
    parser.add_argument("--ontology", metavar="NAME", default="default", help="the ontology to write")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    return run_coroutine(_run(options))


async def _run(options: Namespace) -> int:
    from ugs_gateway.mirror.mirror import FileMirror

    async with open_system(options) as system:
        mirror = FileMirror(options.folder, system, options.ontology)
        changed = await mirror.repair()
        options.speech.put({"folder": str(options.folder), "position": mirror.position, "changed": changed})
    return 0
