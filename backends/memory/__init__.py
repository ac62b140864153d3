"""The memory store: everything in Python structures, made durable by a log file and snapshots.

`memory:` keeps nothing; `file:./data` (or `memory:./data`) keeps `events.wal` and `snapshot.json` in a folder.
"""

from __future__ import annotations

from backends.memory.settings import Settings, settings_from
from backends.memory.storage import FileStorage, MemoryStorage

__all__ = ["FileStorage", "MemoryStorage", "Settings", "open_memory"]


def open_memory(url: str) -> MemoryStorage:
    """A memory store for the URL, not opened yet."""
    settings = settings_from(url)
    return MemoryStorage(settings) if settings.folder is None else FileStorage(settings)
