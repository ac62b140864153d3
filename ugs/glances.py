"""A glance at a store: its rows and last events as plain data, for whoever must answer before the kernel is loaded.

Loading the kernel takes many times as long as reading a small store. A backend may therefore offer `glance(url)` in the
module that its entry point names: it answers what it can tell at once and surely, checked as when it is opened, and
None in every other case (large, damaged, in use, from elsewhere, unusual options). Then the store is opened as always.
This module and what it leads to import next to nothing.
"""

from __future__ import annotations

import sys

from ugs.installed import declared_as

TYPE_CHECKING = False  # as in typing, which takes longer to load than everything here
if TYPE_CHECKING:
    from typing import Any

BACKENDS = "ugs.backends"


def backend_of(url: str) -> str:
    """The name that the scheme of a URL calls its backend by; what follows a `+` is the backend's business."""
    scheme, colon, _ = url.partition(":")
    return scheme.partition("+")[0] if colon else ""


class Glance:
    """Rows as of some moment, and what has happened since."""

    __slots__ = ("events", "rows")

    def __init__(self, rows: dict[str, list[dict[str, Any]]], events: list[dict[str, Any]]) -> None:
        self.rows = rows
        """By table, as a snapshot writes them."""
        self.events = events
        """In order, as the log writes them."""


def glance_at(url: str) -> Glance | None:
    """What the backend of a URL can tell at once."""
    entry = declared_as(BACKENDS, backend_of(url))
    if entry is None:
        return None
    module = entry.partition(":")[0]
    try:
        __import__(module)
    except ImportError:
        return None  # opening the store will say what is missing
    look = getattr(sys.modules[module], "glance", None)
    found: Glance | None = None if look is None else look(url)
    return found
