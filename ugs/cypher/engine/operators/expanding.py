"""Operators that follow one relationship from a node that is already known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.reader import Types
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.errors import CypherTypeError
from ugs.cypher.values.entities import Node, Relationship
from ugs.cypher.values.naming import kind_name

REVERSED = {"out": "in", "in": "out", "both": "both"}


class Hop(Struct, frozen=True):
    """From where over what to where. Slots that the row already fills are `known`."""

    start: int
    relationship: int
    end: int
    direction: str
    types: Types
    end_known: bool
    relationship_known: bool
    others: tuple[int, ...]
    """Relationships of the same MATCH, none of which may be met again."""
    words: str


def start_of(row: Row, slot: int) -> Node | None:
    """The node to start from; nothing leads on from null."""
    node = row[slot]
    if node is None or type(node) is Node:
        return node
    raise CypherTypeError("InvalidArgumentType", f"A pattern starts at a node, not at {kind_name(node)}")


def start_ids(batch: Sequence[Row], slot: int) -> set[str]:
    return {node.id for row in batch if (node := start_of(row, slot)) is not None}


def used_ids(row: Row, others: Sequence[int]) -> set[str]:
    """The relationships already taken in this MATCH."""
    used: set[str] = set()
    for slot in others:
        taken = row[slot]
        if isinstance(taken, list):
            used.update(one.id for one in taken)
        elif taken is not None:
            used.add(taken.id)
    return used


class Expand(Operator):
    """One row for each relationship that fits."""

    title = "Expand"

    def __init__(self, hop: Hop) -> None:
        self.hop = hop

    def describe(self) -> str:
        return self.hop.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        hop = self.hop
        run.graph.want_steps(start_ids(batch, hop.start), hop.direction, hop.types)
        plain = not (hop.end_known or hop.relationship_known or hop.others)
        return run.metered(self._all(run, batch) if plain else self._fitting(run, batch))

    def _all(self, run: Run, batch: list[Row]) -> Iterator[Row]:
        hop, steps = self.hop, run.graph.steps
        for row in batch:
            node = row[hop.start]
            if node is None:
                continue
            for one, other in steps(node.id, hop.direction, hop.types):
                made = row[:]
                made[hop.relationship] = one
                made[hop.end] = other
                yield made

    def _fitting(self, run: Run, batch: list[Row]) -> Iterator[Row]:
        hop, steps = self.hop, run.graph.steps
        for row in batch:
            node = row[hop.start]
            if node is None:
                continue
            used = used_ids(row, hop.others) if hop.others else ()
            for one, other in steps(node.id, hop.direction, hop.types):
                if one.id not in used and self._agrees(row, one, other):
                    made = row[:]
                    made[hop.relationship] = one
                    made[hop.end] = other
                    yield made

    def _agrees(self, row: Row, one: Relationship, other: Node) -> bool:
        """Whether what the row already says about the hop is met."""
        hop = self.hop
        if hop.end_known and not _same(row[hop.end], other):
            return False
        return not hop.relationship_known or _same(row[hop.relationship], one)


def _same(known: Any, found: Node | Relationship) -> bool:
    return known is not None and type(known) is type(found) and bool(known.id == found.id)
