"""The memory store: everything in Python structures, made durable by a log file and snapshots.

`memory:` keeps nothing; `file:./data` (or `memory:./data`) keeps `events.wal` and `snapshot.json` in a folder.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to load than a glance takes
if TYPE_CHECKING:
    from typing import Any

    from backends.memory.settings import Settings
    from backends.memory.storage import FileStorage, MemoryStorage
    from ugs.glances import Glance

__all__ = ["FileStorage", "MemoryStorage", "Settings", "glance", "open_memory"]

_HOMES = {
    "FileStorage": "backends.memory.storage",
    "MemoryStorage": "backends.memory.storage",
    "Settings": "backends.memory.settings",
}


def open_memory(url: str) -> MemoryStorage:
    """A memory store for the URL, not opened yet."""
    from backends.memory.settings import settings_from
    from backends.memory.storage import FileStorage, MemoryStorage

    settings = settings_from(url)
    return MemoryStorage(settings) if settings.folder is None else FileStorage(settings)


def glance(url: str) -> Glance | None:
    """What a small folder holds, read without opening it; None where only opening can tell."""
    from backends.memory.glancing import glance

    return glance(url)


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that a glance costs little."""
    if name not in _HOMES:
        raise AttributeError(f"module 'backends.memory' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
