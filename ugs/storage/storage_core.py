"""What every store has: how it is opened and closed, and its sessions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.clock import Clock, WallClock
from ugs.storage.session import Session


class Capabilities(Struct, frozen=True):
    """Declared facts about a store. They change speed, never answers."""

    durable: bool = False
    concurrent_writers: bool = False
    """Several processes may open the store at once."""
    native: frozenset[str] = frozenset()
    """Which optional methods are the store's own: read, nearest, path, watch, snapshot, group, …"""


class StorageCore(ABC):
    """What a store must do, and what is known about it."""

    scheme: ClassVar[str]
    capabilities: ClassVar[Capabilities] = Capabilities()
    warnings: Sequence[str] = ()
    """What an operator should know about how the store opened: repaired tails, rebuilt snapshots."""
    clock: Clock = WallClock()
    """The clock for timestamps the store writes itself (snapshots, repairs); a system replaces it by its own."""
    damage: str | None = None
    """A description of damage found in the stored data; writes are refused until it is repaired or acknowledged."""

    @abstractmethod
    async def open(self, catalog: Catalog) -> None:
        """Open the store for these tables; creates what is missing and migrates older layouts."""

    @abstractmethod
    async def close(self) -> None:
        """Release everything; the store can be opened again."""

    @abstractmethod
    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        """A transaction: leaving normally commits, an exception rolls back."""
