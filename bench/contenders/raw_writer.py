"""Writing without us: the same rows and the same log line, durable before the next one."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Protocol

import orjson


class RawWriter(Protocol):
    """Somebody who writes nodes by hand."""

    name: str
    most_writers: int
    """How many may write at once; beyond it the raw driver has no answer of its own."""

    async def write(self, batch: int) -> None: ...

    async def close(self) -> None: ...


class BareAppend:
    """A line per node appended to a file, and one fsync for all who wait: what a script around networkx would do.

    It checks nothing, indexes nothing and waits for the disk in its event loop, so it is the limit of what one process
    can make durable here.
    """

    name = "append + fsync"
    most_writers = 256

    def __init__(self, file: Path) -> None:
        self.file = file
        self._open = file.open("ab")
        self._flushing: asyncio.Task[None] | None = None
        self.nodes: dict[str, dict[str, object]] = {}

    async def write(self, batch: int) -> None:
        for _ in range(batch):
            id = f"w{len(self.nodes)}"
            node: dict[str, object] = {"id": id, "type": "task", "properties": {"name": id, "label": "plain label"}}
            self._open.write(orjson.dumps(node) + b"\n")
            self.nodes[id] = node
        # Whatever was written before a flush begins is covered by it.
        self._flushing = self._flushing or asyncio.create_task(self._flush())
        await self._flushing

    async def _flush(self) -> None:
        self._flushing = None
        self._open.flush()
        os.fsync(self._open.fileno())

    async def close(self) -> None:
        self._open.close()
        self.file.unlink()
