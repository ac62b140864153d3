"""How long a connection on which nothing comes stays open, whichever way its requests were answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from tests.work import TIMED
from ugs_gateway.app import create_app
from ugs_gateway.fastpath.handler import FastPath
from ugs_gateway.fastpath.protocol import FastPathProtocol
from ugs_gateway.settings import Settings

BODY = json.dumps({"query": "query($id: ID!) { graphNode(id: $id) { id } }", "variables": {"id": "bob"}}).encode()
REQUEST = (
    b"POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(BODY), BODY)
)
IDLE = 0.6


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[tuple[Any, list[FastPathProtocol]]]:
    """An application behind the fast path: its address, and the protocols of its connections."""
    config = Config(app, log_level="warning")
    config.load()
    config.loaded_app, config.timeout_keep_alive = app, IDLE  # type: ignore[assignment]
    loop, made = asyncio.get_running_loop(), list[FastPathProtocol]()

    def protocol() -> FastPathProtocol:
        made.append(FastPathProtocol(config, ServerState(), app_state={}, _loop=loop))
        return made[-1]

    async with app.router.lifespan_context(app):
        server = await loop.create_server(protocol, "127.0.0.1", 0)
        yield server.sockets[0].getsockname(), made
        server.close()


@asynccontextmanager
async def connected(app: Any) -> AsyncIterator[tuple[FastPathProtocol, asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to an application behind the fast path, and its protocol."""
    async with listening(app) as (address, made):
        reader, writer = await asyncio.open_connection(*address)
        yield made[0], reader, writer
        writer.close()


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(REQUEST)
    return await answered(reader)


async def answered(reader: asyncio.StreamReader) -> bytes:
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    length = int(head.partition(b"content-length: ")[2].partition(b"\r")[0])
    return head.partition(b"\r\n")[0] + await reader.readexactly(length)


@TIMED
async def test_answers_given_at_once_keep_a_connection_open_and_silence_ends_it() -> None:
    async with connected(create_app(Settings(store="memory:"))) as (lane, reader, writer):
        clocks = set()
        for _ in range(8):
            assert b" 200 " in await asked(reader, writer)
            await asyncio.sleep(IDLE / 3)
            clocks.add(lane.timeout_keep_alive_task)
        assert len(clocks) < 8, "the clock is not wound up anew for each answer"
        silent = perf_counter()
        assert await asyncio.wait_for(reader.read(), 5) == b""
        assert IDLE / 3 < perf_counter() - silent < 5 * IDLE


class Slow:
    """Lets answers of an application take their time."""

    def __init__(self, app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, answer = 0.0, FastPath.run

        async def later(express: FastPath, *given: Any) -> Any:
            await asyncio.sleep(self.seconds)
            return await answer(express, *given)

        monkeypatch.setattr(FastPath, "run", later)
        monkeypatch.setattr(FastPath, "run_sync", lambda *given: None)


@TIMED
async def test_each_request_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(Settings(store="memory:", request_seconds=0.5))
    async with connected(app) as (lane, reader, writer):
        assert b" 200 " in await asked(reader, writer)
        slow = Slow(app, monkeypatch)
        for seconds in (0.3, 0.0, 0.3, 0.3):  # the clock of the first rings while later ones are on their way
            slow.seconds = seconds
            assert b" 200 " in await asked(reader, writer)
        for _ in range(2):
            slow.seconds, started = 30.0, perf_counter()
            refused = await asked(reader, writer)
            assert b" 503 " in refused and b"TIMEOUT" in refused and 0.4 < perf_counter() - started < 3
        slow.seconds = 0.0
        assert b" 200 " in await asked(reader, writer)
        assert not lane.tasks


async def test_a_connection_is_not_idle_while_an_answer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(Settings(store="memory:"))
    async with connected(app) as (lane, reader, writer):
        assert b" 200 " in await asked(reader, writer)
        slow = Slow(app, monkeypatch)
        slow.seconds = 2.5 * IDLE
        assert b" 200 " in await asked(reader, writer)
        assert lane.server_state.total_requests == 2


async def test_a_request_behind_one_that_is_waited_for_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(Settings(store="memory:", request_seconds=0.5))
    async with connected(app) as (lane, reader, writer):
        assert b" 200 " in await asked(reader, writer)
        slow = Slow(app, monkeypatch)
        slow.seconds = 0.2
        writer.write(REQUEST)
        await asyncio.sleep(0.05)
        writer.write(REQUEST + REQUEST)
        assert [b" 200 " in await answered(reader) for _ in range(3)] == [True] * 3
        slow.seconds = 30.0
        writer.write(REQUEST)
        await asyncio.sleep(0.05)
        slow.seconds = 0.0
        writer.write(REQUEST)
        statuses = [(await answered(reader)).split(b" ")[1] for _ in range(2)]
        assert statuses == [b"503", b"200"], "its time is up although somebody waits behind it"
        assert lane.server_state.total_requests == 6
