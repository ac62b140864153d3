"""A gateway that is told to stop finishes what it has begun on the express lane, and takes on nothing new."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.processes import Gateway, serving
from tests.gateway.test_fastpath_protocol import Line, request
from tests.work import TIMED
from ugs_gateway.app import create_app
from ugs_gateway.fastpath.protocol import FastPathProtocol
from ugs_gateway.server import Server, bind, serving_config
from ugs_gateway.settings import Settings

ADD = '{"query":"mutation($id: ID!) { addNode(input: {id: $id}) { node { id } } }","variables":{"id":"%s"}}'


def add(id: str) -> bytes:
    return (ADD % id).encode()


def stop(gateway: Gateway) -> None:
    """Tell it to stop, and wait until it has heard."""
    gateway.process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 10
    while is_open(gateway):
        assert time.monotonic() < deadline, "new connections are still taken"
        time.sleep(0.02)


def is_open(gateway: Gateway) -> bool:
    try:
        socket.create_connection(("127.0.0.1", gateway.port), 1).close()
    except ConnectionRefusedError:
        return False
    except OSError:
        pass  # it was in the queue when the door was shut
    return True


@pytest.mark.parametrize("known", [0, 2], ids=["first", "again"])
def test_a_change_under_way_is_made_and_told(tmp_path: Path, known: int) -> None:
    with serving(tmp_path, "--store", "sqlite:///graph.db") as gateway:
        other = Line(gateway)  # its document is known from then on, and the lane takes it
        other.send(request(gateway, add("before")))
        assert other.answer()[0] == 200
        line = Line(gateway)
        for number in range(known):
            line.send(request(gateway, add(f"known_{number}")))
            assert line.answer()[0] == 200
        with closing(sqlite3.connect(tmp_path / "graph.db", isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")  # the store waits for us, and the request for the store
            line.send(request(gateway, add("late")))
            time.sleep(0.3)
            stop(gateway)
            assert gateway.process.poll() is None
            writer.execute("ROLLBACK")
        status, headers, body = line.answer()
        assert (status, headers[b"connection"]) == (200, b"close")
        assert json.loads(body) == {"data": {"addNode": {"node": {"id": "late"}}}}
        assert line.file.read() == b""
        assert gateway.process.wait(10) == 0
    with closing(sqlite3.connect(tmp_path / "graph.db")) as store:
        assert store.execute("SELECT id FROM nodes WHERE id = 'late'").fetchall() == [("late",)]


class Seen(FastPathProtocol):
    """The lane, telling when a request takes it."""

    taken = asyncio.Event()

    def _start(self, *request: Any) -> None:
        Seen.taken.set()
        super()._start(*request)


async def test_it_is_the_lane_that_finishes(tmp_path: Path) -> None:
    """As above, inside this process, where one can see which way a request takes."""
    settings = Settings(store=f"sqlite:///{tmp_path}/graph.db")
    config = serving_config(create_app(settings), settings)
    config.http = Seen
    started = asyncio.Event()
    server = Server(config, started.set)
    listener = bind(Settings(port=0))
    ended = asyncio.create_task(server.serve([listener]))
    await started.wait()
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(plain(add("before")))
    assert b'"before"' in await answer_from(reader)
    with closing(sqlite3.connect(tmp_path / "graph.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        Seen.taken.clear()
        writer.write(plain(add("late")))
        await asyncio.wait_for(Seen.taken.wait(), 10)
        server.handle_exit(signal.SIGTERM, None)
        server._captured_signals.clear()  # this process is to live on
        await asyncio.sleep(0.5)
        other.execute("ROLLBACK")
    assert b'"late"' in await answer_from(reader)
    assert await reader.read() == b""
    writer.close()
    await asyncio.wait_for(ended, 10)


def plain(body: bytes) -> bytes:
    head = b"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


async def answer_from(reader: asyncio.StreamReader) -> bytes:
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    return await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]))


def test_requests_sent_at_once_are_all_answered(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "sqlite:///graph.db") as gateway:
        line = Line(gateway)
        line.send(request(gateway, add("before")))
        assert line.answer()[0] == 200
        with closing(sqlite3.connect(tmp_path / "graph.db", isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            line.send(request(gateway, add("one")) + request(gateway, add("two")))
            time.sleep(0.3)
            stop(gateway)
            writer.execute("ROLLBACK")
        answers = [line.answer() for _ in range(2)]
        assert [json.loads(body)["data"]["addNode"]["node"]["id"] for _, _, body in answers] == ["one", "two"]
        assert line.file.read() == b""
        assert gateway.process.wait(10) == 0


def test_a_long_answer_is_sent_to_its_end(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "memory:") as gateway:
        text = "long " * 150_000
        document = json.dumps({"query": "mutation($d: JSON) { addNode(input: {id: \"long\", data: $d}) { node { id } } }",
                               "variables": {"d": text}})  # fmt: skip
        asked = "{ %s }" % " ".join(f'a{n}: graphNode(id: "long") {{ data }}' for n in range(10))
        line = Line(gateway)
        line.send(request(gateway, document.encode()))
        assert line.answer()[0] == 200
        few = socket.socket()
        few.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        few.connect(("127.0.0.1", gateway.port))
        slow = Line(gateway, few)
        body = json.dumps({"query": asked}).encode()
        line.send(request(gateway, body))
        line.answer()  # the document is known now
        slow.send(request(gateway, body))
        time.sleep(0.3)
        stop(gateway)
        assert gateway.process.poll() is None
        status, _, found = slow.answer()
        assert status == 200
        assert json.loads(found)["data"] == {f"a{n}": {"data": text} for n in range(10)}
        assert gateway.process.wait(10) == 0


@TIMED
def test_a_connection_that_says_nothing_holds_nobody_up(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "memory:") as gateway:
        silent, known = Line(gateway), Line(gateway)
        known.send(request(gateway, b'{"query":"{ stats { nodes } }"}'))
        assert known.answer()[0] == 200
        began = time.monotonic()
        stop(gateway)
        assert silent.file.read() == known.file.read() == b""
        assert gateway.process.wait(10) == 0
        assert time.monotonic() - began < 5
