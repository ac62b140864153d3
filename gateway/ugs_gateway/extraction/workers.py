"""The workers of a process: one for each open system, if an extractor is set."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from ugs.extraction.api import ExtractionService
from ugs.extraction.extractors import Extractor, ExtractorOptions, extractor_for
from ugs.extraction.worker import ExtractionWorker
from ugs.system import System
from ugs_gateway.settings import PROPOSE, Settings


class ExtractionWorkers:
    """Started as systems are opened, ended together; none without an extractor."""

    def __init__(self, settings: Settings) -> None:
        self.extractor = extractor_in(settings)
        self.calls_per_day = settings.extractor_calls_per_day
        self.propose = settings.extractor_trust == PROPOSE
        self._running = AsyncExitStack()

    async def follow(self, system: System, *, calls: bool = True) -> None:
        """Read the notes of an open system until the end; without `calls`, only let them wait for another process."""
        if self.extractor is None:
            return
        if not calls:
            system.companions[ExtractionService] = ExtractionService(self.extractor.name)
        else:
            worker = ExtractionWorker(system, self.extractor, self.calls_per_day, propose=self.propose)
            await self._running.enter_async_context(worker.running())

    async def close(self) -> None:
        """Stop all workers; what waits still waits."""
        await self._running.aclose()


def extractor_in(settings: Settings) -> Extractor | None:
    """The extractor that the settings name."""
    if not settings.extractor:
        return None
    key_file = Path(settings.extractor_key_file) if settings.extractor_key_file else None
    options = ExtractorOptions(settings.extractor_url, settings.extractor_model, key_file)
    return extractor_for(settings.extractor, options)
