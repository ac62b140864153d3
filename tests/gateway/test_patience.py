"""How long a connection on which nothing comes stays open, whichever way its requests were answered."""

from __future__ import annotations

import asyncio
import json
from time import perf_counter

from uvicorn import Config
from uvicorn.server import ServerState

from gateway.app import create_app
from gateway.lane import LaneProtocol
from gateway.settings import Settings

BODY = json.dumps({"query": "query($id: ID!) { graphNode(id: $id) { id } }", "variables": {"id": "bob"}}).encode()
REQUEST = (
    b"POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(BODY), BODY)
)
IDLE = 0.6


async def test_answers_given_at_once_keep_a_connection_open_and_silence_ends_it() -> None:
    app = create_app(Settings(store="memory:"))
    config = Config(app, log_level="warning")
    config.load()
    config.loaded_app, config.timeout_keep_alive = app, IDLE  # type: ignore[assignment]
    loop, made = asyncio.get_running_loop(), list[LaneProtocol]()

    def protocol() -> LaneProtocol:
        made.append(LaneProtocol(config, ServerState(), app_state={}, _loop=loop))
        return made[-1]

    async with app.router.lifespan_context(app):
        server = await loop.create_server(protocol, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        clocks = set()
        for _ in range(8):
            writer.write(REQUEST)
            answer = await reader.readuntil(b'{"data":{"graphNode":null}}')
            assert answer.startswith(b"HTTP/1.1 200")
            await asyncio.sleep(IDLE / 3)
            clocks.add(made[0].timeout_keep_alive_task)
        assert len(clocks) < 8, "the clock is not wound up anew for each answer"
        silent = perf_counter()
        assert await asyncio.wait_for(reader.read(), 5) == b""
        assert IDLE / 3 < perf_counter() - silent < 5 * IDLE
        writer.close()
        server.close()
