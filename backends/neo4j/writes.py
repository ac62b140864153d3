"""Storing what a transaction changed, table by table, in an order that keeps relationships whole.

Edges leave before their nodes and come after them; a node that goes while an edge still mentions it turns into a
placeholder, and placeholders that nobody mentions any more go last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backends.neo4j.arcs import ArcWriter
from backends.neo4j.filters import Layouts
from backends.neo4j.layout import Layout
from backends.neo4j.parts import marking, unmarking
from backends.neo4j.records import TABLE, Recorder
from backends.neo4j.vertices import Run, VertexWriter, in_batches
from ugs.catalog import Table
from ugs.changes import TableWrites, Writes


class RecordWriter:
    """Stores the rows of a table without a shape: one node each."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.recorder = Recorder(layout)
        by_key = f"UNWIND $rows AS row MATCH (n:{layout.label} {layout.key_pattern('row.key')})"
        self._delete = f"{by_key} DELETE n"
        self._update = f"{by_key}{unmarking(layout)} SET n = row.record{marking(layout)}"
        self._create = f"UNWIND $rows AS row CREATE (n:{layout.label}) SET n = row.record{marking(layout)}"

    async def store(self, run: Run, writes: TableWrites) -> None:
        layout = self.layout
        await in_batches(run, self._delete, [{"key": layout.stored_key(key)} for key in writes.deletes])
        await in_batches(run, self._update, [self._entry(row) for row in writes.updates])
        await in_batches(run, self._create, [{"record": self.recorder.record(row)} for row in writes.inserts])

    def _entry(self, row: Any) -> dict[str, Any]:
        return {"key": self.layout.stored_key(self.layout.table.key_of(row)), "record": self.recorder.record(row)}


class Writers:
    """Who stores which table."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts
        self.vertices = {name: VertexWriter(layout) for name, layout in layouts.items() if layout.vertex}
        self.arcs = {
            name: ArcWriter(layout, layout.arc, self.vertices[layout.arc.vertices])
            for name, layout in layouts.items()
            if layout.arc
        }
        self.records = {name: RecordWriter(layout) for name, layout in layouts.items() if layout.table.shape is None}

    async def store(self, run: Run, writes: Writes, placeholders: bool) -> bool:
        """Store everything. `placeholders`: whether any may exist; answers whether any may exist afterwards."""
        for table, written in writes.items():
            await self._free_rules(run, self.layouts[table.name], written)
        for name, arc in self.arcs.items():
            if (changed := _changes(writes, name)) and changed.deletes:
                await arc.delete(run, changed.deletes)
        for name, vertex in self.vertices.items():
            if changed := _changes(writes, name):
                placeholders |= bool(changed.deletes and await vertex.delete(run, changed.deletes))
                await vertex.update(run, changed)
                await vertex.insert(run, changed.inserts, placeholders)
        for name, arc in self.arcs.items():
            if changed := _changes(writes, name):
                placeholders |= await arc.update(run, changed)
                placeholders |= await arc.insert(run, changed.inserts)
                if placeholders:
                    await arc.vertices.sweep(run, arc.ends(list(changed.before.values())))
        for name, record in self.records.items():
            if changed := _changes(writes, name):
                await record.store(run, changed)
        return placeholders

    async def _free_rules(self, run: Run, layout: Layout, changed: TableWrites) -> None:
        """Two rows may exchange what a rule keeps unique; so all let go first, since Neo4j checks at once."""
        rules = layout.table.unique
        if not rules or not changed.updates:
            return
        let_go = ", ".join(f"n.{layout.rule_property(rule)}" for rule in rules)
        text = f"UNWIND $rows AS row MATCH (n:{layout.label} {layout.key_pattern('row')}) REMOVE {let_go}"
        await in_batches(run, text, [layout.stored_key(layout.table.key_of(row)) for row in changed.updates])

    async def clear(self, run: Run, tables: Iterable[Table]) -> None:
        """Remove all rows of these tables."""
        cleared = [self.layouts[table.name] for table in tables]
        for layout in cleared:
            if layout.arc:
                ends = self.layouts[layout.arc.vertices]
                drawn = f"MATCH (a:{ends.label}|{ends.missing})-[r]->() WHERE r.{TABLE} = $table"
                await run(f"{drawn} DELETE r", table=layout.table.name)
        for layout in cleared:
            if layout.vertex:
                await self._clear_vertices(run, layout)
            else:
                await run(f"MATCH (n:{layout.label}) DELETE n")
        for vertex_writer in self.vertices.values():
            missing = vertex_writer.layout.missing
            await run(
                f"MATCH (n:{missing}) WHERE NOT EXISTS {{ (n)-[r]-() WHERE r.{TABLE} IS NOT NULL }} DETACH DELETE n"
            )

    async def _clear_vertices(self, run: Run, layout: Layout) -> None:
        attached = f"EXISTS {{ (n)-[r]-() WHERE r.{TABLE} IS NOT NULL }}"
        await run(f"MATCH (n:{layout.label}) WHERE NOT {attached} DETACH DELETE n")
        (key,) = layout.key
        await run(
            f"MATCH (n:{layout.label}) WITH n, n.{key} AS key SET n = {{id: key}} "
            f"REMOVE n:$(labels(n)) SET n:{layout.missing}"
        )


def _changes(writes: Writes, name: str) -> TableWrites | None:
    return next((changed for table, changed in writes.items() if table.name == name), None)
