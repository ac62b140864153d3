"""Repairing the end of a log whose last write was cut off, without ever shortening the file.

The torn bytes stay. Behind them, on a line of its own, a `LogRepaired` event says which bytes do not count. So that
a crash during the repair itself cannot be taken for damage, what will be written is first put beside the log.
"""

from __future__ import annotations

from pathlib import Path

from backends.memory.files import Files
from backends.memory.layout import REPAIR
from backends.memory.lines import line_of
from backends.memory.walreader import Torn
from ugs.errors import WALCorrupt
from ugs.events import Event, Head, event_id, seal
from ugs.values import to_text


def plan_of(wal: Path) -> Path:
    """Where a repair under way is written down."""
    return wal.with_name(REPAIR)


def repair_event(head: Head, torn: Torn, now: int) -> Event:
    """The event that covers torn bytes."""
    position, timestamp = head.position + 1, max(now, head.timestamp, head.floor)
    return seal(
        Event(
            position=position,
            id=event_id(timestamp, position),
            timestamp=timestamp,
            type="LogRepaired",
            data=to_text({"offset": torn.offset, "length": torn.length, "reason": torn.reason}),
        ),
        head.crc,
    )


def repair(files: Files, wal: Path, event: Event) -> None:
    """Append the event behind the torn bytes, so that a crash at any moment can be continued."""
    size = files.size(wal)
    newline = b"" if files.read(wal, size - 1, 1) == b"\n" else b"\n"
    files.replace_with(plan_of(wal), b"%d\n" % size + newline + line_of(event))
    finish_repair(files, wal)


def finish_repair(files: Files, wal: Path) -> None:
    """Carry out a repair that was written down, as far as it has not been."""
    plan = plan_of(wal)
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
