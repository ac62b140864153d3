"""What the store can say about how many nodes a scan would meet."""

from __future__ import annotations

from ugs.cypher.engine.view import GraphView, Wanted

UNKNOWN_LABEL = 1_000
UNKNOWN_TOTAL = 100_000


class Statistics:
    """Counts by label; asked for once before planning, and only where they can change the plan."""

    def __init__(self, counts: dict[tuple[str, ...], int] | None = None) -> None:
        self.counts = counts or {}

    def nodes(self, labels: tuple[str, ...]) -> int:
        known = [self.counts[(label,)] for label in labels if (label,) in self.counts]
        if known:
            return min(known)
        return UNKNOWN_LABEL if labels else self.counts.get((), UNKNOWN_TOTAL)


async def gather(view: GraphView, labels: set[str]) -> Statistics:
    """The sizes of these labels and of the whole graph."""
    counts: dict[tuple[str, ...], int] = {(label,): await view.count(Wanted((label,))) for label in sorted(labels)}
    return Statistics(counts)
