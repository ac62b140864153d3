"""Shortest paths between two bound nodes. Of several, the one with the smallest relationship ids is taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ugs.cypher.engine.graph_cache import CacheMiss
from ugs.cypher.engine.operators.base import Operator, evaluate
from ugs.cypher.engine.operators.expand import REVERSED, Hop, get_start_node
from ugs.cypher.engine.operators.project import build_path
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.values.comparison import equals
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.reads.shortest_path import Front, search


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
        wanted = evaluate(batch, self.properties) if self.properties else [None] * len(batch)
        found, missing = [], False
        for row, properties in zip(batch, wanted, strict=True):
            try:
                found.append((row, list(self.paths(run, row, properties))))
            except CacheMiss:
                missing = True
        if missing:
            raise CacheMiss
        return run.metered(self._build_row(row, path) for row, paths in found for path in paths)

    def _build_row(self, row: Row, path: Path) -> Row:
        made = row[:]
        made[self.path] = path
        made[self.hop.relationship] = list(path.relationships)
        return made

    def paths(self, run: Run, row: Row, wanted: dict[str, Any] | None) -> Iterator[Path]:
        start, end = get_start_node(row, self.hop.start), get_start_node(row, self.hop.end)
        if start is None or end is None:
            return
        if start.id == end.id:
            if self.low == 0:
                yield Path((start,), ())
            return
        for walk in self._walks(run, start, end, wanted):
            run.tick(len(walk) + 1)
            if len(walk) >= self.low:
                yield build_path(run, [start, walk])

    def _walks(self, run: Run, start: Node, end: Node, wanted: dict[str, Any] | None) -> Iterable[list[Relationship]]:
        there = self._front(run, start, self.hop.direction, wanted)
        back = self._front(run, end, REVERSED[self.hop.direction], wanted)
        max_length = run.limits.path if self.high is None else min(self.high, run.limits.path)
        meeting = search(there, back, max_length)
        if meeting is None:
            return []
        return meeting.walks() if self.every else [meeting.smallest(get_id)]

    def _front(self, run: Run, root: Node, direction: str, wanted: dict[str, Any] | None) -> Front:
        types, graph = self.hop.types, run.graph

        def steps(id: str) -> Iterable[tuple[Relationship, str]]:
            found = graph.steps(id, direction, types)
            run.tick(len(found))
            return [(one, other.id) for one, other in found if wanted is None or _has_properties(one, wanted)]

        return Front(root.id, steps, lambda ids: graph.require_steps(ids, direction, types))


def get_id(one: Relationship) -> str:
    """The sort key of relationships for choosing among several shortest paths, the same on every store."""
    return one.id


def _has_properties(one: Relationship, wanted: dict[str, Any]) -> bool:
    return all(equals(one.value(key), value) for key, value in wanted.items())
