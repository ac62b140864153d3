"""openCypher beside Neo4j, hand-written SQL and other engines: `python -m bench.cypher [--sizes 10k,100k]`.

Answers are compared first; what counts are ratios of samples taken side by side. On a busy machine the wall clock
measures the neighbours, so targets are then judged by CPU time, the server's included.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path

import msgspec

from bench.contenders import Side
from bench.cypher_contenders import Asking, open_engine, open_neo4j_itself, open_postgresql_by_hand, open_sqlite_by_hand
from bench.cypher_peers import PEERS, open_peers
from bench.cypher_questions import ANCHORED, HOPS, QUESTIONS, arguments_for
from bench.results import parse_size, size_name
from bench.sampler import Contest, Effort, Figure, check, figures, sample_all
from bench.stores import STORES, Loads, ensure_loaded, sqlite_file
from bench.table import verdict_line
from bench.targets import Verdict, check_at_most
from tests.servers import ServerUnavailable
from ugs.cypher.engine.planner.statistics import Statistics
from ugs.cypher.execution import plan_for, prepare

BUILD = Path(__file__).resolve().parent.parent / "build" / "bench"
FOLDER = BUILD / "data"
EFFORT = Effort(repetitions=3, seconds=0.3, questions=40)


async def open_rivals(store: str, size: int, known: dict[str, Asking], beside: tuple[str, ...]) -> list[Asking]:
    """Who answers the same questions on the same data."""
    if store == "memory":
        return [*([known["neo4j"]] if "neo4j" in known else []), *open_peers(size, beside, tell)]
    if store == "sqlite":
        return [await open_sqlite_by_hand(sqlite_file(FOLDER, size))]
    if store == "postgresql":
        return [await open_postgresql_by_hand(STORES[store].url(FOLDER, size))]
    return [known["neo4j"]]


async def measure(size: int, stores: tuple[str, ...], beside: tuple[str, ...]) -> tuple[list[Figure], bool]:
    """All questions on all stores at one size, and whether everybody gave the same answers."""
    loads, contests, known = Loads(FOLDER), [], {}  # type: Loads, list[Contest], dict[str, Asking]
    async with AsyncExitStack() as opened:
        if "neo4j" in stores:
            url = STORES["neo4j"].url(FOLDER, size)
            await ensure_loaded(STORES["neo4j"], url, size, loads, tell)
            known["neo4j"] = await open_neo4j_itself(url)
            opened.push_async_callback(known["neo4j"].close)
        elif "memory" in stores and "neo4j" in beside:
            known["neo4j"] = await open_neo4j_itself(STORES["neo4j"].url(FOLDER, size), size, tell)
            opened.push_async_callback(known["neo4j"].close)
        for store in stores:
            url = STORES[store].url(FOLDER, size)
            await ensure_loaded(STORES[store], url, size, loads, tell)
            ours = await open_engine(url)
            opened.push_async_callback(ours.close)
            rivals = await open_rivals(store, size, known, beside)
            for rival in rivals:
                opened.push_async_callback(rival.close)  # a connection's thread would keep this process alive
            contests += [contest_for(store, kind, ours, rivals, size) for kind in QUESTIONS]
        for contest in contests:
            tell(f"comparing answers: {contest.store}, {contest.kind}")
            await check(contest, EFFORT)
            for differing in contest.differing:
                print(f"answers differ: {contest.store}, {contest.kind}, {differing}")
        samples = await sample_all(contests, EFFORT, tell)
    agree = not any(contest.differing for contest in contests)
    return [figure for contest in contests for figure in figures(contest, samples)], agree


def contest_for(store: str, kind: str, ours: Asking, rivals: list[Asking], size: int) -> Contest:
    servers = STORES[store].process_ids() + (STORES["neo4j"].process_ids() if store == "memory" else ())
    taking_part: list[Side] = [ours, *(rival for rival in rivals if kind in rival.jobs)]
    return Contest(store, kind, taking_part, arguments_for(size), servers)


def tell(text: str) -> None:
    print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)


def measure_planning_rate() -> float:
    """How many queries are parsed, checked and planned in a second."""
    texts, began, count = [question.ours for question in QUESTIONS.values()], time.process_time(), 0
    while time.process_time() - began < 1.0:
        for text in texts:
            prepare.__wrapped__(text)
            plan_for.__wrapped__(text, Statistics(joins=True))
        count += len(texts)
    return count / (time.process_time() - began)


def verdicts(found: list[Figure], size: str) -> Iterator[Verdict]:
    """The targets that ratios decide."""
    for figure in found:
        if figure.ratio is None or figure.cpu_ratio is None:
            continue
        ratio, of = (figure.ratio, "time") if figure.is_quiet else (figure.cpu_ratio, "CPU time")
        name = f"{size}, {figure.store}: {QUESTIONS[figure.kind].title}, {of} against {figure.side}"
        if figure.store == "memory" and figure.side == "neo4j":
            yield check_at_most(name, ratio, 1.0 if figure.kind in HOPS else 3.0)
        elif figure.side == "SQL by hand":
            yield check_at_most(name, ratio, 2.0)


def check_growth(smaller: list[Figure], larger: list[Figure]) -> Iterator[Verdict]:
    """Anchored questions must not grow with the graph."""
    before = {(one.store, one.kind): one.cpu_micros for one in smaller if one.side == "ours"}
    for one in larger:
        if one.side == "ours" and one.kind in ANCHORED and (one.store, one.kind) in before:
            name = f"{one.store}: {QUESTIONS[one.kind].title}, CPU time of ours, ten times the graph"
            yield check_at_most(name, one.cpu_micros / before[one.store, one.kind], 3.0)


def line(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    cpu = "" if figure.cpu_ratio is None else f"{figure.cpu_ratio:.2f}"
    title = QUESTIONS[figure.kind].title
    return (
        f"{figure.store:<11}{title:<32}{figure.side:<13}{figure.micros:>12,.1f}{figure.cpu_micros:>12,.1f}"
        f"{ratio:>13}{cpu:>9}  {figure.quiet}/{figure.samples}"
    )


HEAD = f"{'store':<11}{'question':<32}{'side':<13}{'µs each':>12}{'µs CPU':>12}{'ours/theirs':>13}{'of CPU':>9}  quiet"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cypher", description="openCypher beside others")
    parser.add_argument("--sizes", default="10k,100k", help="numbers of nodes, for instance 10k,100k,1M")
    parser.add_argument("--stores", default=",".join(STORES), help=f"of {','.join(STORES)}")
    others = ",".join(["neo4j", *PEERS])
    parser.add_argument("--beside", default=others, help=f"whom to compare memory with, of {others}")
    asked = parser.parse_args(arguments)
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"parsed, checked and planned: {measure_planning_rate():,.0f} queries/s")
    results: dict[str, list[Figure]] = {}
    differ = False
    for size in [parse_size(part) for part in asked.sizes.split(",")]:
        try:
            stores, beside = tuple(asked.stores.split(",")), tuple(asked.beside.split(","))
            results[size_name(size)], agree = asyncio.run(measure(size, stores, beside))
            differ = differ or not agree
        except ServerUnavailable as unavailable:
            print(f"not measured: {unavailable}")
            return 1
        print(f"\n── {size_name(size)} nodes, {size_name(size * 4)} edges\n{HEAD}")
        print("\n".join(line(figure) for figure in results[size_name(size)]), flush=True)
    print("\ntargets")
    told = [verdict for size, found in results.items() for verdict in verdicts(found, size)]
    sizes = list(results.values())
    told += [verdict for one, other in pairwise(sizes) for verdict in check_growth(one, other)]
    print("\n".join(verdict_line(verdict) for verdict in told))
    (BUILD / "cypher.json").write_text(json.dumps(msgspec.to_builtins(results), indent=1), "utf-8")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
