"""Writing nodes: the rows of a vertex table, and the placeholders that stand for nodes which edges only mention."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from backends.neo4j.layout import Layout
from backends.neo4j.records import TABLE, Recorder
from ugs.catalog import Row
from ugs.changes import TableWrites

Run = Callable[..., Coroutine[Any, Any, list[list[Any]]]]
"""Runs a statement with parameters and gives its rows."""
BATCH = 2_000

OURS = f"(r.{TABLE} IS NOT NULL)"


async def in_batches(run: Run, text: str, rows: Sequence[Any]) -> list[list[Any]]:
    """Run a statement for all rows, some thousand at a time."""
    answers: list[list[Any]] = []
    for start in range(0, len(rows), BATCH):
        answers += await run(text, rows=rows[start : start + BATCH])
    return answers


class VertexWriter:
    """Stores the rows of one vertex table."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.recorder = Recorder(layout)
        label, missing = layout.label, layout.missing
        (key,) = layout.key
        attached = f"EXISTS {{ (n)-[r]-() WHERE {OURS} }}"
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
            f"WHERE NOT EXISTS {{ (n)-[r]-() WHERE {OURS} }} DETACH DELETE n"
        )

    def key(self, key: str) -> Any:
        return self.layout.stored(self.layout.table.key[0], key)

    async def delete(self, run: Run, keys: Sequence[Any]) -> int:
        """Remove nodes; those that edges still hold on to become placeholders. Answers how many did."""
        stored = [self.key(key) for key in keys]
        gone = {key for (key,) in await in_batches(run, self._delete, stored)}
        held = [key for key in stored if key not in gone]
        if held:
            await in_batches(run, self._empty, held)
        return len(held)

    async def update(self, run: Run, writes: TableWrites) -> None:
        rows = [self._entry(row, writes.before.get(self.layout.table.key_of(row))) for row in writes.updates]
        await in_batches(run, self._update, rows)

    async def insert(self, run: Run, rows: Sequence[Row], placeholders: bool) -> None:
        """Create nodes; where a placeholder stood, it becomes the node and keeps its relationships."""
        entries = [self._entry(row) for row in rows]
        promoted: set[Any] = set()
        if placeholders:
            keys = [entry["key"] for entry in entries]
            promoted = {key for (key,) in await in_batches(run, self._promote, keys)}
        if promoted:
            await in_batches(run, self._update, [entry for entry in entries if entry["key"] in promoted])
        await in_batches(run, self._create, [entry for entry in entries if entry["key"] not in promoted])

    def _entry(self, row: Row, before: Row | None = None) -> dict[str, Any]:
        labels = self.recorder.labels(row)
        former = self.recorder.labels(before) if before is not None else []
        return {
            "key": self.key(self.layout.table.key_of(row)),
            "record": self.recorder.record(row),
            "labels": labels,
            "former": [label for label in former if label not in labels],
        }

    async def stand_in(self, run: Run, keys: Sequence[Any]) -> bool:
        """Make placeholders for the keys that have no node; whether there are any among them."""
        counts = await in_batches(run, self._stand_in, keys)
        return any(count for (count,) in counts)

    async def sweep(self, run: Run, keys: Sequence[Any]) -> None:
        """Remove placeholders that no edge mentions any more."""
        await in_batches(run, self._sweep, keys)
