"""One request must not stop the others: honest readers are served in time while attackers do what they can.

Ten attacks run at a time, other ones in each window. A machine that is busy with other things makes everything slower, so
a read counts with the CPU time that the gateway has taken meanwhile, where that is less than the time that passed: what
keeps an honest reader waiting here is work.
"""

from __future__ import annotations

import asyncio
import json
import time
from itertools import count
from pathlib import Path
from random import Random
from statistics import median, quantiles

import psutil

from tests.faults.attacks import ATTACKS, GZIPPED, graph
from tests.faults.figures import Figures
from tests.gateway.processes import serving
from ugs.graph.api import Graph
from ugs.system import System

TOGETHER = 10
WINDOWS, READS = {"quick": 3, "full": 12}, {"quick": 60, "full": 400}
"""Windows of honest reads, and reads in each."""
MAX_SECONDS = 0.25
"""The 99th percentile of a window."""
MEMORY_BUDGET, MARGIN = 256 << 20, 160 << 20
"""What all requests and caches may use together; errors of the estimate, and what the allocator keeps."""
HONEST = b'{"query": "{ graphNode(id: \\"honest\\") { id properties } }"}'
HEAD = "POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n{}content-length: {}\r\n\r\n"
GZIP = "accept-encoding: gzip\r\n"


class Client:
    """One connection that stays open."""

    def __init__(self, port: int, headers: str = "") -> None:
        self.port, self.headers = port, headers
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        if self._ends is None:
            self._ends = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._ends
        writer.write(HEAD.format(self.headers, len(body)).encode() + body)
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).lower().splitlines()
        length = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:"))
        return int(status.split()[1]), await reader.readexactly(length)

    def close(self) -> None:
        if self._ends is not None:
            self._ends[1].close()


async def _attack(port: int, name: str, seen: dict[int, int]) -> None:
    client, attack = Client(port, GZIP if name in GZIPPED else ""), ATTACKS[name]
    try:
        for number in count():
            status, body = await client.post(attack(number))
            seen[status] = seen.get(status, 0) + 1
            assert b'"INTERNAL"' not in body[:2_000]
    finally:
        client.close()


async def _window(client: Client, reads: int, process: psutil.Process) -> list[float]:
    took = []
    for _ in range(reads):
        started, used = time.perf_counter(), _cpu_seconds(process)
        _, body = await client.post(HONEST)
        took.append(min(time.perf_counter() - started, _cpu_seconds(process) - used))
        assert json.loads(body)["data"]["graphNode"]["id"] == "honest"
        await asyncio.sleep(0.01)
    return took


async def test_honest_reads_are_served_while_attackers_run(tmp_path: Path, tier: str, figures: Figures) -> None:
    async with System.at_url(f"file:{tmp_path}/data") as system:
        given = graph(tier)
        for kind, size in (("nodes", 2_000), ("edges", 2_000)):
            for start in range(0, len(given[kind]), size):
                await Graph(system).import_graph({kind: given[kind][start : start + size]})
    options = ("--log-level", "error", "--total-memory-bytes", str(MEMORY_BUDGET))
    with serving(tmp_path, "--store", f"file:{tmp_path}/data", *options) as gateway:
        process = psutil.Process(gateway.process.pid)
        client = Client(gateway.port)
        await _window(client, 20, process)
        before, most, seen = process.memory_info().rss, 0, dict[int, int]()
        worst = []
        for number in range(WINDOWS[tier]):
            names = Random(number).sample(sorted(ATTACKS), TOGETHER)
            attackers = [asyncio.create_task(_attack(gateway.port, name, seen)) for name in names]
            try:
                took = await _window(client, READS[tier], process)
                most = max(most, process.memory_info().rss - before)
                assert [task.exception() for task in attackers if task.done()] == [], names
            finally:
                for task in attackers:
                    task.cancel()
                await asyncio.gather(*attackers, return_exceptions=True)
            worst.append(quantiles(took, n=100)[98])
        assert await _window(client, 5, process)
        client.close()
    figures.add(
        "starvation", attacks=len(ATTACKS), requests=sum(seen.values()), p99_ms=round(1_000 * median(worst)),
        grown_mb=most >> 20,
    )  # fmt: skip
    assert set(seen) <= {200, 400, 503} and sum(seen.values()) >= TOGETHER
    assert median(worst) < MAX_SECONDS, worst
    assert most < MEMORY_BUDGET + MARGIN, f"{most >> 20} MiB"


def _cpu_seconds(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)
