"""The five operators. Each changes the working graph W by a result R and returns how much it changed.

Invariant: after an operator no link of W lacks one of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ugs.programs.ast import Operator
from ugs.programs.execution.working_graph import LinkKey, RawLink, RawNode, WorkingGraph


class Affected(NamedTuple):
    """How many nodes and links a step added or removed."""

    nodes: int = 0
    links: int = 0


class AssertionFailed(Exception):
    """The operator `!` got an empty result."""


def union(w: WorkingGraph, r: WorkingGraph) -> Affected:
    """Add what W lacks; existing elements stay unchanged. Of duplicates within R the first wins."""
    ids, keys = set(w.ids), {link.key for link in w.links}
    nodes: dict[str, RawNode] = {}
    for node in r.nodes:
        if node.concept_id not in ids:
            nodes.setdefault(node.concept_id, node)
    w.nodes += nodes.values()
    ids |= nodes.keys()
    links: dict[LinkKey, RawLink] = {}
    for link in r.links:
        if link.key not in keys and link.from_id in ids and link.to_id in ids:
            links.setdefault(link.key, link)
    w.links += links.values()
    return Affected(len(nodes), len(links))


def difference(w: WorkingGraph, r: WorkingGraph) -> Affected:
    """Remove R's nodes and their links; links of R are ignored."""
    gone = set(r.ids)
    return _keep(w, {id for id in w.ids if id not in gone})


def intersect(w: WorkingGraph, r: WorkingGraph) -> Affected:
    """Keep the nodes that R contains, with W's values."""
    return _keep(w, set(r.ids))


def optional(w: WorkingGraph, r: WorkingGraph) -> Affected:
    """Like union; an empty R is accepted."""
    return union(w, r)


def required(w: WorkingGraph, r: WorkingGraph) -> Affected:
    """Like union; an empty R ends the program."""
    if r.is_empty:
        raise AssertionFailed
    return union(w, r)


def drop_dangling(w: WorkingGraph) -> int:
    """Remove links that lack a node; returns how many."""
    ids, before = set(w.ids), len(w.links)
    w.links = [link for link in w.links if link.from_id in ids and link.to_id in ids]
    return before - len(w.links)


def _keep(w: WorkingGraph, ids: set[str]) -> Affected:
    before = len(w.nodes)
    w.nodes = [node for node in w.nodes if node.concept_id in ids]
    return Affected(before - len(w.nodes), drop_dangling(w))


OPERATORS: Mapping[Operator, Callable[[WorkingGraph, WorkingGraph], Affected]] = {
    Operator.UNION: union,
    Operator.DIFFERENCE: difference,
    Operator.INTERSECT: intersect,
    Operator.OPTIONAL: optional,
    Operator.ASSERT: required,
}


def apply(op: Operator, w: WorkingGraph, r: WorkingGraph) -> Affected:
    """Change W by R with an operator."""
    return OPERATORS[op](w, r)
