"""What the URL of a memory store says: where the files lie, and how careful to be with them.

`memory:` has no folder. `file:./data`, `file:/srv/data`, `file:C:/data` and `memory:./data` name one. Options follow
a `?`: `fsync=always|interval|off`, `snapshot_every=1000` (0: never by itself), `strict_recovery=on`, `native=off`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct

from ugs.errors import InvalidSyntax
from ugs.local_paths import local_path


class Fsync(StrEnum):
    """When a write is forced to the disk."""

    ALWAYS = "always"
    """Before it is acknowledged."""
    INTERVAL = "interval"
    """Once a second: a crash of the machine may lose the last second."""
    OFF = "off"
    """Never; for tests."""


class Settings(Struct, frozen=True):
    """Everything a memory store can be told."""

    folder: Path | None = None
    fsync: Fsync = Fsync.ALWAYS
    snapshot_every: int = 1000
    strict_recovery: bool = False
    native: bool = True


def _switch(text: str) -> bool:
    return {"on": True, "off": False}[text]


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise ValueError(text)
    return count


OPTIONS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "fsync": (Fsync, "always, interval or off"),
    "snapshot_every": (_count, "a number of events, 0 for never"),
    "strict_recovery": (_switch, "on or off"),
    "native": (_switch, "on or off"),
}


def settings_from(url: str) -> Settings:
    """The settings a URL stands for, or E005 in words."""
    scheme, _, rest = url.partition(":")
    path, _, query = rest.partition("?")
    if path.startswith("//"):
        path = _without_host(url, path[2:])
    if scheme == "file" and not path:
        raise InvalidSyntax(f"{url!r} names no folder: write file:./data or file:/absolute/path", url=url)
    folder = local_path(path) if path else None
    return Settings(folder=folder, **_options(query))


def _without_host(url: str, path: str) -> str:
    host, slash, folder = path.partition("/")
    if host not in ("", "localhost") or not folder:
        raise InvalidSyntax(f"{url!r} must name a folder of this machine: file:./data or file:/absolute/path", url=url)
    return slash + folder


def _options(query: str) -> dict[str, Any]:
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
