"""A deadline stops the work in the store, not only the waiting for it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import asyncpg
import neo4j
import pytest

from tests import servers
from ugs.graph.api import Graph
from ugs.programs import Bounds, ProgramResult, parse_text
from ugs.programs.api import Programs
from ugs.system import System

NAME = "programs_stopping"
WAITING = f"SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{NAME}.nodes'::regclass"
SPACE = "progstop"
AT_WORK = f"SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS '{SPACE}' RETURN count(*) AS found"
EVERYTHING = parse_text("+ MATCH (n) RETURN n;").program
ENDLESS = parse_text("+ MATCH (a)-->(b)-->(c)-->(d)-->(e)-->(f)-->(g) RETURN count(*);").program
"""Some ten thousand million walks, where every node is connected with every other."""
DEADLINES = (3, 10, 25)
"""The next one where a busy machine had not even begun by then."""
TIMEOUT_SECONDS = 60


async def until(holds: Callable[[], Awaitable[bool]], trouble: str) -> None:
    """Wait until something holds, for many times as long as it should take."""
    began = time.monotonic()
    while not await holds():
        assert time.monotonic() - began < TIMEOUT_SECONDS, trouble
        await asyncio.sleep(0.05)


async def all_connected(system: System, count: int = 30) -> None:
    ids = [f"n{number}" for number in range(count)]
    edges = [{"from": one, "to": other, "type": "T"} for one, other in permutations(ids, 2)]
    await Graph(system).import_graph({"nodes": [{"id": id} for id in ids], "edges": edges})


async def stopped(system: System, program: Any, works: Callable[[], Awaitable[bool]]) -> None:
    """Run a program into its deadline; the store must work on it, and then no longer."""

    async def rests() -> bool:
        return not await works()

    seen = False
    for seconds in DEADLINES:
        running = asyncio.create_task(Programs(system, bounds=Bounds(seconds=seconds)).execute(program))
        while not seen and not running.done():
            await asyncio.sleep(0.05)
            seen = await works()
        found: ProgramResult = await running
        assert found.aborted is not None and found.aborted.reason == "Program execution timed out"
        await until(rests, "the store still works on it")
        if seen:
            return
    raise AssertionError("the program never reached the store")


async def still_answers(system: System) -> None:
    found = await Programs(system).execute(parse_text("+ MATCH (n) RETURN n LIMIT 1;").program)
    assert len(found.result.nodes) == 1


@pytest.mark.clause("PROG-121", "PROG-122")
async def test_a_timeout_leaves_nothing_running_in_postgresql() -> None:
    url = servers.require("postgresql")
    other = await asyncpg.connect(url)
    async with System.at_url(f"{url}?schema={NAME}") as system:
        await system.storage.wipe()
        await Graph(system).add_node("a", "T")

        async def works() -> bool:
            return bool(await other.fetchval(WAITING) > 0)

        async with other.transaction():
            await other.execute(f"LOCK TABLE {NAME}.nodes IN ACCESS EXCLUSIVE MODE")
            await stopped(system, EVERYTHING, works)
        await still_answers(system)
        await system.storage.wipe()
    await other.close()


@pytest.mark.clause("PROG-121", "PROG-122")
async def test_a_timeout_leaves_nothing_running_in_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, steps = sqlite3.connect, [0]

    class Watched(sqlite3.Connection):
        """A connection that tells every ten thousand steps of its machine, whoever else listens to them."""

        def set_progress_handler(self, handler: Callable[[], Any] | None, n: int) -> None:
            def count() -> Any:
                steps[0] += 1
                return handler() if handler is not None else 0

            super().set_progress_handler(count, n if handler is not None else 10_000)

    def watched(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, factory=Watched, **options)
        connection.set_progress_handler(None, 0)
        return connection

    async def works() -> bool:
        before = steps[0]
        await asyncio.sleep(0.3)
        return steps[0] > before

    monkeypatch.setattr(sqlite3, "connect", watched)
    async with System.at_url(f"sqlite:///{tmp_path}/graph.db") as system:
        await all_connected(system)
        await stopped(system, ENDLESS, works)
        await still_answers(system)


@pytest.mark.clause("PROG-121", "PROG-122")
async def test_a_timeout_leaves_nothing_running_in_neo4j() -> None:
    url = servers.require("neo4j")
    scheme, _, rest = url.partition("://")
    login, _, host = rest.rpartition("@")
    name, _, password = login.partition(":")
    async with neo4j.AsyncGraphDatabase.driver(f"{scheme}://{host}", auth=(name, password)) as driver:

        async def works() -> bool:
            answer = await driver.execute_query(AT_WORK)
            return bool(answer.records[0]["found"] > 1)  # the question finds itself

        async with System.at_url(f"{url}?namespace={SPACE}") as system:
            await system.storage.wipe()
            await all_connected(system)
            await stopped(system, ENDLESS, works)
            await still_answers(system)
            await system.storage.wipe()
