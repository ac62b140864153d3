"""Following relationships any number of times, none of them twice on one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.operators.base import Operator, evaluated
from ugs.cypher.engine.operators.expanding import Hop, start_ids, used_ids
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.values.comparing import equals
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
        """The pattern is walked from its right end, so the list must be turned round."""

    def describe(self) -> str:
        return self.hop.words

    def most(self, run: Run) -> int:
        """How far to go; a pattern without an end goes one further than allowed, to notice."""
        return min(run.limits.path + 1 if self.high is None else self.high, run.limits.path + 1)

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        hop = self.hop
        properties = evaluated(batch, self.properties) if self.properties else [None] * len(batch)
        if hop.relationship_known:
            run.graph.want_nodes(_ends(batch, hop.relationship))
            return run.metered(self._along(run, batch))
        self._want(run, start_ids(batch, hop.start))
        return run.metered(self._walk(run, batch, properties))

    def _want(self, run: Run, ids: set[str]) -> None:
        """Make sure that everything within reach is at hand, level by level."""
        hop, reached, frontier = self.hop, set(ids), ids
        for _ in range(self.most(run)):
            if not frontier:
                return
            run.graph.want_steps(frontier, hop.direction, hop.types)
            steps = run.graph.steps
            frontier = {node.id for id in frontier for _, node in steps(id, hop.direction, hop.types)} - reached
            reached |= frontier
            run.tick(len(frontier))

    def _walk(self, run: Run, batch: list[Row], properties: list[Any]) -> Iterator[Row]:
        hop = self.hop
        for row, wanted in zip(batch, properties, strict=True):
            node = row[hop.start]
            if node is None:
                continue
            used = used_ids(row, hop.others)
            for path, end in self._paths(run, node, used, wanted):
                if not hop.end_known or (type(row[hop.end]) is Node and row[hop.end].id == end.id):
                    yield self._made(row, path, end)

    def _made(self, row: Row, path: list[Relationship], end: Node) -> Row:
        made = row[:]
        made[self.hop.relationship] = path[::-1] if self.backwards else path
        made[self.hop.end] = end
        return made

    def _paths(
        self, run: Run, start: Node, used: set[str], wanted: dict[str, Any] | None
    ) -> Iterator[tuple[list[Relationship], Node]]:
        """Paths by depth first, with the branches still to try kept beside, not on Python's stack."""
        hop, most, low = self.hop, self.most(run), self.low
        if low == 0:
            yield [], start
        steps = run.graph.steps
        path: list[Relationship] = []
        branches = [iter(steps(start.id, hop.direction, hop.types) if most else ())]
        while branches:
            step = next(branches[-1], None)
            if step is None:
                branches.pop()
                if path:
                    used.discard(path.pop().id)
                continue
            one, node = step
            run.tick()
            if one.id in used or (wanted is not None and not _has(one, wanted)):
                continue
            if len(path) >= run.limits.path:
                raise LimitExceeded(f"A path grew beyond {run.limits.path} relationships", limit=run.limits.path)
            path.append(one)
            used.add(one.id)
            if len(path) >= low:
                yield path[:], node
            branches.append(iter(steps(node.id, hop.direction, hop.types) if len(path) < most else ()))

    def _along(self, run: Run, batch: list[Row]) -> Iterator[Row]:
        """The relationships are known already: check that they make a path from the start."""
        hop = self.hop
        for row in batch:
            known, node = row[hop.relationship], row[hop.start]
            if node is None or not isinstance(known, list) or not self.low <= len(known) <= self.most(run):
                continue
            end = self._follow(run, node, known[::-1] if self.backwards else known)
            if end is not None and (not hop.end_known or row[hop.end] == end):
                made = row[:]
                made[hop.end] = end
                yield made

    def _follow(self, run: Run, node: Node, known: list[Any]) -> Node | None:
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


def _has(one: Relationship, wanted: dict[str, Any]) -> bool:
    return all(equals(one.value(key), value) for key, value in wanted.items())


def _ends(batch: list[Row], slot: int) -> set[str]:
    lists = [row[slot] for row in batch if isinstance(row[slot], list)]
    return {id for known in lists for one in known if isinstance(one, Relationship) for id in (one.start, one.end)}
