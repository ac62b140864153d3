"""Writes nodes: the rows of a vertex table, and placeholders for missing endpoints of edges."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from ugs.changes import TableWrites
from ugs.tables import Row
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.write.record_encoder import TABLE, RecordEncoder

Run = Callable[..., Coroutine[Any, Any, list[list[Any]]]]
"""Runs a statement with parameters and returns its records."""
BATCH_ROWS = 2_000

OWN_RELATIONSHIP = f"(r.{TABLE} IS NOT NULL)"


async def run_in_batches(run: Run, text: str, rows: Sequence[Any]) -> list[list[Any]]:
    """Run a statement for all rows in batches."""
    answers: list[list[Any]] = []
    for start in range(0, len(rows), BATCH_ROWS):
        answers += await run(text, rows=rows[start : start + BATCH_ROWS])
    return answers


class NodeWriter:
    """Writes the rows of one vertex table."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.recorder = RecordEncoder(layout)
        label, missing = layout.label, layout.missing
        (key,) = layout.key
        attached = f"EXISTS {{ (n)-[r]-() WHERE {OWN_RELATIONSHIP} }}"
        found = f"UNWIND $rows AS key MATCH (n:{label} {{{key}: key}})"
        self._delete = f"{found} WHERE NOT {attached} DETACH DELETE n RETURN key"
        self._empty = f"{found} SET n = {{id: key}} REMOVE n:$(labels(n)) SET n:{missing}"
        self._update = (
            f"UNWIND $rows AS row MATCH (n:{label} {{{key}: row.key}}) "
            "REMOVE n:$(row.former) SET n = row.record SET n:$(row.labels)"
        )
        self._create = f"UNWIND $rows AS row CREATE (n:{label}:$(row.labels)) SET n = row.record"
        self._promote = (
            f"UNWIND $rows AS key MATCH (n:{missing} {{id: key}}) REMOVE n:{missing} "
            f"SET n = {{{key}: key}} SET n:{label} RETURN key"
        )
        self._stand_in = (
            f"UNWIND $rows AS key WITH key WHERE NOT EXISTS {{ MATCH (:{label} {{{key}: key}}) }} "
            f"MERGE (n:{missing} {{id: key}}) RETURN count(n)"
        )
        self._sweep = (
            f"UNWIND $rows AS key MATCH (n:{missing} {{id: key}}) "
            f"WHERE NOT EXISTS {{ (n)-[r]-() WHERE {OWN_RELATIONSHIP} }} DETACH DELETE n"
        )

    def key(self, key: str) -> Any:
        return self.layout.encode_value(self.layout.table.key[0], key)

    async def delete(self, run: Run, keys: Sequence[Any]) -> int:
        """Delete nodes; those with edges become placeholders. Returns the number of these."""
        stored = [self.key(key) for key in keys]
        gone = {key for (key,) in await run_in_batches(run, self._delete, stored)}
        held = [key for key in stored if key not in gone]
        if held:
            await run_in_batches(run, self._empty, held)
        return len(held)

    async def update(self, run: Run, writes: TableWrites) -> None:
        rows = [self._encode_entry(row, writes.before.get(self.layout.table.key_of(row))) for row in writes.updates]
        await run_in_batches(run, self._update, rows)

    async def insert(self, run: Run, rows: Sequence[Row], placeholders: bool) -> None:
        """Create nodes; an existing placeholder becomes the node and keeps its relationships."""
        entries = [self._encode_entry(row) for row in rows]
        promoted: set[Any] = set()
        if placeholders:
            keys = [entry["key"] for entry in entries]
            promoted = {key for (key,) in await run_in_batches(run, self._promote, keys)}
        if promoted:
            await run_in_batches(run, self._update, [entry for entry in entries if entry["key"] in promoted])
        await run_in_batches(run, self._create, [entry for entry in entries if entry["key"] not in promoted])

    def _encode_entry(self, row: Row, before: Row | None = None) -> dict[str, Any]:
        labels = self.recorder.labels(row)
        former = self.recorder.labels(before) if before is not None else []
        return {
            "key": self.key(self.layout.table.key_of(row)),
            "record": self.recorder.record(row),
            "labels": labels,
            "former": [label for label in former if label not in labels],
        }

    async def create_placeholders(self, run: Run, keys: Sequence[Any]) -> bool:
        """Create placeholders for the keys without a node; returns whether there are any."""
        counts = await run_in_batches(run, self._stand_in, keys)
        return any(count for (count,) in counts)

    async def delete_placeholders(self, run: Run, keys: Sequence[Any]) -> None:
        """Delete placeholders without edges."""
        await run_in_batches(run, self._sweep, keys)
