"""What we want to reach, and whether a run did."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from bench.sampler import Figure


class Verdict(Struct, frozen=True):
    """A target beside what was measured."""

    target: str
    measured: str
    met: bool


def check_at_most(target: str, value: float, limit: float, show: Callable[[float], str] = "{:.2f}".format) -> Verdict:
    return Verdict(f"{target} <= {show(limit)}", show(value), value <= limit)


def check_at_least(target: str, value: float, limit: float, show: Callable[[float], str] = "{:,.0f}".format) -> Verdict:
    return Verdict(f"{target} >= {show(limit)}", show(value), value >= limit)


NATIVE_KINDS = ("point_plan", "listing", "two_hop")
NATIVE_LIMIT = 1.5
LIBRARIES = ("networkx", "rustworkx")


def check_reads(figures: list[Figure], size: str) -> list[Verdict]:
    """The targets that ratios of reads decide."""
    return [verdict for figure in figures if (verdict := _check_read(figure, size)) is not None]


def _check_read(figure: Figure, size: str) -> Verdict | None:
    if figure.ratio is None or figure.cpu_ratio is None:
        return None
    # On a busy machine the wall clock measures the neighbours, and CPU time still measures us.
    ratio, of = (figure.ratio, "time") if figure.is_quiet else (figure.cpu_ratio, "CPU time")
    name = f"{size}, {figure.store}: {figure.kind}, {of} against {figure.side}"
    if figure.side == "networkx" and figure.kind in ("point", "two_hop"):
        return Verdict(f"{name} < 1.00", f"{ratio:.2f}", ratio < 1.0)
    if figure.side not in LIBRARIES and figure.kind in NATIVE_KINDS:
        return check_at_most(name, ratio, NATIVE_LIMIT)
    return None
