"""Rows that a walk or a search found, brought to the fields chosen below them in one more read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from schema.selection import Choice, Selection
from schema.shapes import EDGE, NODE, Nests, Shape, nests_below, only
from schema.templates import ReadTemplate
from ugs.graph.model import Edge, Node
from ugs.moments import At
from ugs.reads.plan import Found
from ugs.system import System


class Hydration:
    """Collects what is chosen below several fields that show the same kind of rows."""

    def __init__(self, system: System, selection: Selection, at: At | None) -> None:
        self.system, self.selection, self.at = system, selection, at
        self.nests: dict[str, Nests] = {"GraphNode": {}, "GraphEdge": {}}

    def choose(self, shape: Shape, choices: Mapping[str, Choice], name: str) -> Hydration:
        """Fields of this name show rows of the shape; their path is their own response key."""
        for choice in choices.values():
            if choice.name == name:
                self.nests[shape.type_name] |= nests_below(self.selection, choice, shape, f"{choice.key}/")
        return self

    async def nodes(self, rows: Iterable[Node]) -> dict[str, Found]:
        return await self._found(NODE, rows)

    async def edges(self, rows: Iterable[Edge]) -> dict[str, Found]:
        return await self._found(EDGE, rows)

    async def _found(self, shape: Shape, rows: Iterable[Any]) -> dict[str, Found]:
        by_id = {row.id: Found(row, {}) for row in rows}
        nest = self.nests[shape.type_name]
        if nest and by_id:
            plan = only(ReadTemplate(shape.table, nest).bind(self.selection.variables), *by_id)
            answer = await self.system.read(plan, self.at)
            for item in answer.items:
                by_id[item.row.id].nest.update(item.nest)
        return by_id
