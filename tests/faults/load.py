"""Load that can be audited: numbered writes, each under its own idempotency key, and the count of what became of them.

A writer repeats a write until it is acknowledged. Afterwards every acknowledged number must be in the log, no number
twice, and the tables must say exactly what the log says.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from msgspec import Struct

from ugs.errors import DeadlineExceeded, NodeExists, StorageIOError
from ugs.feature import Command
from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode, Update
from ugs.log.at import At
from ugs.log.replay import log_of
from ugs.system import System

HUB = "hub"
WRITERS = 4


def command(number: int) -> Command:
    """The write of a number: a node, a batch of two nodes and an edge, or a change of the hub."""
    if number % 3 == 0:
        return AddNode(type="item", properties={"n": number})
    if number % 3 == 1:
        node = AddNode(id="$item", type="item", properties={"n": number})
        leaf = AddNode(id="$leaf", type="leaf", properties={"of": "@($item)"})
        return Batch(operations=(node, leaf, AddEdge(source="$item", target=HUB, properties={"n": number})))
    return Update(id=HUB, properties={"last": number})


async def write(graph: Graph, number: int) -> None:
    """Do the write of a number, or find that it has been done."""
    await graph.do(command(number), f"n{number}")


async def write_surely(graph: Graph, number: int, pause: float = 0.05) -> int:
    """Repeat the write until the store acknowledges it; answers how often it failed before."""
    for failures in itertools.count():
        try:
            await write(graph, number)
            return failures
        except (StorageIOError, DeadlineExceeded):
            await asyncio.sleep(pause)
    raise AssertionError("unreachable")


async def make_hub(graph: Graph) -> None:
    with suppress(NodeExists):
        await graph.add_node(HUB, "hub")


def write_until_killed(pipe: Connection, url: str, starts: list[int]) -> None:
    """A process that opens the store and writes, one chain of numbers a writer, until somebody ends it."""
    asyncio.run(_write_on(url, starts, pipe.send))


def write_and_look_back(pipe: Connection, url: str, starts: list[int]) -> None:
    """The same, while the past is asked without end: first where its former rows have to be found in the log."""
    asyncio.run(_write_on(url, starts, pipe.send, look_back))


async def look_back(graph: Graph) -> None:
    """Ask for one place of the log after the other."""
    for place in itertools.count():
        at = At(position=place * 7 % (graph.system.bus.position + 1))
        await graph.export_graph(at=at)
        await graph.find_by_property("last", place, at=at)
        await asyncio.sleep(0)


async def write_many(url: str, events: int) -> None:
    """Fill a store with nodes and changes of them, a thousand events a batch."""
    async with System.at_url(url) as system:
        for start in range(0, events, 1_000):
            nodes = [AddNode(id=f"n{start + n}", properties={"n": n}) for n in range(500)]
            changes = [Update(id=f"n{start + n}", properties={"n": n + 1}) for n in range(500)]
            await system.execute(Batch((*nodes, *changes)))


def rebuild_past(pipe: Connection, url: str, starts: list[int]) -> None:
    """Make the former rows of a store, and tell how far they reach: first where that is at the beginning."""

    async def work() -> None:
        async with System.at_url(url) as system:
            end = await system.storage.history_end() or 0
            pipe.send(end)
            if end < system.bus.position:
                await system.rebuild_history(lambda done, total: pipe.send(done))

    asyncio.run(work())


async def _nothing_else(graph: Graph) -> None:
    """For those who only write."""


async def _write_on(
    url: str,
    starts: list[int],
    say: Callable[[Any], None],
    besides: Callable[[Graph], Coroutine[Any, Any, None]] = _nothing_else,
) -> None:
    try:
        system = System.at_url(url)
        await system.open()
        graph = Graph(system)
        await make_hub(graph)
    except Exception as error:
        say(f"refused: {error!r}")
        return
    say("ready")
    await asyncio.gather(besides(graph), *(_chain(graph, start, len(starts), say) for start in starts))


async def _chain(graph: Graph, start: int, step: int, say: Callable[[Any], None]) -> None:
    for number in itertools.count(start, step):
        await write(graph, number)
        say(number)


class Audit(Struct, frozen=True):
    """What became of the writes."""

    events: int
    lost: int
    duplicated: int
    halved: int
    """Writes of which only a part can be seen."""
    state_ok: bool

    @property
    def clean(self) -> bool:
        return self.state_ok and not (self.lost or self.duplicated or self.halved)


async def audit(system: System, acknowledged: Iterable[int]) -> Audit:
    """Count what the store holds against what was acknowledged."""
    keys: Counter[int] = Counter()
    async for events in log_of(system.storage):
        keys.update(int(json.loads(event.idem.key)[-1].removeprefix("n")) for event in events if event.idem is not None)
    verified = await system.verify()
    return Audit(
        events=verified.events,
        lost=sum(1 for number in acknowledged if number not in keys),
        duplicated=sum(count - 1 for count in keys.values()),
        halved=await _halved(system, set(keys)),
        state_ok=verified.ok,
    )


async def _halved(system: System, written: set[int]) -> int:
    """Numbers whose nodes, leaves or edges are not exactly those that their commands make."""
    shown = await Graph(system).export_graph()
    nodes, edges = numbers_of(shown["nodes"]), numbers_of(shown["edges"])
    leaves = len([node for node in _dicts(shown["nodes"]) if node["type"] == "leaf"])
    wanted = Counter(number for number in written if number % 3 != 2)
    batches = Counter(number for number in written if number % 3 == 1)
    wrong = (nodes - wanted) + (wanted - nodes) + (edges - batches) + (batches - edges)
    return wrong.total() + abs(leaves - batches.total())


def numbers_of(elements: Any) -> Counter[int]:
    return Counter(element["properties"]["n"] for element in _dicts(elements) if "n" in element["properties"])


def _dicts(elements: Any) -> list[dict[str, Any]]:
    return list(elements)


async def audit_at(url: str, acknowledged: Iterable[int]) -> Audit:
    """Open the store once more and audit it."""
    async with System.at_url(url) as system:
        return await audit(system, acknowledged)
