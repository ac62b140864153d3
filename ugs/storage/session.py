"""A session: one transaction of a store."""

from __future__ import annotations

from ugs.reads.level_executor import execute_by_levels
from ugs.reads.plan import Read, ResultPage
from ugs.reads.rendering import RenderArgs, Rendering
from ugs.storage.session_capabilities import BulkWrites, Counts, PatternMatching, PointReads, Search


class Session(PointReads, Counts, Search, PatternMatching, BulkWrites):
    """One transaction. A write session is the only one of its store, also across processes.

    Its own optional methods answer whole plans.
    """

    async def read(self, plan: Read) -> ResultPage:
        """The answer to a whole plan."""
        return await execute_by_levels(self, plan)

    async def render(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes:
        """The answer to a plan as JSON text in UTF-8."""
        return rendering.write(await self.read(plan), plan, late).encode()

    def explain_read(self, plan: Read) -> list[str]:
        """The statements that `read` would send, for EXPLAIN; empty where the store sends none."""
        return []
