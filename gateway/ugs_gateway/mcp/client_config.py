"""Puts the server into the configuration of an MCP client: where each client keeps it, and one careful change of it.

Only the one entry is written. Every other setting stays, in its order; the file as it was is kept beside it, and a file
that cannot be understood is left alone.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ugs.errors import InvalidSyntax, StorageIOError

ENTRY = "graph-memory-core"
"""The name of the entry; the server calls itself so."""

Json = dict[str, Any]


class ClientConfig(NamedTuple):
    """Where a client keeps its servers."""

    path: Path
    key: str
    """The member that holds the entries."""
    has_type: bool
    """Whether an entry names its transport."""


def app_folder(home: Path, environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The folder in which desktop applications keep their settings."""
    if platform == "win32":
        return Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    if platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config")


def clients(home: Path, environ: Mapping[str, str], platform: str = sys.platform) -> dict[str, ClientConfig]:
    """The clients that can be configured, by name."""
    apps = app_folder(home, environ, platform)
    return {
        "claude-desktop": ClientConfig(apps / "Claude" / "claude_desktop_config.json", "mcpServers", False),
        "claude-code": ClientConfig(home / ".claude.json", "mcpServers", True),
        "cursor": ClientConfig(home / ".cursor" / "mcp.json", "mcpServers", False),
        "vscode": ClientConfig(apps / "Code" / "User" / "mcp.json", "servers", True),
    }


CLIENTS = ("claude-desktop", "claude-code", "cursor", "vscode")


def command() -> list[str]:
    """This installation's command, by an absolute path: clients do not start it from a shell."""
    for name in ("ugs", "ugs.exe"):
        found = Path(sys.executable).parent / name
        if found.is_file():
            return [str(found.absolute())]
    return [str(Path(sys.executable).absolute()), "-m", "ugs_gateway.cli.main"]


def entry(config: ClientConfig, words: list[str], env: Mapping[str, str]) -> Json:
    """The entry that starts the server with these words and this environment."""
    program, *before = command()
    transport = {"type": "stdio"} if config.has_type else {}
    return {**transport, "command": program, "args": [*before, "mcp", *words], **({"env": dict(env)} if env else {})}


class Installation(NamedTuple):
    """What was changed, or would be."""

    path: Path
    entry: Json
    change: str
    """`added`, `replaced` or `unchanged`."""
    backup: Path | None


def install(config: ClientConfig, wanted: Json, dry_run: bool) -> Installation:
    """Write the entry; with `dry_run` only say what would change. Raises if the file is not what is expected there."""
    path = Path(os.path.realpath(config.path))  # a link to a file kept elsewhere stays a link
    before = _read(path)
    settings = {} if before is None else _parse(path, before)
    servers = settings.get(config.key, {})
    if not isinstance(servers, dict):
        raise InvalidSyntax(f"{path}: {config.key} is not an object. Nothing was changed.", path=str(path))
    present = servers.get(ENTRY)
    if present == wanted:
        return Installation(path, wanted, "unchanged", None)
    change = "added" if present is None else "replaced"
    if dry_run:
        return Installation(path, wanted, change, None)
    text = json.dumps({**settings, config.key: {**servers, ENTRY: wanted}}, indent=2, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        backup = None if before is None else _back_up(path)
        _replace(path, text.encode())
    except OSError as error:
        raise StorageIOError(f"{path} cannot be written: {error.strerror}", path=str(path)) from error
    return Installation(path, wanted, change, backup)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageIOError(f"{path} cannot be read: {error.strerror}", path=str(path)) from error


def _parse(path: Path, data: bytes) -> Json:
    if not data.strip():
        return {}
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidSyntax(
            f"{path} is not plain JSON ({error}), so it was left as it is: add the entry by hand (--dry-run shows it)",
            path=str(path),
        ) from error
    if not isinstance(found, dict):
        raise InvalidSyntax(f"{path} is not a JSON object. Nothing was changed.", path=str(path))
    return found


def _back_up(path: Path) -> Path:
    """Copy the file beside itself, with its rights, under a name that is free."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number, backup = 1, path.with_name(f"{path.name}.{moment}.backup")
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.{moment}-{number}.backup")
    shutil.copy2(path, backup)
    return backup


def _replace(path: Path, data: bytes) -> None:
    """Replace the file whole, with the rights it had; a new one is for its owner only."""
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(path, draft)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
