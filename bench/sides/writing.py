"""Writing without us: the same rows and the same log line, durable before the next one."""

from __future__ import annotations

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
    """A line per node appended to a file, and fsync: what a script around networkx would do."""

    name = "append + fsync"
    most_writers = 1

    def __init__(self, file: Path) -> None:
        self.file = file
        self._open = file.open("ab")
        self.nodes: dict[str, dict[str, object]] = {}

    async def write(self, batch: int) -> None:
        for _ in range(batch):
            id = f"w{len(self.nodes)}"
            node: dict[str, object] = {"id": id, "type": "task", "properties": {"name": id, "label": "plain label"}}
            self._open.write(orjson.dumps(node) + b"\n")
            self.nodes[id] = node
        self._open.flush()
        os.fsync(self._open.fileno())

    async def close(self) -> None:
        self._open.close()
        self.file.unlink()
