"""Writes edges: for each row a record node that holds it, and a visible relationship."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ugs.changes import TableWrites
from ugs.tables import Arc, Row
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.write.node_writer import NodeWriter, Run, run_in_batches
from ugs_backends.neo4j.write.record_encoder import TABLE, RecordEncoder, Relationship


class EdgeWriter:
    """Writes the rows of one arc table."""

    def __init__(self, layout: Layout, arc: Arc, vertices: NodeWriter) -> None:
        self.layout = layout
        self.vertices = vertices
        self.recorder = RecordEncoder(layout)
        self.relationship = Relationship(layout, arc)
        self._write_statements(arc)

    def _write_statements(self, arc: Arc) -> None:
        layout = self.layout
        label, columns = layout.label, layout.columns
        ends = self._find_endpoint("a", "e." + columns[arc.source]) + self._find_endpoint(
            "b", "e." + columns[arc.target]
        )
        same = " AND ".join(f"r.{column} = e.{column}" for column in layout.key)
        drawn = f"{ends} MATCH (a)-[r]->(b) WHERE r.{TABLE} = '{layout.table.name}' AND {same}"
        by_key = f"UNWIND $rows AS row MATCH (e:{label} {layout.key_pattern('row.key')})"
        self._erase = f"{by_key} {drawn} DELETE r"
        self._delete = f"{by_key} DELETE e"
        self._update = f"{by_key} SET e = row.record WITH e, row {drawn} SET r = row.shown"
        self._change = f"{by_key} SET e = row.record"
        self._create = f"UNWIND $rows AS row CREATE (e:{label}) SET e = row.record"
        self._draw = (
            f"UNWIND $rows AS row {self._find_endpoint('a', 'row.source')}{self._find_endpoint('b', 'row.target')} "
            "CREATE (a)-[r:$(row.type)]->(b) SET r = row.shown"
        )
        vertex, (key,) = self.vertices.layout.label, self.vertices.layout.key
        self._draw_between_nodes = (
            f"UNWIND $rows AS row MATCH (a:{vertex} {{{key}: row.source}}) MATCH (b:{vertex} {{{key}: row.target}}) "
            "CREATE (a)-[r:$(row.type)]->(b) SET r = row.shown"
        )

    def _find_endpoint(self, name: str, key: str) -> str:
        """A subquery that finds an endpoint: a node or a placeholder."""
        vertex, (column,), missing = (
            self.vertices.layout.label,
            self.vertices.layout.key,
            self.vertices.layout.missing,
        )
        outer = key.partition(".")[0]
        return (
            f" CALL ({outer}) {{ MATCH ({name}:{vertex} {{{column}: {key}}}) RETURN {name} "
            f"UNION ALL MATCH ({name}:{missing} {{id: {key}}}) RETURN {name} }}"
        )

    async def delete(self, run: Run, keys: Sequence[Any]) -> None:
        rows = [{"key": self.layout.encode_key(key)} for key in keys]
        await run_in_batches(run, self._erase, rows)
        await run_in_batches(run, self._delete, rows)

    async def update(self, run: Run, writes: TableWrites) -> bool:
        """Update edges; a new type or endpoint needs a new relationship. Returns whether placeholders may exist."""
        moved = [row for row in writes.updates if self._has_moved(row, writes)]
        kept = [row for row in writes.updates if not self._has_moved(row, writes)]
        await run_in_batches(run, self._update, [self._encode_entry(row) for row in kept])
        entries = [self._encode_entry(row) for row in moved]
        await run_in_batches(run, self._erase, entries)
        await run_in_batches(run, self._change, entries)
        return await self._create_edges(run, entries)

    def _has_moved(self, row: Row, writes: TableWrites) -> bool:
        before = writes.before.get(self.layout.table.key_of(row))
        return before is None or self.relationship.shape(before) != self.relationship.shape(row)

    async def insert(self, run: Run, rows: Sequence[Row]) -> bool:
        """Create edges; returns whether placeholders may exist."""
        entries = [self._encode_entry(row) for row in rows]
        await run_in_batches(run, self._create, entries)
        return await self._create_edges(run, entries)

    async def _create_edges(self, run: Run, entries: list[dict[str, Any]]) -> bool:
        ends = list({end: None for entry in entries for end in (entry["source"], entry["target"])})
        missing = await self.vertices.create_placeholders(run, ends)
        await run_in_batches(run, self._draw if missing else self._draw_between_nodes, entries)
        return missing

    def _encode_entry(self, row: Row) -> dict[str, Any]:
        source, target = self.relationship.ends(row)
        return {
            "key": self.layout.encode_key(self.layout.table.key_of(row)),
            "record": self.recorder.record(row),
            "type": self.relationship.type(row),
            "source": source,
            "target": target,
            "shown": self.relationship.properties(row),
        }

    def ends(self, rows: Sequence[Row]) -> list[Any]:
        """The stored keys of all endpoints of these rows."""
        return list({end: None for row in rows for end in self.relationship.ends(row)})
