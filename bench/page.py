"""The results as one HTML file with a plot, readable without anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from math import ceil, floor, log10

from bench.questions import TITLES
from bench.results import Results, size_name
from bench.sampler import Figure
from bench.table import lines

ROW, LEFT, WIDTH = 18, 260, 900
Scale = Callable[[float], float]
COLOURS = {"memory": "#0a7", "sqlite": "#47c", "postgresql": "#a4c", "neo4j": "#c70"}

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>UGS Gateway: measured</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222 }}
pre {{ background: #f6f6f4; padding: 1rem; overflow-x: auto; font-size: 12px; line-height: 1.35 }}
svg {{ width: 100%; height: auto }} text {{ font: 12px system-ui, sans-serif }}
</style>
<h1>Measured</h1>
<p>Each bar is our time divided by theirs, in the same run, on a logarithmic scale: left of 1 we are faster.
The line is the range over the repetitions. {machine}</p>
{plots}
<h2>All figures</h2>
<pre>{table}</pre>
</html>
"""


def html(results: Results) -> str:
    """The whole page."""
    plots = [
        f"<h2>{size_name(one.size)} nodes</h2>{plot([f for f in one.figures if f.ratio is not None])}"
        for one in results.sizes
        if one.figures
    ]
    machine = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    return PAGE.format(machine=escape(machine), plots="\n".join(plots), table=escape("\n".join(lines(results))))


def plot(figures: list[Figure]) -> str:
    """Ratios as horizontal bars."""
    values = [ratio for f in figures for ratio in (f.ratio, f.lowest, f.highest) if ratio]
    low, high = floor(log10(min(values, default=1))), ceil(log10(max(values, default=1)))
    low, high = min(low, -1), max(high, 1)

    def x(ratio: float) -> float:
        return LEFT + (log10(ratio) - low) / (high - low) * (WIDTH - LEFT - 60)

    height = ROW * len(figures) + 40
    parts = [*_axis(low, high, x, height)]
    for number, figure in enumerate(figures):
        parts += _bar(figure, 20 + ROW * number, x)
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="ratios">{"".join(parts)}</svg>'


def _axis(low: int, high: int, x: Scale, height: int) -> Iterator[str]:
    for power in range(low, high + 1):
        at = x(10.0**power)
        colour = "#333" if power == 0 else "#ddd"
        yield f'<line x1="{at:.1f}" x2="{at:.1f}" y1="14" y2="{height - 20}" stroke="{colour}"/>'
        yield f'<text x="{at:.1f}" y="{height - 6}" text-anchor="middle">{10.0**power:g}×</text>'


def _bar(figure: Figure, y: int, x: Scale) -> Iterator[str]:
    ratio, low, high = figure.ratio or 1.0, figure.lowest or 1.0, figure.highest or 1.0
    start, end = sorted((x(1.0), x(ratio)))
    colour, middle = COLOURS.get(figure.store, "#888"), y + ROW / 2
    label = f"{figure.store}: {TITLES[figure.kind]} / {figure.side}"
    yield f'<text x="{LEFT - 6}" y="{y + 13}" text-anchor="end">{escape(label)}</text>'
    yield f'<rect x="{start:.1f}" y="{y + 3}" width="{max(end - start, 1):.1f}" height="{ROW - 6}" fill="{colour}"/>'
    yield f'<line x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{middle}" y2="{middle}" stroke="#222"/>'
    yield f'<text x="{max(end, x(high)) + 4:.1f}" y="{y + 13}">{ratio:.2f}</text>'
