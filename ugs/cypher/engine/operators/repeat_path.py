"""Quantified path patterns: a pattern repeated along a path, no relationship of which occurs twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.engine.graph_cache import CacheMiss, Types
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.operators.expand import UsedSlots, collect_used_ids, start_ids
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.values.entities import Node, Relationship
from ugs.errors import LimitExceeded


class InnerHop(Struct, frozen=True):
    """One relationship of the repeated pattern, in the direction of expansion."""

    relationship: int
    end: int
    direction: str
    types: Types
    end_known: bool
    """Whether the repetition has named the node before."""


class Repetition(Struct, frozen=True):
    """A quantified path: bound slots around it, slots of one repetition, and slots of the lists outside."""

    start: int
    end: int
    relationships: int
    end_known: bool
    others: UsedSlots
    """Slots of the other relationships of the MATCH, which must all differ."""
    first: int
    hops: tuple[InnerHop, ...]
    groups: tuple[tuple[int, int], ...]
    """For each variable the slot inside, and that of its list outside."""
    low: int
    high: int | None
    backwards: bool
    words: str
    needs_graph: bool
    """Whether a condition inside reads the graph."""


Step = tuple[Node, tuple[Relationship, ...], tuple[Any, ...]]
"""One repetition: its last node, its relationships, and the values of its variables."""


class RepeatPath(Operator):
    """One row for each path whose number of repetitions lies between the bounds."""

    title = "RepeatPath"

    def __init__(self, repetition: Repetition, conditions: Sequence[Fn]) -> None:
        self.repetition = repetition
        self.conditions = conditions

    def describe(self) -> str:
        return self.repetition.words

    def max_repetitions(self, run: Run) -> int:
        """The maximum number; an unbounded pattern goes one beyond the limit, to detect that it is exceeded."""
        limit = run.limits.path + 1
        return limit if self.repetition.high is None else min(self.repetition.high, limit)

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        self._prefetch(run, start_ids(batch, self.repetition.start))
        if not self.repetition.needs_graph:
            return run.metered(made for row in batch for made in self._expand(run, row))
        found: list[Row] = []
        missing = False
        for row in batch:
            try:
                found += run.metered(self._expand(run, row))
                run.hold(found)
            except CacheMiss:
                missing = True
        if missing:
            raise CacheMiss
        return found

    def _prefetch(self, run: Run, ids: set[str]) -> None:
        """Fetch everything within reach, level by level."""
        hops = self.repetition.hops
        reached: list[set[str]] = [set() for _ in hops]
        frontier = ids
        for _ in range(self.max_repetitions(run)):
            for number, hop in enumerate(hops):
                frontier = frontier - reached[number]
                reached[number] |= frontier
                if not frontier:
                    return
                run.graph.require_steps(frontier, hop.direction, hop.types)
                steps = run.graph.steps
                frontier = {node.id for id in frontier for _, node in steps(id, hop.direction, hop.types)}
                run.tick(len(frontier))

    def _expand(self, run: Run, row: Row) -> Iterator[Row]:
        """Depth-first search over repetitions with an explicit stack."""
        repetition, most = self.repetition, self.max_repetitions(run)
        start = row[repetition.start]
        if start is None:
            return
        used = collect_used_ids(row, repetition.others)
        if repetition.low == 0:
            yield from self._build_row(row, start, [])
        path: list[Step] = []
        branches = [iter(self._repeat(run, row, start, used))]
        while branches:
            step = next(branches[-1], None)
            if step is None:
                branches.pop()
                if path:
                    path.pop()
                continue
            path.append(step)
            if len(path) * len(repetition.hops) > run.limits.path:
                raise LimitExceeded(f"A path grew beyond {run.limits.path} relationships", limit=run.limits.path)
            if len(path) >= repetition.low:
                yield from self._build_row(row, step[0], path)
            branches.append(iter(self._repeat(run, row, step[0], used) if len(path) < most else ()))

    def _build_row(self, row: Row, end: Node, path: list[Step]) -> Iterator[Row]:
        repetition = self.repetition
        known = row[repetition.end]
        if repetition.end_known and not (type(known) is Node and known.id == end.id):
            return
        made = row[:]
        turn = -1 if repetition.backwards else 1
        made[repetition.end] = end
        made[repetition.relationships] = [one for step in path for one in step[1]][::turn]
        for number, (_, outside) in enumerate(repetition.groups):
            made[outside] = [step[2][number] for step in path][::turn]
        yield made

    def _repeat(self, run: Run, row: Row, start: Node, used: set[str]) -> Iterator[Step]:
        """All repetitions from a node; while one is consumed, its relationships count as used."""
        scratch = row[:]
        scratch[self.repetition.first] = start
        yield from self._follow(run, scratch, start, 0, (), used)

    def _follow(
        self, run: Run, scratch: Row, node: Node, number: int, taken: tuple[Relationship, ...], used: set[str]
    ) -> Iterator[Step]:
        repetition = self.repetition
        if number == len(repetition.hops):
            if all(condition(scratch) is True for condition in self.conditions):
                yield node, taken, tuple([scratch[inside] for inside, _ in repetition.groups])
            return
        hop = repetition.hops[number]
        for one, other in run.graph.steps(node.id, hop.direction, hop.types):
            run.tick()
            if one.id in used or (hop.end_known and scratch[hop.end].id != other.id):
                continue
            used.add(one.id)
            scratch[hop.relationship], scratch[hop.end] = one, other
            try:
                yield from self._follow(run, scratch, other, number + 1, (*taken, one), used)
            finally:
                used.discard(one.id)
