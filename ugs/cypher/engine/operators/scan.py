"""Operators that find nodes: by label and properties, or by id."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

from ugs.cypher.engine.operators.base import BATCH, Operator, evaluate
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.engine.view import Condition, Wanted
from ugs.cypher.values.entities import Node
from ugs.reads.filters import Op

SCALARS = (str, int, float, bool)


class PropertyLookup(tuple[str, Op, Fn]):
    """A condition whose value is computed when the query runs: key, operator, value."""

    __slots__ = ()


class NodeScan(Operator):
    """Every node with these labels and properties, for each row."""

    title = "NodeScan"

    def __init__(
        self,
        slot: int,
        labels: tuple[str, ...],
        lookups: Sequence[PropertyLookup],
        fixed: bool,
        words: str,
        any_labels: tuple[tuple[str, ...], ...] = (),
    ) -> None:
        self.slot = slot
        self.labels = labels
        self.any_labels = any_labels
        self.lookups = lookups
        self.fixed = fixed
        """Whether the scan is the same for every row."""
        self.words = words

    def describe(self) -> str:
        return self.words

    def build_scan(self, row: Row) -> Wanted | None:
        """The scan for a row, or None if a condition is never true."""
        conditions = []
        for key, op, compute in self.lookups:
            condition = build_condition(key, op, compute(row))
            if condition is None:
                return None
            if condition is not ANYTHING:
                conditions.append(condition)
        return Wanted(self.labels, tuple(conditions), self.any_labels)

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        shared = self.fixed and bool(batch)
        build_scan = [self.build_scan(batch[0])] * len(batch) if shared else evaluate(batch, self.build_scan)
        run.graph.require_scans({one for one in build_scan if one is not None})
        return run.metered(self._matching_rows(run, batch, build_scan))

    def _matching_rows(self, run: Run, batch: list[Row], build_scan: list[Wanted | None]) -> Iterator[Row]:
        slot = self.slot
        for row, one in zip(batch, build_scan, strict=True):
            if one is None:
                continue
            for node in run.graph.scan(one):
                made = row[:]
                made[slot] = node
                yield made

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        """For a single input row, nodes are fetched in pages and passed on."""
        async for batch in batches:
            if len(batch) == 1 and self.fixed:
                async for portion in self._paged(run, batch[0]):
                    yield portion
            else:
                async for portion in super().flow(run, _single_batch(batch)):
                    yield portion

    async def _paged(self, run: Run, row: Row) -> AsyncIterator[list[Row]]:
        build_scan = self.build_scan(row)
        if build_scan is None:
            return
        async for nodes in run.graph.view.pages(build_scan):
            run.graph.fetches += 1
            await run.yield_to_loop()
            run.tick(len(nodes))
            run.check()
            run.graph.remember_some(nodes)
            run.keep_fetched()
            for start in range(0, len(nodes), BATCH):
                portion, before = nodes[start : start + BATCH], run.made
                run.spend(len(portion) * run.row_bytes)
                yield [_with_node(row, self.slot, node) for node in portion]
                run.made = before


def _with_node(row: Row, slot: int, node: Node) -> Row:
    made = row[:]
    made[slot] = node
    return made


async def _single_batch(batch: list[Row]) -> AsyncIterator[list[Row]]:
    yield batch


ANYTHING = Condition("", Op.EXISTS, None)
"""A condition that is not pushed down; the filter after the scan checks it."""


def build_condition(key: str, op: Op, value: Any) -> Condition | None:
    """The condition for the store; None if never true, ANYTHING if it cannot be pushed down."""
    if op is Op.EXISTS:
        return Condition(key, op, None)
    if value is None:
        return None
    if op is Op.IN:
        return _build_list_condition(key, value)
    if not isinstance(value, SCALARS) or value != value:
        return ANYTHING
    if op not in (Op.EQ,) and isinstance(value, bool):
        return ANYTHING
    return Condition(key, op, value)


def _build_list_condition(key: str, values: Any) -> Condition | None:
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
        ids = [id if isinstance(id, list) else [id] for id in evaluate(batch, self.id)]
        run.graph.require_nodes({id for some in ids for id in some if isinstance(id, str)})
        made = []
        for row, some in zip(batch, ids, strict=True):
            for id in dict.fromkeys(id for id in some if isinstance(id, str)):
                node = run.graph.node(id)
                if node is not None:
                    made.append(_with_node(row, self.slot, node))
        run.spend(len(made) * run.row_bytes)
        return made
