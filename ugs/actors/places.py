"""Waiting in line: one message at a time per node, in the order they came, and not more than a few."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf

from ugs.actors.errors import MailboxFull


class _Line:
    """Those who want one place; the first of them has it."""

    __slots__ = ("length", "lock")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.length = 0


class Places:
    """Locks by id that exist only while somebody holds or wants them."""

    def __init__(self, longest: float = inf, most: float = inf) -> None:
        self._longest, self._most = longest, most
        self._lines: dict[str, _Line] = {}
        self._all = 0

    def __len__(self) -> int:
        return len(self._lines)

    @asynccontextmanager
    async def hold(self, id: str) -> AsyncIterator[None]:
        """Have the place of an id, after everybody who came before; refused when too many wait already."""
        line = self._lines.get(id) or _Line()
        if line.length >= self._longest:
            raise MailboxFull(f"{line.length} messages already wait for {id}", id)
        if self._all >= self._most:
            raise MailboxFull(f"{self._all} messages already wait for all actors together", id)
        self._lines[id] = line
        line.length += 1
        self._all += 1
        try:
            async with line.lock:
                yield
        finally:
            self._all -= 1
            line.length -= 1
            if not line.length:
                del self._lines[id]

    @asynccontextmanager
    async def hold_all(self, ids: Iterable[str]) -> AsyncIterator[None]:
        """Have several places; always taken in the same order, so that nobody waits in a circle."""
        async with AsyncExitStack() as stack:
            for id in sorted(set(ids)):
                await stack.enter_async_context(self.hold(id))
            yield
