"""The memory store itself: tables, log, one writer at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import ClassVar

from backends.memory.log import Log
from backends.memory.reading import Reader
from backends.memory.session import (
    Pending,
    PlainSession,
    PlainWriteSession,
    ReadSession,
    WriteSession,
    apply_steps,
)
from backends.memory.settings import Settings
from backends.memory.tables import MemoryTable, Name, NotBuilt, make_tables
from ugs.catalog import Catalog
from ugs.errors import Unavailable
from ugs.storage import Capabilities, Session, Storage

NATIVE = frozenset({"read", "find", "find_many", "count", "group", "keys", "watch", "snapshot"})


class MemoryStorage(Storage):
    """Tables and log in memory; with a folder also on disk."""

    scheme: ClassVar[str] = "memory"
    capabilities = Capabilities(durable=False, native=NATIVE)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.warnings: list[str] = []
        self.writer = asyncio.Lock()
        self.log = Log()
        self.opened = False
        self._moved = asyncio.Event()
        self._builds: dict[tuple[MemoryTable, Name], asyncio.Task[None]] = {}

    async def open(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.tables = make_tables(catalog)
        self.reader = Reader(self.tables)
        self._read_session = (ReadSession if self.settings.native else PlainSession)(self)
        self._write_session = WriteSession if self.settings.native else PlainWriteSession
        self.opened = True

    async def close(self) -> None:
        self.opened = False
        self._wake()

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        return self._write_session(self) if write else self._read_session

    def copy_tables(self) -> dict[str, MemoryTable]:
        """Tables with the same rows, for a session that reads what it has written."""
        copies: dict[str, MemoryTable] = {}
        for name, table in self.tables.items():
            copies[name] = table.copy(self.catalog, copies)
        return copies

    def check_writable(self) -> None:
        """Refuse to start a write that could not be finished."""
        if not self.opened:
            raise Unavailable("The store is closed; open it first")

    async def commit(self, pending: Pending) -> None:
        """Make what a session collected durable, and only then visible, all at once."""
        await self.log.write(pending.events)
        apply_steps(pending.steps, self.tables)
        self.log.advance(pending.events)
        self._wake()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def watch(self, after: int) -> AsyncIterator[int]:
        while self.opened:
            moved = self._moved
            position = self.log.head.position
            if position > after:
                yield position
                after = position
            else:
                await moved.wait()

    async def build(self, missing: NotBuilt) -> None:
        """Build a large index in a thread while everybody else goes on."""
        name = (missing.table, missing.name)
        task = self._builds.get(name)
        if task is None:
            task = self._builds[name] = asyncio.create_task(self._build(*name))
            task.add_done_callback(lambda _: self._builds.pop(name, None))
        await asyncio.shield(task)

    async def _build(self, table: MemoryTable, name: Name) -> None:
        journal = table.journals[name] = []
        try:
            kept = await asyncio.to_thread(table.build, name, list(table.rows.values()))
            table.publish(name, kept, journal)
        finally:
            del table.journals[name]

    async def wipe(self) -> None:
        async with self.writer:
            await self.log.wipe()
            for table in self.tables.values():
                table.clear()

    def describe(self) -> str:
        folder = self.settings.folder
        return "memory (nothing is kept)" if folder is None else f"files in {folder}"
