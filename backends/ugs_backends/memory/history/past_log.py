"""The log of a memory store up to a position, and the sessions that read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ugs.events import GENESIS_CRC, Event, Head
from ugs.storage import EventQuery
from ugs_backends.memory.query.response_renderer import Renderer
from ugs_backends.memory.session import PlainSession, PlainWriteSession, ReadSession, WriteSession
from ugs_backends.memory.wal.memory_log import Log

if TYPE_CHECKING:
    from ugs_backends.memory.storage import MemoryStorage


class PastLog(Log):
    """The part of a log up to a position."""

    def __init__(self, log: Log, position: int) -> None:
        super().__init__()
        self._log = log
        self.head = Head(position, 0, GENESIS_CRC, 0)
        self._is_known = position == 0

    async def events(self, query: EventQuery) -> list[Event]:
        end = self.head.position
        return await self._log.events(replace(query, until=end if query.until is None else min(query.until, end)))

    async def find_head(self) -> Head:
        """The head with the time and checksum of the last event, which is read when somebody asks."""
        if not self._is_known:
            end = self.head.position
            for event in await self._log.events(EventQuery(after=end - 1, until=end)):
                self.head = Head(end, event.timestamp, event.crc or GENESIS_CRC, 0)
            self._is_known = True
        return self.head


class _OfPastLog:
    """The part of a session that reads a past log."""

    storage: MemoryStorage

    async def head(self) -> Head:
        log = self.storage.log
        assert isinstance(log, PastLog)
        return await log.find_head()


class PastPlainSession(_OfPastLog, PlainSession):
    """A session of the past with the port's defaults."""


class _OfSharedRenderer(ReadSession):
    """The part of a session that renders with what was compiled for other positions."""

    @property
    def renderer(self) -> Renderer:
        renderer = self.storage.past_renderer
        renderer.reader = self.reader
        return renderer


class PastReadSession(_OfPastLog, _OfSharedRenderer):
    """A session of the past with native queries."""


class PastPlainWriteSession(_OfPastLog, PlainWriteSession):
    """A session that writes tables which do not follow from the log, with the port's defaults."""


class PastWriteSession(_OfPastLog, _OfSharedRenderer, WriteSession):
    """A session that writes tables which do not follow from the log, such as vectors."""
