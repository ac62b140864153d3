"""A deadline stops the work in the store, not only the waiting for it."""

from __future__ import annotations

import asyncio
import time

import asyncpg
import pytest

from tests import servers
from ugs.api import Graph
from ugs.programs import Bounds, Programs, parse_text
from ugs.system import System

SCHEMA = "programs_stopping"
WAITING = f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{SCHEMA}.nodes'::regclass"
EVERYTHING = parse_text("+ MATCH (n) RETURN n;").program


@pytest.mark.clause("PROG-121", "PROG-122")
async def test_a_timeout_leaves_nothing_running_in_the_store() -> None:
    url = servers.require("postgresql")
    other = await asyncpg.connect(url)
    async with System.at_url(f"{url}?schema={SCHEMA}") as system:
        await system.storage.wipe()
        await Graph(system).add_node("a", "T")
        began = time.monotonic()
        async with other.transaction():
            await other.execute(f"LOCK TABLE {SCHEMA}.nodes IN ACCESS EXCLUSIVE MODE")
            running = asyncio.create_task(Programs(system, bounds=Bounds(seconds=1.5)).execute(EVERYTHING))
            while await other.fetchval(WAITING) == 0:
                assert time.monotonic() - began < 5, "the program never reached the store"
                await asyncio.sleep(0.05)
            found = await running
            assert found.aborted is not None and found.aborted.reason == "Program execution timed out"
            while await other.fetchval(WAITING) > 0:
                assert time.monotonic() - began < 5, "the store still works on it"
                await asyncio.sleep(0.05)
        after = await Programs(system).execute(EVERYTHING)
        assert after.result.ids == ["a"]
        await system.storage.wipe()
    await other.close()
