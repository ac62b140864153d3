"""Applies the writes of a transaction table by table, in an order that keeps relationships consistent.

Edges are deleted before their nodes and created after them; a deleted node that still has edges becomes a placeholder,
and placeholders without edges are deleted last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ugs.changes import TableWrites, Writes
from ugs.tables import Table
from ugs_backends.neo4j.indexes.text_index import label_lengths, remove_length_labels
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.read.filters import Layouts
from ugs_backends.neo4j.write.edge_writer import EdgeWriter
from ugs_backends.neo4j.write.node_writer import NodeWriter, Run, run_in_batches
from ugs_backends.neo4j.write.record_encoder import TABLE, RecordEncoder


class RecordWriter:
    """Writes the rows of a table that is neither vertex nor arc: one node each."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.recorder = RecordEncoder(layout)
        by_key = f"UNWIND $rows AS row MATCH (n:{layout.label} {layout.key_pattern('row.key')})"
        self._delete = f"{by_key} DELETE n"
        self._update = f"{by_key}{remove_length_labels(layout)} SET n = row.record{label_lengths(layout)}"
        self._create = f"UNWIND $rows AS row CREATE (n:{layout.label}) SET n = row.record{label_lengths(layout)}"

    async def store(self, run: Run, writes: TableWrites) -> None:
        layout = self.layout
        await run_in_batches(run, self._delete, [{"key": layout.encode_key(key)} for key in writes.deletes])
        await run_in_batches(run, self._update, [self._encode_entry(row) for row in writes.updates])
        await run_in_batches(run, self._create, [{"record": self.recorder.record(row)} for row in writes.inserts])

    def _encode_entry(self, row: Any) -> dict[str, Any]:
        return {"key": self.layout.encode_key(self.layout.table.key_of(row)), "record": self.recorder.record(row)}


class Writers:
    """The writers of all tables."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts
        self.vertices = {name: NodeWriter(layout) for name, layout in layouts.items() if layout.vertex}
        self.arcs = {
            name: EdgeWriter(layout, layout.arc, self.vertices[layout.arc.vertices])
            for name, layout in layouts.items()
            if layout.arc
        }
        self.records = {name: RecordWriter(layout) for name, layout in layouts.items() if layout.table.shape is None}

    async def store(self, run: Run, writes: Writes, placeholders: bool) -> bool:
        """Apply all writes. `placeholders`: whether any may exist; returns whether any may exist afterwards."""
        for table, written in writes.items():
            await self._free_rules(run, self.layouts[table.name], written)
        for name, arc in self.arcs.items():
            if (changed := _list_changes(writes, name)) and changed.deletes:
                await arc.delete(run, changed.deletes)
        for name, vertex in self.vertices.items():
            if changed := _list_changes(writes, name):
                placeholders |= bool(changed.deletes and await vertex.delete(run, changed.deletes))
                await vertex.update(run, changed)
                await vertex.insert(run, changed.inserts, placeholders)
        for name, arc in self.arcs.items():
            if changed := _list_changes(writes, name):
                placeholders |= await arc.update(run, changed)
                placeholders |= await arc.insert(run, changed.inserts)
                if placeholders:
                    await arc.vertices.delete_placeholders(run, arc.ends(list(changed.before.values())))
        for name, record in self.records.items():
            if changed := _list_changes(writes, name):
                await record.store(run, changed)
        return placeholders

    async def _free_rules(self, run: Run, layout: Layout, changed: TableWrites) -> None:
        """Remove the unique values of updated rows first: two rows may swap them, and Neo4j checks immediately."""
        rules = layout.table.unique
        if not rules or not changed.updates:
            return
        let_go = ", ".join(f"n.{layout.rule_property(rule)}" for rule in rules)
        text = f"UNWIND $rows AS row MATCH (n:{layout.label} {layout.key_pattern('row')}) REMOVE {let_go}"
        await run_in_batches(run, text, [layout.encode_key(layout.table.key_of(row)) for row in changed.updates])

    async def clear(self, run: Run, tables: Iterable[Table]) -> None:
        """Delete all rows of these tables."""
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


def _list_changes(writes: Writes, name: str) -> TableWrites | None:
    return next((changed for table, changed in writes.items() if table.name == name), None)
