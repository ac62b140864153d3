"""The optional methods of a store, grouped by what a native implementation gives.

Each has a default built on `StorageCore`. docs/writing-a-backend.md lists what each buys and what happens without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from ugs.reads.plan import Read, ResultPage
from ugs.reads.rendering import RenderArgs, Rendering
from ugs.storage.read_position import ReplicaStatus
from ugs.storage.session import Session
from ugs.storage.storage_core import StorageCore
from ugs.tables import Row, Table

SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 1.0
"""Between two polls of the log's end, where a store has no notification of its own."""


class SpecialSessions(StorageCore):
    """Sessions that leave out a lock or a transaction."""

    def decision_session(self) -> AbstractAsyncContextManager[Session]:
        """A write session for one group of decisions: it reads, then appends once.

        A store may begin it without a lock and raise `Conflict` at its end if another writer committed meanwhile.
        """
        return self.session(write=True)

    def autocommit_session(self) -> AbstractAsyncContextManager[Session]:
        """A session for one read; a store may leave out the transaction around it."""
        return self.session()


class PlanAnswers(StorageCore):
    """Whole plans without a session of the caller's."""

    def rows_in_memory(self, table: Table) -> Mapping[Any, Row] | None:
        """A live view of all rows of a table by key, if the store holds them in memory."""
        return None

    async def read(self, plan: Read) -> ResultPage:
        """The answer to one plan; a store may leave out the transaction around it."""
        async with self.session() as session:
            return await session.read(plan)

    async def render(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes:
        """The answer to one plan as JSON text; a store may render natively and batch concurrent calls."""
        return rendering.write(await self.read(plan), plan, late).encode()

    def render_sync(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes | None:
        """The same without awaiting, if the store can answer from memory at once; else None."""
        return None

    def explain_render(self, plan: Read, rendering: Rendering) -> list[str]:
        """The statements that `render` would send, for EXPLAIN; empty where the kernel renders."""
        return []


class Operation(StorageCore):
    """Notification, snapshots, statistics, and what operators see."""

    async def watch(self, after: int) -> AsyncIterator[int]:
        """Yield the log's end whenever it has moved beyond `after`, also by other processes (default: polling)."""
        pause = SHORTEST_PAUSE_SECONDS
        while True:
            async with self.session() as session:
                position = (await session.head()).position
            if position > after:
                yield position
                after, pause = position, SHORTEST_PAUSE_SECONDS
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)

    async def snapshot(self) -> dict[str, Any] | None:
        """Write a native snapshot and answer its five fields; None lets the kernel count the rows instead."""
        return None

    async def analyze(self) -> None:
        """Refresh planner statistics after a bulk load."""
        return None

    def known_position(self) -> int | None:
        """The last position that this process has written or heard of, for a store that reads from replicas; whoever
        asks another gateway may pass it on. None where every read sees everything."""
        return None

    def replicas(self) -> list[ReplicaStatus]:
        """How far the replicas are that reads go to."""
        return []

    def describe(self) -> str:
        """The store in words, without secrets."""
        return self.scheme

    def is_there(self) -> bool:
        """Whether opening would find something rather than make it; True where only the server knows."""
        return True

    def exclusive_folder(self) -> Path | None:
        """The folder that only one process at a time may open, so that others can find that process there; None where
        several processes may open the store (the default)."""
        return None

    def properties(self) -> dict[str, str]:
        """How the store is set up, in words."""
        return {}

    async def acknowledge_damage(self) -> str | None:
        """Accept the damage that was found, so that writing goes on; tells what it was, None where there is none."""
        return None


class Removal(StorageCore):
    """Removing everything; the conformance kit and `copy --overwrite` need it."""

    async def wipe(self) -> None:
        """Delete all rows and the log. Used by tests and by `copy --overwrite`."""
        raise NotImplementedError

    async def drop(self) -> None:
        """As `wipe`, and also remove the schema or namespace on a shared server; the store must be opened again."""
        await self.wipe()

    async def remove_if_empty(self) -> None:
        """Remove the files of a closed store without any event, if nobody else uses them; otherwise do nothing.

        A command that would have made the store and failed leaves nothing this way.
        """
        return None
