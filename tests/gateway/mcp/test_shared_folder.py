"""Several processes on one data folder: one serves the others, nothing acknowledged is lost, another takes over."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from tests.gateway.mcp.client import UGS, Talk, over_stdio
from tests.gateway.mcp.test_files import registry
from tests.gateway.processes import serving
from ugs.errors import StoreLocked
from ugs.ontology.api import Memory
from ugs.system import System
from ugs_gateway.mcp.server import Profile
from ugs_gateway.mcp.sessions import address
from ugs_gateway.mcp.sessions.address import Address, SessionRequest, find_host, publish
from ugs_gateway.mcp.sessions.host import hosting
from ugs_gateway.mcp.sessions.membership import Membership
from ugs_gateway.mcp.sessions.relay import UNKNOWN, Relay

FULL, QUICK = (10, 100), (3, 10)
"""Processes, and what each writes; the full tier is that of `make faults`."""
ONTOLOGY: dict[str, Any] = {"node_types": ["Action"], "connection_types": []}


async def write(talk: Talk, name: str, count: int) -> list[str]:
    made = []
    for number in range(count):
        answer = await talk("create_node", type="Action", content=f"{name} {number}", format="text")
        made.append(answer["node_id"])
    return made


async def nodes_in(base: Path) -> set[str]:
    async with System.at_url(f"file:{base}/_system") as system:
        assert (await system.verify()).ok
        return set(await Memory(system).query_nodes(type="Action"))


async def test_processes_that_start_together_leave_every_node_in_one_log(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    processes, writes = FULL if request.config.getoption("--faults", "quick") == "full" else QUICK
    async with over_stdio(tmp_path) as talk:
        await talk("create_ontology", **ONTOLOGY)

    async def client(number: int) -> list[str]:
        async with over_stdio(tmp_path) as talk:
            return await write(talk, f"client {number}", writes)

    made = await asyncio.gather(*(client(number) for number in range(processes)))
    wanted = {id for ids in made for id in ids}
    assert len(wanted) == processes * writes
    assert registry(tmp_path)["nodes"].keys() == wanted
    assert await nodes_in(tmp_path) == wanted
    assert find_host(tmp_path / "_system") is None


@asynccontextmanager
async def holder(base: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that holds the folder, before anybody else wants it; its client says nothing."""
    environment = {**os.environ, "BASE_PATH": str(base)}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(UGS, "mcp", env=environment, stdin=pipe, stdout=pipe)
    try:
        while find_host(base / "_system") is None:
            assert process.returncode is None
            await asyncio.sleep(0.05)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_killed_host_loses_nothing_it_acknowledged_and_another_takes_over(tmp_path: Path) -> None:
    async with holder(tmp_path) as first, over_stdio(tmp_path) as second, over_stdio(tmp_path) as third:
        await second("create_ontology", **ONTOLOGY)
        known = {*await write(second, "second", 2), *await write(third, "third", 2)}
        host = find_host(tmp_path / "_system")
        assert host is not None and host.pid == first.pid
        first.kill()
        # Calls that only read are sent again by themselves; a call that was not under way is never in doubt.
        seen = await asyncio.gather(*(one("query_nodes", type="Action") for one in (second, third)))
        assert all(set(found["node_ids"]) == known for found in seen)
        known |= {*await write(second, "second", 3), *await write(third, "third", 3)}
        successor = find_host(tmp_path / "_system")
        assert successor is not None and successor.pid != host.pid
    assert await nodes_in(tmp_path) == known and len(known) == 10
    assert registry(tmp_path)["nodes"].keys() == known


async def test_a_host_that_ends_in_order_leaves_no_call_in_doubt(tmp_path: Path) -> None:
    async with holder(tmp_path) as first, over_stdio(tmp_path) as second:
        await second("create_ontology", **ONTOLOGY)
        known = set(await write(second, "second", 2))
        writing = asyncio.create_task(write(second, "more", 20))
        await asyncio.sleep(0)
        assert first.stdin is not None
        first.stdin.close()
        known |= set(await writing)
        await first.wait()
    assert await nodes_in(tmp_path) == known and len(known) == 22


async def test_a_gateway_serves_the_clients_that_want_its_folder(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", f"file:{tmp_path}/base/_system", "--mirror", str(tmp_path / "base")) as gateway:
        async with over_stdio(tmp_path / "base", "--profile", "memory") as talk:
            await talk(
                "remember",
                text="Alice prefers tea.",
                facts=[{"subject": "Alice", "predicate": "prefers", "value": "tea"}],
            )
        answer = gateway.ask('{ recall(query: "Alice tea") { items { text } } }')
        assert "Alice prefers tea" in [item["text"] for item in answer["data"]["recall"]["items"]]


async def test_a_guest_has_its_own_profile_ontology_and_limits(tmp_path: Path) -> None:
    async with (
        over_stdio(tmp_path) as host,
        over_stdio(tmp_path, "--profile", "read-only", "--ontology", "other") as guest,
    ):
        await host("create_ontology", **ONTOLOGY)
        tools = {tool.name for tool in (await guest.client.list_tools()).tools}
        assert "create_node" not in tools and "query_nodes" in tools
        assert (await guest.refused("get_ontology"))["code"] == "ONTOLOGY_NOT_FOUND"


async def test_a_holder_that_serves_nobody_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugs_gateway.mcp.sessions.membership.JOIN_SECONDS", 0.0)
    async with System.at_url(f"file:{tmp_path}/_system"):

        async def open_store() -> System:
            system = System.at_url(f"file:{tmp_path}/_system")
            await system.open()
            return system

        async with Membership(open_store, SessionRequest("core", "default", 1 << 20)) as membership:
            with pytest.raises(StoreLocked, match=str(os.getpid())):
                await membership.connect()


# ── who may join ─────────────────────────────────────────────────────────────


async def test_only_who_reads_the_folder_may_join(tmp_path: Path) -> None:
    async with System.at_url(f"file:{tmp_path}/data") as system, hosting(system):
        host = find_host(tmp_path / "data")
        assert host is not None
        assert os.name == "nt" or (tmp_path / "data" / address.ADDRESS_FILE).stat().st_mode & 0o777 == 0o600
        for opening in (b"0" * 64, b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: 70\r\n\r\n" + b"x" * 70):
            reader, writer = await asyncio.open_connection(address.HOST, host.port)
            writer.write(opening + b'{"profile":"core","ontology":"default","max_bytes":9}\n')
            with suppress(ConnectionError):
                assert await reader.read() == b""  # not a word, and closed
            writer.close()
        reader, writer = await asyncio.open_connection(address.HOST, host.port)
        writer.write(host.secret.encode() + b'{"profile":1}\n')
        assert "refused" in json.loads(await reader.readline())
        assert await reader.read() == b""
        writer.close()
    assert find_host(tmp_path / "data") is None


async def test_other_stores_need_no_host(tmp_path: Path) -> None:
    async with System.at_url(f"sqlite:///{tmp_path}/one.db") as system, hosting(system):
        assert address.ADDRESS_FILE not in os.listdir(tmp_path)


def test_an_address_that_nobody_here_wrote_is_none(tmp_path: Path) -> None:
    assert find_host(tmp_path) is None
    for text in (b"", b"[]", b"{}", b'{"port":"x"}', b"\xff"):
        (tmp_path / address.ADDRESS_FILE).write_bytes(text)
        assert find_host(tmp_path) is None
    publish(tmp_path, Address(1, "s", 2, protocol=99))
    assert find_host(tmp_path) is None


# ── the relay, between a scripted client and scripted hosts ──────────────────


def call(id: int, tool: str) -> SessionMessage:
    return SessionMessage(
        JSONRPCRequest(jsonrpc="2.0", id=id, method="tools/call", params={"name": tool, "arguments": {}})
    )


class Hosts:
    """Hosts that follow each other, each a script: how many calls it takes, answers, and how it ends."""

    def __init__(self, *scripts: tuple[int, bool, bytes], error: bool = False) -> None:
        self.scripts, self.body = list(scripts), {"error": {"code": 1, "message": "no"}} if error else {"result": {}}
        self.taken: list[list[int | str]] = []

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Hosts]:
        server = await asyncio.start_server(self._serve, address.HOST, 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(address.HOST, self.port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        takes, answers, last = self.scripts.pop(0)
        self.taken.append(taken := [])
        for _ in range(takes):
            message = json.loads(await reader.readline())
            taken.append(message["id"])
            if answers:
                writer.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **self.body}).encode() + b"\n")
        writer.write(last)
        await writer.drain()
        writer.close()


async def relayed(hosts: Hosts, *messages: SessionMessage) -> dict[int | str, Any]:
    """What the client is answered, by the ids of its calls."""
    told: dict[int | str, Any] = {}
    complete = asyncio.Event()

    async def answer(message: SessionMessage) -> None:
        assert isinstance(message.message, JSONRPCResponse)
        told[message.message.id] = message.message.result
        if len(told) == len(messages):
            complete.set()

    async def incoming() -> AsyncIterator[SessionMessage | Exception]:
        for message in messages:
            yield message
        await complete.wait()

    async with hosts.listening(), asyncio.timeout(30):
        await Relay(Profile.CORE, answer).run(incoming(), hosts.connect)
    return told


async def test_a_change_under_way_when_its_host_dies_is_in_doubt_and_a_read_is_not() -> None:
    hosts = Hosts((2, False, b""), (1, True, b""))
    told = await relayed(hosts, call(1, "create_node"), call(2, "query_nodes"))
    assert hosts.taken == [[1, 2], [2]]
    error = told[1]["_meta"]["ugs/error"]
    assert told[1]["isError"] and (error["code"], error["message"]) == ("OUTCOME_UNKNOWN", UNKNOWN)
    assert told[2] == {}


async def test_what_a_host_had_not_begun_is_sent_to_the_next() -> None:
    hosts = Hosts((1, False, b'{"closed":true}\n'), (1, True, b""))
    assert await relayed(hosts, call(1, "create_node")) == {1: {}}
    assert hosts.taken == [[1], [1]]


async def test_a_call_that_kills_every_host_is_given_up() -> None:
    hosts = Hosts(*[(1, False, b"")] * 3)
    told = await relayed(hosts, call(1, "query_nodes"))
    assert told[1]["isError"] and hosts.taken == [[1]] * 3


async def handshaken(hosts: Hosts) -> None:
    """A client that begins with a handshake, and then makes a call of the next host."""
    opening = SessionMessage(JSONRPCRequest(jsonrpc="2.0", id="hello", method="initialize", params={}))
    told = list[int | str]()
    answered = [asyncio.Event(), asyncio.Event()]

    async def answer(message: SessionMessage) -> None:
        assert isinstance(message.message, JSONRPCResponse | JSONRPCError) and message.message.id is not None
        told.append(message.message.id)
        answered[len(told) - 1].set()

    async def incoming() -> AsyncIterator[SessionMessage | Exception]:
        yield opening
        await answered[0].wait()
        yield call(1, "query_nodes")
        await answered[1].wait()

    async with hosts.listening(), asyncio.timeout(30):
        await Relay(Profile.CORE, answer).run(incoming(), hosts.connect)
    assert told == ["hello", 1]


async def test_the_handshake_is_repeated_with_the_next_host() -> None:
    hosts = Hosts((1, True, b""), (2, True, b""))
    await handshaken(hosts)
    assert hosts.taken == [["hello"], ["ugs-relay-handshake", 1]]


async def test_a_handshake_that_was_refused_is_not_repeated() -> None:
    hosts = Hosts((1, True, b""), (1, True, b""), error=True)
    await handshaken(hosts)
    assert hosts.taken == [["hello"], [1]]
