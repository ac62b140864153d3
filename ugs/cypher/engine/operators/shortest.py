"""Shortest paths between two known nodes, by breadth first search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.operators.base import Operator, evaluated
from ugs.cypher.engine.operators.expanding import Hop, start_of
from ugs.cypher.engine.reader import Miss
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
        parents = self._search(run, start, end, wanted)
        for path in unrolled(parents, start, end):
            run.tick(len(path) + 1)
            if len(path) >= self.low:
                yield path
            if not self.every:
                return

    def _search(self, run: Run, start: Node, end: Node, wanted: dict[str, Any] | None) -> Parents:
        hop, parents, frontier = self.hop, {start.id: []}, [start]  # type: Hop, Parents, list[Node]
        most = run.limits.path if self.high is None else min(self.high, run.limits.path)
        for _ in range(most):
            run.graph.want_steps({node.id for node in frontier}, hop.direction, hop.types)
            reached: dict[str, Node] = {}
            for node in frontier:
                for one, other in run.graph.steps(node.id, hop.direction, hop.types):
                    run.tick()
                    if (other.id in parents and other.id not in reached) or not _fits(one, wanted):
                        continue
                    reached[other.id] = other
                    parents.setdefault(other.id, []).append((one, node))
            if end.id in reached or not reached:
                break
            frontier = list(reached.values())
        return parents


def _fits(one: Relationship, wanted: dict[str, Any] | None) -> bool:
    return wanted is None or all(equals(one.properties.get(key), value) for key, value in wanted.items())


def unrolled(parents: Parents, start: Node, end: Node) -> Iterator[Path]:
    """All paths that the steps back from the end make."""
    waiting: list[tuple[tuple[Node, ...], tuple[Relationship, ...]]] = [((end,), ())]
    while waiting:
        nodes, relationships = waiting.pop()
        if nodes[0].id == start.id:
            yield Path(nodes, relationships)
            continue
        for one, before in reversed(parents.get(nodes[0].id, [])):
            waiting.append(((before, *nodes), (one, *relationships)))
