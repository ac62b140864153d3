"""Connections held open: the last one used is the next one given, none is reset in between, and waiting ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Generic, TypeVar

from backends.sql.link import Link
from ugs.errors import Unavailable

L = TypeVar("L", bound=Link)
QUIET_SECONDS = 30.0
"""A connection that rested longer is asked whether it still lives before it is used."""


class Pool(Generic[L]):
    """At most `size` connections."""

    def __init__(self, connect: Callable[[], Awaitable[L]], size: int, patience: float) -> None:
        self._connect = connect
        self._size = size
        self._patience = patience
        self._idle: list[tuple[L, float]] = []
        self._turns = asyncio.Semaphore(size)
        self._all: set[L] = set()
        self._closed = False

    async def acquire(self) -> L:
        """A connection for the caller alone."""
        if self._turns.locked():
            await self._turn()
        else:
            await self._turns.acquire()
        try:
            return self._last_used() or await self._ready()
        except BaseException:
            self._turns.release()
            raise

    def _last_used(self) -> L | None:
        """The connection that was given back last, if it was used a moment ago."""
        if self._idle and self._idle[-1][0].is_usable and monotonic() - self._idle[-1][1] < QUIET_SECONDS:
            return self._idle.pop()[0]
        return None

    async def _turn(self) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self._turns.acquire()
        except TimeoutError as error:
            raise Unavailable(
                f"All {self._size} connections to the database have been busy for {self._patience:g} seconds. "
                "Try again, or allow more connections.",
                connections=self._size,
            ) from error

    async def _ready(self) -> L:
        while self._idle:
            link, since = self._idle.pop()
            if link.is_usable and (monotonic() - since < QUIET_SECONDS or await link.is_alive()):
                return link
            self._discard(link)
        link = await self._connect()
        self._all.add(link)
        return link

    def release(self, link: L) -> None:
        """Take a connection back; a broken one is dropped."""
        self._turns.release()
        if link.is_usable and not self._closed:
            self._idle.append((link, monotonic()))
        else:
            self._discard(link)

    def _discard(self, link: L) -> None:
        self._all.discard(link)
        link.terminate()

    async def close(self) -> None:
        """Close every connection; those in use are cut off."""
        self._closed = True
        for link, _ in self._idle:
            self._all.discard(link)
            await link.close()
        self._idle.clear()
        for link in list(self._all):
            self._discard(link)
