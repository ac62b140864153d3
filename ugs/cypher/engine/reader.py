"""What a running query has seen of the graph.

Operators ask here, at once and without waiting. What has not been fetched yet is noted and `Miss` is raised; the
driver then fetches everything noted in a few questions and lets the operator try again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ugs.cypher.engine.view import Condition, GraphView, Wanted, as_node
from ugs.cypher.values.comparing import equals
from ugs.cypher.values.entities import Node, Relationship
from ugs.reads.where import Op

Types = tuple[str, ...] | None
Side = tuple[bool, Types]
"""Outgoing or incoming, and of which types."""
Step = tuple[Relationship, Node]


class Miss(Exception):
    """Something is needed that has not been fetched."""


class Reader:
    """The fetched part of the graph."""

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self.fetches = 0
        self.held = 0
        self._nodes: dict[str, Node | None] = {}
        self._steps: dict[Side, dict[str, list[Step]]] = {}
        self._both: dict[Types, dict[str, list[Step]]] = {}
        self._scans: dict[Wanted, list[Node]] = {}
        self._missing_nodes: set[str] = set()
        self._missing_steps: dict[Side, set[str]] = {}
        self._missing_scans: set[Wanted] = set()

    def node(self, id: str) -> Node | None:
        """The node under an id, or None when there is none to be seen."""
        if id not in self._nodes:
            self._missing_nodes.add(id)
            raise Miss
        return self._nodes[id]

    def want_nodes(self, ids: Iterable[str]) -> None:
        missing = [id for id in ids if id not in self._nodes]
        if missing:
            self._missing_nodes.update(missing)
            raise Miss

    def want_steps(self, ids: Iterable[str], direction: str, types: Types) -> None:
        """Make sure that the relationships of these nodes are at hand."""
        ids = set(ids)
        lacking = False
        for outgoing in SIDES[direction]:
            missing = ids - self._steps.setdefault((outgoing, types), {}).keys()
            if missing:
                self._missing_steps.setdefault((outgoing, types), set()).update(missing)
                lacking = True
        if lacking:
            raise Miss

    def steps(self, id: str, direction: str, types: Types) -> list[Step]:
        """The relationships of a node with the nodes they lead to; a loop counts once."""
        if direction != "both":
            return self._steps[direction == "out", types][id]
        known = self._both.setdefault(types, {})
        if id not in known:
            leaving, arriving = self._steps[True, types][id], self._steps[False, types][id]
            known[id] = leaving + [step for step in arriving if step[0].start != step[0].end]
        return known[id]

    def scan(self, wanted: Wanted) -> list[Node]:
        if wanted not in self._scans:
            self._missing_scans.add(wanted)
            raise Miss
        return self._scans[wanted]

    def want_scans(self, wanted: Iterable[Wanted]) -> None:
        missing = [one for one in wanted if one not in self._scans]
        if missing:
            self._missing_scans.update(missing)
            raise Miss

    def remember(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._nodes.setdefault(node.id, node)

    def adopt(self, row: Any) -> Node:
        """The node behind a row that came along with something else."""
        node = self._nodes.get(row.id)
        if node is None:
            node = self._nodes[row.id] = as_node(row)
        return node

    async def load(self) -> None:
        """Fetch all that was found missing."""
        scans, self._missing_scans = self._missing_scans, set()
        sides, self._missing_steps = self._missing_steps, {}
        for wanted, group in _merged(scans).items():
            await self._load_scan(wanted, group)
        for side, ids in sides.items():
            await self._load_side(side, ids)
        missing, self._missing_nodes = self._missing_nodes - self._nodes.keys(), set()
        await self._load_nodes(missing)

    async def _load_nodes(self, ids: set[str]) -> None:
        if not ids:
            return
        self.fetches += 1
        self._nodes.update(dict.fromkeys(ids))
        for node in await self.view.nodes_by_id(ids):
            self._nodes[node.id] = node
        self.held += len(ids)

    async def _load_side(self, side: Side, ids: set[str]) -> None:
        outgoing, types = side
        self.fetches += 1
        found = await self.view.relationships(ids, outgoing, types)
        self.held += len(found)
        ends = {one.end if outgoing else one.start for one in found}
        await self._load_nodes(ends - self._nodes.keys())
        known = self._steps[side]
        known.update((id, []) for id in ids)
        for one in found:
            here, there = (one.start, one.end) if outgoing else (one.end, one.start)
            node = self._nodes[there]
            # An edge may point to a node that does not exist, or that the caller may not see.
            if node is not None:
                known[here].append((one, node))

    async def _load_scan(self, wanted: Wanted, group: list[Wanted]) -> None:
        self.fetches += 1
        nodes = await self.view.nodes(wanted)
        self.held += len(nodes)
        nodes = [self._nodes.get(node.id) or node for node in nodes]
        self.remember(nodes)
        for one in group:
            self._scans[one] = nodes if one == wanted else [node for node in nodes if _meets(node, one)]


SIDES = {"out": (True,), "in": (False,), "both": (True, False)}


def _merged(scans: set[Wanted]) -> dict[Wanted, list[Wanted]]:
    """Scans that differ only in the value of one equality become one scan for any of the values."""
    groups: dict[tuple[tuple[str, ...], str], list[Wanted]] = {}
    merged: dict[Wanted, list[Wanted]] = {}
    for wanted in scans:
        if len(wanted.conditions) == 1 and wanted.conditions[0].op is Op.EQ:
            groups.setdefault((wanted.labels, wanted.conditions[0].key), []).append(wanted)
        else:
            merged[wanted] = [wanted]
    for (labels, key), group in groups.items():
        values = tuple(one.conditions[0].value for one in group)
        whole = group[0] if len(group) == 1 else Wanted(labels, (Condition(key, Op.IN, values),))
        merged[whole] = group
    return merged


def _meets(node: Node, wanted: Wanted) -> bool:
    return all(equals(node.value(part.key), part.value) for part in wanted.conditions)
