"""The comparison of GraphQL servers as data, as text and as a plot."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.graphql.figures import Figure, verdicts
from bench.graphql.load_sample import Sample
from bench.graphql.queries import TITLES
from bench.graphql.servers import OURSELVES
from bench.results import size_name
from bench.table import verdict_line

FILE = "graphql.json"
HEAD = (
    f"{'store':<11}{'question':<25}{'server':<16}{'req/s':>8}{'p50 ms':>8}{'p99 ms':>8}{'µs CPU':>8}{'µs DB':>8}"
    f"{'MB':>6}{'x less CPU':>12}{'x req/s':>9}{'p99 o/t':>9}  quiet"
)


class GraphqlResults(Struct):
    """A whole run."""

    machine: dict[str, str]
    size: int
    samples: list[Sample] = []
    figures: list[Figure] = []
    differing: list[str] = []


def lines(results: GraphqlResults) -> Iterator[str]:
    """Everything, ready to print."""
    yield HEAD
    yield from (_line(figure) for figure in results.figures)
    yield from (f"answers differ: {name}" for name in results.differing)
    yield from (f"errors: {one.store}, {one.kind}, {one.side}: {one.errors}" for one in results.samples if one.errors)
    yield "\ntargets"
    yield from (verdict_line(verdict) for verdict in verdicts(results.figures))


def _line(figure: Figure) -> str:
    ratios = (figure.times_less_cpu, figure.times_the_rate, figure.of_p99)
    shown = ["" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
    return (
        f"{figure.store:<11}{TITLES[figure.kind]:<25}{figure.side:<16}{figure.rate:>8,.0f}{figure.p50:>8.2f}"
        f"{figure.p99:>8.2f}{figure.cpu:>8,.0f}{figure.database:>8,.0f}{figure.resident:>6,.0f}"
        f"{shown[0]:>12}{shown[1]:>9}{shown[2]:>9}  {figure.quiet}/{figure.samples}"
    )


def sections(results: GraphqlResults) -> Iterator[str]:
    """The comparison as Markdown, for the page about performance."""
    quiet = sum(sample.quiet for sample in results.samples)
    yield f"### GraphQL servers, {size_name(results.size)} nodes\n"
    yield f"{quiet} of {len(results.samples)} samples were taken on a quiet machine.\n"
    yield "| store | question | beside | ours req/s | theirs | times less CPU | times the rate | p99 ours / theirs |"
    yield "|---|---|---|---|---|---|---|---|"
    ours = {(figure.store, figure.kind): figure for figure in results.figures if figure.side == OURSELVES}
    for figure in results.figures:
        if figure.side != OURSELVES and (figure.store, figure.kind) in ours:
            yield _row(ours[figure.store, figure.kind], figure)
    yield ""


def _row(ours: Figure, theirs: Figure) -> str:
    ratios = (theirs.times_less_cpu, theirs.times_the_rate, theirs.of_p99)
    shown = ["" if ratio is None else f"{ratio:.1f}" for ratio in ratios]
    cells = (theirs.store, TITLES[theirs.kind], theirs.side, f"{ours.rate:,.0f}", f"{theirs.rate:,.0f}", *shown)
    return f"| {' | '.join(cells)} |"


def keep(results: GraphqlResults, folder: Path) -> None:
    """Write the results down, with a plot beside."""
    (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(results)))
    (folder / "graphql.svg").write_text(plot(results.figures))
    print(f"\n{folder / FILE}\n{folder / 'graphql.svg'}")


ROW, LEFT, WIDTH = 20, 330, 900


def plot(figures: list[Figure]) -> str:
    """How many times less CPU ours takes, as bars; the line stands at one."""
    shown = [figure for figure in figures if figure.side != OURSELVES and figure.times_less_cpu]
    most = max((figure.times_less_cpu or 1 for figure in shown), default=1.0) ** 0.5
    scale = (WIDTH - LEFT - 60) / most
    bars = "".join(_bar(figure, 10 + ROW * number, scale) for number, figure in enumerate(shown))
    one, height = LEFT + scale, ROW * len(shown) + 20
    line = f'<line x1="{one:.1f}" x2="{one:.1f}" y1="4" y2="{height - 4}" stroke="#c33"/>'
    style = "<style>text { font: 12px system-ui, sans-serif }</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">{style}{bars}{line}</svg>\n'


def _bar(figure: Figure, y: int, scale: float) -> str:
    ratio = figure.times_less_cpu or 1.0
    width = ratio**0.5 * scale
    label = escape(f"{figure.store}: {TITLES[figure.kind]} / {figure.side}")
    return (
        f'<text x="{LEFT - 6}" y="{y + 14}" text-anchor="end">{label}</text>'
        f'<rect x="{LEFT}" y="{y + 3}" width="{width:.1f}" height="{ROW - 6}" fill="#47c"/>'
        f'<text x="{LEFT + width + 4:.1f}" y="{y + 14}">{ratio:.1f}×</text>'
    )
