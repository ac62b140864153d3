"""PostgreSQL without advisory locks and without LISTEN, as some engines that speak its language are."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from uuid import uuid4

import pytest

from tests import servers
from ugs.connect import storage_for
from ugs.errors import Conflict, VersionConflict
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode, Update
from ugs.identity import LOCAL
from ugs.system import System
from ugs_backends.sql import open_sql
from ugs_backends.sql.postgresql.connection import PostgresqlLink
from ugs_backends.sql.postgresql.storage import PostgresqlStorage

FEATURES = ["listen=off", "lock=row", "listen=off&lock=row"]
FORBIDDEN = {"listen=off": ("LISTEN", "NOTIFY", "pg_notify"), "lock=row": ("advisory",)}
WRITES = 15


@contextmanager
def place(options: str) -> Iterator[str]:
    url = f"{servers.require('postgresql')}?schema=f{uuid4().hex[:8]}&{options}"
    try:
        yield url
    finally:
        asyncio.run(dropped(url))


async def dropped(url: str) -> None:
    async with System.at_url(url) as system:
        await system.storage.drop()


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[System]:
    async with System.at_url(url) as system:
        yield system


@pytest.mark.parametrize("options", FEATURES)
def test_two_gateways_take_turns_and_hear_of_each_other(options: str) -> None:
    async def work(url: str) -> None:
        async with opened(url) as one, opened(url) as other:
            await Graph(one, LOCAL.principal).do(AddNode(id="counter", properties={"at": 0}))

            async def count(system: System) -> None:
                graph = Graph(system, LOCAL.principal)
                for _ in range(WRITES):
                    while True:
                        node = await graph.get("counter")
                        assert node is not None
                        change = Update(
                            id="counter", properties={"at": node.properties["at"] + 1}, expected_version=node.version
                        )
                        try:
                            await graph.do(change)
                            break
                        except (Conflict, VersionConflict):
                            await asyncio.sleep(0)

            heard = asyncio.create_task(hear(other, 1 + 2 * WRITES))
            await asyncio.gather(count(one), count(other))
            node = await Graph(one, LOCAL.principal).get("counter")
            assert node is not None and node.properties["at"] == 2 * WRITES
            assert await asyncio.wait_for(heard, 30) == list(range(1, 2 + 2 * WRITES))
            assert (await one.verify()).ok

    with place(options) as url:
        asyncio.run(work(url))


async def hear(system: System, count: int) -> list[int]:
    positions = []
    async for event in system.subscribe(0):
        positions.append(event.position)
        if len(positions) == count:
            break
    return positions


@pytest.mark.parametrize("options", FEATURES)
def test_what_is_switched_off_is_not_used(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    connect = PostgresqlStorage.connect

    async def listening(self: PostgresqlStorage, *, write: bool = False) -> PostgresqlLink:
        link = await connect(self, write=write)
        link.connection.add_query_logger(lambda query: said.append(query.query))
        return link

    async def work(url: str) -> None:
        async with opened(url) as system:
            await Graph(system, LOCAL.principal).do(AddNode(id="a"))
            await asyncio.wait_for(hear(system, 1), 10)

    monkeypatch.setattr(PostgresqlStorage, "connect", listening)
    with place(options) as url:
        asyncio.run(work(url))
    text = "\n".join(said)
    assert "INSERT" in text
    for option in options.split("&"):
        assert not [word for word in FORBIDDEN[option] if word in text]


def test_a_part_of_the_kit_runs_without_both() -> None:
    with place("listen=off&lock=row") as url:
        words = ["-m", "pytest", "--pyargs", "ugs_conformance", "--backend", url, "-q", "-p", "no:cacheprovider"]
        chosen = ["-k", "test_subscriptions or test_concurrency or test_batches"]
        done = subprocess.run(
            [sys.executable, *words, *chosen], capture_output=True, text=True, check=False, timeout=500
        )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_a_wrong_choice_is_refused() -> None:
    for option in ("listen=maybe", "lock=table"):
        with pytest.raises(Exception, match="must be"):
            open_sql(f"postgresql://db/graph?{option}")
    assert isinstance(storage_for("postgresql://db/graph?listen=off&lock=row"), PostgresqlStorage)
