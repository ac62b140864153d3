"""Watching: `python -m bench.subscriptions`: thousands who wait, a few who hear everything, a steady stream of events.

One gateway in one process, with a login and all limits, on the memory store with its log. Idle subscriptions watch
elements that never change; listeners hear every event. What counts: memory per idle subscription, CPU per delivery,
how late deliveries are, and that none is lost or doubled.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import psutil
from msgspec import Struct
from websockets import Subprotocol
from websockets.asyncio.client import ClientConnection, connect

from bench.features import BUILD
from bench.graphql.servers import Place, Server, start_ours
from bench.noise import cpu_of

A_SOCKET = 50
"""As many subscriptions as one socket may have."""
BATCH, UNDER_WAY = 10, 20
IDLE = "subscription Idle($id: ID!) { elementChanged(id: $id) { seq type } }"
ALL = "subscription All { events { seq timestamp type elementId data } }"
CHANGE = "mutation Add($ops: [BatchOperation!]!) { applyBatch(operations: $ops) { events { seq } } }"


class Figures(Struct):
    """What was measured."""

    idle: int
    listeners: int
    events: int
    events_a_second: float
    deliveries: int
    lost_or_doubled: int
    megabytes_before: float
    megabytes_idle: float
    megabytes_after: float
    kilobytes_an_idle_subscription: float
    cpu_us_a_delivery: float
    cpu_share: float
    p50_ms: float
    p99_ms: float


class Listener:
    """Hears every event, and notes when."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, float]] = []

    async def listen(self, socket: ClientConnection, events: int) -> None:
        while len(self.heard) < events:
            told = msgspec.json.decode(await socket.recv())
            if told["type"] == "next":
                event = told["payload"]["data"]["events"]
                self.heard.append((event["seq"], time.time() * 1000 - event["timestamp"]))

    def wrong(self, events: int) -> int:
        """How many events it did not hear exactly once, in order."""
        seqs = [seq for seq, _ in self.heard]
        return len(set(range(1, events + 1)) ^ set(seqs)) + len(seqs) - len(set(seqs)) + (seqs != sorted(seqs))


@asynccontextmanager
async def open_socket(server: Server) -> AsyncIterator[ClientConnection]:
    """A socket that has said who it is."""
    url = server.url.replace("http", "ws")
    spoken = [Subprotocol("graphql-transport-ws")]
    async with connect(url, subprotocols=spoken, compression=None, open_timeout=60, ping_interval=None) as socket:
        hello = {"type": "connection_init", "payload": {"authorization": server.authorization}}
        await socket.send(msgspec.json.encode(hello).decode())
        assert msgspec.json.decode(await socket.recv())["type"] == "connection_ack"
        yield socket


async def ask(socket: ClientConnection, name: str, query: str, **variables: Any) -> None:
    """Begin an operation under a name."""
    asked = {"type": "subscribe", "id": name, "payload": {"query": query, "variables": variables}}
    await socket.send(msgspec.json.encode(asked).decode())


async def publish(server: Server, a_second: float, seconds: float) -> int:
    """Add nodes at a steady rate; how many there are."""
    batches = int(a_second * seconds / BATCH)
    async with open_socket(server) as socket:
        turns = asyncio.Semaphore(UNDER_WAY)
        answers = asyncio.create_task(await_completions(socket, batches, turns))
        began = time.perf_counter()
        for number in range(batches):
            await asyncio.sleep(max(0, began + number * BATCH / a_second - time.perf_counter()))
            await turns.acquire()
            ops = [{"addNode": {"id": f"n{number}-{each}", "type": "t"}} for each in range(BATCH)]
            await ask(socket, f"b{number}", CHANGE, ops=ops)
        await answers
    return batches * BATCH


async def await_completions(socket: ClientConnection, batches: int, turns: asyncio.Semaphore) -> None:
    """Wait until so many operations are done."""
    while batches:
        told = msgspec.json.decode(await socket.recv())
        if told["type"] == "error" or "errors" in told.get("payload", {}):
            raise RuntimeError(str(told)[:300])
        if told["type"] == "complete":
            batches -= 1
            turns.release()


def resident(server: Server) -> float:
    return float(psutil.Process(server.process.pid).memory_info().rss / 1e6)


async def measure(server: Server, idle: int, listeners: int, a_second: float, seconds: float) -> Figures:
    before = resident(server)
    async with AsyncExitStack() as open_:
        sockets = [await open_.enter_async_context(open_socket(server)) for _ in range(-(-idle // A_SOCKET))]
        for number in range(idle):
            await ask(sockets[number // A_SOCKET], f"s{number}", IDLE, id=f"never{number}")
        heard = [Listener() for _ in range(listeners)]
        tasks = []
        for listener in heard:
            socket = await open_.enter_async_context(open_socket(server))
            await ask(socket, "all", ALL)
            tasks.append(asyncio.create_task(listener.listen(socket, int(a_second * seconds / BATCH) * BATCH)))
        await asyncio.sleep(2)
        waiting, cpu, began = resident(server), cpu_of(server.process.pid), time.perf_counter()
        events = await publish(server, a_second, seconds)
        took = time.perf_counter() - began
        await asyncio.wait(tasks, timeout=30)
        spent, after = cpu_of(server.process.pid) - cpu, resident(server)
        for task in tasks:
            task.cancel()
    late = quantiles([delay for one in heard for _, delay in one.heard], n=100)
    deliveries = sum(len(one.heard) for one in heard)
    return Figures(
        idle=idle,
        listeners=listeners,
        events=events,
        events_a_second=round(events / took, 1),
        deliveries=deliveries,
        lost_or_doubled=sum(one.wrong(events) for one in heard),
        megabytes_before=round(before, 1),
        megabytes_idle=round(waiting, 1),
        megabytes_after=round(after, 1),
        kilobytes_an_idle_subscription=round((waiting - before) * 1000 / max(idle, 1), 1),
        cpu_us_a_delivery=round(spent / max(deliveries, 1) * 1e6, 1),
        cpu_share=round(spent / took, 2),
        p50_ms=round(late[49], 1),
        p99_ms=round(late[98], 1),
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.subscriptions", description="many who watch")
    parser.add_argument("--idle", type=int, default=10_000, help="subscriptions that hear nothing")
    parser.add_argument("--listeners", type=int, default=10, help="sockets that hear every event")
    parser.add_argument("--rate", type=float, default=1_000, help="events a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--output", type=Path, default=BUILD / "subscriptions.json")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        server = start_ours(Place(Path(folder)), f"file:{folder}/data")
        try:
            found = asyncio.run(measure(server, asked.idle, asked.listeners, asked.rate, asked.seconds))
        finally:
            server.stop()
    for name, value in msgspec.to_builtins(found).items():
        print(f"{name.replace('_', ' '):<34}{value:>12,}")
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    return 1 if found.lost_or_doubled else 0


if __name__ == "__main__":
    raise SystemExit(main())
