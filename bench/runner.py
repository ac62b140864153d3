"""One run: sizes in turn, at each size reads on all stores interleaved, then writes, then reopening."""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import Struct

from bench import recovery, targets
from bench.contenders.ours import Ours, open_ours
from bench.contenders.raw_writers import raw_writer
from bench.questions import KINDS, arguments, questions_for
from bench.results import (
    Results,
    SizeResults,
    size_name,
    this_machine,
    write_figures,
    write_verdicts,
)
from bench.sampler import Contest, Effort, Tell, check, figures, sample_all
from bench.stores import STORES, Loads, Store, ensure_loaded
from bench.writes import sample_writes
from tests.servers import ServerUnavailable
from ugs.system import System

PARTS = ("reads", "writes", "recovery")


class Plan(Struct, frozen=True):
    """What to measure."""

    folder: Path
    sizes: tuple[int, ...] = (10_000, 100_000)
    stores: tuple[str, ...] = tuple(STORES)
    kinds: tuple[str, ...] = KINDS
    parts: tuple[str, ...] = PARTS
    effort: Effort = Effort()
    largest: Callable[[Store], int] = lambda store: store.largest
    """Up to which size a store takes part."""


async def run(plan: Plan, tell: Tell) -> Results:
    """Measure everything that was asked for."""
    start, results = time.perf_counter(), Results(this_machine())
    plan.folder.mkdir(parents=True, exist_ok=True)
    for size in plan.sizes:
        results.sizes.append(await _measure_size(plan, size, results, tell))
    results.seconds = time.perf_counter() - start
    return results


async def _measure_size(plan: Plan, size: int, results: Results, tell: Tell) -> SizeResults:
    one = SizeResults(size)
    name = size_name(size)
    async with AsyncExitStack() as opened:
        ready = await _open_stores(plan, size, one, results, opened, tell)
        if "reads" in plan.parts:
            await _measure_reads(plan, size, ready, one, tell)
            one.verdicts += targets.check_reads(one.figures, name)
        if "writes" in plan.parts:
            for store, ours in ready:
                await _measure_writes(plan, size, store, ours, one, tell)
            one.writes = write_figures(one.write_samples)
            one.verdicts += write_verdicts(one.writes, name)
    if "recovery" in plan.parts and "memory" in plan.stores:
        one.recovery = await recovery.measure_recovery(plan.folder, size, plan.effort.seconds * 10, tell)
        one.verdicts += recovery.verdicts(one.recovery)
    return one


async def _open_stores(
    plan: Plan, size: int, one: SizeResults, results: Results, opened: AsyncExitStack, tell: Tell
) -> list[tuple[Store, Ours]]:
    """Our systems, with the graph in each."""
    loads, ready = Loads(plan.folder), []
    for name in plan.stores:
        store = STORES[name]
        if size > plan.largest(store):
            continue
        try:
            url = store.url(plan.folder, size)
        except ServerUnavailable as unavailable:
            results.missing.append(f"{name}: {unavailable}")
            continue
        tell(f"opening {name} {size_name(size)}")
        one.loads[name] = await ensure_loaded(store, url, size, loads, tell)
        ours = await open_ours("ours", url)
        opened.push_async_callback(ours.close)
        ready.append((store, ours))
    return ready


async def _measure_reads(plan: Plan, size: int, ready: list[tuple[Store, Ours]], one: SizeResults, tell: Tell) -> None:
    tell(f"making questions for {size_name(size)}")
    questions = questions_for(size, plan.folder)
    async with AsyncExitStack() as opened:
        contests = []
        for store, ours in ready:
            tell(f"preparing who is compared with {store.name}")
            rivals = await store.rivals(store.url(plan.folder, size), size)
            for rival in rivals:
                opened.push_async_callback(rival.close)
            contests += [
                Contest(store.name, kind, [ours, *rivals], arguments(questions, kind), store.process_ids())
                for kind in plan.kinds
            ]
        await _sample(contests, plan.effort, one, tell)
    gc.unfreeze()


async def _sample(contests: list[Contest], effort: Effort, one: SizeResults, tell: Tell) -> None:
    for contest in contests:
        tell(f"comparing answers: {contest.store}, {contest.kind}")
        await check(contest, effort)
        one.differing += [f"{contest.store}, {contest.kind}, {text}" for text in contest.differing]
    # Nobody shall pay for walking over somebody else's objects.
    gc.collect()
    gc.freeze()
    one.samples = await sample_all(contests, effort, tell)
    one.figures = [figure for contest in contests for figure in figures(contest, one.samples)]


async def _measure_writes(plan: Plan, size: int, store: Store, ours: Ours, one: SizeResults, tell: Tell) -> None:
    """On a copy where that is possible; a server's data is written to and loaded anew next time."""
    async with AsyncExitStack() as opened:
        system, url = ours.system, store.url(plan.folder, size)
        if store.scratch is not None:
            url = store.scratch(plan.folder, size)
            system = await opened.enter_async_context(System.at_url(url))
        raw = await raw_writer(store.name, url, plan.folder)
        opened.push_async_callback(raw.close)
        one.write_samples += await sample_writes(store.name, system, raw, store.process_ids(), plan.effort, tell)
    for leftover in plan.folder.glob("scratch*"):
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
