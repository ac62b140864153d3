"""ugs mcp: serve typed memory to an agent over standard input and output (MCP server graph-memory-core).

With BASE_PATH in the environment the data lives in that folder; --store or UGS_STORE name any other store. Several
clients may use one folder: the first process serves the others, and another takes over when it ends.

examples:
  ugs mcp --store file:./data
  ugs mcp --store sqlite:///memory.db --profile read-only
  BASE_PATH=/home/me/memory ugs mcp
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ugs.errors import StoreLocked
from ugs.system import System
from ugs_gateway.cli.open_store import add_store_options, open_or_refuse, run_coroutine, settings_of
from ugs_gateway.cli.output.streams import NotOpened, UsageError
from ugs_gateway.observability.structured_logs import set_up_logs
from ugs_gateway.settings import LogFormat, LogLevel

BASE_PATH = "BASE_PATH"
MIN_BYTES = 1_024
PUTS_DATA = False


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_store_options(parser)
    parser.add_argument(
        "--profile", choices=["core", "read-only", "memory", "extended"], default="core", help="which tools to offer"
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
    if base is not None and options.store is None:
        options.store = f"file:{data_folder(base)}"
    return run_coroutine(_run(options))


def data_folder(base: str) -> Path:
    """The folder of the log below a base path."""
    if not base.strip():
        raise UsageError(f"{BASE_PATH} is empty: set it to the absolute path of a folder, or remove it")
    path = Path(base)
    if not path.is_absolute():
        raise UsageError(f"{BASE_PATH} must be an absolute path, got {base!r}")
    return path / "_system"


def mirror_folder(options: Namespace) -> Path | None:
    """The folder to keep files in, absolute, because the process that writes them may be another one."""
    folder = options.mirror or os.environ.get(BASE_PATH)
    return Path(folder).absolute() if folder else None


async def _run(options: Namespace) -> int:
    from ugs.ontology.api import Memory
    from ugs_gateway.mcp.server import Profile
    from ugs_gateway.mcp.sessions.address import SessionRequest
    from ugs_gateway.mcp.stdio import relay_stdio, serve_stdio
    from ugs_gateway.mcp.truncation import Bounds

    set_up_logs(LogLevel.WARNING, LogFormat.TEXT)
    base = mirror_folder(options)
    max_bytes = max(options.max_bytes, MIN_BYTES)
    url = settings_of(options).store

    async def open_store() -> System:
        try:
            return await open_or_refuse(url, create=True)
        except NotOpened as refused:
            raise refused.__cause__ if isinstance(refused.__cause__, StoreLocked) else refused from None

    try:
        system = await open_store()
    except StoreLocked:
        request = SessionRequest(options.profile, options.ontology, max_bytes, None if base is None else str(base))
        try:
            await relay_stdio(open_store, request)
        except StoreLocked as locked:
            raise NotOpened(url) from locked
        return 0
    try:
        memory = Memory(system, ontology=options.ontology)
        await serve_stdio(memory, Profile(options.profile), base, Bounds(bytes=max_bytes))
    finally:
        await system.close()
    return 0
