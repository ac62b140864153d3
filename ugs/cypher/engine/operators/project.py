"""Operators that keep, extend or unfold rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ugs.cypher.engine.operators.base import Operator, apply_all, evaluate, evaluate_local
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.errors import CypherTypeError
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.cypher.values.type_names import kind_name


class Filter(Operator):
    """Keeps the rows for which a condition is true, neither false nor unknown."""

    title = "Filter"

    def __init__(self, condition: Fn, words: str, nested: bool) -> None:
        self.condition = condition
        self.words = words
        self.nested = nested

    def describe(self) -> str:
        return self.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        run.tick(len(batch))
        if not self.nested:
            before = run.made
            kept = []
            for row in batch:
                if self._is_true(self.condition(row)):
                    kept.append(row)
                run.made = before  # temporary values of a condition are released
            return kept
        answers = evaluate(batch, self.condition)
        return [row for row, answer in zip(batch, answers, strict=True) if self._is_true(answer)]

    def _is_true(self, answer: Any) -> bool:
        if answer is None or type(answer) is bool:
            return answer is True
        raise CypherTypeError("InvalidArgumentType", f"A condition is a boolean, not {kind_name(answer)}")


class Project(Operator):
    """Computes values into slots."""

    title = "Project"

    def __init__(self, targets: Sequence[tuple[int, Fn]], words: str, nested: bool = True) -> None:
        self.targets = targets
        self.words = words
        self.nested = nested
        """Whether the values may need the graph."""

    def describe(self) -> str:
        return self.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        run.tick(len(batch))
        run.spend(len(batch) * run.row_bytes)
        columns = [(slot, self._values(batch, compute)) for slot, compute in self.targets]
        made = [row[:] for row in batch]
        for slot, values in columns:
            for row, value in zip(made, values, strict=True):
                row[slot] = value
        return made

    def _values(self, batch: list[Row], compute: Fn) -> list[Any]:
        return evaluate(batch, compute) if self.nested else evaluate_local(batch, compute)


class Unwind(Operator):
    """One row for each element of a list."""

    title = "Unwind"

    def __init__(self, source: Fn, slot: int, words: str, nested: bool) -> None:
        self.source = source
        self.slot = slot
        self.words = words
        self.nested = nested

    def describe(self) -> str:
        return self.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        # Lists are made one at a time, unless the graph must be asked for them.
        lists = evaluate(batch, self.source) if self.nested else map(self.source, batch)
        return run.metered(self._unfold(run, batch, iter(lists)))

    def _unfold(self, run: Run, batch: list[Row], lists: Iterator[Any]) -> Iterator[Row]:
        for row in batch:
            before = run.made
            values = next(lists)
            if values is None:
                continue
            # The list is retained until its last element has been consumed.
            size = run.made - before
            run.made = before
            run.keep(size)
            for value in values if isinstance(values, list) else [values]:
                made = row[:]
                made[self.slot] = value
                yield made
            run.keep(-size)


class Optional(Operator):
    """The rows of a nested plan, or the input row if there are none."""

    title = "Optional"

    def __init__(self, operators: Sequence[Operator], mark: int) -> None:
        self.operators = operators
        self.mark = mark

    def inner(self) -> Sequence[Sequence[Operator]]:
        return (self.operators,)

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        marked = []
        run.tick(len(batch))
        run.spend(len(batch) * run.row_bytes)
        for number, row in enumerate(batch):
            copy = row[:]
            copy[self.mark] = number
            marked.append(copy)
        found: dict[int, list[Row]] = {}
        for row in apply_all(run, self.operators, marked):
            found.setdefault(row[self.mark], []).append(row)
        return [made for number, row in enumerate(marked) for made in found.get(number, (row,))]


class BindPath(Operator):
    """Builds a path from the bound nodes and relationships of a pattern."""

    title = "Path"

    def __init__(self, slot: int, elements: Sequence[int], name: str) -> None:
        self.slot = slot
        self.elements = elements
        self.name = name

    def describe(self) -> str:
        return self.name

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        walks = [row[slot] for row in batch for slot in self.elements[1::2] if isinstance(row[slot], list)]
        run.graph.require_nodes({id for walk in walks for one in walk for id in (one.start, one.end)})
        for row in batch:
            row[self.slot] = build_path(run, [row[slot] for slot in self.elements])
        return batch


def build_path(run: Run, elements: list[Any]) -> Path:
    """Nodes and relationships in turn, where a list of relationships stands for several steps."""
    nodes: list[Node] = [elements[0]]
    relationships: list[Relationship] = []
    for step in elements[1::2]:
        for one in step if isinstance(step, list) else [step]:
            here = nodes[-1].id
            there = run.graph.node(one.end if one.start == here else one.start)
            assert there is not None
            relationships.append(one)
            nodes.append(there)
    return Path(tuple(nodes), tuple(relationships))
