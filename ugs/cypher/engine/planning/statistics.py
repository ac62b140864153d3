"""What the store can say about how many nodes a scan would meet. It is asked only where the answer changes a plan."""

from __future__ import annotations

from ugs.cypher import syntax as s
from ugs.cypher.engine.view import GraphView, Wanted

UNKNOWN_LABEL = 1_000
UNKNOWN_TOTAL = 100_000


class Statistics:
    """How many nodes have each label, as far as known; and whether the store can join."""

    def __init__(self, counts: dict[str, int] | None = None, joins: bool = False) -> None:
        self.counts = counts or {}
        self.joins = joins

    def nodes(self, labels: tuple[str, ...]) -> int:
        known = [self.counts[label] for label in labels if label in self.counts]
        if known:
            return min(known)
        return UNKNOWN_LABEL if labels else UNKNOWN_TOTAL


async def gather(view: GraphView, labels: set[str]) -> Statistics:
    """The sizes of these labels."""
    counts = {label: await view.count(Wanted((label,))) for label in sorted(labels)}
    return Statistics(counts, view.joins)


def labels_worth_counting(query: s.Query) -> set[str]:
    """Labels between which a MATCH must choose where to start."""
    found: set[str] = set()
    for part in query.parts:
        for clause in part.clauses:
            if isinstance(clause, s.Match):
                found |= _rivals(clause)
    return found


def _rivals(clause: s.Match) -> set[str]:
    nodes = [node for pattern in clause.patterns if len(pattern.elements) > 1 for node in pattern.nodes]
    if any(node.properties is not None for node in nodes):
        return set()
    labels = {label for node in nodes for label in node.labels}
    return labels if len(labels) > 1 else set()
