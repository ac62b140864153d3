"""Snapshots: the whole state in one file, so that opening need not replay the whole log.

`snapshot.json` has the seed's five fields (timestamp, eventCount, nodes, edges, stats) and behind them where the
log stood, the other tables, and last a checksum over everything before it. Its timestamp is that of its last event.
A snapshot is written beside the old one and takes its place in one step; the old one stays as `snapshot.json.prev`.
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

from backends.memory.files import Files
from backends.memory.layout import CHECKSUM, FORMAT, is_whole
from backends.memory.rowtext import RowText
from ugs.catalog import Catalog, Columns, Row, Table, Vertex
from ugs.errors import SnapshotCorrupt
from ugs.events import GENESIS_CRC

CHUNK = 2_000
"""Rows encoded at a time: a millisecond or two, so that others get their turn."""

STRETCH = 1 << 20
"""Bytes decoded at a time."""
LINE_END = re.compile(rb",\n")


class Place(Struct, rename="camel"):
    """Where the log stood, and where in its file the events lie."""

    format: int = 0
    last_event_id: str = ""
    last_seq: int = 0
    last_crc: str = GENESIS_CRC
    wal_offset: int = 0
    sealed: bool = False
    wal_index: list[int] = []
    wal_skipped: list[tuple[int, int]] = []


PLACE_KEYS = frozenset(field.encode_name for field in msgspec.structs.fields(Place))


class Captured(Struct):
    """A state at one moment: rows are frozen, so lists of them are a copy."""

    timestamp: int
    rows: dict[str, Sequence[Row]]
    place: Place


class Loaded(Struct):
    """What a snapshot file holds."""

    timestamp: int
    event_count: int
    rows: dict[str, Iterator[Columns]] = {}
    """Of each table the rows, a stretch at a time; decoding them may still fail with E008."""
    place: Place | None = None
    """None: a foreign snapshot with only the seed's fields."""
    added: list[tuple[str, Raw]] = []
    """A foreign snapshot's nodes and edges, each as the data of the event that would add it."""


class Summary(Struct, frozen=True, rename="camel"):
    """What was written."""

    timestamp: int
    event_count: int
    last_event_id: str | None
    stats: dict[str, int]
    bytes: int
    path: str


# ── writing ──────────────────────────────────────────────────────────────────


def write_snapshot(files: Files, path: Path, catalog: Catalog, captured: Captured) -> Summary:
    """Put a state into the file; a crash at any moment leaves the old one or the new one."""
    fresh = path.with_name(path.name + ".tmp")
    handle = files.open_new(fresh)
    size, stats = 0, statistics(catalog, captured.rows)
    try:
        for chunk in document(catalog, captured, stats):
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
    # Some file systems know no second names; then there is simply no previous snapshot.
    with contextlib.suppress(OSError):
        files.remove(second)
        files.link(path, second)
        files.rename(second, path.with_name(path.name + ".prev"))


def document(catalog: Catalog, captured: Captured, stats: dict[str, int]) -> Iterator[bytes]:
    """The file in pieces, the checksum of all of them last."""
    digest = sha256()
    for piece in _pieces(catalog, captured, stats):
        digest.update(piece)
        yield piece
    yield CHECKSUM % digest.hexdigest().encode()


def _pieces(catalog: Catalog, captured: Captured, stats: dict[str, int]) -> Iterator[bytes]:
    shown = [table for table in catalog if table.shape is not None]
    # What is derived from rows beside the log (vectors) can be made anew, and would be most of the file.
    hidden = [table for table in catalog if table.shape is None and table.derived]
    yield b'{"timestamp":%d,\n"eventCount":%d' % (captured.timestamp, captured.place.last_seq)
    for table in shown:
        yield b',\n"%s":' % table.name.encode()
        yield from _array(table, captured.rows[table.name])
    yield b',\n"stats":' + msgspec.json.encode(stats)
    yield b",\n" + msgspec.json.encode(captured.place)[1:-1]
    yield b',\n"tables":{'
    for number, table in enumerate(hidden):
        yield b'%s\n"%s":' % (b"," if number else b"", table.name.encode())
        yield from _array(table, captured.rows[table.name])
    yield b"}"


def _array(table: Table, rows: Sequence[Row]) -> Iterator[bytes]:
    text = RowText(table)
    yield b"["
    for start in range(0, len(rows), CHUNK):
        yield (b",\n" if start else b"\n") + text.encode(rows[start : start + CHUNK])
    yield b"]"


_keys_of = msgspec.json.Decoder(dict[str, Raw]).decode


def statistics(catalog: Catalog, rows: dict[str, Sequence[Row]]) -> dict[str, int]:
    """The seed's four numbers."""
    stats = {table.name: len(rows[table.name]) for table in catalog if table.shape is not None}
    types: set[str] = set()
    keys: set[str] = set()
    for table in catalog:
        if isinstance(table.shape, Vertex):
            types.update(map(attrgetter(table.shape.label), rows[table.name]))
            texts = map(attrgetter(table.shape.properties), rows[table.name])
            while some := list(islice(texts, CHUNK)):
                keys.update(*map(_keys_of, some))
    return {**stats, "types": len(types - {None}), "properties": len(keys)}


# ── reading ──────────────────────────────────────────────────────────────────


def read_snapshot(files: Files, path: Path, catalog: Catalog) -> Loaded:
    """The state in a file, or E008 when a single bit of it is doubtful."""
    data = files.read(path)
    try:
        fields = msgspec.json.decode(data, type=dict[str, Raw])
        if fields.keys() & {"format", "lastSeq", "lastCrc", "walOffset", "checksum"}:
            _check(data, path)
            return _ours(fields, catalog)
        return _foreign(fields)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, KeyError) as error:
        raise SnapshotCorrupt(f"{path.name} cannot be read: {error}", file=str(path)) from error


def _check(data: bytes, path: Path) -> None:
    if not is_whole(data):
        raise SnapshotCorrupt(f"{path.name} does not match its checksum", file=str(path))


def _ours(fields: dict[str, Raw], catalog: Catalog) -> Loaded:
    place = msgspec.convert(
        {name: msgspec.json.decode(raw) for name, raw in fields.items() if name in PLACE_KEYS}, Place
    )
    if place.format != FORMAT:
        raise SnapshotCorrupt(f"The snapshot has format {place.format}; this version reads {FORMAT}")
    hidden = msgspec.json.decode(fields["tables"], type=dict[str, Raw])
    rows = {table.name: _rows(table, (fields if table.shape else hidden).get(table.name)) for table in catalog}
    timestamp, count = (msgspec.json.decode(fields[name], type=int) for name in ("timestamp", "eventCount"))
    return Loaded(timestamp, count, rows, place)


def _rows(table: Table, raw: Raw | None) -> Iterator[Columns]:
    """The rows of a table, decoded a stretch at a time: a million short-lived objects at once would leave the memory
    of the process in tatters. Each row stands on a line of its own, which the checksum has vouched for."""
    if raw is None:
        return
    text = RowText(table)
    decode = msgspec.json.Decoder(list[text.wire]).decode  # type: ignore[name-defined]
    inside, after = memoryview(raw)[1:-1], 0
    while after < len(inside):
        start, line_end = after, LINE_END.search(inside, after + STRETCH)
        stop, after = (len(inside), len(inside)) if line_end is None else line_end.span()
        try:
            columns = text.to_columns(decode(b"[%s]" % inside[start:stop]))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise SnapshotCorrupt(f"The snapshot holds something that is no row of {table.name}: {error}") from error
        yield columns


class ForeignSnapshot(Struct):
    """The seed's five fields."""

    timestamp: int
    event_count: int = msgspec.field(name="eventCount")
    nodes: list[Raw]
    edges: list[Raw]
    stats: Any = None


def _foreign(fields: dict[str, Raw]) -> Loaded:
    known = msgspec.json.decode(msgspec.json.encode(fields), type=ForeignSnapshot)
    added = [("NodeAdded", raw) for raw in known.nodes] + [("EdgeAdded", raw) for raw in known.edges]
    return Loaded(known.timestamp, known.event_count, added=added)
