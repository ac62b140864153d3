"""Loads the related rows that are selected below the results of a traversal or search, in one more read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ugs.graph.model import Edge, Node
from ugs.log.at import At
from ugs.reads.plan import ResultRow
from ugs.system import System
from ugs_schema.compiler.plan_templates import ReadTemplate
from ugs_schema.compiler.row_types import Nests, RowType, build_nests_below, restrict_to_ids
from ugs_schema.compiler.selection import SelectedField, Selection
from ugs_schema.graph.row_types import EDGE, NODE


class Hydration:
    """Collects the nested reads of several fields that show the same kind of rows."""

    def __init__(self, system: System, selection: Selection, at: At | None) -> None:
        self.system, self.selection, self.at = system, selection, at
        self.nests: dict[str, Nests] = {"GraphNode": {}, "GraphEdge": {}}

    def add_selected(self, row_type: RowType, selected_fields: Mapping[str, SelectedField], name: str) -> Hydration:
        """Add the nested reads of the fields with this name; their path is their response key."""
        for selected_field in selected_fields.values():
            if selected_field.name == name:
                self.nests[row_type.type_name] |= build_nests_below(
                    self.selection, selected_field, row_type, f"{selected_field.key}/"
                )
        return self

    async def nodes(self, rows: Iterable[Node]) -> dict[str, ResultRow]:
        return await self._read(NODE, rows)

    async def edges(self, rows: Iterable[Edge]) -> dict[str, ResultRow]:
        return await self._read(EDGE, rows)

    async def _read(self, row_type: RowType, rows: Iterable[Any]) -> dict[str, ResultRow]:
        by_id = {row.id: ResultRow(row, {}) for row in rows}
        nest = self.nests[row_type.type_name]
        if nest and by_id:
            plan = restrict_to_ids(ReadTemplate(row_type.table, nest).bind(self.selection.variables), *by_id)
            answer = await self.system.read(plan, self.at)
            for item in answer.items:
                by_id[item.row.id].nest.update(item.nest)
        return by_id
