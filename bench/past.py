"""Reads at random positions beside reads of the present, in memory: `python -m bench.past [--nodes 100000]`.

Every past read names another position. Figures are CPU time of GraphQL requests in this
process, present and past in turns; the log must not be replayed.
The cost of keeping former rows is that of adding nodes, with and without it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from statistics import median

from ugs.graph.api import Graph
from ugs.graph.commands import AddEdge, AddNode, Update
from ugs.log.at import At
from ugs.reads.plan import Page
from ugs.system import System
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

GROUP, ROUNDS, TURNS = 256, 300, 7
MAX_RATIO, MAX_ADD_RATIO = 3.0, 1.1
Ask = Callable[[int | None], Awaitable[object]]


async def fill(system: System, nodes: int, random: Random) -> None:
    """Nodes with three edges each, and a change for every fifth element, spread over the whole log."""
    done = 0
    while done < nodes:
        some = range(done, min(done + GROUP, nodes))
        await asyncio.gather(
            *(system.execute(AddNode(id=_name(n), type=f"t{n % 20}", properties={"k": n})) for n in some)
        )
        done += len(some)
        ends = [(n, random.randrange(done)) for n in some for _ in range(3)]
        edges = [AddEdge(id=f"e{n}_{i}", source=_name(n), target=_name(m)) for i, (n, m) in enumerate(ends)]
        changed = [Update(id=_name(random.randrange(done)), properties={"v": done}) for _ in range(len(some) // 5)]
        await asyncio.gather(*map(system.execute, (*edges, *changed)))


def _name(number: int) -> str:
    """Ids in an order that is not that of the log."""
    return f"n{number * 7_919 % 1_000_003}"


QUESTIONS = {
    "point": "query($id: ID!, $at: At) { graphNode(id: $id, at: $at) { id type properties } }",
    "list": "query($t: String!, $at: At) { graphNodes(filter: {type: $t}, first: 20, at: $at) { nodes { id } } }",
    "two hops": """query($id: ID!, $at: At) { graphNode(id: $id, at: $at) {
        outgoing(first: 9) { nodes { toNode { outgoing(first: 9) { nodes { toNode { id properties } } } } } } } }""",
}


def questions(system: System, nodes: int, random: Random) -> dict[str, Ask]:
    """The questions by name, each about other elements every time; now, or at a position."""
    operations = OperationExecutor(build_schema())

    def question(name: str) -> Ask:
        prepared = operations.prepare(QUESTIONS[name])

        async def ask(position: int | None) -> object:
            about = {"t": f"t{random.randrange(20)}"} if name == "list" else {"id": _name(random.randrange(nodes))}
            at = None if position is None else {"position": position}
            answer = await operations.answer(prepared, RequestContext(system), {**about, "at": at})
            assert isinstance(answer, bytes) and b"errors" not in answer, answer
            return answer

        return ask

    return {name: question(name) for name in QUESTIONS}


async def cpu_of(ask: Ask, places: Sequence[int | None]) -> float:
    """Microseconds of CPU a question."""
    start = time.process_time()
    for position in places:
        await ask(position)
    return (time.process_time() - start) / len(places) * 1e6


async def compare_reads(nodes: int) -> bool:
    """Print the figures of all questions; whether all are within the bound."""
    random, met = Random(1), True
    async with System.at_url("memory:") as system:
        await fill(system, nodes, random)
        end = system.bus.position
        graph = Graph(system)
        places = [random.randint(end // 10, end) for _ in range(ROUNDS)]
        start = time.process_time()
        await graph.stats(at=At(position=places[0]))
        print(f"{nodes:,} nodes, {end:,} events; the first read of the past takes {time.process_time() - start:.2f} s")
        for name, ask in questions(system, nodes, random).items():
            await cpu_of(ask, [None, places[0]])
            turns = [(await cpu_of(ask, [None] * ROUNDS), await cpu_of(ask, places)) for _ in range(TURNS)]
            now, then = (median(column) for column in zip(*turns, strict=True))
            met = met and then <= now * MAX_RATIO
            print(
                f"{name:10} now {now:8.1f} us   then {then:8.1f} us   ratio {then / now:5.2f} (at most {MAX_RATIO:g})"
            )
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(1_000):
            await graph.list_nodes("t1", page=Page(limit=20), at=At(position=end - number))
        gc.collect()
        print(f"1,000 positions: {(tracemalloc.get_traced_memory()[0] - before) / 1024:,.0f} KiB more than before")
        tracemalloc.stop()
        print(f"events replayed: {system.moments.replayed}")
        return met and system.moments.replayed == 0


async def cost_of_adding(url: str, nodes: int) -> float:
    async with System.at_url(url) as system:
        start = time.process_time()
        for first in range(0, nodes, 16):
            some = range(first, first + 16)
            await asyncio.gather(*(system.execute(AddNode(id=f"n{n}", type="t", properties={"k": n})) for n in some))
        return (time.process_time() - start) / nodes * 1e6


async def compare_writes(nodes: int) -> bool:
    """Print what adding a node costs, sixteen at once; whether that is within the bound."""
    turns = [[await cost_of_adding(url, nodes) for url in ("memory:?history=off", "memory:")] for _ in range(TURNS)]
    without, kept = (median(column) for column in zip(*turns, strict=True))
    print(f"add a node {without:.1f} us without former rows, {kept:.1f} us with them: {kept / without:.2f}")
    return kept <= without * MAX_ADD_RATIO


async def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.past", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    nodes = parser.parse_args().nodes
    met = [await compare_reads(nodes), await compare_writes(min(nodes, 20_000))]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
