"""How far gateways on one PostgreSQL scale: a simulation of 1 to 64 gateways, fed with costs measured on this machine.

    python -m bench.scale_model postgresql://…      measure the costs (some seconds) and print the curve
    python -m bench.scale_model                     the curve for the costs in docs/scaling.md

The model: a gateway is one core. A read costs it CPU and costs the database CPU, of which it has some cores. Writes of
a gateway gather in a group while the one before is under way; a group holds the log's lock for a time that has a fixed
part (round trips, fsync) and a part for each write; gateways take the lock in turn. Reads of replicas cost the primary
nothing, and each replica brings the cores of one more database.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import time
from collections import deque
from uuid import uuid4

import psutil
from msgspec import Struct

from ugs.connect import storage_for
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode
from ugs.identity import LOCAL
from ugs.system import System

GATEWAYS = (1, 2, 4, 8, 16, 32, 64)
CLIENTS = 64
"""Writers of each gateway that send the next write as soon as they have an answer."""
SIMULATED_SECONDS = 2.0
HTTP_READ_US, HTTP_WRITE_US = 30.0, 40.0
"""What HTTP costs a gateway beside the operation, from docs/performance.md; in memory, where nothing else is done."""


class Costs(Struct, frozen=True):
    """Microseconds; the defaults were measured on the machine of docs/scaling.md."""

    read_gateway: float = 164.0
    """CPU of the gateway for a read, with HTTP."""
    read_database: float = 74.0
    """CPU of the database for a read."""
    write_gateway: float = 85.0
    """CPU of the gateway for a write, with HTTP."""
    lock_fixed: float = 1_495.0
    """How long a group holds the lock, whatever its size: round trips and the commit."""
    lock_each: float = 175.0
    """How much longer with each write of the group."""


class Point(Struct, frozen=True):
    """Requests a second with so many gateways."""

    gateways: int
    reads: float
    reads_by: str
    """What holds reads back: `gateways` or `database`."""
    writes: float
    group: float
    """The mean size of a group."""
    lock_busy: float
    """The share of the time that the lock was held."""


def reads_per_second(costs: Costs, gateways: int, database_cores: float, replicas: int = 0) -> tuple[float, str]:
    """Reads need no lock, so the scarcer of both kinds of cores decides."""
    by_gateways = gateways * 1e6 / costs.read_gateway
    by_database = database_cores * (replicas or 1) * 1e6 / costs.read_database
    return (by_gateways, "gateways") if by_gateways <= by_database else (by_database, "database")


def simulate_writes(
    costs: Costs, gateways: int, clients: int = CLIENTS, databases: int = 1
) -> tuple[float, float, float]:
    """Writes a second, mean group size and share of time that a lock is held; each database has a log of its own, and
    gateways are spread over them as their tenants are."""
    shares = [gateways // databases + (number < gateways % databases) for number in range(databases)]
    found = [_simulate_log(costs, share, clients) for share in shares if share]
    done = sum(one[0] for one in found)
    return done, sum(one[0] * one[1] for one in found) / max(done, 1e-9), sum(one[2] for one in found) / len(found)


def _simulate_log(costs: Costs, gateways: int, clients: int) -> tuple[float, float, float]:
    """Events: a gateway has prepared a group and waits for the lock; the holder of the lock is done."""
    end, now = SIMULATED_SECONDS * 1e6, 0.0
    waiting: deque[tuple[int, int]] = deque()
    pending = [clients] * gateways
    events: list[tuple[float, int, str, int]] = []
    written = groups = order = 0
    held = 0.0
    is_locked = False

    def add(at: float, what: str, gateway: int) -> None:
        nonlocal order
        order += 1
        heapq.heappush(events, (at, order, what, gateway))

    for gateway in range(gateways):
        add(costs.write_gateway * clients, "prepared", gateway)
    sizes = [0] * gateways
    while events and now < end:
        now, _, what, gateway = heapq.heappop(events)
        if what == "prepared":
            sizes[gateway], pending[gateway] = pending[gateway], 0
            waiting.append((gateway, sizes[gateway]))
        else:
            is_locked = False
            written += sizes[gateway]
            groups += 1
            # Those who were answered send again; preparing what they send is the gateway's CPU time.
            pending[gateway] = sizes[gateway]
            add(now + costs.write_gateway * sizes[gateway], "prepared", gateway)
        if waiting and not is_locked:
            gateway, size = waiting.popleft()
            hold = costs.lock_fixed + costs.lock_each * size
            is_locked, held = True, held + hold
            add(now + hold, "done", gateway)
    return written / now * 1e6, written / max(groups, 1), min(held / now, 1.0)


def curve(costs: Costs, database_cores: float, replicas: int = 0, databases: int = 1) -> list[Point]:
    """The points for all numbers of gateways."""
    points = []
    for gateways in GATEWAYS:
        reads, by = reads_per_second(costs, gateways, database_cores * databases, replicas)
        writes, group, busy = simulate_writes(costs, gateways, databases=databases)
        points.append(Point(gateways, reads, by, writes, group, busy))
    return points


def table(points: list[Point]) -> str:
    """The points as a table of Markdown."""
    lines = ["| gateways | reads/s | held back by | writes/s | group | lock held |", "|---|---|---|---|---|---|"]
    for one in points:
        lines.append(
            f"| {one.gateways} | {one.reads:,.0f} | {one.reads_by} | {one.writes:,.0f} | {one.group:.0f} "
            f"| {one.lock_busy:.0%} |"
        )
    return "\n".join(lines)


# ── costs ────────────────────────────────────────────────────────────────────


async def measure(url: str, repeats: int = 5_000, groups: int = 20) -> Costs:
    """Measure the costs on a store of its own: CPU of this process for reads and writes, and how long groups take."""
    separator = "&" if "?" in url else "?"
    own = f"{url}{separator}schema=scale_{uuid4().hex[:8]}"
    async with System.at_url(own) as system:
        graph = Graph(system, LOCAL.principal)
        await graph.do(AddNode(id="n"))
        for _ in range(200):
            await graph.get("n")
        backend = await _find_backend(system)
        cpu, database = time.process_time(), _cpu_of(backend)
        for _ in range(repeats):
            await graph.get("n")
        read_cpu = (time.process_time() - cpu) / repeats * 1e6
        read_database = (_cpu_of(backend) - database) / repeats * 1e6
        single, _ = await _time_groups(graph, 1, groups * 4)
        many, write_cpu = await _time_groups(graph, CLIENTS, groups)
    storage = storage_for(own)
    async with System(storage):
        await storage.drop()
    each = max((many - single) / (CLIENTS - 1) - write_cpu, 1.0)
    return Costs(
        read_gateway=round(read_cpu + HTTP_READ_US),
        read_database=round(max(read_database, 1.0)),
        write_gateway=round(write_cpu + HTTP_WRITE_US),
        lock_fixed=round(max(single - write_cpu, 1.0)),
        lock_each=round(each),
    )


async def _find_backend(system: System) -> psutil.Process:
    """The process of the server that answers reads that come one after the other: a connection is used again."""
    async with system.session() as session:
        ((pid,),) = await session.link.rows("SELECT pg_backend_pid()")  # type: ignore[attr-defined]
    return psutil.Process(pid)


def _cpu_of(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _time_groups(graph: Graph, size: int, groups: int) -> tuple[float, float]:
    """The least time of a group of writes that are sent at once, and the CPU of one write, in microseconds."""
    best, cpu = float("inf"), time.process_time()
    for _ in range(groups):
        begun = time.perf_counter()
        await asyncio.gather(*(graph.do(AddNode(type="item", properties={"n": number})) for number in range(size)))
        best = min(best, time.perf_counter() - begun)
    return best * 1e6, (time.process_time() - cpu) / (groups * size) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale_model", description=__doc__.partition("\n")[0])
    parser.add_argument("url", nargs="?", help="a PostgreSQL on this machine to measure the costs on")
    parser.add_argument("--cores", type=float, default=8, help="cores of a database")
    parser.add_argument("--replicas", type=int, default=0, help="standbys that answer the reads")
    parser.add_argument("--databases", type=int, default=1, help="databases that tenants are spread over")
    chosen = parser.parse_args()
    costs = asyncio.run(measure(chosen.url)) if chosen.url else Costs()
    print(costs)
    print(table(curve(costs, chosen.cores, chosen.replicas, chosen.databases)))


if __name__ == "__main__":
    main()
