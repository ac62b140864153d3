"""The results as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from bench.child import Seen
from bench.questions import TITLES
from bench.results import Results, SizeResults, WriteFigure, size_name
from bench.sampler import Figure
from bench.targets import Verdict

READS_HEAD = (
    f"{'store':<11}{'question':<28}{'side':<12}{'µs each':>12}{'µs CPU':>10}{'ours/theirs':>13}{'range':>14}"
    f"{'of CPU':>8}  quiet"
)
WRITES_HEAD = (
    f"\n{'store':<11}{'side':<16}{'writers':>8}{'batch':>7}{'durable events/s':>19}{'µs CPU':>9}"
    f"{'ours/theirs':>13}  quiet"
)


def lines(results: Results) -> Iterator[str]:
    """Everything, ready to print."""
    for one in results.sizes:
        yield from _size(one)
    yield from _growth(results)
    yield from _verdicts(results)
    for missing in results.missing:
        yield f"not measured: {missing}"


def _size(one: SizeResults) -> Iterator[str]:
    name = size_name(one.size)
    yield f"\n── {name} nodes, {size_name(one.size * 4)} edges " + "─" * 50
    if one.figures:
        yield READS_HEAD
        yield from (_figure(figure) for figure in one.figures)
    yield from (f"answers differ: {differing}" for differing in one.differing)
    for store, load in one.loads.items():
        yield f"bulk load, {store}: {load.rate:,.0f} events/s"
    yield from _writes(one.writes)
    yield from _recovery(one)


def _figure(figure: Figure) -> str:
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    cpu = "" if figure.cpu_ratio is None else f"{figure.cpu_ratio:.2f}"
    spread = "" if figure.lowest is None else f"{figure.lowest:.2f}–{figure.highest:.2f}"
    return (
        f"{figure.store:<11}{TITLES[figure.kind]:<28}{figure.side:<12}{figure.micros:>12,.1f}{figure.cpu_micros:>10,.1f}"
        f"{ratio:>13}{spread:>14}{cpu:>8}  {figure.quiet}/{figure.samples}"
    )


def _writes(figures: Iterable[WriteFigure]) -> Iterator[str]:
    for number, figure in enumerate(figures):
        if not number:
            yield WRITES_HEAD
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
        yield (
            f"{figure.store:<11}{figure.side:<16}{figure.writers:>8}{figure.batch:>7}{figure.rate:>19,.0f}"
            f"{figure.cpu_micros:>9.1f}{ratio:>13}  {figure.quiet}/{figure.samples}"
        )


def _recovery(one: SizeResults) -> Iterator[str]:
    if one.recovery is None:
        return
    log, snapshot = one.recovery.from_log, one.recovery.from_snapshot
    text = (snapshot.text_bytes - snapshot.graph_bytes) / snapshot.nodes
    rate = one.recovery.replay_rate
    yield f"\nreplay of the log: {_opening(log)}, {rate:,.0f}/s"
    yield f"open from the snapshot: {_opening(snapshot)}"
    yield (
        f"memory: {one.recovery.node_bytes:.0f} bytes a node, {one.recovery.edge_bytes:.0f} an edge, "
        f"the text index {text:.0f} more a node"
    )
    pause = snapshot.longest_pause * 1000
    yield f"collector: {snapshot.collections} collections while serving, the longest {pause:.1f} ms"


def _opening(seen: Seen) -> str:
    return f"{seen.events:,} events in {seen.open_seconds:.2f} s ({seen.open_cpu:.2f} s of CPU)"


def _growth(results: Results) -> Iterator[str]:
    """How much dearer a question is at the next size."""
    sizes = results.sizes
    for smaller, larger in pairwise(sizes):
        before = {(f.store, f.kind, f.side): f.micros for f in smaller.figures}
        yield f"\ngrowth from {size_name(smaller.size)} to {size_name(larger.size)} nodes (time each, times as much)"
        for figure in larger.figures:
            key = (figure.store, figure.kind, figure.side)
            if key in before:
                times = figure.micros / before[key]
                yield f"  {figure.store:<11}{TITLES[figure.kind]:<28}{figure.side:<12}{times:>8.2f}"


def _verdicts(results: Results) -> Iterator[str]:
    yield "\ntargets"
    for one in results.sizes:
        yield from (verdict_line(verdict) for verdict in one.verdicts)


def verdict_line(verdict: Verdict) -> str:
    """One target and whether it was met."""
    return f"  {'met    ' if verdict.met else 'NOT met'}  {verdict.measured:>12}  {verdict.target}"
