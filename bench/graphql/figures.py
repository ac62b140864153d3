"""Samples become figures: medians, ratios inside a repetition, and whether the targets were met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median

from msgspec import Struct

from bench.graphql.load_sample import Sample
from bench.graphql.queries import TITLES
from bench.graphql.servers import OURSELVES
from bench.targets import Verdict, check_at_least


class Figure(Struct, frozen=True):
    """One server and one question, and how ours compares with it."""

    store: str
    kind: str
    side: str
    rate: float
    p50: float
    p99: float
    cpu: float
    database: float
    resident: float
    times_less_cpu: float | None
    times_the_rate: float | None
    of_p99: float | None
    """Our p99 divided by theirs."""
    quiet: int
    samples: int


def figures(samples: Iterable[Sample]) -> list[Figure]:
    """One figure for each server and question, ours first."""
    groups: dict[tuple[str, str, str], dict[int, Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.store, sample.kind, sample.side), {})[sample.repetition] = sample
    found = []
    for (store, kind, side), theirs in groups.items():
        ours = groups.get((store, kind, OURSELVES), {})
        found.append(_figure(store, kind, side, theirs, {} if side == OURSELVES else ours))
    return sorted(found, key=lambda figure: (figure.store, figure.kind, figure.side != OURSELVES))


def _figure(store: str, kind: str, side: str, theirs: dict[int, Sample], ours: dict[int, Sample]) -> Figure:
    both = [r for r in theirs if r in ours]
    quiet = [r for r in both if theirs[r].quiet and ours[r].quiet]
    pairs = [(ours[r], theirs[r]) for r in quiet or both]
    taken = [sample for sample in theirs.values() if sample.quiet] or list(theirs.values())

    def median_of(name: str) -> float:
        return median(getattr(sample, name) for sample in taken)

    return Figure(
        store,
        kind,
        side,
        *(median_of(name) for name in ("rate", "p50", "p99", "cpu", "database", "resident")),
        _median(other.cpu / mine.cpu for mine, other in pairs if mine.cpu),
        _median(mine.rate / other.rate for mine, other in pairs if other.rate),
        _median(mine.p99 / other.p99 for mine, other in pairs if other.p99),
        len(quiet) if both else sum(sample.quiet for sample in theirs.values()),
        len(theirs),
    )


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return median(found) if found else None


CPU_TARGETS = {
    ("postgresql", "PostGraphile"): {"point": 3, "list": 6, "nested": 6, "add": 2},
    ("postgresql", "Strawberry"): {"point": 40, "list": 50, "nested": 80, "add": 30},
    ("neo4j", "@neo4j/graphql"): {"point": 2, "list": 2, "nested": 2},
    ("memory", "yoga + jit"): {"point": 5, "list": 3, "nested": 2},
}
RATE_TARGETS = {
    ("postgresql", "PostGraphile"): {"point": 3, "list": 2.5, "nested": 1.5, "add": 1.2},
    ("neo4j", "@neo4j/graphql"): {"point": 2, "list": 2, "nested": 2},
}


def verdicts(found: Iterable[Figure]) -> Iterator[Verdict]:
    """The targets beside what was measured."""
    for figure in found:
        what = f"{figure.store}, {TITLES[figure.kind]}"
        cpu = CPU_TARGETS.get((figure.store, figure.side), {}).get(figure.kind)
        if cpu is not None and figure.times_less_cpu is not None:
            name = f"{what}: times less CPU than {figure.side}"
            yield check_at_least(name, figure.times_less_cpu, cpu, "{:.1f}".format)
        rate = RATE_TARGETS.get((figure.store, figure.side), {}).get(figure.kind)
        if rate is not None and figure.times_the_rate is not None:
            name = f"{what}: times the requests/s of {figure.side}"
            yield check_at_least(name, figure.times_the_rate, rate, "{:.1f}".format)
