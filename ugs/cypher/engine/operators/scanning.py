"""Operators that find nodes: by label and properties, or by id."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.operators.base import BATCH, Operator, evaluated
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.view import Condition, Wanted
from ugs.cypher.values.entities import Node
from ugs.reads.where import Op

SCALARS = (str, int, float, bool)


class Sought(tuple[str, Op, Fn]):
    """A condition whose value is computed when the query runs: key, operator, value."""

    __slots__ = ()


class NodeScan(Operator):
    """Every node with these labels and properties, for each row."""

    title = "NodeScan"

    def __init__(self, slot: int, labels: tuple[str, ...], sought: Sequence[Sought], fixed: bool, words: str) -> None:
        self.slot = slot
        self.labels = labels
        self.sought = sought
        self.fixed = fixed
        """The same for every row."""
        self.words = words

    def describe(self) -> str:
        return self.words

    def wanted(self, row: Row) -> Wanted | None:
        """What to look for, or None when a condition can never be met."""
        conditions = []
        for key, op, compute in self.sought:
            condition = folded(key, op, compute(row))
            if condition is None:
                return None
            if condition is not ANYTHING:
                conditions.append(condition)
        return Wanted(self.labels, tuple(conditions))

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        shared = self.fixed and bool(batch)
        wanted = [self.wanted(batch[0])] * len(batch) if shared else evaluated(batch, self.wanted)
        run.graph.want_scans({one for one in wanted if one is not None})
        return run.metered(self._found(run, batch, wanted))

    def _found(self, run: Run, batch: list[Row], wanted: list[Wanted | None]) -> Iterator[Row]:
        slot = self.slot
        for row, one in zip(batch, wanted, strict=True):
            if one is None:
                continue
            for node in run.graph.scan(one):
                made = row[:]
                made[slot] = node
                yield made

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        """With a single row to start from, nodes come in pages and go on at once."""
        async for batch in batches:
            if len(batch) == 1 and self.fixed:
                async for portion in self._paged(run, batch[0]):
                    yield portion
            else:
                async for portion in super().flow(run, _once(batch)):
                    yield portion

    async def _paged(self, run: Run, row: Row) -> AsyncIterator[list[Row]]:
        wanted = self.wanted(row)
        if wanted is None:
            return
        async for nodes in run.graph.view.pages(wanted):
            run.graph.fetches += 1
            run.tick(len(nodes))
            run.check()
            run.graph.remember(nodes)
            for start in range(0, len(nodes), BATCH):
                yield [_with(row, self.slot, node) for node in nodes[start : start + BATCH]]


def _with(row: Row, slot: int, node: Node) -> Row:
    made = row[:]
    made[slot] = node
    return made


async def _once(batch: list[Row]) -> AsyncIterator[list[Row]]:
    yield batch


ANYTHING = Condition("", Op.EXISTS, None)
"""A condition that a store is not asked to check; the filter behind the scan does."""


def folded(key: str, op: Op, value: Any) -> Condition | None:
    """The condition for the store, None when nothing can meet it, ANYTHING when the store cannot tell."""
    if op is Op.EXISTS:
        return Condition(key, op, None)
    if value is None:
        return None
    if op is Op.IN:
        return _folded_list(key, value)
    if not isinstance(value, SCALARS) or value != value:
        return ANYTHING
    if op not in (Op.EQ,) and isinstance(value, bool):
        return ANYTHING
    return Condition(key, op, value)


def _folded_list(key: str, values: Any) -> Condition | None:
    if not isinstance(values, list) or len(values) > 1000:
        return ANYTHING
    known = [value for value in values if value is not None]
    if any(not isinstance(value, SCALARS) or value != value for value in known):
        return ANYTHING
    return Condition(key, Op.IN, tuple(known)) if known else None


class NodeById(Operator):
    """The node with an id that the query names."""

    title = "NodeById"

    def __init__(self, slot: int, id: Fn, words: str) -> None:
        self.slot = slot
        self.id = id
        self.words = words

    def describe(self) -> str:
        return self.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        ids = [id if isinstance(id, list) else [id] for id in evaluated(batch, self.id)]
        run.graph.want_nodes({id for some in ids for id in some if isinstance(id, str)})
        made = []
        for row, some in zip(batch, ids, strict=True):
            for id in dict.fromkeys(id for id in some if isinstance(id, str)):
                node = run.graph.node(id)
                if node is not None:
                    made.append(_with(row, self.slot, node))
        return made
