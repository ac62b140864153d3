"""What a run found out, as one value that becomes JSON, a table and a page."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import version
from statistics import median

from msgspec import Struct

from bench.recovery import Recovery
from bench.sampler import Figure, Sample
from bench.stores import Load
from bench.targets import Verdict, check_at_least
from bench.writes import WriteSample

PACKAGES = ("msgspec", "orjson", "networkx", "rustworkx", "asyncpg", "aiosqlite", "neo4j", "sqlalchemy")
DURABLE = {16: 30_000, 256: 100_000}


class WriteFigure(Struct, frozen=True):
    """Durable events per second, and how ours compares."""

    store: str
    side: str
    writers: int
    batch: int
    rate: float
    cpu_micros: float
    ratio: float | None
    """Our rate divided by theirs with as many writers and the same batches; None for ourselves or without a rival."""
    quiet: int
    samples: int


class SizeResults(Struct):
    """Everything measured at one size."""

    size: int
    figures: list[Figure] = []
    samples: list[Sample] = []
    loads: dict[str, Load] = {}
    writes: list[WriteFigure] = []
    write_samples: list[WriteSample] = []
    recovery: Recovery | None = None
    differing: list[str] = []
    verdicts: list[Verdict] = []


class Results(Struct):
    """A whole run."""

    machine: dict[str, str]
    sizes: list[SizeResults] = []
    missing: list[str] = []
    """Stores that could not be measured, and why."""
    seconds: float = 0.0


def this_machine() -> dict[str, str]:
    """What the figures were measured with."""
    import psutil

    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(psutil.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        **{name: version(name) for name in PACKAGES},
    }


def size_name(size: int) -> str:
    """1000000 is 1M, 100000 is 100k."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


def parse_size(text: str) -> int:
    """The number that 10k, 1M or 5000 stands for."""
    units = {"k": 1_000, "m": 1_000_000}
    unit = units.get(text[-1:].lower())
    return int(text[:-1]) * unit if unit else int(text)


def write_figures(samples: Iterable[WriteSample]) -> list[WriteFigure]:
    """Medians of quiet samples, and ratios between them."""
    groups: dict[tuple[str, str, int, int], list[WriteSample]] = {}
    for sample in samples:
        groups.setdefault((sample.store, sample.side, sample.writers, sample.batch), []).append(sample)
    rates = {key: median(s.rate for s in [s for s in group if s.quiet] or group) for key, group in groups.items()}
    found = []
    for (store, side, writers, batch), group in sorted(groups.items()):
        ours = rates.get((store, "ours", writers, batch))
        rate = rates[store, side, writers, batch]
        cpu = median(s.cpu for s in group) * 1e6
        ratio = None if side == "ours" or ours is None else ours / rate
        quiet = sum(s.quiet for s in group)
        found.append(WriteFigure(store, side, writers, batch, rate, cpu, ratio, quiet, len(group)))
    return found


def write_verdicts(figures: Iterable[WriteFigure], size: str) -> list[Verdict]:
    """Group commit on the memory store with its log."""
    return [
        check_at_least(
            f"{size}: durable events/s, {f.writers} writers, "
            + ("one event a command" if f.batch == 1 else f"batches of {f.batch}"),
            f.rate,
            DURABLE[f.writers],
        )
        for f in figures
        if f.side == "ours" and f.store == "memory" and f.writers in DURABLE
    ]
