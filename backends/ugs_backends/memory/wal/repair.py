"""Repairs the end of a log after an interrupted write, without truncating the file.

The torn bytes stay; a `LogRepaired` event on a line of its own behind them names the bytes to ignore. The intended
write is first stored in a file beside the log, so that a crash during the repair is not mistaken for damage.
"""

from __future__ import annotations

from pathlib import Path

from ugs.errors import WALCorrupt
from ugs.events import Event, Head, event_id, seal
from ugs.values import to_text
from ugs_backends.memory.file_format import REPAIR
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.wal.line_codec import encode_line
from ugs_backends.memory.wal.reader import TornTail


def repair_path(wal: Path) -> Path:
    """The path of the file that holds a repair in progress."""
    return wal.with_name(REPAIR)


def repair_event(head: Head, torn: TornTail, now: int, counter_lead: int = 0) -> Event:
    """The event that excludes torn bytes; the counter in its id is its position plus `counter_lead`."""
    position, timestamp = head.position + 1, max(now, head.timestamp, head.floor)
    return seal(
        Event(
            position=position,
            id=event_id(timestamp, position + counter_lead),
            timestamp=timestamp,
            type="LogRepaired",
            data=to_text({"offset": torn.offset, "length": torn.length, "reason": torn.reason}),
        ),
        head.crc,
    )


def repair(files: Files, wal: Path, event: Event) -> None:
    """Append the event behind the torn bytes; after a crash at any point `finish_repair` completes it."""
    size = files.size(wal)
    newline = b"" if files.read(wal, size - 1, 1) == b"\n" else b"\n"
    files.replace_with(repair_path(wal), b"%d\n" % size + newline + encode_line(event))
    finish_repair(files, wal)


def finish_repair(files: Files, wal: Path) -> None:
    """Complete a repair in progress, if there is one; idempotent."""
    plan = repair_path(wal)
    if not files.exists(plan):
        return
    size, _, wanted = files.read(plan).partition(b"\n")
    done = files.read(wal, int(size), len(wanted)) if files.exists(wal) else b""
    if not wanted.startswith(done) or files.size(wal) < int(size):
        raise WALCorrupt(f"{wal.name} is not the file that {plan.name} speaks of. Restore it from a backup.")
    handle = files.open_for_append(wal)
    try:
        if done != wanted:
            files.write_all(handle, wanted[len(done) :])
        files.fsync(handle)
    finally:
        files.close(handle)
    files.remove(plan)
    files.fsync_folder(wal.parent)
