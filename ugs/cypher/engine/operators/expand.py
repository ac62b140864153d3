"""Operators that follow one relationship from a bound node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from ugs.cypher.engine.graph_cache import Types
from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.errors import CypherTypeError
from ugs.cypher.values.entities import Node, Relationship
from ugs.cypher.values.type_names import kind_name

REVERSED = {"out": "in", "in": "out", "both": "both"}


class UsedSlots:
    """The slots of the relationships that are bound before a hop: the first of a list that all hops of a MATCH share.

    A tuple for each hop would make the plan of a pattern grow with the square of its length.
    """

    __slots__ = ("_count", "_slots")

    def __init__(self, slots: list[int]) -> None:
        self._slots, self._count = slots, len(slots)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return islice(self._slots, self._count)


class Hop(Struct, frozen=True):
    """One expansion: start, relationship and end slots; slots that are already bound are `known`."""

    start: int
    relationship: int
    end: int
    direction: str
    types: Types
    end_known: bool
    relationship_known: bool
    others: UsedSlots
    """Slots of the other relationships of the MATCH, which must all differ."""
    words: str


def get_start_node(row: Row, slot: int) -> Node | None:
    """The start node of a row; None if it is null."""
    node = row[slot]
    if node is None or type(node) is Node:
        return node
    raise CypherTypeError("InvalidArgumentType", f"A pattern starts at a node, not at {kind_name(node)}")


def start_ids(batch: Sequence[Row], slot: int) -> set[str]:
    return {node.id for row in batch if (node := get_start_node(row, slot)) is not None}


def collect_used_ids(row: Row, others: UsedSlots) -> set[str]:
    """Ids of the relationships already used in this MATCH."""
    used: set[str] = set()
    for slot in others:
        taken = row[slot]
        if isinstance(taken, list):
            used.update(one.id for one in taken)
        elif taken is not None:
            used.add(taken.id)
    return used


class Expand(Operator):
    """One row for each matching relationship."""

    title = "Expand"

    def __init__(self, hop: Hop) -> None:
        self.hop = hop

    def describe(self) -> str:
        return self.hop.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        hop = self.hop
        run.graph.require_steps(start_ids(batch, hop.start), hop.direction, hop.types)
        plain = not (hop.end_known or hop.relationship_known or hop.others)
        return run.metered(self._expand_all(run, batch) if plain else self._expand_matching(run, batch))

    def _expand_all(self, run: Run, batch: list[Row]) -> Iterator[Row]:
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

    def _expand_matching(self, run: Run, batch: list[Row]) -> Iterator[Row]:
        hop, steps = self.hop, run.graph.steps
        for row in batch:
            node = row[hop.start]
            if node is None:
                continue
            used = collect_used_ids(row, hop.others) if hop.others else ()
            for one, other in steps(node.id, hop.direction, hop.types):
                if one.id not in used and self._matches_bound(row, one, other):
                    made = row[:]
                    made[hop.relationship] = one
                    made[hop.end] = other
                    yield made

    def _matches_bound(self, row: Row, one: Relationship, other: Node) -> bool:
        """Whether the relationship and its end agree with bound variables."""
        hop = self.hop
        if hop.end_known and not _is_same(row[hop.end], other):
            return False
        return not hop.relationship_known or _is_same(row[hop.relationship], one)


def _is_same(known: Any, found: Node | Relationship) -> bool:
    return known is not None and type(known) is type(found) and bool(known.id == found.id)
