"""Troubles in our own words: URLs, servers that do not answer, calls that take too long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from neo4j.exceptions import ServiceUnavailable, TransientError

from tests.backends.neo4j.kit import cypher, events, insert, node, rows, write
from tests.work import TIMED
from ugs.changes import TableWrites
from ugs.connect import storage_for
from ugs.errors import Conflict, DeadlineExceeded, LimitExceeded, OutcomeUnknown, Unavailable, UnknownStore
from ugs.feature_registry import CATALOG
from ugs.graph.model import NODES
from ugs_backends.neo4j import open_neo4j
from ugs_backends.neo4j.errors import to_kernel_error, translate_commit_errors
from ugs_backends.neo4j.storage import Neo4jStorage
from ugs_backends.neo4j.url import parse_address

pytestmark = pytest.mark.asyncio(loop_scope="session")
SECRET = "s3cret p@ss"


async def test_a_url_says_everything() -> None:
    address = parse_address("bolt+s://al:s3cret%20p%40ss@db.example:7777/graph?namespace=team&native=off&deadline=2.5")

    assert (address.uri, address.user, address.password) == ("bolt+s://db.example:7777", "al", SECRET)
    assert (address.database, address.namespace, address.native, address.deadline) == ("graph", "team", False, 2.5)
    assert "s3cret" not in str(address)


async def test_a_url_may_say_little() -> None:
    address = parse_address("neo4j://[::1]")

    assert (address.uri, address.auth, address.database) == ("neo4j://[::1]:7687", None, None)
    assert (address.native, address.deadline) == (True, 30.0)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("neo4j://h?nativ=off", "no option 'nativ'"),
        ("neo4j://h?native=maybe", "on or off"),
        ("neo4j://h?deadline=soon", "seconds"),
        ("neo4j://h?deadline=nan", "seconds"),
        ("neo4j://h?namespace=a-b", "letter"),
        ("neo4j:", "looks like neo4j://"),
        ("neo4j://h:99999", "65535"),
        ("neo4j+tls://h", "scheme is one of"),
    ],
)
async def test_a_wrong_url_is_explained(url: str, words: str) -> None:
    with pytest.raises(UnknownStore, match=words):
        open_neo4j(url)


@pytest.mark.parametrize("scheme", ["neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"])
async def test_the_store_is_found_by_its_scheme(scheme: str) -> None:
    assert isinstance(storage_for(f"{scheme}://localhost"), Neo4jStorage)


async def test_a_server_that_does_not_run_is_unavailable() -> None:
    storage = open_neo4j("neo4j://al:s3cret@127.0.0.1:1/x")

    with pytest.raises(Unavailable, match="cannot be reached") as refused:
        await storage.open(CATALOG)

    assert "s3cret" not in str(refused.value)
    with pytest.raises(Unavailable, match="not open"):
        await rows(storage)


async def test_a_wrong_password_is_told_without_it(url: str) -> None:
    wrong = url.replace(f":{parse_address(url).password}@", ":wr0ng@")

    with pytest.raises(Unavailable, match="refused the user or the password") as refused:
        await open_neo4j(wrong).open(CATALOG)

    assert "wr0ng" not in str(refused.value)


async def test_a_database_that_does_not_exist_is_unavailable(url: str) -> None:
    with pytest.raises(Unavailable, match="no such database"):
        await open_neo4j(url.replace("?", "/nowhere?")).open(CATALOG)


@TIMED
async def test_a_call_that_takes_too_long_is_given_up(storage: Neo4jStorage, url: str) -> None:
    hasty = open_neo4j(f"{url}&deadline=2")
    await hasty.open(CATALOG)
    try:
        begun = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            await cypher(hasty, SLOW)
        assert time.monotonic() - begun < 6
        assert await rows(hasty) == []
    finally:
        await hasty.close()


# A statement that never looks at the server's own time limit while a single row is computed.
SLOW = "RETURN reduce(s = 0, i IN range(1, 300000000) | s + i)"


async def test_waiting_for_another_writer_has_an_end(storage: Neo4jStorage, url: str) -> None:
    hasty = open_neo4j(f"{url}&deadline=3")
    await hasty.open(CATALOG)
    try:
        async with storage.session(write=True) as session:
            with pytest.raises(DeadlineExceeded):
                await insert(hasty, node("b"))
            await session.append(events(1), {NODES: TableWrites(inserts=[node("a")])})
        await insert(hasty, node("c"))
        assert [row.id for row in await rows(hasty)] == ["a", "c"]
    finally:
        await hasty.close()


async def test_a_key_that_is_too_long_to_index_is_refused(storage: Neo4jStorage) -> None:
    with pytest.raises(LimitExceeded, match="8,000 bytes"):
        await insert(storage, node("x" * 9_000))

    assert await rows(storage) == []


async def test_what_breaks_during_a_commit_has_an_unknown_outcome() -> None:
    with pytest.raises(OutcomeUnknown, match="may or may not"), translate_commit_errors("somewhere"):
        raise Unavailable("gone")


async def test_transient_trouble_asks_for_another_try() -> None:
    error = TransientError("deadlock")

    assert isinstance(to_kernel_error(error, "somewhere", {}), Conflict)
    assert isinstance(to_kernel_error(ServiceUnavailable("x"), "somewhere", {}), Unavailable)


class Relay:
    """Passes bytes between the store and the server, until it is told to cut or to go deaf."""

    def __init__(self, host: str, port: int) -> None:
        self.target = host, port
        self.deaf = False
        self.pipes: list[asyncio.StreamWriter] = []

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(*self.target)
        self.pipes += [writer, there[1]]
        await asyncio.gather(self.pump(reader, there[1]), self.pump(there[0], writer))

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                if not self.deaf:
                    writer.write(data)
                    await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    def cut(self) -> None:
        for pipe in self.pipes:
            pipe.transport.abort()
        self.pipes.clear()


@asynccontextmanager
async def behind_relay(url: str, deadline: float = 30) -> AsyncIterator[tuple[Neo4jStorage, Relay]]:
    """A store that reaches the server only through a relay."""
    address = parse_address(url)
    host, port = address.uri.partition("://")[2].rsplit(":", 1)
    relay = Relay(host, int(port))
    server = await asyncio.start_server(relay.connect, "127.0.0.1", 0)
    here = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    storage = open_neo4j(f"{url.replace('neo4j://', 'bolt://').replace(f'{host}:{port}', here)}&deadline={deadline}")
    await storage.open(CATALOG)
    try:
        yield storage, relay
    finally:
        await storage.close()
        relay.cut()
        server.close()


async def test_a_lost_connection_is_made_again(storage: Neo4jStorage, url: str) -> None:
    await insert(storage, node("a"))
    async with behind_relay(url) as (relayed, relay):
        assert await rows(relayed) == [node("a")]
        relay.cut()
        assert await rows(relayed) == [node("a")]
        relay.cut()
        await insert(relayed, node("b"))
    assert [row.id for row in await rows(storage)] == ["a", "b"]


async def test_a_connection_lost_in_the_middle_changes_nothing(storage: Neo4jStorage, url: str) -> None:
    async with behind_relay(url) as (relayed, relay):
        with pytest.raises(Unavailable):  # noqa: PT012
            async with relayed.session(write=True) as session:
                await session.append(events(1), {NODES: TableWrites(inserts=[node("a")])})
                relay.cut()
                await session.fetch(NODES)
        await write(relayed, {}, events(1))
    assert await rows(storage) == []


async def test_a_connection_lost_at_the_commit_has_an_unknown_outcome(storage: Neo4jStorage, url: str) -> None:
    async with behind_relay(url) as (relayed, relay):
        with pytest.raises(OutcomeUnknown):  # noqa: PT012
            async with relayed.session(write=True) as session:
                await session.append(events(1), {NODES: TableWrites(inserts=[node("a")])})
                relay.cut()


@TIMED
async def test_a_server_that_never_answers_does_not_hold_us(storage: Neo4jStorage, url: str) -> None:
    async with behind_relay(url, deadline=2) as (relayed, relay):
        relay.deaf = True
        begun = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            await rows(relayed)
        assert time.monotonic() - begun < 6
        relay.deaf = False
        assert await rows(relayed) == []


async def test_a_commit_that_is_never_answered_has_an_unknown_outcome(storage: Neo4jStorage, url: str) -> None:
    async with behind_relay(url, deadline=2) as (relayed, relay):
        with pytest.raises(OutcomeUnknown):  # noqa: PT012
            async with relayed.session(write=True) as session:
                await session.append(events(1), {})
                relay.deaf = True
