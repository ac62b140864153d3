"""The write path: durable events per second, with many writers at once.

A writer waits for its command before it sends the next. Commands add one node, or are batches that add ten.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import count
from random import Random

from msgspec import Struct

from bench.contenders.raw_writer import RawWriter
from bench.noise import Spent, Stopwatch
from bench.sampler import Effort, Tell
from ugs.graph.batches import Batch
from ugs.graph.commands import AddNode
from ugs.system import System

WRITERS = (1, 16, 256)
BATCHES = (1, 10)

Write = Callable[[int], Awaitable[None]]
"""Writes that many nodes, durably, as one command."""


class WriteSample(Struct, frozen=True):
    """How many events became durable per second."""

    store: str
    side: str
    writers: int
    batch: int
    repetition: int
    rate: float
    cpu: float
    """Seconds per event, the server's included."""
    foreign: float
    quiet: bool


_numbers = count(1)


def new_node() -> AddNode:
    """A node like those of the graph, under an id of its own."""
    number = next(_numbers)
    properties = {"active": True, "label": "plain label", "name": f"task {number}", "score": number / 7}
    data = {"note": "written while somebody counts", "rev": number % 9, "source": "bench"}
    return AddNode(id=f"w{time.time_ns():x}_{number}", type="task", properties=properties, data=data)


def our_writer(system: System) -> Write:
    async def write(batch: int) -> None:
        nodes = tuple(new_node() for _ in range(batch))
        await system.execute(nodes[0] if batch == 1 else Batch(operations=nodes))

    return write


async def rate_of(write: Write, writers: int, batch: int, seconds: float) -> float:
    """Events per second with so many writers."""
    end = time.perf_counter() + seconds

    async def keep_writing() -> int:
        done = 0
        while time.perf_counter() < end:
            await write(batch)
            done += batch
        return done

    start = time.perf_counter()
    done = await asyncio.gather(*(keep_writing() for _ in range(writers)))
    return sum(done) / (time.perf_counter() - start)


async def sample_writes(
    store: str, system: System, raw: RawWriter, servers: tuple[int, ...], effort: Effort, tell: Tell
) -> list[WriteSample]:
    """Ours and the raw driver's, interleaved."""
    sides: dict[str, tuple[Write, int]] = {
        "ours": (our_writer(system), max(WRITERS)),
        raw.name: (raw.write, raw.most_writers),
    }
    turns = [(side, writers, batch) for side in sides for writers in WRITERS for batch in BATCHES]
    turns = [(side, writers, batch) for side, writers, batch in turns if writers <= sides[side][1]]
    random, samples = Random(2), []
    for repetition in range(effort.repetitions):
        random.shuffle(turns)
        for side, writers, batch in turns:
            tell(f"writing, {store}: {side}, {writers} writers, batches of {batch}")
            rate, spent = await _quiet_rate(sides[side][0], writers, batch, servers, effort)
            cpu = (spent.own + spent.server) / (rate * spent.wall)
            noise = (round(spent.foreign, 3), spent.is_quiet)
            samples.append(WriteSample(store, side, writers, batch, repetition, rate, cpu, *noise))
    return samples


async def _quiet_rate(
    write: Write, writers: int, batch: int, servers: tuple[int, ...], effort: Effort
) -> tuple[float, Spent]:
    """The rate, and what it cost; taken again when the machine was busy with something else."""
    for _ in range(effort.retakes + 1):
        watch = Stopwatch(servers)
        rate = await rate_of(write, writers, batch, effort.seconds * 3)
        spent = watch.read()
        if spent.is_quiet:
            break
    return rate, spent
