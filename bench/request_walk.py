"""What one warm request walks through: `python -m bench.request_walk`.

The query of the README is sent over a socket to the gateway in this process until everything is cached. Then the calls
of Python functions in our packages are counted, with the files they stand in; a coroutine that goes on counts again.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from uvicorn import Config
from uvicorn.server import ServerState

from tests.servers import url_of
from ugs.graph.api import Graph
from ugs.system import System
from ugs_gateway.app import create_app
from ugs_gateway.fastpath.protocol import FastPathProtocol
from ugs_gateway.settings import Settings

README = "query($id: ID!) { graphNode(id: $id) { label outgoing { nodes { type toNode { label } } } } }"
WARM_REQUESTS = 50
PACKAGES = ("ugs", "ugs_backends", "ugs_schema", "ugs_gateway")


def package_of(file: str) -> str | None:
    """The package of ours that a file belongs to."""
    return next((part for part in Path(file).parts if part in PACKAGES), None)


async def count_calls(store: str) -> Counter[tuple[str, str]]:
    """The calls of one warm request by file and function."""
    async with System.at_url(store) as system:
        await system.storage.wipe()
        await Graph(system).load_demo()
    app = create_app(Settings(store=store, request_seconds=30))
    config = Config(app, log_level="warning")
    config.load()
    config.loaded_app = app
    loop, calls = asyncio.get_running_loop(), Counter[tuple[str, str]]()

    def protocol() -> FastPathProtocol:
        return FastPathProtocol(config, ServerState(), app_state={}, _loop=loop)

    def watch(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and package_of(frame.f_code.co_filename):
            calls[frame.f_code.co_filename, frame.f_code.co_qualname] += 1

    async with app.router.lifespan_context(app):
        server = await loop.create_server(protocol, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for number in range(WARM_REQUESTS):
            if number == WARM_REQUESTS - 1:
                sys.setprofile(watch)
            writer.write(make_request())
            head = await reader.readuntil(b"\r\n\r\n")
            sys.setprofile(None)
            body = await reader.readexactly(int(head.partition(b"content-length: ")[2].partition(b"\r")[0]))
            assert b'"label"' in body, body
        writer.close()
        server.close()
    return calls


def make_request() -> bytes:
    body = msgspec.json.encode({"query": README, "variables": {"id": "alice"}})
    head = b"POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.request_walk", description=__doc__)
    parser.add_argument("--stores", type=lambda text: text.split(","), default=["memory", "sqlite", "postgresql"])
    parser.add_argument("--calls", action="store_true", help="list them")
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        for name in asked.stores:
            urls = {"memory": f"file:{folder}/walk", "sqlite": f"sqlite:///{folder}/walk.db"}
            url = urls.get(name) or url_of(name).partition("?")[0] + "?schema=request_walk"
            calls = asyncio.run(count_calls(url))
            files = {file for file, _ in calls}
            print(f"{name:<12}{calls.total():>5} calls of {len(calls)} functions in {len(files)} files")
            for (file, function), times in calls.items() if asked.calls else ():
                print(f"{times:>6}  {file.partition('site-packages/')[2] or Path(file).name}  {function}")


if __name__ == "__main__":
    main()
