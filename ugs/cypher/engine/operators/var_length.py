"""Variable-length expansion: no relationship occurs twice on one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ugs.cypher.engine.operators.base import Operator, evaluate
from ugs.cypher.engine.operators.expand import Hop, collect_used_ids, start_ids
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.values.comparison import equals
from ugs.cypher.values.entities import Node, Relationship
from ugs.errors import LimitExceeded


class ExpandMany(Operator):
    """One row for each path whose length lies between the bounds."""

    title = "ExpandMany"

    def __init__(self, hop: Hop, low: int, high: int | None, properties: Fn | None, backwards: bool) -> None:
        self.hop = hop
        self.low = low
        self.high = high
        self.properties = properties
        self.backwards = backwards
        """The pattern is expanded from its right end, so the list is reversed."""

    def describe(self) -> str:
        return self.hop.words

    def max_length(self, run: Run) -> int:
        """The maximum length; an unbounded pattern goes one beyond the limit, to detect that it is exceeded."""
        return min(run.limits.path + 1 if self.high is None else self.high, run.limits.path + 1)

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        hop = self.hop
        properties = evaluate(batch, self.properties) if self.properties else [None] * len(batch)
        if hop.relationship_known:
            run.graph.require_nodes(_collect_ends(batch, hop.relationship))
            return run.metered(self._check_bound_list(run, batch))
        self._prefetch(run, start_ids(batch, hop.start))
        return run.metered(self._expand_all(run, batch, properties))

    def _prefetch(self, run: Run, ids: set[str]) -> None:
        """Fetch everything within reach, level by level."""
        hop, reached, frontier = self.hop, set(ids), ids
        for _ in range(self.max_length(run)):
            if not frontier:
                return
            run.graph.require_steps(frontier, hop.direction, hop.types)
            steps = run.graph.steps
            frontier = {node.id for id in frontier for _, node in steps(id, hop.direction, hop.types)} - reached
            reached |= frontier
            run.tick(len(frontier))

    def _expand_all(self, run: Run, batch: list[Row], properties: list[Any]) -> Iterator[Row]:
        hop = self.hop
        for row, wanted in zip(batch, properties, strict=True):
            node = row[hop.start]
            if node is None:
                continue
            used = collect_used_ids(row, hop.others)
            for path, end in self._paths(run, node, used, wanted):
                if not hop.end_known or (type(row[hop.end]) is Node and row[hop.end].id == end.id):
                    yield self._build_row(row, path, end)

    def _build_row(self, row: Row, path: list[Relationship], end: Node) -> Row:
        made = row[:]
        made[self.hop.relationship] = path[::-1] if self.backwards else path
        made[self.hop.end] = end
        return made

    def _paths(
        self, run: Run, start: Node, used: set[str], wanted: dict[str, Any] | None
    ) -> Iterator[tuple[list[Relationship], Node]]:
        """Depth-first search with an explicit stack."""
        hop, max_length, low = self.hop, self.max_length(run), self.low
        if low == 0:
            yield [], start
        steps = run.graph.steps
        path: list[Relationship] = []
        branches = [iter(steps(start.id, hop.direction, hop.types) if max_length else ())]
        while branches:
            step = next(branches[-1], None)
            if step is None:
                branches.pop()
                if path:
                    used.discard(path.pop().id)
                continue
            one, node = step
            run.tick()
            if one.id in used or (wanted is not None and not _has_properties(one, wanted)):
                continue
            if len(path) >= run.limits.path:
                raise LimitExceeded(f"A path grew beyond {run.limits.path} relationships", limit=run.limits.path)
            path.append(one)
            used.add(one.id)
            if len(path) >= low:
                yield path[:], node
            branches.append(iter(steps(node.id, hop.direction, hop.types) if len(path) < max_length else ()))

    def _check_bound_list(self, run: Run, batch: list[Row]) -> Iterator[Row]:
        """The relationship list is bound: check that it is a path from the start."""
        hop = self.hop
        for row in batch:
            known, node = row[hop.relationship], row[hop.start]
            if node is None or not isinstance(known, list) or not self.low <= len(known) <= self.max_length(run):
                continue
            end = self._follow_list(run, node, known[::-1] if self.backwards else known)
            if end is not None and (not hop.end_known or row[hop.end] == end):
                made = row[:]
                made[hop.end] = end
                yield made

    def _follow_list(self, run: Run, node: Node, known: list[Any]) -> Node | None:
        here: Node | None = node
        for one in known:
            if here is None or not isinstance(one, Relationship):
                return None
            leaves, arrives = one.start == here.id, one.end == here.id
            if not ((leaves and self.hop.direction != "in") or (arrives and self.hop.direction != "out")):
                return None
            if self.hop.types is not None and one.type not in self.hop.types:
                return None
            here = run.graph.node(one.end if leaves else one.start)
        return here


def _has_properties(one: Relationship, wanted: dict[str, Any]) -> bool:
    return all(equals(one.value(key), value) for key, value in wanted.items())


def _collect_ends(batch: list[Row], slot: int) -> set[str]:
    lists = [row[slot] for row in batch if isinstance(row[slot], list)]
    return {id for known in lists for one in known if isinstance(one, Relationship) for id in (one.start, one.end)}
