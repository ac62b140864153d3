"""Cache of the fetched part of the graph during one execution.

Operators read it synchronously. What has not been fetched is recorded and `CacheMiss` is raised; the driver then
fetches everything recorded in a few statements and calls the operator again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ugs.cypher.engine.view import Condition, GraphView, Wanted, as_node
from ugs.cypher.values.comparison import equals
from ugs.cypher.values.entities import Element, Node, Relationship, count_stored_chars
from ugs.reads.filters import Op

Types = tuple[str, ...] | None
Side = tuple[bool, Types]
"""Outgoing or incoming, and of which types."""
Step = tuple[Relationship, Node]
ELEMENT_BYTES, CHAR_BYTES = 300, 4
"""Approximate size of a fetched element, and of each character of its properties once decoded."""
MAX_REMEMBERED = 20_000
"""Maximum number of scanned nodes that are cached by id."""


class CacheMiss(Exception):
    """Something is needed that has not been fetched."""


class GraphCache:
    """The fetched part of the graph."""

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self.fetches = 0
        self.held = 0
        self.fresh_bytes = 0
        """Approximate bytes fetched and not yet accounted for."""
        self._nodes: dict[str, Node | None] = {}
        self._steps: dict[Side, dict[str, list[Step]]] = {}
        self._both: dict[Types, dict[str, list[Step]]] = {}
        self._scans: dict[Wanted, list[Node]] = {}
        self._missing_nodes: set[str] = set()
        self._missing_steps: dict[Side, set[str]] = {}
        self._missing_scans: set[Wanted] = set()

    def node(self, id: str) -> Node | None:
        """The node with an id, or None if there is none visible."""
        if id not in self._nodes:
            self._missing_nodes.add(id)
            raise CacheMiss
        return self._nodes[id]

    def require_nodes(self, ids: Iterable[str]) -> None:
        missing = [id for id in ids if id not in self._nodes]
        if missing:
            self._missing_nodes.update(missing)
            raise CacheMiss

    def require_steps(self, ids: Iterable[str], direction: str, types: Types) -> None:
        """Raise `CacheMiss` unless the relationships of these nodes are cached."""
        ids = set(ids)
        lacking = False
        for outgoing in SIDES[direction]:
            missing = ids - self._steps.setdefault((outgoing, types), {}).keys()
            if missing:
                self._missing_steps.setdefault((outgoing, types), set()).update(missing)
                lacking = True
        if lacking:
            raise CacheMiss

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
            raise CacheMiss
        return self._scans[wanted]

    def require_scans(self, wanted: Iterable[Wanted]) -> None:
        missing = [one for one in wanted if one not in self._scans]
        if missing:
            self._missing_scans.update(missing)
            raise CacheMiss

    def remember(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._nodes.setdefault(node.id, node)

    def remember_some(self, nodes: Sequence[Node]) -> None:
        """Cache nodes up to `MAX_REMEMBERED`, so that a full scan does not cache everything."""
        if len(self._nodes) < MAX_REMEMBERED:
            self._count_bytes(nodes)
            self.remember(nodes)

    def get_or_add(self, row: Any) -> Node:
        """The cached node of a stored row."""
        node = self._nodes.get(row.id)
        if node is None:
            node = self._nodes[row.id] = as_node(row)
            self.fresh_bytes += ELEMENT_BYTES + CHAR_BYTES * len(row.properties_text)
        return node

    async def load(self) -> None:
        """Fetch everything recorded as missing."""
        scans, self._missing_scans = self._missing_scans, set()
        sides, self._missing_steps = self._missing_steps, {}
        for wanted, group in _merge_scans(scans).items():
            await self._load_scan(wanted, group)
        for side, ids in sides.items():
            await self._load_side(side, ids)
        missing, self._missing_nodes = self._missing_nodes - self._nodes.keys(), set()
        await self._load_nodes(missing)

    def _count_bytes(self, found: Sequence[Element]) -> None:
        self.fresh_bytes += len(found) * ELEMENT_BYTES + CHAR_BYTES * count_stored_chars(found)

    async def _load_nodes(self, ids: set[str]) -> None:
        if not ids:
            return
        self.fetches += 1
        self._nodes.update(dict.fromkeys(ids))
        found = await self.view.nodes_by_id(ids)
        self._count_bytes(found)
        for node in found:
            self._nodes[node.id] = node
        self.held += len(ids)

    async def _load_side(self, side: Side, ids: set[str]) -> None:
        outgoing, types = side
        self.fetches += 1
        found = await self.view.relationships(ids, outgoing, types)
        self.held += len(found)
        self._count_bytes(found)
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
        self._count_bytes(nodes)
        nodes = [self._nodes.get(node.id) or node for node in nodes]
        self.remember(nodes)
        for one in group:
            self._scans[one] = nodes if one == wanted else [node for node in nodes if _satisfies(node, one)]


SIDES = {"out": (True,), "in": (False,), "both": (True, False)}


def _merge_scans(scans: set[Wanted]) -> dict[Wanted, list[Wanted]]:
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


def _satisfies(node: Node, wanted: Wanted) -> bool:
    return all(equals(node.value(part.key), part.value) for part in wanted.conditions)
