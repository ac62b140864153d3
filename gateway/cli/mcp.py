"""ugs mcp: serve typed memory to an agent over standard input and output (MCP server graph-memory-core).

With BASE_PATH in the environment the data lives in that folder; --store or UGS_STORE name any other store.

examples:
  ugs mcp --store file:./data
  ugs mcp --store sqlite:///memory.db --profile read-only
  BASE_PATH=/home/me/memory ugs mcp
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from gateway.cli.opening import opened, store_argument, wait_for
from gateway.cli.outcome import Misused
from gateway.logs import set_up_logs
from gateway.settings import LogFormat, LogLevel

BASE_PATH = "BASE_PATH"
LEAST_BYTES = 1_024
PUTS_DATA = False


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    store_argument(parser)
    parser.add_argument(
        "--profile", choices=["core", "read-only", "extended"], default="core", help="which tools to offer"
    )
    parser.add_argument(
        "--mirror", metavar="FOLDER", help="keep registry, ontology and content as files in this folder"
    )
    parser.add_argument(
        "--max-bytes", metavar="BYTES", type=int, default=1 << 20, help="cut longer answers, and say so (default 1 MiB)"
    )
    parser.add_argument("--ontology", metavar="NAME", default="default", help="the ontology to work under")


def run(options: Namespace) -> int:
    """Do the work; answers the exit code."""
    base = os.environ.get(BASE_PATH)
    if base and options.store is None:
        options.store = f"file:{data_folder(base)}"
    return wait_for(_run(options))


def data_folder(base: str) -> Path:
    """Where the log of a base path is."""
    path = Path(base)
    if not path.is_absolute():
        raise Misused(f"{BASE_PATH} must be an absolute path, got {base!r}")
    return path / "_system"


async def _run(options: Namespace) -> int:
    try:
        from gateway.mcp.server import Profile
        from gateway.mcp.sizes import Bounds
        from gateway.mcp.stdio import serve_stdio
    except ImportError as error:
        raise Misused("The MCP server needs the extra `mcp`: pip install 'ugs-gateway[mcp]'") from error
    from ugs.ontology.api import Memory

    set_up_logs(LogLevel.WARNING, LogFormat.TEXT)
    async with opened(options) as system:
        folder = options.mirror or os.environ.get(BASE_PATH)
        base = Path(folder) if folder else None
        bounds = Bounds(bytes=max(options.max_bytes, LEAST_BYTES))
        await serve_stdio(Memory(system, ontology=options.ontology), Profile(options.profile), base, bounds)
    return 0
