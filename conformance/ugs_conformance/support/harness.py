"""How the kit gets a fresh, empty store, again and again, without paying for it each time.

One store stays open for the whole run and is wiped before every test. A restart closes it and opens a new one on the
same URL. Your own conftest may define the session fixture `fresh_store_url` to say where stores come from.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from ugs.catalog import Catalog
from ugs.clock import Clock
from ugs.connect import storage_for
from ugs.feature_registry import CATALOG
from ugs.log.replay import Progress
from ugs.storage import Capabilities, RowVersion, Session, Storage
from ugs.system import System
from ugs.tables import Table

BARE = {"file:": "file:{tmp}", "sqlite:": "sqlite:///{tmp}/store.db"}
"""Where a URL that names only a scheme keeps its data."""


def store_url(given: str, folder: Path, native: str | None) -> str:
    """The URL to open for the one that was given: `{tmp}` filled, `native=off` added when asked."""
    url = BARE.get(given, given).replace("{tmp}", str(folder))
    return with_option(url, "native", "off") if native == "off" else url


def with_option(url: str, name: str, value: str) -> str:
    """The URL with one more option."""
    return f"{url}{'&' if '?' in url else '?'}{name}={value}"


class Lent(Storage):
    """An open store that its borrower cannot close: systems come and go, the store stays."""

    def __init__(self, store: Storage) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        return self._store.capabilities

    @property
    def warnings(self) -> Sequence[str]:  # type: ignore[override]
        return self._store.warnings

    async def open(self, catalog: Catalog) -> None:
        return None

    async def close(self) -> None:
        return None

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        return self._store.session(write=write)

    @property
    def history_begins(self) -> int | None:  # type: ignore[override]
        return self._store.history_begins

    async def at(self, position: int) -> Storage | None:
        return await self._store.at(position)

    async def take_history(self, replica: Storage) -> None:
        await self._store.take_history(replica)

    async def history_end(self) -> int | None:
        return await self._store.history_end()

    async def rebuild_history(self, progress: Progress | None = None) -> int | None:
        return await self._store.rebuild_history(progress)

    async def versions_by_key(self, table: Table, until: int) -> dict[Any, list[RowVersion]] | None:
        return await self._store.versions_by_key(table, until)

    async def compare_history(self, replica: Storage) -> list[str]:
        return await self._store.compare_history(replica)

    def watch(self, after: int) -> AsyncIterator[int]:
        return self._store.watch(after)

    async def snapshot(self) -> dict[str, Any] | None:
        return await self._store.snapshot()

    async def wipe(self) -> None:
        await self._store.wipe()

    def sibling(self, name: str) -> Storage | None:
        return self._store.sibling(name)

    def describe(self) -> str:
        return self._store.describe()


class Harness:
    """The store under test."""

    def __init__(self, url: str, catalog: Catalog = CATALOG) -> None:
        self.url = url
        self.catalog = catalog
        self._open: Storage | None = None

    async def storage(self) -> Storage:
        """The store, open."""
        if self._open is None:
            store = storage_for(self.url)
            await store.open(self.catalog)
            self._open = store
        return self._open

    async def fresh(self) -> Storage:
        """The store, open and empty."""
        store = await self.storage()
        await store.wipe()
        return store

    async def system(self, clock: Clock | None = None) -> System:
        """An open system on the store as it is."""
        store = await self.storage()
        if clock is not None:
            store.clock = clock
        system = System(Lent(store), clock, self.catalog)
        await system.open()
        return system

    async def restart(self) -> Storage:
        """The store after its process ended and another one began."""
        await self.close()
        return await self.storage()

    async def close(self) -> None:
        """Let the store go."""
        store, self._open = self._open, None
        if store is not None:
            await store.close()

    async def lacks(self, capability: str) -> str | None:
        """Why a capability is missing, or None when it is there."""
        store = await self.storage()
        has, reason = CAPABILITIES.get(capability, (None, f"does not declare {capability}"))
        present = capability in store.capabilities.native if has is None else has(store)
        return None if present else reason


CAPABILITIES: dict[str, tuple[Any, str]] = {
    "durable": (lambda store: store.capabilities.durable, "keeps nothing when it is closed"),
    "concurrent_writers": (lambda store: store.capabilities.concurrent_writers, "is open in one process at a time"),
    "files": (lambda store: getattr(store, "folder", None) is not None, "keeps its log in the database, not in files"),
    "apart": (lambda store: store.sibling("elsewhere") is not None, "has no way to keep two stores apart"),
    "snapshot": (None, "has no snapshots: its tables are always current"),
}
"""What a test may need, how to see it, and what the report says where it is missing."""
