"""How busy the machine is with other people's work, and whose CPU time a sample spent."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress

import psutil
from msgspec import Struct

MAX_OTHER_CPU = 0.20
"""Up to this many cores of foreign work a sample counts."""

MAX_RETAKES = 2
IDLE_STATES = ("idle", "iowait", "steal")


class Spent(Struct, frozen=True):
    """What passed between two looks at the clocks."""

    wall: float
    own: float
    server: float
    foreign: float
    """Cores that were busy with neither us nor our servers."""

    @property
    def is_quiet(self) -> bool:
        return self.foreign <= MAX_OTHER_CPU


class Stopwatch:
    """Looks at the clocks of this process, of the database servers, and of the whole machine."""

    def __init__(self, servers: Iterable[int] = ()) -> None:
        self.servers = tuple(servers)
        self._start = self._look()

    def restart(self) -> None:
        self._start = self._look()

    def read(self) -> Spent:
        """What has passed since the start."""
        wall, own, server, busy = (now - then for now, then in zip(self._look(), self._start, strict=True))
        foreign = max(0.0, busy - own - server) / wall if wall else 0.0
        return Spent(wall, own, server, foreign)

    def _look(self) -> tuple[float, float, float, float]:
        return time.perf_counter(), time.process_time(), sum(map(cpu_of, self.servers)), machine_busy()


def machine_busy() -> float:
    """Seconds of CPU that the machine has spent on anything."""
    times = psutil.cpu_times()
    return float(
        sum(spent for name, spent in times._asdict().items() if name not in IDLE_STATES and "guest" not in name)
    )


def cpu_of(pid: int) -> float:
    """Seconds of CPU of a server and its children."""
    total = 0.0
    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
    return total
