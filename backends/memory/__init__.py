"""The memory store: everything in Python structures, made durable by a log file and snapshots.

`memory:` keeps nothing; `file:./data` (or `memory:./data`) keeps `events.wal` and `snapshot.json` in a folder.
"""

from __future__ import annotations

from backends.memory.settings import Settings, settings_from
from backends.memory.storage import MemoryStorage

__all__ = ["MemoryStorage", "Settings", "open_memory"]


def open_memory(url: str) -> MemoryStorage:
    """A memory store for the URL, not opened yet."""
    return MemoryStorage(settings_from(url))
