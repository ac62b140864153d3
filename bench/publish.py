"""The figures of the last run, written into the page about performance.

    python -m bench.publish

takes `build/bench/results.json` and replaces what stands between the two marks in `docs/performance.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import msgspec

from bench.__main__ import BUILD
from bench.graphql import report as graphql
from bench.questions import TITLES
from bench.recovery import Recovery
from bench.results import Results, SizeResults, size_name

PAGE = BUILD.parents[1] / "docs" / "performance.md"
START, END = "<!-- figures: start -->", "<!-- figures: end -->"


def insert_figures(page: str, results: Results, more: Iterable[str] = ()) -> str:
    """The page with these figures."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n" + "\n".join([*sections(results), *more]) + f"\n{END}{after}"


def sections(results: Results) -> Iterator[str]:
    machine = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    samples = [sample for one in results.sizes for sample in one.samples]
    quiet = sum(sample.quiet for sample in samples)
    yield f"Measured on: {machine}. {quiet} of {len(samples)} samples of reads were taken on a quiet machine.\n"
    for one in results.sizes:
        yield from _size(one)
    yield from _targets(results)


def _size(one: SizeResults) -> Iterator[str]:
    yield f"### {size_name(one.size)} nodes, {size_name(one.size * 4)} edges\n"
    yield from _table(
        ("store", "question", "beside", "ours µs", "theirs µs", "ours / theirs", "of CPU time"), _reads(one)
    )
    yield from _table(
        ("store", "writers", "nodes a command", "ours events/s", "beside", "theirs events/s"), _writes(one)
    )
    loads = ", ".join(f"{name} {load.rate:,.0f}" for name, load in one.loads.items())
    yield f"Bulk load by replay, events/s: {loads}.\n"
    if one.recovery is not None:
        yield _memory(one.recovery)


def _memory(recovery: Recovery) -> str:
    seen = recovery.from_snapshot
    return (
        f"The memory store with its log: replay {recovery.replay_rate:,.0f} events/s; opened from the snapshot of "
        f"{seen.events:,} events in {seen.fair_seconds:.2f} s; {recovery.node_bytes:.0f} bytes a node, "
        f"{recovery.edge_bytes:.0f} an edge; longest collector pause in service {seen.longest_pause * 1000:.1f} ms.\n"
    )


def _reads(one: SizeResults) -> Iterator[tuple[str, ...]]:
    ours = {(figure.store, figure.kind): figure for figure in one.figures if figure.ratio is None}
    for figure in one.figures:
        if figure.ratio is None:
            continue
        mine = ours[figure.store, figure.kind]
        busy = "" if figure.is_quiet else " (busy)"
        yield (
            figure.store,
            TITLES[figure.kind],
            figure.side,
            f"{mine.micros:,.1f}",
            f"{figure.micros:,.1f}",
            f"{figure.ratio:.2f}{busy}",
            f"{figure.cpu_ratio:.2f}",
        )


def _writes(one: SizeResults) -> Iterator[tuple[str, ...]]:
    theirs = {(f.store, f.writers, f.batch): f for f in one.writes if f.side != "ours"}
    for figure in one.writes:
        if figure.side == "ours":
            rival = theirs.get((figure.store, figure.writers, figure.batch))
            beside = ("", "") if rival is None else (rival.side, f"{rival.rate:,.0f}")
            yield (figure.store, str(figure.writers), str(figure.batch), f"{figure.rate:,.0f}", *beside)


def _targets(results: Results) -> Iterator[str]:
    yield "### Targets\n"
    rows = (
        ("met" if verdict.met else "**not met**", verdict.measured, verdict.target)
        for one in results.sizes
        for verdict in one.verdicts
    )
    yield from _table(("", "measured", "target"), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    body = [f"| {' | '.join(row)} |" for row in rows]
    if body:
        yield f"| {' | '.join(head)} |\n|{'---|' * len(head)}"
        yield "\n".join(body) + "\n"


def servers() -> list[str]:
    """The comparison of GraphQL servers, if there was one."""
    file = BUILD / graphql.FILE
    if not file.exists():
        return []
    return list(graphql.sections(msgspec.json.decode(file.read_bytes(), type=graphql.GraphqlResults)))


def main() -> int:
    results = msgspec.json.decode((BUILD / "results.json").read_bytes(), type=Results)
    PAGE.write_text(insert_figures(PAGE.read_text(), results, servers()))
    print(f"{PAGE}: figures of {', '.join(size_name(one.size) for one in results.sizes)} nodes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
