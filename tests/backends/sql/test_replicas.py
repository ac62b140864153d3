"""Reads from standbys of a real PostgreSQL: never older than what was asked for, wherever the standbys are."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from tests.servers.pytest_use import WITHOUT_SERVERS
from tests.servers.replication import Cluster, replicated
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode, Update
from ugs.identity import LOCAL
from ugs.log.at import At
from ugs.storage.read_position import reading_at_least, reading_from_primary
from ugs.system import System
from ugs_backends.sql import open_sql
from ugs_backends.sql.postgresql.replicas import ReplicaPool
from ugs_backends.sql.postgresql.storage import PostgresqlStorage
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings

CHECKS = int(os.environ.get("UGS_TEST_REPLICA_CHECKS", "300"))
READERS = 4


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if os.environ.get(WITHOUT_SERVERS):
        pytest.skip(f"needs postgresql, and {WITHOUT_SERVERS} is set")
    with replicated(tmp_path_factory.mktemp("replication")) as found:
        yield found


@pytest.fixture(autouse=True)
async def following(cluster: Cluster) -> AsyncIterator[None]:
    """Standbys that a test has paused go on."""
    yield
    for standby in cluster.standbys:
        await standby.resume()


@asynccontextmanager
async def opened(cluster: Cluster) -> AsyncIterator[System]:
    async with System(open_sql(f"{cluster.url}&schema=r{uuid4().hex[:8]}")) as system:
        yield system


def pool_of(system: System) -> ReplicaPool:
    storage = system.storage
    assert isinstance(storage, PostgresqlStorage) and isinstance(storage.read_pool, ReplicaPool)
    return storage.read_pool


async def port_of(system: System) -> int:
    """Which server answers a read."""
    async with system.session() as session:
        ((port,),) = await session.link.rows("SELECT inet_server_port()")  # type: ignore[attr-defined]
    return int(port)


async def caught_up(system: System, lagging: int = 0) -> None:
    """Wait until all standbys but some show everything."""
    async with asyncio.timeout(30):
        while sum(status.lag > 0 or not status.is_reachable for status in system.storage.replicas()) > lagging:  # noqa: ASYNC110 - the server is asked
            await asyncio.sleep(0.05)


async def test_reads_go_to_standbys_and_writes_to_the_primary(cluster: Cluster) -> None:
    async with opened(cluster) as system:
        await Graph(system, LOCAL.principal).do(AddNode(id="a"))
        await caught_up(system)
        ports = {await port_of(system) for _ in range(4)}
        assert ports == {standby.port for standby in cluster.standbys}
        with reading_from_primary():
            assert await port_of(system) == cluster.primary.port
        async with system.storage.session(write=True) as session:
            ((port,),) = await session.link.rows("SELECT inet_server_port()")  # type: ignore[attr-defined]
        assert port == cluster.primary.port
        assert (await system.verify()).ok


async def test_a_standby_that_lags_is_passed_over_and_with_all_lagging_the_primary_answers(cluster: Cluster) -> None:
    first, second = cluster.standbys
    async with opened(cluster) as system:
        graph = Graph(system, LOCAL.principal)
        await graph.do(AddNode(id="a"))
        await caught_up(system)
        await first.pause()
        await graph.do(AddNode(id="b"))
        await caught_up(system, lagging=1)
        assert {await port_of(system) for _ in range(6)} == {second.port}
        (lagging,) = [status for status in system.storage.replicas() if status.lag]
        assert (lagging.name, lagging.lag, lagging.is_reachable) == (f"127.0.0.1:{first.port}", 1, True)
        await second.pause()
        await graph.do(AddNode(id="c"))
        assert {await port_of(system) for _ in range(6)} == {cluster.primary.port}
        assert await graph.get("c") is not None
        with reading_at_least(1):
            assert {await port_of(system) for _ in range(6)} == {first.port, second.port}
        with reading_at_least(2):
            assert {await port_of(system) for _ in range(6)} == {second.port}


async def test_random_reads_after_writes_are_never_stale(cluster: Cluster) -> None:
    """While replay is paused and goes on at random, every read sees at least what was acknowledged before it."""
    chance, stale, answered = Random(28), 0, Counter[int]()
    async with opened(cluster) as system:
        graph = Graph(system, LOCAL.principal)
        await graph.do(AddNode(id="n", properties={"at": 0}))
        await caught_up(system)
        done, acknowledged = asyncio.Event(), 0

        async def disturb() -> None:
            while not done.is_set():
                standby = chance.choice(cluster.standbys)
                await standby.pause()
                await asyncio.sleep(chance.random() * 0.05)
                await standby.resume()
                await asyncio.sleep(chance.random() * 0.05)

        async def check(writer: int) -> None:
            nonlocal acknowledged, stale
            for number in range(CHECKS // READERS):
                if writer == 0 or chance.random() < 0.3:
                    outcome = await graph.do(Update(id="n", properties={f"w{writer}": number}))
                    acknowledged = max(acknowledged, outcome.events[-1].position)
                wanted = acknowledged
                async with system.session() as session:
                    head = (await session.head()).position
                    ((port,),) = await session.link.rows("SELECT inet_server_port()")  # type: ignore[attr-defined]
                answered[port] += 1
                stale += head < wanted

        disturbing = asyncio.create_task(disturb())
        await asyncio.gather(*(check(writer) for writer in range(READERS)))
        done.set()
        await disturbing
    assert stale == 0
    assert sum(answered.values()) == CHECKS // READERS * READERS
    assert len(answered) == 3, f"not every server answered: {answered}"


async def test_a_standby_that_dies_is_left_alone_and_found_again(cluster: Cluster) -> None:
    first, second = cluster.standbys
    async with opened(cluster) as system:
        graph = Graph(system, LOCAL.principal)
        await graph.do(AddNode(id="a"))
        await caught_up(system)
        first.kill()
        try:
            for _ in range(6):
                assert await graph.get("a") is not None
            assert await port_of(system) in (second.port, cluster.primary.port)
        finally:
            first.start()
        await caught_up(system)
        async with asyncio.timeout(30):
            while await port_of(system) != first.port:  # noqa: ASYNC110 - the server is asked
                await asyncio.sleep(0.05)


async def test_the_past_and_subscriptions_are_whole_while_standbys_lag(cluster: Cluster) -> None:
    async with opened(cluster) as system:
        graph = Graph(system, LOCAL.principal)
        for number in range(5):
            await graph.do(AddNode(id=f"n{number}"))
            await cluster.standbys[number % 2].pause()
        seen = []
        async for event in system.subscribe(0):
            seen.append(event.position)
            if len(seen) == 5:
                break
        assert seen == [1, 2, 3, 4, 5]
        assert [len((await graph.export_graph(at=At(position=at)))["nodes"]) for at in (2, 5)] == [2, 5]


async def test_a_store_that_was_emptied_is_not_read_from_memory_of_positions(cluster: Cluster) -> None:
    async with opened(cluster) as system:
        graph = Graph(system, LOCAL.principal)
        for number in range(3):
            await graph.do(AddNode(id=f"n{number}"))
        await caught_up(system)
        for standby in cluster.standbys:
            await standby.pause()
        await system.storage.wipe()
        await graph.do(AddNode(id="fresh"))
        assert await graph.get("n0") is None and await graph.get("fresh") is not None


async def test_a_gateway_answers_from_the_position_that_a_request_names(cluster: Cluster) -> None:
    store = f"{cluster.url}&schema=r{uuid4().hex[:8]}"
    add = "mutation($id: ID!) { addNode(input: {id: $id}) { node { id } } }"

    def ask(client: TestClient, query: str, position: str | None = None, **variables: Any) -> Any:
        headers = {} if position is None else {"ugs-min-position": position}
        return client.post("/graphql", json={"query": query, "variables": variables}, headers=headers)

    def work() -> None:
        with (
            TestClient(create_app(Settings(store=store)), base_url="http://localhost") as one,
            TestClient(create_app(Settings(store=store)), base_url="http://localhost") as other,
        ):
            for number in range(5):
                written = ask(one, add, id=f"n{number}")
                assert written.headers["ugs-position"] == str(number + 1)
                read = ask(other, "{ stats { nodes } }", written.headers["ugs-position"])
                assert read.json()["data"]["stats"]["nodes"] == number + 1
            asked = ask(other, "{ stats { nodes } }", "0").json()["data"]["stats"]["nodes"]
            assert 0 <= asked <= 5
            refused = ask(other, "{ stats { nodes } }", "-1")
            assert refused.status_code == 400
            assert refused.json()["errors"][0]["extensions"]["code"] == "E005"
            report = one.get("/health").json()["replicas"]
            assert {replica["host"] for replica in report} == {f"127.0.0.1:{one.port}" for one in cluster.standbys}
            assert 'ugs_replica_lag_events{replica="127.0.0.1:' in one.get("/metrics").text

    await asyncio.to_thread(work)


async def test_a_store_is_reached_by_a_unix_socket_and_finds_the_host_that_writes(cluster: Cluster) -> None:
    primary, standby = cluster.primary, cluster.standbys[0]
    login = f"user=ugs&password={primary.password}"
    urls = [
        f"postgresql:///ugs?host={primary.folder}&port={primary.port}&{login}",
        f"postgres://ugs:{primary.password}@127.0.0.1:{standby.port},127.0.0.1:{primary.port}/ugs?connect_timeout=10",
    ]
    for url in urls:
        async with System(open_sql(f"{url}&schema=r{uuid4().hex[:8]}")) as system:
            await Graph(system, LOCAL.principal).do(AddNode(id="a"))
            assert await Graph(system, LOCAL.principal).get("a") is not None
