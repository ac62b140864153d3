"""Snapshots: the whole state at a log position, as the seed's JSON document.

A store with native snapshots (files) writes its own. Every other store keeps the same document in a table, in pieces.
A snapshot holds nothing that a replay of the log could not rebuild.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.changes import TableWrites
from ugs.events import Head
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.queries import Stats, stats
from ugs.log.replay import pages_of, row_text
from ugs.storage import EventQuery, Session
from ugs.tables import Field, Kind, Table
from ugs.values import JsonText, from_text, to_text

FORMAT = 1
PIECE = 1 << 20


class SnapshotPiece(Struct, frozen=True):
    """A part of a stored snapshot document."""

    position: int
    piece: int
    body: JsonText


SNAPSHOTS = Table(
    "snapshots",
    SnapshotPiece,
    [Field("position", Kind.INTEGER), Field("piece", Kind.INTEGER), Field("body", Kind.TEXT)],
    key=["position", "piece"],
    derived=False,
)


class SnapshotInfo(Struct, frozen=True):
    """Metadata of a snapshot."""

    timestamp: int
    event_count: int
    last_event_id: str | None
    stats: Stats


async def take_snapshot(session: Session, catalog: Catalog, now: int) -> SnapshotInfo:
    """Write the state into the snapshot table, replacing the previous snapshot."""
    head = await session.head()
    document = await snapshot_document(session, catalog, head, now)
    text = to_text({**document, "checksum": checksum(document)})
    pieces = [
        SnapshotPiece(head.position, number, JsonText(text[start : start + PIECE]))
        for number, start in enumerate(range(0, len(text), PIECE))
    ]
    await session.clear([SNAPSHOTS])
    await session.append((), {SNAPSHOTS: TableWrites(inserts=list(pieces))})
    counts = Stats(**document["stats"])
    return SnapshotInfo(document["timestamp"], head.position, document["lastEventId"], counts)


async def snapshot_document(session: Session, catalog: Catalog, head: Head, now: int) -> dict[str, Any]:
    """The seed's five fields, and what is needed to restore the state exactly."""
    last = await session.events(EventQuery(after=head.position - 1, limit=1)) if head.position else []
    return {
        "timestamp": max(now, head.timestamp),
        "eventCount": head.position,
        "nodes": [node_entry(node) async for page in pages_of(session, NODES) for node in page],
        "edges": [edge_entry(edge) async for page in pages_of(session, EDGES) for edge in page],
        "stats": (await stats(session)).as_json(),
        "lastEventId": last[0].id if last else None,
        "lastSeq": head.position,
        "lastCrc": head.crc,
        "format": FORMAT,
        "tables": await _other_tables(session, catalog),
    }


async def _other_tables(session: Session, catalog: Catalog) -> dict[str, list[Any]]:
    others = [table for table in catalog if table.derived and table not in (NODES, EDGES)]
    return {
        table.name: [from_text(row_text(table, row)) async for page in pages_of(session, table) for row in page]
        for table in others
    }


def node_entry(node: Node) -> dict[str, Any]:
    """A node in the seed's format, with its version."""
    return {**node.as_json(), "version": node.version}


def edge_entry(edge: Edge) -> dict[str, Any]:
    """An edge in the seed's format, with the fields that the seed leaves out."""
    return {**edge.as_json(), "modified": edge.modified, "version": edge.version, "seq": edge.seq}


def checksum(document: dict[str, Any]) -> str:
    """A digest over the document without its checksum."""
    return sha256(to_text(document).encode()).hexdigest()
