"""Node counts for the planner, fetched only where they can change the plan."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ugs.cypher import syntax as s
from ugs.cypher.engine.view import GraphView, Wanted

UNKNOWN_LABEL = 1_000
UNKNOWN_TOTAL = 100_000


class Statistics(Struct, frozen=True):
    """Estimated node counts by label, and whether the store can join."""

    counts: tuple[tuple[str, int], ...] = ()
    joins: bool = False
    alone: bool = False
    """Whether patterns of a single node can be pushed down too."""

    def nodes(self, labels: tuple[str, ...]) -> int:
        known = [count for label, count in self.counts if label in labels]
        if known:
            return min(known)
        return UNKNOWN_LABEL if labels else UNKNOWN_TOTAL


async def gather_statistics(view: GraphView, labels: Iterable[str]) -> Statistics:
    """Node counts of these labels, rounded to a power of two so that plans are reused."""
    counts = [(label, 1 << (await view.count(Wanted((label,)))).bit_length()) for label in labels]
    return Statistics(tuple(counts), view.joins, view.matches_single_nodes)


def find_labels_to_count(query: s.Query) -> tuple[str, ...]:
    """Labels between which a MATCH must choose where to start."""
    found: set[str] = set()
    for part in query.parts:
        for clause in part.clauses:
            if isinstance(clause, s.Match):
                found |= _competing_labels(clause)
    return tuple(sorted(found))


def _competing_labels(clause: s.Match) -> set[str]:
    nodes = [node for pattern in clause.patterns if len(pattern.elements) > 1 for node in pattern.nodes]
    if any(node.properties is not None for node in nodes):
        return set()
    labels = {label for node in nodes for label in node.labels}
    return labels if len(labels) > 1 else set()
