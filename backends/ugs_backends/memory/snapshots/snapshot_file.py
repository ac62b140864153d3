"""The snapshot file: the whole state, so that opening a store need not replay the whole log.

`snapshot.json` has the seed's five fields (timestamp, eventCount, nodes, edges, stats), then the place in the log, the
other tables, and a checksum of everything before it. Its timestamp is that of its creation; later events are stamped
after it. A new snapshot replaces the old one atomically; the old one stays as `snapshot.json.prev`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ugs.catalog import Catalog, Columns
from ugs.errors import SnapshotCorrupt
from ugs.events import GENESIS_CRC
from ugs.support.shape_errors import describe_shape_error
from ugs.tables import Row, Table, Vertex
from ugs_backends.memory.file_format import CHECKSUM, FORMAT, is_whole
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.snapshots.row_codec import RowText

CHUNK_ROWS = 2_000
"""Rows encoded at a time: a millisecond or two, so that other threads can run."""

PORTION_BYTES = 1 << 20
"""Bytes decoded at a time."""
LINE_END = re.compile(rb",\n")


class LogPlace(Struct, rename="camel"):
    """The head of the log at the snapshot, and the log's sparse index."""

    format: int = 0
    last_event_id: str = ""
    last_seq: int = 0
    last_crc: str = GENESIS_CRC
    wal_offset: int = 0
    sealed: bool = False
    wal_index: list[int] = []
    wal_skipped: list[tuple[int, int]] = []
    last_timestamp: int = 0
    """Timestamp of the last event."""
    wal_base: int = 0
    """Number of events before the first line of the log; above 0 where the log was lost and begun anew."""
    wal_base_crc: str = GENESIS_CRC
    """The checksum that the first line continues."""


PLACE_KEYS = frozenset(field.encode_name for field in msgspec.structs.fields(LogPlace))


class CapturedState(Struct):
    """A consistent copy of the state; rows are immutable, so lists of them suffice."""

    timestamp: int
    rows: dict[str, Sequence[Row]]
    place: LogPlace


class LoadedSnapshot(Struct):
    """The content of a snapshot file."""

    timestamp: int
    event_count: int
    rows: dict[str, Iterator[Columns]] = {}
    """The rows of each table, decoded lazily in portions; decoding may still raise E008."""
    place: LogPlace | None = None
    """None: a foreign snapshot with only the seed's fields."""
    added: list[tuple[str, Raw]] = []
    """The nodes and edges of a foreign snapshot, each as the data of the event that would add it."""


class Summary(Struct, frozen=True, rename="camel"):
    """What was written, for the caller of `snapshot`."""

    timestamp: int
    event_count: int
    last_event_id: str | None
    stats: dict[str, int]
    bytes: int
    path: str


# ── writing ──────────────────────────────────────────────────────────────────


def write_snapshot(files: Files, path: Path, catalog: Catalog, captured: CapturedState) -> Summary:
    """Write a state to the file atomically: a crash leaves the old or the new snapshot."""
    fresh = path.with_name(path.name + ".tmp")
    handle = files.open_new(fresh)
    size, stats = 0, count_statistics(catalog, captured.rows)
    try:
        for chunk in encode_document(catalog, captured, stats):
            files.write_all(handle, chunk)
            size += len(chunk)
        files.fsync(handle)
    finally:
        files.close(handle)
    _keep_previous(files, path)
    files.rename(fresh, path)
    files.fsync_folder(path.parent)
    place = captured.place
    return Summary(captured.timestamp, place.last_seq, place.last_event_id or None, stats, size, str(path))


def _keep_previous(files: Files, path: Path) -> None:
    if not files.exists(path):
        return
    second = path.with_name(path.name + ".prev.tmp")
    # Some file systems have no hard links; then no previous snapshot is kept.
    with contextlib.suppress(OSError):
        files.remove(second)
        files.link(path, second)
        files.rename(second, path.with_name(path.name + ".prev"))


def encode_document(catalog: Catalog, captured: CapturedState, stats: dict[str, int]) -> Iterator[bytes]:
    """The content of the file in pieces, ending with the checksum of all of them."""
    digest = sha256()
    for piece in _encode_pieces(catalog, captured, stats):
        digest.update(piece)
        yield piece
    yield CHECKSUM % digest.hexdigest().encode()


def _encode_pieces(catalog: Catalog, captured: CapturedState, stats: dict[str, int]) -> Iterator[bytes]:
    shown = [table for table in catalog if table.shape is not None]
    # Tables that are not derived from the log (vectors) can be rebuilt, and would be most of the file.
    hidden = [table for table in catalog if table.shape is None and table.derived]
    yield b'{"timestamp":%d,\n"eventCount":%d' % (captured.timestamp, captured.place.last_seq)
    for table in shown:
        yield b',\n"%s":' % table.name.encode()
        yield from _encode_rows(table, captured.rows[table.name])
    yield b',\n"stats":' + msgspec.json.encode(stats)
    yield b",\n" + msgspec.json.encode(captured.place)[1:-1]
    yield b',\n"tables":{'
    for number, table in enumerate(hidden):
        yield b'%s\n"%s":' % (b"," if number else b"", table.name.encode())
        yield from _encode_rows(table, captured.rows[table.name])
    yield b"}"


def _encode_rows(table: Table, rows: Sequence[Row]) -> Iterator[bytes]:
    text = RowText(table)
    yield b"["
    for start in range(0, len(rows), CHUNK_ROWS):
        yield (b",\n" if start else b"\n") + text.encode(rows[start : start + CHUNK_ROWS])
    yield b"]"


_keys_of = msgspec.json.Decoder(dict[str, Raw]).decode


def count_statistics(catalog: Catalog, rows: dict[str, Sequence[Row]]) -> dict[str, int]:
    """The seed's statistics: rows per graph table, distinct types and property keys."""
    stats = {table.name: len(rows[table.name]) for table in catalog if table.shape is not None}
    types: set[str] = set()
    keys: set[str] = set()
    for table in catalog:
        if isinstance(table.shape, Vertex):
            types.update(map(attrgetter(table.shape.label), rows[table.name]))
            texts = map(attrgetter(table.shape.properties), rows[table.name])
            while some := list(islice(texts, CHUNK_ROWS)):
                keys.update(*map(_keys_of, some))
    return {**stats, "types": len(types - {None}), "properties": len(keys)}


# ── reading ──────────────────────────────────────────────────────────────────


def read_snapshot(files: Files, path: Path, catalog: Catalog) -> LoadedSnapshot:
    """Read and verify a snapshot; raises E008 if it is malformed or its checksum does not match."""
    data = files.read(path)
    try:
        fields = msgspec.json.decode(data, type=dict[str, Raw])
        if fields.keys() & {"format", "lastSeq", "lastCrc", "walOffset", "checksum"}:
            _check(data, path)
            return _decode_own(fields, catalog)
        return _decode_foreign(fields)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, KeyError) as error:
        raise SnapshotCorrupt(f"{path.name} cannot be read: {describe_shape_error(error)}", file=str(path)) from error


def _check(data: bytes, path: Path) -> None:
    if not is_whole(data):
        raise SnapshotCorrupt(f"{path.name} does not match its checksum", file=str(path))


def _decode_own(fields: dict[str, Raw], catalog: Catalog) -> LoadedSnapshot:
    place = msgspec.convert(
        {name: msgspec.json.decode(raw) for name, raw in fields.items() if name in PLACE_KEYS}, LogPlace
    )
    if place.format != FORMAT:
        raise SnapshotCorrupt(f"The snapshot has format {place.format}; this version reads {FORMAT}")
    hidden = msgspec.json.decode(fields["tables"], type=dict[str, Raw])
    rows = {table.name: _decode_rows(table, (fields if table.shape else hidden).get(table.name)) for table in catalog}
    timestamp, count = (msgspec.json.decode(fields[name], type=int) for name in ("timestamp", "eventCount"))
    return LoadedSnapshot(timestamp, count, rows, place)


def _decode_rows(table: Table, raw: Raw | None) -> Iterator[Columns]:
    """Decode the rows of a table in portions: a million short-lived objects at once would fragment the memory.

    Each row is on a line of its own; the checksum has been verified before.
    """
    if raw is None:
        return
    text = RowText(table)
    decode = msgspec.json.Decoder(list[text.wire]).decode  # type: ignore[name-defined]
    inside, after = memoryview(raw)[1:-1], 0
    while after < len(inside):
        start, line_end = after, LINE_END.search(inside, after + PORTION_BYTES)
        stop, after = (len(inside), len(inside)) if line_end is None else line_end.span()
        try:
            columns = text.to_columns(decode(b"[%s]" % inside[start:stop]))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            why = describe_shape_error(error)
            raise SnapshotCorrupt(f"The snapshot holds something that is no row of {table.name}: {why}") from error
        yield columns


class ForeignSnapshot(Struct):
    """A snapshot with only the seed's five fields."""

    timestamp: int
    event_count: int = msgspec.field(name="eventCount")
    nodes: list[Raw]
    edges: list[Raw]
    stats: Any = None


def _decode_foreign(fields: dict[str, Raw]) -> LoadedSnapshot:
    known = msgspec.json.decode(msgspec.json.encode(fields), type=ForeignSnapshot)
    added = [("NodeAdded", raw) for raw in known.nodes] + [("EdgeAdded", raw) for raw in known.edges]
    return LoadedSnapshot(known.timestamp, known.event_count, added=added)
