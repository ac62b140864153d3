"""Recovery of a store folder: load the snapshot, replay the events after it, repair an interrupted last write.

The log is authoritative and a snapshot only saves time: if it is invalid or does not fit the log, the log is replayed
from its beginning, the file is kept under another name, and a warning is recorded (E008).
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ugs.catalog import Catalog
from ugs.errors import SnapshotCorrupt, UgsError
from ugs.events import Event, Head, event_id
from ugs.log.event_ids import MAX_COUNTER, parse_event_id
from ugs.support.shape_errors import describe_shape_error
from ugs.values import from_text, to_text
from ugs_backends.memory.file_format import LOG, SNAPSHOT, chain_checksum, has_seal, is_sealed
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.snapshots.snapshot_file import LoadedSnapshot, LogPlace, read_snapshot
from ugs_backends.memory.tables.table import make_tables
from ugs_backends.memory.wal.line_codec import BOM, MALFORMED, StoredEvent, encode_line, get_sealed_decoder
from ugs_backends.memory.wal.log_check import CoveredRange, find_damage
from ugs_backends.memory.wal.reader import Mark, TornTail, WalReader, build_damage_error
from ugs_backends.memory.wal.repair import finish_repair, repair, repair_event
from ugs_backends.memory.wal.replay import EventApplier, Tables

EVENT_ID = re.compile(rb'"id"\s*:\s*"(evt_[0-9]+_[0-9]+)"')


class State(StrEnum):
    """The states of a store, with the seed's names."""

    UNINITIALIZED = "Uninitialized"
    INITIALIZING = "Initializing"
    LOADING_SNAPSHOT = "LoadingSnapshot"
    EMPTY = "Empty"
    REPLAYING = "ReplayingWAL"
    READY = "Ready"
    SNAPSHOTTING = "Snapshotting"
    SHUTTING_DOWN = "ShuttingDown"


class Recovered(Struct):
    """The tables and the log of a folder, as recovered."""

    tables: Tables
    reader: WalReader
    floor: int = 0
    snapshot_count: int = 0
    """Number of events in the snapshot that was loaded."""
    base_crc: int = 0
    """The checksum that the first line of the log continues."""
    covered: CoveredRange | None = None
    """The part of the log that the snapshot covers and that was not replayed."""
    alone: bool = False
    """A snapshot without a log was loaded: a new log begins behind it."""

    @property
    def head(self) -> Head:
        mark = self.reader.mark
        return Head(mark.position, mark.timestamp, f"{mark.crc:08x}", self.floor)


class Recovery:
    """One recovery of a folder."""

    def __init__(
        self, files: Files, folder: Path, catalog: Catalog, strict: bool, enter: Callable[[State], None]
    ) -> None:
        self.files, self.catalog, self.strict, self.enter = files, catalog, strict, enter
        self.wal = folder / LOG
        self.snapshot = folder / SNAPSHOT
        self.warnings: list[str] = []
        self.unrepaired: OSError | None = None

    def run(self, now: int) -> Recovered:
        """Recover tables and log; raises if the log is damaged."""
        finish_repair(self.files, self.wal)
        with pause_collector():
            found = self._from_snapshot() or self._from_genesis()
            if found.alone:
                self._begin_log(found, now)
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
        return Recovered(tables, self._build_reader(EventApplier(self.catalog, tables)))

    def _build_reader(self, actor: EventApplier, mark: Mark | None = None, base: int = 0) -> WalReader:
        return WalReader(self.files, self.wal, self.catalog, actor, mark, base)

    # ── from a snapshot ──────────────────────────────────────────────────────

    def _from_snapshot(self) -> Recovered | None:
        if not self.files.exists(self.snapshot):
            return None
        self.enter(State.LOADING_SNAPSHOT)
        try:
            loaded = read_snapshot(self.files, self.snapshot, self.catalog)
            found = self._load_foreign(loaded) if loaded.place is None else self._is_own_snapshot(loaded, loaded.place)
        except SnapshotCorrupt as error:
            self._give_up_snapshot(error)
            return None
        self.enter(State.REPLAYING)
        return found

    def _is_own_snapshot(self, loaded: LoadedSnapshot, place: LogPlace) -> Recovered:
        crc, alone = int(place.last_crc, 16), not self.files.exists(self.wal)
        begins_behind = alone or self._continues_behind(place.last_seq, crc)
        if begins_behind:
            self._warn_of_gone(place.last_seq)
        else:
            self._check_place(place)
        tables = make_tables(self.catalog)
        for name, stretches in loaded.rows.items():
            for columns in stretches:
                tables[name].put_many(columns)
        last = place.last_timestamp or loaded.timestamp
        offset, base = (0, place.last_seq) if begins_behind else (place.wal_offset, place.wal_base)
        mark = Mark(offset, place.last_seq, last, crc, place.last_event_id, place.sealed)
        reader = self._build_reader(EventApplier(self.catalog, tables), mark, base)
        found = Recovered(tables, reader, loaded.timestamp + 1, loaded.event_count, alone=alone)
        if begins_behind:
            found.base_crc = crc
            return found
        reader.offsets.extend(place.wal_index)
        reader.skipped.extend(place.wal_skipped)
        found.base_crc = int(place.wal_base_crc, 16)
        found.covered = self._describe_covered(place)
        if base:
            self._warn_of_gone(base)
        return found

    def _continues_behind(self, count: int, crc: int) -> bool:
        """Whether the first line of the log is event `count + 1` and continues this checksum."""
        first = next(self.files.lines(self.wal), b"")
        if not is_sealed(first, chain_checksum(first, crc)):
            return False
        return count > 0 and get_sealed_decoder(self.catalog)(first).position == count + 1

    def _warn_of_gone(self, count: int) -> None:
        self.warnings.append(
            f"{self.wal.name} begins behind event {count}: the history before it is gone, the state is that of "
            f"{self.snapshot.name}."
        )

    def _begin_log(self, found: Recovered, now: int) -> None:
        """Begin a new log behind a snapshot whose log is missing, with an event that records this."""
        head = found.head
        try:
            handle = self.files.open_for_append(self.wal)
            try:
                gone = TornTail(0, 0, "the log before this event is gone")
                self.files.write_all(
                    handle, encode_line(repair_event(head, gone, now, self._find_counter_lead(found.reader.mark)))
                )
                self.files.fsync(handle)
            finally:
                self.files.close(handle)
            self.files.fsync_folder(self.wal.parent)
        except OSError as error:
            self.unrepaired = error
            self.warnings.append(f"{self.wal.name} cannot be written: {error.strerror}")

    def _describe_covered(self, place: LogPlace) -> CoveredRange:
        crcs = int(place.wal_base_crc, 16), int(place.last_crc, 16)
        return CoveredRange(place.wal_offset, *crcs, tuple(place.wal_skipped))

    def _check_place(self, place: LogPlace) -> None:
        """Check that the log line before the snapshot's offset is the snapshot's last event."""
        size = self.files.size(self.wal)
        short = size < place.wal_offset
        if short or (place.last_seq and not self._ends_with(place)):
            self._check_log(place)
        if short:
            raise build_damage_error(
                self.files,
                self.wal,
                size,
                f"is missing: the log ends here, and {self.snapshot.name} holds {place.last_seq} events",
            )
        if place.last_seq and not self._ends_with(place):
            raise SnapshotCorrupt("The snapshot and the log do not belong together", file=str(self.snapshot))

    def _check_log(self, place: LogPlace) -> None:
        """Where snapshot and log disagree: raise E009 if the log has lost or altered lines."""
        size = self.files.size(self.wal)
        crcs = int(place.wal_base_crc, 16), int(place.last_crc, 16)
        damages = find_damage(self.files, self.wal, CoveredRange(size, *crcs, tuple(place.wal_skipped)), self.catalog)
        inside = [damage for damage in damages if damage.offset < min(size, place.wal_offset)]
        if inside:
            raise build_damage_error(
                self.files, self.wal, inside[0].offset, "is damaged, or the line before it is lost"
            )

    def _ends_with(self, place: LogPlace) -> bool:
        line = read_last_line(self.files, self.wal, place.wal_offset)
        if place.sealed and (not has_seal(line) or line[-11:-3] != place.last_crc.encode()):
            return False
        return f'"id":"{place.last_event_id}"'.encode() in line

    def _load_foreign(self, loaded: LoadedSnapshot) -> Recovered:
        """Load a snapshot with only the seed's fields, and skip the events of the log that it contains."""
        tables = make_tables(self.catalog)
        actor = NewerEventApplier(self.catalog, tables)
        try:
            for number, (type, raw) in enumerate(loaded.added, 1):
                actor.act(self._build_event(type, bytes(raw), number, loaded.timestamp))
        except (msgspec.MsgspecError, UgsError, UnicodeError) as error:
            why = describe_shape_error(error)
            raise SnapshotCorrupt(f"The snapshot holds something that is no row: {why}") from error
        alone, count = not self.files.exists(self.wal), loaded.event_count
        if alone or self._continues_behind(count, 0):
            self._warn_of_gone(count)
            mark = Mark(0, count, loaded.timestamp, 0, "", count > 0)
            reader = self._build_reader(actor, mark, count)
            return Recovered(tables, reader, loaded.timestamp + 1, count, alone=alone)
        lines = sum(1 for line in self.files.lines(self.wal) if line.strip())
        if loaded.event_count <= lines:
            actor.after_position = loaded.event_count
        else:
            actor.from_moment = loaded.timestamp
        return Recovered(tables, self._build_reader(actor), loaded.timestamp + 1, loaded.event_count)

    def _build_event(self, type: str, data: bytes, number: int, timestamp: int) -> Event:
        payload = from_text(data)
        element = self.catalog.rules.element_of(type, payload)
        id = event_id(timestamp, number)
        text = to_text(payload)
        return Event(position=number, id=id, timestamp=timestamp, type=type, data=text, element=element, version=1)

    def _give_up_snapshot(self, error: SnapshotCorrupt) -> None:
        if self.strict or not self.files.exists(self.wal) or not self._reaches_genesis():
            raise error
        aside = self.snapshot.with_name(f"{self.snapshot.name}.corrupt-{time.time_ns() // 1_000_000}")
        self.files.rename(self.snapshot, aside)
        told = str(error).rstrip(".")
        self.warnings.append(f"E008 {told}. The state was rebuilt from the log; the file is kept as {aside.name}.")

    def _reaches_genesis(self) -> bool:
        first = next(self.files.lines(self.wal), b"{}")
        try:
            return bool(msgspec.json.decode(first.removeprefix(BOM), type=dict[str, Any]).get("seq", 1) == 1)
        except MALFORMED:
            return True  # the replay from the beginning reports the damage

    # ── the end of the log ───────────────────────────────────────────────────

    def _repair(self, found: Recovered, torn: TornTail, now: int) -> None:
        """Append a `LogRepaired` event behind the torn bytes, then read on from there."""
        try:
            repair(
                self.files, self.wal, repair_event(found.head, torn, now, self._find_counter_lead(found.reader.mark))
            )
        except OSError as error:
            self.unrepaired = error
            self.warnings.append(f"{self.wal.name} ends in a torn write that cannot be repaired: {error.strerror}")
            return
        reader = found.reader
        again = self._build_reader(reader.actor, msgspec.structs.replace(reader.mark, offset=torn.offset), reader.base)
        again.run()
        reader.offsets.extend(again.offsets)
        reader.skipped.extend(again.skipped)
        reader.mark = again.mark
        self.warnings.append(
            f"{self.wal.name}: {torn.length} bytes at offset {torn.offset} are no event ({torn.reason}); "
            "they are covered by a LogRepaired event."
        )

    def _find_counter_lead(self, mark: Mark) -> int:
        """How far the counters of event ids are ahead of positions, from the last sealed event or else from all ids."""
        ids = (
            [mark.event_id]
            if mark.sealed or not mark.offset
            else EVENT_ID.findall(self.files.read(self.wal, 0, mark.offset))
        )
        found = (parse_event_id(id if isinstance(id, str) else id.decode()) for id in ids)
        greatest = max((id[1] for id in found if id is not None and id[1] < MAX_COUNTER), default=0)
        return max(0, greatest - mark.position)


class NewerEventApplier(EventApplier):
    """Applies only the events that a foreign snapshot does not contain."""

    after_position, from_moment = 0, 0

    def apply_all(self, events: Sequence[Event | StoredEvent]) -> None:
        self.apply_each(events)

    def act(self, event: Event | StoredEvent) -> None:
        if event.position > self.after_position and event.timestamp >= self.from_moment:
            super().act(event)


def read_last_line(files: Files, path: Path, end: int) -> bytes:
    """The last non-blank line before an offset, with a newline."""
    start, data = end, b""
    while start > 0 and b"\n" not in data.strip():
        start = max(0, start - 65_536)
        data = files.read(path, start, end - start)
    return data.strip().rpartition(b"\n")[2] + b"\n"


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the garbage collector: loading creates millions of objects and no garbage.

    Loaded objects live until the store is closed, so they are frozen: the collector never visits them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()
