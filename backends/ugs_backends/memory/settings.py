"""Settings of a memory store, parsed from its URL: the folder and the durability options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct

from ugs.errors import InvalidSyntax
from ugs.support.url_paths import local_path


class Fsync(StrEnum):
    """When writes are fsynced."""

    ALWAYS = "always"
    """Before a commit is acknowledged."""
    INTERVAL = "interval"
    """Once a second: a crash of the machine may lose the last second."""
    OFF = "off"
    """Never; for tests."""


class Settings(Struct, frozen=True):
    """The settings of a memory store."""

    folder: Path | None = None
    fsync: Fsync = Fsync.ALWAYS
    snapshot_every: int | None = None
    """Events between two snapshots; 0: never, None: the scheduler's default."""
    strict_recovery: bool = False
    native: bool = True
    history: bool = True
    """Keep former rows, so that the past can be read without a replay."""


def _parse_switch(text: str) -> bool:
    return {"on": True, "off": False}[text]


def _parse_count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise ValueError(text)
    return count


OPTIONS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "fsync": (Fsync, "always, interval or off"),
    "snapshot_every": (_parse_count, "a number of events, 0 for never"),
    "strict_recovery": (_parse_switch, "on or off"),
    "native": (_parse_switch, "on or off"),
    "history": (_parse_switch, "on or off"),
}


def parse_settings(url: str) -> Settings:
    """Parse a URL; raises E005 if it is invalid."""
    scheme, _, rest = url.partition(":")
    path, _, query = rest.partition("?")
    if path.startswith("//"):
        path = _check_no_host(url, path[2:])
    if scheme == "file" and not path:
        raise InvalidSyntax(f"{url!r} names no folder: write file:./data or file:/absolute/path", url=url)
    folder = local_path(path) if path else None
    return Settings(folder=folder, **_parse_options(query))


def _check_no_host(url: str, path: str) -> str:
    host, slash, folder = path.partition("/")
    if host not in ("", "localhost") or not folder:
        raise InvalidSyntax(f"{url!r} must name a folder of this machine: file:./data or file:/absolute/path", url=url)
    return slash + folder


def _parse_options(query: str) -> dict[str, Any]:
    chosen = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in OPTIONS:
            known = ", ".join(OPTIONS)
            raise InvalidSyntax(f"The memory store has no option {name!r}. It knows: {known}", option=name)
        read, meaning = OPTIONS[name]
        try:
            chosen[name] = read(text)
        except (ValueError, KeyError) as error:
            raise InvalidSyntax(f"Option {name} must be {meaning}, got {text!r}", option=name) from error
    return chosen
