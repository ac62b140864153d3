"""A connection pool: last in, first out, without a reset on release, with a bounded wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Generic, TypeVar

from ugs.errors import Unavailable
from ugs_backends.sql.connections.connection import DriverConnection

L = TypeVar("L", bound=DriverConnection)
MAX_IDLE_SECONDS = 30.0
"""A connection that was idle longer is checked before it is used."""


class Pool(Generic[L]):
    """A pool of at most `size` connections."""

    def __init__(self, connect: Callable[[], Awaitable[L]], size: int, patience: float) -> None:
        self._connect = connect
        self._size = size
        self._patience = patience
        self._idle: list[tuple[L, float]] = []
        self._turns = asyncio.Semaphore(size)
        self._all: set[L] = set()
        self._closed = False

    @property
    def is_exhausted(self) -> bool:
        """Whether whoever asks now has to wait."""
        return self._turns.locked()

    async def acquire(self) -> L:
        """A connection for exclusive use; raises `Unavailable` after the timeout."""
        if self._turns.locked():
            await self._take_turn()
        else:
            await self._turns.acquire()
        try:
            return self._take_recent() or await self._take_connection()
        except BaseException:
            self._turns.release()
            raise

    def _take_recent(self) -> L | None:
        """The connection released last, if it was used recently enough to need no check."""
        if self._idle and self._idle[-1][0].is_usable and monotonic() - self._idle[-1][1] < MAX_IDLE_SECONDS:
            return self._idle.pop()[0]
        return None

    async def _take_turn(self) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self._turns.acquire()
        except TimeoutError as error:
            raise Unavailable(
                f"All {self._size} connections to the database have been busy for {self._patience:g} seconds. "
                "Try again, or allow more connections.",
                connections=self._size,
            ) from error

    async def _take_connection(self) -> L:
        while self._idle:
            link, since = self._idle.pop()
            if link.is_usable and (monotonic() - since < MAX_IDLE_SECONDS or await link.is_alive()):
                return link
            self._discard(link)
        link = await self._connect()
        self._all.add(link)
        return link

    def release(self, link: L) -> None:
        """Return a connection to the pool; a broken one is dropped."""
        self._turns.release()
        if link.is_usable and not self._closed:
            self._idle.append((link, monotonic()))
        else:
            self._discard(link)

    def _discard(self, link: L) -> None:
        self._all.discard(link)
        link.terminate()

    async def close(self) -> None:
        """Close every connection; those in use are terminated."""
        self._closed = True
        for link, _ in self._idle:
            self._all.discard(link)
            await link.close()
        self._idle.clear()
        for link in list(self._all):
            self._discard(link)
