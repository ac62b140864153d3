"""Which raw writer stands beside which store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.sides.writing import BareAppend, RawWriter


async def _bare_append(url: str, folder: Path) -> RawWriter:
    return BareAppend(folder / "scratch-append.ndjson")


WRITERS: dict[str, Callable[[str, Path], Awaitable[RawWriter]]] = {"memory": _bare_append}


async def raw_writer(store: str, url: str, folder: Path) -> RawWriter | None:
    """The raw writer for a store, where there is one."""
    make = WRITERS.get(store)
    return None if make is None else await make(url, folder)
