"""The memory store: tables in Python structures, made durable by a write-ahead log and snapshots.

`memory:` has no persistence; `file:./data` (or `memory:./data`) stores `events.wal` and `snapshot.json` in a folder.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ugs_backends.memory.settings import Settings
    from ugs_backends.memory.storage import FileStorage, MemoryStorage

__all__ = ["FileStorage", "MemoryStorage", "Settings", "open_memory"]

_HOMES = {
    "FileStorage": "ugs_backends.memory.storage",
    "MemoryStorage": "ugs_backends.memory.storage",
    "Settings": "ugs_backends.memory.settings",
}


def open_memory(url: str) -> MemoryStorage:
    """Create the store of a URL, without opening it."""
    from ugs_backends.memory.settings import parse_settings
    from ugs_backends.memory.storage import FileStorage, MemoryStorage

    settings = parse_settings(url)
    return MemoryStorage(settings) if settings.folder is None else FileStorage(settings)


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ugs_backends.memory' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
