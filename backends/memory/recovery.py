"""Opening a folder: snapshot, then the events behind it, then a repair if the last write was cut off.

The log alone decides what is true. A snapshot only saves time: when anything about it is doubtful the log is
replayed from its beginning, the doubtful file is kept aside, and a warning says so (E008).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from backends.memory.files import Files
from backends.memory.layout import LOG, SNAPSHOT, has_seal
from backends.memory.lines import BOM, MALFORMED, Stored
from backends.memory.repairing import finish_repair, repair, repair_event
from backends.memory.replay import Actor, Tables
from backends.memory.snapshots import Loaded, Place, read_snapshot
from backends.memory.tables import make_tables
from backends.memory.walreader import Mark, Torn, WalReader
from ugs.catalog import Catalog
from ugs.errors import SnapshotCorrupt, UgsError
from ugs.events import Event, Head, event_id
from ugs.values import from_text, to_text


class State(StrEnum):
    """What a store is doing, in the seed's words."""

    UNINITIALIZED = "Uninitialized"
    INITIALIZING = "Initializing"
    LOADING_SNAPSHOT = "LoadingSnapshot"
    EMPTY = "Empty"
    REPLAYING = "ReplayingWAL"
    READY = "Ready"
    SNAPSHOTTING = "Snapshotting"
    SHUTTING_DOWN = "ShuttingDown"


class Recovered(Struct):
    """A folder's state and log, as found."""

    tables: Tables
    reader: WalReader
    floor: int = 0
    snapshot_count: int = 0
    """Events in the snapshot that was loaded."""

    @property
    def head(self) -> Head:
        mark = self.reader.mark
        return Head(mark.position, mark.timestamp, f"{mark.crc:08x}", self.floor)


class Recovery:
    """One opening of a folder."""

    def __init__(
        self, files: Files, folder: Path, catalog: Catalog, strict: bool, enter: Callable[[State], None]
    ) -> None:
        self.files, self.catalog, self.strict, self.enter = files, catalog, strict, enter
        self.wal = folder / LOG
        self.snapshot = folder / SNAPSHOT
        self.warnings: list[str] = []
        self.unrepaired: OSError | None = None

    def run(self, now: int) -> Recovered:
        """Bring the state back."""
        finish_repair(self.files, self.wal)
        with collector_paused():
            found = self._from_snapshot() or self._from_genesis()
            torn = found.reader.run()
            if torn is not None:
                self._repair(found, torn, now)
            found.reader.actor.settle()
        if found.reader.mark.position and not found.reader.mark.sealed:
            self.warnings.append(
                f"{self.wal.name} was written elsewhere, without checksums: damage in its "
                f"{found.reader.mark.position} events would not show. New events are protected."
            )
        return found

    def _from_genesis(self) -> Recovered:
        tables = make_tables(self.catalog)
        self.enter(State.EMPTY)
        if self.files.exists(self.wal):
            self.enter(State.REPLAYING)
        return Recovered(tables, self._reader(Actor(self.catalog, tables)))

    def _reader(self, actor: Actor, mark: Mark | None = None) -> WalReader:
        return WalReader(self.files, self.wal, self.catalog, actor, mark)

    # ── from a snapshot ──────────────────────────────────────────────────────

    def _from_snapshot(self) -> Recovered | None:
        if not self.files.exists(self.snapshot):
            return None
        if not self.files.exists(self.wal):
            raise SnapshotCorrupt(
                f"There is a snapshot but no {self.wal.name}. Put the log back beside it, or move "
                f"{self.snapshot.name} away to start empty.",
                file=str(self.snapshot),
            )
        self.enter(State.LOADING_SNAPSHOT)
        try:
            loaded = read_snapshot(self.files, self.snapshot, self.catalog)
            found = self._foreign(loaded) if loaded.place is None else self._ours(loaded, loaded.place)
        except SnapshotCorrupt as error:
            self._give_up_snapshot(error)
            return None
        self.enter(State.REPLAYING)
        return found

    def _ours(self, loaded: Loaded, place: Place) -> Recovered:
        self._check_place(place)
        tables = make_tables(self.catalog)
        for name, stretches in loaded.rows.items():
            for columns in stretches:
                tables[name].put_many(columns)
        crc = int(place.last_crc, 16)
        mark = Mark(place.wal_offset, place.last_seq, loaded.timestamp, crc, place.last_event_id, place.sealed)
        reader = self._reader(Actor(self.catalog, tables), mark)
        reader.offsets.extend(place.wal_index)
        reader.skipped.extend(place.wal_skipped)
        return Recovered(tables, reader, loaded.timestamp + 1, loaded.event_count)

    def _check_place(self, place: Place) -> None:
        """The line before the snapshot's place must be its last event, or the two do not belong together."""
        size = self.files.size(self.wal)
        if size < place.wal_offset:
            raise SnapshotAhead(
                f"The snapshot holds {place.last_seq} events, but {self.wal.name} ends before them. Restore the log "
                f"from a backup, or move {self.snapshot.name} away to go on with what the log has.",
                file=str(self.snapshot),
            )
        if place.last_seq and not self._ends_with(place):
            raise SnapshotCorrupt("The snapshot and the log do not belong together", file=str(self.snapshot))

    def _ends_with(self, place: Place) -> bool:
        line = last_line(self.files, self.wal, place.wal_offset)
        if place.sealed and (not has_seal(line) or line[-11:-3] != place.last_crc.encode()):
            return False
        return f'"id":"{place.last_event_id}"'.encode() in line

    def _foreign(self, loaded: Loaded) -> Recovered:
        """A snapshot with only the seed's fields: its events are the first lines of the log."""
        tables = make_tables(self.catalog)
        actor = Newer(self.catalog, tables)
        try:
            for number, (type, raw) in enumerate(loaded.added, 1):
                actor.act(self._as_event(type, bytes(raw), number, loaded.timestamp))
        except (msgspec.MsgspecError, UgsError, UnicodeError) as error:
            raise SnapshotCorrupt(f"The snapshot holds something that is no row: {error}") from error
        lines = sum(1 for line in self.files.lines(self.wal) if line.strip())
        if loaded.event_count <= lines:
            actor.after_position = loaded.event_count
        else:
            actor.from_moment = loaded.timestamp
        return Recovered(tables, self._reader(actor), loaded.timestamp + 1, loaded.event_count)

    def _as_event(self, type: str, data: bytes, number: int, timestamp: int) -> Event:
        payload = from_text(data)
        element = self.catalog.rules.element_of(type, payload)
        id = event_id(timestamp, number)
        text = to_text(payload)
        return Event(position=number, id=id, timestamp=timestamp, type=type, data=text, element=element, version=1)

    def _give_up_snapshot(self, error: SnapshotCorrupt) -> None:
        if self.strict or isinstance(error, SnapshotAhead) or not self._reaches_genesis():
            raise error
        aside = self.snapshot.with_name(f"{self.snapshot.name}.corrupt-{time.time_ns() // 1_000_000}")
        self.files.rename(self.snapshot, aside)
        self.warnings.append(f"E008 {error} The state was rebuilt from the log; the file is kept as {aside.name}.")

    def _reaches_genesis(self) -> bool:
        first = next(self.files.lines(self.wal), b"{}")
        try:
            return bool(msgspec.json.decode(first.removeprefix(BOM), type=dict[str, Any]).get("seq", 1) == 1)
        except MALFORMED:
            return True  # reading from the beginning will say what is wrong

    # ── the end of the log ───────────────────────────────────────────────────

    def _repair(self, found: Recovered, torn: Torn, now: int) -> None:
        """Cover the torn bytes, then read on: the repair is an event like any other."""
        try:
            repair(self.files, self.wal, repair_event(found.head, torn, now))
        except OSError as error:
            self.unrepaired = error
            self.warnings.append(f"{self.wal.name} ends in a torn write that cannot be repaired: {error.strerror}")
            return
        reader = found.reader
        again = self._reader(reader.actor, msgspec.structs.replace(reader.mark, offset=torn.offset))
        again.run()
        reader.offsets.extend(again.offsets)
        reader.skipped.extend(again.skipped)
        reader.mark = again.mark
        self.warnings.append(
            f"{self.wal.name}: {torn.length} bytes at offset {torn.offset} are no event ({torn.reason}); "
            "they are covered by a LogRepaired event."
        )


class Newer(Actor):
    """Lets only those events act that a foreign snapshot does not hold."""

    after_position, from_moment = 0, 0

    def act_all(self, events: Sequence[Event | Stored]) -> None:
        self.act_in_turn(events)

    def act(self, event: Event | Stored) -> None:
        if event.position > self.after_position and event.timestamp >= self.from_moment:
            super().act(event)


class SnapshotAhead(SnapshotCorrupt):
    """The snapshot knows of events that the log has lost: going on would drop them silently."""


def last_line(files: Files, path: Path, end: int) -> bytes:
    """The last line that is not blank before an offset, with a newline."""
    start, data = end, b""
    while start > 0 and b"\n" not in data.strip():
        start = max(0, start - 65_536)
        data = files.read(path, start, end - start)
    return data.strip().rpartition(b"\n")[2] + b"\n"


@contextmanager
def collector_paused() -> Iterator[None]:
    """Millions of new objects and no garbage: the collector would only get in the way.

    What was loaded stays until the store is closed, so it is moved out of the collector's sight altogether.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()
