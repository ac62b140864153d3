"""A glance at a folder: snapshot and log of a small store, read and checked without opening it.

The same promises hold as when it is opened: nobody may be writing meanwhile, every checksum is right, every event has
its place, every batch is complete. Wherever anything else is found there is no answer: opening deals with it.
"""

from __future__ import annotations

import os

from backends.memory.exclusive import lock_shared
from backends.memory.layout import FORMAT, LOCK, LOG, REPAIR, SNAPSHOT, chained, has_seal, is_sealed, is_whole
from ugs.glances import Glance
from ugs.plain_json import loads

TYPE_CHECKING = False  # as in typing, which takes longer to load than everything here
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LARGEST = 2 << 20
"""Bytes; what is larger takes longer to read than the kernel to load."""


class Unclear(Exception):
    """Only opening the store can tell what this means."""


def glance(url: str) -> Glance | None:
    """Rows and events of the folder that a URL names; None where only opening it can tell."""
    folder = url.partition(":")[2]
    if not folder or folder.startswith("//") or "?" in folder or "%" in folder:
        return None
    try:
        lock = os.open(os.path.join(folder, LOCK), os.O_RDONLY)
    except OSError:
        return None
    try:
        # Shared: several may look at once, and nobody can begin to write while somebody looks.
        lock_shared(lock)
        return _look(folder)
    except (OSError, ValueError, LookupError, TypeError, RecursionError, Unclear):
        return None
    finally:
        os.close(lock)


def _look(folder: str) -> Glance:
    if os.path.exists(os.path.join(folder, REPAIR)):
        raise Unclear
    log = _read(os.path.join(folder, LOG))
    path = os.path.join(folder, SNAPSHOT)
    if not os.path.exists(path):
        return Glance({}, list(_events(log, 0, 0)))
    return _from_snapshot(_read(path), log)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Unclear
    return data


def _from_snapshot(data: bytes, log: bytes) -> Glance:
    """The rows of a snapshot, and the events behind it when it belongs to the log."""
    if not is_whole(data):
        raise Unclear
    found = loads(data.decode())
    crc, offset = found["lastCrc"], found["walOffset"]
    if found["format"] != FORMAT or not found["sealed"] or not log[:offset].endswith(b',"crc":"%s"}\n' % crc.encode()):
        raise Unclear
    rows = {"nodes": found["nodes"], "edges": found["edges"], **found["tables"]}
    return Glance(rows, list(_events(log[offset:], found["lastSeq"], int(crc, 16))))


def _events(log: bytes, position: int, crc: int) -> Iterator[dict[str, Any]]:
    """The events of a stretch of the log that follows this position and checksum."""
    *lines, rest = log.split(b"\n")
    if rest:
        raise Unclear  # a write that was cut off, or a log from elsewhere
    batch, left = None, 0
    for text in lines:
        line = text + b"\n"
        crc = chained(line, crc)
        if not has_seal(line) or not is_sealed(line, crc):
            raise Unclear
        event, position = loads(text.decode()), position + 1
        if event["seq"] != position:
            raise Unclear
        batch, left = _in_batch(event.get("tx"), batch, left)
        yield event
    if left:
        raise Unclear


def _in_batch(tx: dict[str, Any] | None, batch: str | None, left: int) -> tuple[str | None, int]:
    """The batch that is open behind an event, and how many of its events are still to come."""
    if left == 0:
        if tx is None:
            return None, 0
        batch, left = tx["id"], tx["size"]
    if tx is None or tx["id"] != batch or tx["index"] != tx["size"] - left:
        raise Unclear
    return batch, left - 1
