"""What the comparisons of single features share: empty stores, rates with many callers at once, a table, a file."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct

from bench.noise import Stopwatch
from bench.stores import STORES, neo4j_url, postgresql_url
from bench.writes import rate_of

BUILD = Path(__file__).resolve().parent.parent / "build" / "bench"

Call = Callable[[int], Awaitable[None]]
"""Does one piece of work; takes the size of a batch, which is 1 here."""


class Figure(Struct, frozen=True):
    """How often something was done per second."""

    store: str
    work: str
    side: str
    callers: int
    rate: float
    cpu_us: float
    """Microseconds of CPU for each, the server's included."""
    foreign: float
    """Cores that were busy with other people's work meanwhile."""


def parser(name: str, about: str) -> argparse.ArgumentParser:
    """The options that all of them have."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=about)
    parser.add_argument("--stores", default=",".join(STORES), help=f"of {','.join(STORES)}")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each is measured")
    parser.add_argument("--output", type=Path, default=BUILD / f"{name}.json", help="where the figures go")
    return parser


@contextmanager
def empty_url(store: str) -> Iterator[str]:
    """Where an empty store of a kind may be; whoever opens it wipes it first."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        urls: dict[str, Callable[[], str]] = {
            "memory": lambda: "memory:",
            "sqlite": lambda: f"sqlite:///{place}/bench.db",
            "postgresql": lambda: postgresql_url(place, 0),
            "neo4j": lambda: neo4j_url(place, 0),
        }
        yield urls[store]()


async def measure_rate(store: str, work: str, side: str, callers: int, seconds: float, call: Call) -> Figure:
    """The rate of some work with so many callers, after a short run that warms everything up."""
    await rate_of(call, callers, 1, seconds / 10)
    watch = Stopwatch(STORES[store].process_ids())
    rate = await rate_of(call, callers, 1, seconds)
    spent = watch.read()
    cpu = (spent.own + spent.server) / (rate * spent.wall) * 1e6
    return Figure(store, work, side, callers, round(rate, 1), round(cpu, 1), round(spent.foreign, 2))


def report(figures: list[Figure], output: Path) -> None:
    """Print the figures and keep them."""
    for figure in figures:
        print(
            f"{figure.store:<11}{figure.work:<34}{figure.side:<12}{figure.callers:>4} callers"
            f"{figure.rate:>12,.0f}/s{figure.cpu_us:>10,.0f} µs CPU   foreign {figure.foreign:.2f}"
        )
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")
