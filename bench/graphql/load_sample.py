"""One sample: so many seconds of load on one server, with the CPU time that everybody spent meanwhile."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psutil
from msgspec import Struct

from bench.graphql.queries import ADD, MIX
from bench.graphql.servers import Server
from bench.noise import MAX_OTHER_CPU, cpu_of, machine_busy

SCRIPT = Path(__file__).resolve().parent.parent / "peers" / "load.lua"
CONNECTIONS = 16
SERVER_CORE, LOAD_CORE = 0, 1
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


class Sample(Struct, frozen=True):
    """What one server did under load."""

    store: str
    kind: str
    side: str
    repetition: int
    rate: float
    """Requests a second."""
    p50: float
    p99: float
    """Milliseconds."""
    cpu: float
    """Microseconds of the server's CPU a request."""
    database: float
    """The same of the database."""
    resident: float
    """Megabytes of the server."""
    foreign: float
    """Cores that were busy with somebody else's work."""
    errors: str = ""

    @property
    def quiet(self) -> bool:
        return self.foreign <= MAX_OTHER_CPU


class Load(Struct, frozen=True):
    """What is asked of whom, for how long."""

    store: str
    kind: str
    nodes: int
    seconds: float
    databases: Sequence[int] = ()


def _wrk(server: Server, load: Load, seconds: float) -> subprocess.CompletedProcess[str]:
    command = ["taskset", "-c", str(LOAD_CORE % (psutil.cpu_count() or 1))]
    command += ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}s", "--latency", "-s", str(SCRIPT)]
    asked = [load.kind, str(load.nodes), server.authorization, server.questions[load.kind]]
    if load.kind == MIX:
        asked.append(server.questions[ADD])
    return subprocess.run([*command, server.url, "--", *asked], capture_output=True, text=True, check=True)


def warm_up(server: Server, load: Load, seconds: float = 2) -> None:
    _wrk(server, load, seconds)


def take(server: Server, load: Load, repetition: int) -> Sample:
    """One sample; the load generator is pinned away from the server."""
    before, everybody = _read_counters(server, load), machine_busy()
    children = psutil.Process().cpu_times()
    told = _wrk(server, load, load.seconds)
    own = psutil.Process().cpu_times()
    after, busy = _read_counters(server, load), machine_busy() - everybody
    wrk = own.children_user + own.children_system - children.children_user - children.children_system
    spent, database = after[0] - before[0], after[1] - before[1]
    return _sample(server, load, repetition, told, spent, database, busy - spent - database - wrk)


def _read_counters(server: Server, load: Load) -> tuple[float, float]:
    return cpu_of(server.process.pid), sum(map(cpu_of, load.databases))


def _sample(
    server: Server,
    load: Load,
    repetition: int,
    told: subprocess.CompletedProcess[str],
    spent: float,
    database: float,
    foreign: float,
) -> Sample:
    count = int(_search_text(r"(\d+) requests in", told.stdout))
    seconds = round(load.seconds) or 1
    return Sample(
        load.store,
        load.kind,
        server.name,
        repetition,
        float(_search_text(r"Requests/sec:\s+([\d.]+)", told.stdout)),
        _millis(_search_text(r"50%\s+(\S+)", told.stdout)),
        _millis(_search_text(r"99%\s+(\S+)", told.stdout)),
        spent / max(count, 1) * 1e6,
        database / max(count, 1) * 1e6,
        psutil.Process(server.process.pid).memory_info().rss / 1e6,
        round(max(0.0, foreign) / seconds, 2),
        "".join(re.findall(r"(?:Socket errors|Non-2xx).*", told.stdout)) + told.stderr[:300],
    )


def _search_text(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else "0"


def _millis(text: str) -> float:
    found = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text)
    return float(found[1]) * UNITS[found[2]] if found else 0.0
