"""The Python API of extraction: keep a note and have it read, and see what waits."""

from __future__ import annotations

from msgspec import Struct

from ugs.errors import LimitExceeded
from ugs.extraction.commands import RememberNote
from ugs.extraction.model import EXTRACTIONS, Extraction
from ugs.facts.api import Facts
from ugs.facts.model import Note
from ugs.facts.reader import SHARED
from ugs.facts.resolution import get_note
from ugs.identity import LOCAL, Principal
from ugs.reads.filters import all_of, eq
from ugs.reads.plan import Order, Page
from ugs.system import System

MAX_LISTED = 500


class ExtractionService(Struct):
    """Says, as a companion of a system, that its notes are read by an extractor."""

    extractor: str


def is_extracting(system: System) -> bool:
    """Whether somebody works the queue off, so that it makes sense to fill it."""
    return ExtractionService in system.companions


class Extractions:
    """The queue, for one principal."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        self.facts = Facts(system, principal)

    async def remember(
        self,
        text: str,
        source: str | None = None,
        *,
        scope: str = SHARED,
        id: str | None = None,
        key: str | None = None,
    ) -> Note:
        """Keep a note, durable at once, and ask for its extraction in the same command."""
        space = self.facts.writing(None, None)
        command = RememberNote(
            tenant_id=space.tenant,
            project_id=space.project,
            agent_id=self.facts.principal.agent,
            scope=scope,
            text=text,
            source=source,
            note_id=id,
        )
        done = await self.facts.do(command, key)
        async with self.facts.known() as session:
            return await get_note(session, done.events[0].element or "" if done.events else id or "", space)

    async def state(self, note_id: str) -> Extraction | None:
        """The state of a note in the queue; None if it was never in it, or may not be seen."""
        async with self.facts.known() as session:
            rows: list[Extraction] = await session.find_many(EXTRACTIONS, [note_id])
        return next((row for row in rows if self.facts.viewer.sees(row)), None)

    async def listed(self, state: str, limit: int = 100) -> list[Extraction]:
        """The notes in a state (`waiting`, `done`, `failed`), those that are due first."""
        if not 1 <= limit <= MAX_LISTED:
            raise LimitExceeded(f"between 1 and {MAX_LISTED} at once", limit=MAX_LISTED)
        where = all_of(eq("state", state), self.facts.viewer.readable)
        async with self.facts.known() as session:
            return await session.fetch(EXTRACTIONS, where, [Order("due_at")], Page(limit))
