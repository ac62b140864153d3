"""Shortest paths between two known nodes, by breadth first search from both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.operators.base import Operator, evaluated
from ugs.cypher.engine.operators.expanding import REVERSED, Hop, start_of
from ugs.cypher.engine.reader import Miss, Types
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.values.comparing import equals
from ugs.cypher.values.entities import Node, Path, Relationship

Parents = dict[str, list[tuple[Relationship, Node]]]
"""For each node reached, the steps that reach it at the least distance."""


class ShortestPaths(Operator):
    """One shortest path, or all of them, for each row."""

    title = "ShortestPath"

    def __init__(self, hop: Hop, path: int, low: int, high: int | None, every: bool, properties: Fn | None) -> None:
        self.hop = hop
        self.path = path
        self.low = low
        self.high = high
        self.every = every
        self.properties = properties

    def describe(self) -> str:
        return self.hop.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        wanted = evaluated(batch, self.properties) if self.properties else [None] * len(batch)
        found, missing = [], False
        for row, properties in zip(batch, wanted, strict=True):
            try:
                found.append((row, list(self.paths(run, row, properties))))
            except Miss:
                missing = True
        if missing:
            raise Miss
        return run.metered(self._made(row, path) for row, paths in found for path in paths)

    def _made(self, row: Row, path: Path) -> Row:
        made = row[:]
        made[self.path] = path
        made[self.hop.relationship] = list(path.relationships)
        return made

    def paths(self, run: Run, row: Row, wanted: dict[str, Any] | None) -> Iterator[Path]:
        start, end = start_of(row, self.hop.start), start_of(row, self.hop.end)
        if start is None or end is None:
            return
        if start.id == end.id:
            if self.low == 0:
                yield Path((start,), ())
            return
        for path in self._search(run, start, end, wanted):
            run.tick(len(path) + 1)
            if len(path) >= self.low:
                yield path
            if not self.every:
                return

    def _search(self, run: Run, start: Node, end: Node, wanted: dict[str, Any] | None) -> Iterator[Path]:
        """The shortest paths: two searches go towards each other, the one with less to look at first."""
        there = Front(start, self.hop.direction)
        back = Front(end, REVERSED[self.hop.direction])
        most = run.limits.path if self.high is None else min(self.high, run.limits.path)
        for _ in range(most):
            if not there.nodes or not back.nodes:
                return
            mine, other = (there, back) if len(there.nodes) <= len(back.nodes) else (back, there)
            mine.advance(run, self.hop.types, wanted)
            # The first nodes that both have reached lie on all shortest paths, one on each.
            if met := [node for id, node in mine.nodes.items() if id in other.parents]:
                yield from joined(there, back, met)
                return


class Front:
    """How far a search has come: the nodes reached last, and for every node reached the steps that lead back."""

    def __init__(self, root: Node, direction: str) -> None:
        self.direction = direction
        self.nodes: dict[str, Node] = {root.id: root}
        self.parents: Parents = {root.id: []}

    def advance(self, run: Run, types: Types, wanted: dict[str, Any] | None) -> None:
        """Go one step further."""
        run.graph.want_steps(self.nodes.keys(), self.direction, types)
        reached: dict[str, Node] = {}
        for node in self.nodes.values():
            for one, other in run.graph.steps(node.id, self.direction, types):
                run.tick()
                if (other.id in self.parents and other.id not in reached) or not _fits(one, wanted):
                    continue
                reached[other.id] = other
                self.parents.setdefault(other.id, []).append((one, node))
        self.nodes = reached


def joined(there: Front, back: Front, met: list[Node]) -> Iterator[Path]:
    """All paths through the nodes where two searches met."""
    for node in met:
        for before, first in unrolled(there.parents, node):
            for after, second in unrolled(back.parents, node):
                yield Path((*before[::-1], *after[1:]), (*first[::-1], *second))


def _fits(one: Relationship, wanted: dict[str, Any] | None) -> bool:
    return wanted is None or all(equals(one.properties.get(key), value) for key, value in wanted.items())


def unrolled(parents: Parents, node: Node) -> Iterator[tuple[tuple[Node, ...], tuple[Relationship, ...]]]:
    """All ways from a node back to where a search began."""
    waiting: list[tuple[tuple[Node, ...], tuple[Relationship, ...]]] = [((node,), ())]
    while waiting:
        nodes, relationships = waiting.pop()
        steps = parents[nodes[-1].id]
        if not steps:
            yield nodes, relationships
        for one, before in reversed(steps):
            waiting.append(((*nodes, before), (*relationships, one)))
