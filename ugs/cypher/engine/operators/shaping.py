"""Operators that keep, extend or unfold rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.operators.base import Operator, apply_all, evaluated
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.errors import CypherTypeError
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.cypher.values.naming import kind_name


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
            return [row for row in batch if self._true(self.condition(row))]
        answers = evaluated(batch, self.condition)
        return [row for row, answer in zip(batch, answers, strict=True) if self._true(answer)]

    def _true(self, answer: Any) -> bool:
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
        """Whether the graph may have to be asked for the values."""

    def describe(self) -> str:
        return self.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        run.tick(len(batch))
        columns = [(slot, self._values(batch, compute)) for slot, compute in self.targets]
        made = [row[:] for row in batch]
        for slot, values in columns:
            for row, value in zip(made, values, strict=True):
                row[slot] = value
        return made

    def _values(self, batch: list[Row], compute: Fn) -> list[Any]:
        return evaluated(batch, compute) if self.nested else list(map(compute, batch))


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
        lists = evaluated(batch, self.source) if self.nested else map(self.source, batch)
        return run.metered(self._unfold(batch, lists))

    def _unfold(self, batch: list[Row], lists: Iterable[Any]) -> Iterator[Row]:
        for row, values in zip(batch, lists, strict=True):
            if values is None:
                continue
            for value in values if isinstance(values, list) else [values]:
                made = row[:]
                made[self.slot] = value
                yield made


class Optional(Operator):
    """The rows of a plan inside, or the row as it was where the plan gives none."""

    title = "Optional"

    def __init__(self, operators: Sequence[Operator], mark: int) -> None:
        self.operators = operators
        self.mark = mark

    def inner(self) -> Sequence[Sequence[Operator]]:
        return (self.operators,)

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        marked = []
        for number, row in enumerate(batch):
            copy = row[:]
            copy[self.mark] = number
            marked.append(copy)
        found: dict[int, list[Row]] = {}
        for row in apply_all(run, self.operators, marked):
            found.setdefault(row[self.mark], []).append(row)
        return [made for number, row in enumerate(marked) for made in found.get(number, (row,))]


class BindPath(Operator):
    """Makes a path value of the nodes and relationships a pattern has bound."""

    title = "Path"

    def __init__(self, slot: int, elements: Sequence[int], name: str) -> None:
        self.slot = slot
        self.elements = elements
        self.name = name

    def describe(self) -> str:
        return self.name

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        walks = [row[slot] for row in batch for slot in self.elements[1::2] if isinstance(row[slot], list)]
        run.graph.want_nodes({id for walk in walks for one in walk for id in (one.start, one.end)})
        for row in batch:
            row[self.slot] = path_of(run, [row[slot] for slot in self.elements])
        return batch


def path_of(run: Run, elements: list[Any]) -> Path:
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
