"""ugs mcp: serve typed memory to an agent over standard input and output (MCP server graph-memory-core).

With BASE_PATH in the environment the data lives in that folder; --store or UGS_STORE name any other store. Without any
of them it lives in the platform's data folder (`ugs info` shows it). Several clients may use one folder: the first
process serves the others, and another takes over when it ends.

`ugs mcp install CLIENT` puts the server into the configuration of claude-desktop, claude-code, cursor or vscode, with
absolute paths. Other entries stay, and the file as it was is kept beside it; --dry-run only shows the entry.

examples:
  ugs mcp --store file:./data
  ugs mcp --store sqlite:///memory.db --profile read-only
  BASE_PATH=/home/me/memory ugs mcp
  ugs mcp install claude-desktop --dry-run
  ugs mcp install cursor --profile memory
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ugs.errors import StoreLocked
from ugs.system import System
from ugs_gateway.cli.open_store import add_store_options, open_or_refuse, run_coroutine, settings_of
from ugs_gateway.cli.output.streams import NotOpened, UsageError
from ugs_gateway.defaults import memory_folder
from ugs_gateway.mcp.client_config import CLIENTS, clients, entry, install
from ugs_gateway.observability.redaction import mask_url
from ugs_gateway.observability.structured_logs import set_up_logs
from ugs_gateway.settings import LogFormat, LogLevel

BASE_PATH = "BASE_PATH"
LOG_FOLDER = "_system"
MIN_BYTES = 1_024
PUTS_DATA = False


def arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", nargs="?", choices=["serve", "install"], default="serve", help="what to do")
    parser.add_argument("client", nargs="?", choices=CLIENTS, help="whose configuration to change (install)")
    parser.add_argument("--dry-run", action="store_true", help="only show what install would write")
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
    if options.action == "install":
        return _install(options)
    if options.client is not None or options.dry_run:
        raise UsageError("a client and --dry-run go with `ugs mcp install`")
    options.base = None
    if options.store is None:
        options.base = base_path(options)
        options.store = None if options.base is None else f"file:{options.base / LOG_FOLDER}"
    return run_coroutine(_run(options))


def base_path(options: Namespace) -> Path | None:
    """The folder of the memory: BASE_PATH, else the platform's; None where the settings name a store."""
    base = os.environ.get(BASE_PATH)
    if base is not None:
        return checked(base)
    named = settings_of(options).origin("store") != "built in"
    return None if named else memory_folder(Path.home())


def checked(base: str) -> Path:
    """A base path that is usable."""
    if not base.strip():
        raise UsageError(f"{BASE_PATH} is empty: set it to the absolute path of a folder, or remove it")
    path = Path(base)
    if not path.is_absolute():
        raise UsageError(f"{BASE_PATH} must be an absolute path, got {base!r}")
    return path


def _install(options: Namespace) -> int:
    if options.client is None:
        raise UsageError(f"name the client: {', '.join(CLIENTS)}")
    options.speech.data = True
    config = clients(Path.home(), os.environ)[options.client]
    words, env = _server_options(options)
    done = install(config, entry(config, words, env), options.dry_run)
    shown = {**done.entry, "args": [mask_url(word) for word in done.entry["args"]]}
    options.speech.put(
        {
            "client": options.client,
            "file": str(done.path),
            "change": done.change,
            "dryRun": options.dry_run,
            "backup": None if done.backup is None else str(done.backup),
            "entry": shown,
        }
    )
    return 0


def _server_options(options: Namespace) -> tuple[list[str], dict[str, str]]:
    """The words and the environment with which the client starts the server: absolute, wherever it starts it."""
    words = list[str]()
    for name, default in (("profile", "core"), ("ontology", "default"), ("max_bytes", 1 << 20)):
        if getattr(options, name) != default:
            words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    if options.mirror:
        words += ["--mirror", str(Path(options.mirror).absolute())]
    if options.config is not None:
        words += ["--config", str(options.config.absolute())]
    base = None if options.store is not None else base_path(options)
    if base is not None:
        return words, {BASE_PATH: str(base)}
    return [*words, "--store", absolute_store(settings_of(options).store)], {}


def absolute_store(url: str) -> str:
    """The URL of a store with its path made absolute, where it is relative: `scheme:path` and `scheme:///path`."""
    scheme, _, rest = url.partition(":")
    slashes = len(rest) - len(rest.lstrip("/"))
    path, mark, query = rest[slashes:].partition("?")
    if slashes not in (0, 3) or not path:
        return url
    return f"{scheme}:{'/' * slashes}{Path(path).absolute()}{mark}{query}"


def mirror_folder(options: Namespace) -> Path | None:
    """The folder to keep files in, absolute, because the process that writes them may be another one."""
    folder = options.mirror or options.base or os.environ.get(BASE_PATH)
    return Path(folder).absolute() if folder else None


async def _run(options: Namespace) -> int:
    from ugs.ontology.api import Memory
    from ugs_gateway.extraction.workers import ExtractionWorkers
    from ugs_gateway.mcp.server import Profile
    from ugs_gateway.mcp.sessions.address import SessionRequest
    from ugs_gateway.mcp.stdio import relay_stdio, serve_stdio
    from ugs_gateway.mcp.truncation import Bounds

    set_up_logs(LogLevel.WARNING, LogFormat.TEXT)
    base = mirror_folder(options)
    max_bytes = max(options.max_bytes, MIN_BYTES)
    settings = settings_of(options)
    url = settings.store
    workers = ExtractionWorkers(settings)

    async def open_store() -> System:
        try:
            system = await open_or_refuse(url, create=True)
        except NotOpened as refused:
            raise refused.__cause__ if isinstance(refused.__cause__, StoreLocked) else refused from None
        await workers.follow(system)
        return system

    try:
        system = await open_store()
    except StoreLocked:
        request = SessionRequest(options.profile, options.ontology, max_bytes, None if base is None else str(base))
        try:
            await relay_stdio(open_store, request, workers.close)
        except StoreLocked as locked:
            raise NotOpened(url) from locked
        return 0
    try:
        memory = Memory(system, ontology=options.ontology)
        await serve_stdio(memory, Profile(options.profile), base, Bounds(bytes=max_bytes))
    finally:
        await workers.close()
        await system.close()
    return 0
