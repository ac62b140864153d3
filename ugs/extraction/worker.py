"""The worker: reads the notes that wait, one after the other, and records what came of it.

The queue is in the log, so a worker that ends loses nothing: its note still waits. A note leaves the queue in the
command that keeps its facts, so these are kept once, however often it was read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from ugs.bus import Interest
from ugs.errors import UgsError
from ugs.extraction.api import ExtractionService
from ugs.extraction.commands import FinishExtraction, PostponeExtraction
from ugs.extraction.events import FINISHED, GIVEN_UP, POSTPONED, REQUESTED
from ugs.extraction.extractors import ExtractionFailed, Extractor
from ugs.extraction.model import EXTRACTIONS, WAITING, Extraction
from ugs.facts.model import NOTES, PREDICATES, Note
from ugs.facts.normalization import Space, scope_keys
from ugs.feature import Command
from ugs.identity import Context, Principal
from ugs.log.at import At
from ugs.reads.filters import Compare, Op, all_of, eq, in_
from ugs.reads.plan import Order, Page
from ugs.storage import EventQuery
from ugs.system import System

log = logging.getLogger(__name__)

AUTHOR = "extractor"
"""Who the events of facts name that were read out of a note."""
DAY_MS = 86_400_000
LONGEST_WAIT_SECONDS = 60.0
RETRY_SECONDS = 1.0
MAX_PREDICATES = 100
CALLS = frozenset({FINISHED, POSTPONED, GIVEN_UP})
"""Events that each follow one call of the extractor."""


class ExtractionWorker:
    """Works the queue of one system off, with one extractor and a number of calls per day (UTC)."""

    def __init__(self, system: System, extractor: Extractor, calls_per_day: int, *, propose: bool = False) -> None:
        self.system, self.extractor, self.calls_per_day = system, extractor, calls_per_day
        self.propose = propose
        """Whether what is read out of notes has to be approved by somebody."""
        self._day, self._calls = -1, 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Work until the block ends; a note that is being read then still waits."""
        self.system.companions[ExtractionService] = ExtractionService(self.extractor.name)
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self.system.companions.pop(ExtractionService, None)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        asked = asyncio.Event()
        watching = asyncio.create_task(self._watch(asked, self.system.bus.position))
        try:
            while True:
                asked.clear()
                try:
                    await self.work_off()
                    pause = await self._seconds_until_due()
                except UgsError:
                    pause = RETRY_SECONDS  # the store is away
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await asked.wait()
        finally:
            watching.cancel()

    async def _watch(self, asked: asyncio.Event, position: int) -> None:
        """Wake the worker when a note is added to the queue."""
        while True:
            with suppress(UgsError):
                async for event in self.system.subscribe(position, Interest(types=frozenset({REQUESTED}))):
                    position = event.position
                    asked.set()
            await asyncio.sleep(RETRY_SECONDS)

    async def work_off(self) -> int:
        """Read every note that is due, within the day's budget; how many were read."""
        count = 0
        while await self._has_budget():
            row = await self._next()
            if row is None:
                break
            await self._read(row)
            count += 1
        return count

    async def _next(self) -> Extraction | None:
        due = all_of(eq("state", WAITING), Compare("due_at", Op.LE, self.system.clock.now()))
        async with self.system.session() as session:
            rows: list[Extraction] = await session.fetch(EXTRACTIONS, due, [Order("due_at")], Page(1))
        return rows[0] if rows else None

    async def _seconds_until_due(self) -> float:
        async with self.system.session() as session:
            rows: list[Extraction] = await session.fetch(EXTRACTIONS, eq("state", WAITING), [Order("due_at")], Page(1))
        if not rows or self._calls >= self.calls_per_day:
            return LONGEST_WAIT_SECONDS
        return min(max((rows[0].due_at - self.system.clock.now()) / 1_000, 0.0), LONGEST_WAIT_SECONDS)

    async def _read(self, row: Extraction) -> None:
        """One call of the extractor, and its outcome in the log."""
        self._calls += 1
        writer = Context(Principal(AUTHOR, frozenset({"writer"}), row.tenant_id, row.project_id, row.agent_id))
        async with self.system.session() as session:
            notes: list[Note] = await session.find_many(NOTES, [row.note_id])
            keys = in_("scope_key", list(scope_keys(Space(row.tenant_id, row.project_id))))
            predicates = await session.fetch(PREDICATES, keys, (), Page(MAX_PREDICATES))
        if not notes:
            return
        names = [predicate.canonical for predicate in predicates]
        command: Command
        try:
            claims = await asyncio.to_thread(self.extractor.extract, notes[0].text, names)
            command = FinishExtraction(
                note_id=row.note_id, extractor=self.extractor.name, claims=tuple(claims), propose=self.propose
            )
        except ExtractionFailed as error:
            command = PostponeExtraction(note_id=row.note_id, error=error.message, final=error.final)
        except Exception as error:
            # A bug of the extractor concerns one note, not the others.
            log.exception("an extractor failed")
            command = PostponeExtraction(note_id=row.note_id, error=f"{type(error).__name__} in the extractor")
        await self.system.execute(command, writer)

    async def _has_budget(self) -> bool:
        """Whether the day has calls left; a new worker counts those that the log has of today."""
        day = self.system.clock.now() // DAY_MS
        if day != self._day:
            since = await self.system.moments.position_at(At(instant=day * DAY_MS - 1))
            async with self.system.session() as session:
                query = EventQuery(after=since, types=CALLS, limit=self.calls_per_day)
                self._day, self._calls = day, len(await session.events(query))
        return self._calls < self.calls_per_day
