"""Reads at random positions beside reads of the present: `python -m bench.past [--store URL] [--nodes 100000]`.

Every past read names another position. Figures are CPU and wall time of GraphQL requests, present and past in turns;
CPU is that of this process, so with a server wall time tells its share. The log must not be replayed. The store is
emptied. The cost of keeping former rows is that of adding nodes, with and without it, and of making versions from the
log where the store does so. On PostgreSQL the same questions are also asked of SQL:2011-style tables, written by hand.
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


async def time_of(ask: Ask, places: Sequence[int | None]) -> tuple[float, float]:
    """Microseconds a question: of CPU, and in all."""
    cpu, wall = time.process_time(), time.perf_counter()
    for position in places:
        await ask(position)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return cpu / len(places) * 1e6, wall / len(places) * 1e6


async def compare_reads(url: str, nodes: int, rounds: int) -> bool:
    """Print the figures of all questions; whether all are within the bound."""
    random, met = Random(1), True
    async with System.at_url(url) as system:
        await system.storage.wipe()
        before = await size_of(system)
        await fill(system, nodes, random)
        end, rows = system.bus.position, await size_of(system)
        graph = Graph(system)
        places = [random.randint(end // 10, end) for _ in range(rounds)]
        cpu, wall = time.process_time(), time.perf_counter()
        await system.rebuild_history()
        await graph.stats(at=At(position=places[0]))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(f"{nodes:,} nodes, {end:,} events; {cpu:.2f} s of CPU, {wall:.1f} s until the first read of the past")
        if rows is not None and before is not None and (after := await size_of(system)) is not None:
            print(
                f"rows and log {(rows - before) / end:,.0f} bytes an event, versions {(after - rows) / end:,.0f} more"
            )
        for name, ask in questions(system, nodes, random).items():
            await time_of(ask, [None, places[0]])
            turns = [(await time_of(ask, [None] * rounds), await time_of(ask, places)) for _ in range(TURNS)]
            now, then = ([median(column) for column in zip(*side, strict=True)] for side in zip(*turns, strict=True))
            met = met and then[0] <= now[0] * MAX_RATIO
            print(
                f"{name:10} CPU now {now[0]:8.1f} us   then {then[0]:8.1f} us   ratio {then[0] / now[0]:5.2f} "
                f"(at most {MAX_RATIO:g})   wall {now[1]:8.1f} us   {then[1]:8.1f} us   {then[1] / now[1]:5.2f}"
            )
        gc.collect()
        tracemalloc.start()
        allocated = tracemalloc.get_traced_memory()[0]
        for number in range(1_000):
            await graph.list_nodes("t1", page=Page(limit=20), at=At(position=end - number))
        gc.collect()
        print(f"1,000 positions: {(tracemalloc.get_traced_memory()[0] - allocated) / 1024:,.0f} KiB more than before")
        tracemalloc.stop()
        print(f"events replayed: {system.moments.replayed}")
        return met and system.moments.replayed == 0


SIZES = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND nspname = current_schema()",
}


async def size_of(system: System) -> float | None:
    """Bytes of the store in the database; None for other stores."""
    if system.storage.scheme not in SIZES:
        return None
    async with system.session() as session:
        return float((await session.link.rows(SIZES[system.storage.scheme]))[0][0])  # type: ignore[attr-defined]


BY_HAND = {
    "point": "SELECT id, type, properties FROM by_hand.nodes WHERE id = $1 AND held @> $2::int8",
    "list": "SELECT id FROM by_hand.nodes WHERE type = $1 AND held @> $2::int8 ORDER BY id LIMIT 20",
    "two hops": "SELECT n.id, n.properties FROM by_hand.nodes s "
    "JOIN by_hand.edges a ON a.source = s.id AND a.held @> $2::int8 "
    "JOIN by_hand.edges b ON b.source = a.target AND b.held @> $2::int8 "
    "JOIN by_hand.nodes n ON n.id = b.target AND n.held @> $2::int8 WHERE s.id = $1 AND s.held @> $2::int8",
}
"""Reads of tables with a period, as SQL:2011 has them; `held` is a range of positions."""


async def compare_with_tables_by_hand(url: str, nodes: int, rounds: int) -> None:
    """Print wall times of the questions' statements, over the store's versions and over tables with a period."""
    random = Random(2)
    async with System.at_url(url) as system, system.session() as session:
        link, end = session.link, system.bus.position  # type: ignore[attr-defined]
        await link.rollback()
        await link.run("DROP SCHEMA IF EXISTS by_hand CASCADE", "CREATE SCHEMA by_hand")
        for table, columns in (("nodes", "id, type, properties"), ("edges", "id, source, target")):
            held = "int8range(since_position, nullif(until_position, 9223372036854775807)) AS held"
            await link.run(f"CREATE TABLE by_hand.{table} AS SELECT {columns}, {held} FROM {table}__versions")
        await link.run(
            "CREATE INDEX ON by_hand.nodes (id)", "CREATE INDEX ON by_hand.nodes (type, id)",
            "CREATE INDEX ON by_hand.edges (source)", "ANALYZE by_hand.nodes", "ANALYZE by_hand.edges",
        )  # fmt: skip
        for name, statement in BY_HAND.items():
            asked = [
                [
                    f"t{random.randrange(20)}" if name == "list" else _name(random.randrange(nodes)),
                    random.randint(end // 10, end),
                ]
                for _ in range(rounds)
            ]
            ours = statement.replace("by_hand.nodes", "nodes__versions").replace("by_hand.edges", "edges__versions")
            for alias in ("s.", "a.", "b.", "n.", ""):
                ours = ours.replace(
                    f"{alias}held @> $2::int8", f"{alias}since_position <= $2 AND {alias}until_position > $2"
                )
            times = {}
            for kind, text in (("versions", ours), ("by hand", statement)) * 3:
                start = time.perf_counter()
                for values in asked:
                    await link.rows(text, values)
                took = (time.perf_counter() - start) / rounds * 1e6
                times[kind] = min(times.get(kind, took), took)
            print(f"{name:10} statement over versions {times['versions']:8.1f} us   by hand {times['by hand']:8.1f} us")
        await link.run("DROP SCHEMA by_hand CASCADE")


async def cost_of_adding(url: str, nodes: int) -> float:
    async with System.at_url(url) as system:
        await system.storage.wipe()
        start = time.process_time()
        for first in range(0, nodes, 16):
            some = range(first, first + 16)
            await asyncio.gather(*(system.execute(AddNode(id=f"n{n}", type="t", properties={"k": n})) for n in some))
        return (time.process_time() - start) / nodes * 1e6


async def compare_writes(url: str, nodes: int) -> bool:
    """Print what adding a node costs, sixteen at once; whether that is within the bound."""
    without_history = f"{url}{'&' if '?' in url else '?'}history=off"
    turns = [[await cost_of_adding(one, nodes) for one in (without_history, url)] for _ in range(TURNS)]
    without, kept = (median(column) for column in zip(*turns, strict=True))
    print(f"add a node {without:.1f} us without former rows, {kept:.1f} us with them: {kept / without:.2f}")
    return kept <= without * MAX_ADD_RATIO


async def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.past", description=__doc__)
    parser.add_argument("--store", default="memory:", help="the URL of a store that may be emptied")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="questions of a kind and turn")
    options = parser.parse_args()
    met = [await compare_reads(options.store, options.nodes, options.rounds)]
    if options.store.startswith("postgres"):
        await compare_with_tables_by_hand(options.store, options.nodes, options.rounds)
    met.append(await compare_writes(options.store, min(options.nodes, 20_000)))
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
