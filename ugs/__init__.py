"""UGS: an event-sourced graph with one kernel and many stores.

These are the names a third party may use; everything else may change between versions.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to load than a small command to run
if TYPE_CHECKING:
    from typing import Any

    from ugs.errors import UgsError
    from ugs.graph.api import Graph
    from ugs.log.at import At
    from ugs.storage import Capabilities, EventQuery, Session, Storage
    from ugs.system import System, copy

__version__ = "0.1.0"

_HOMES = {
    "At": "ugs.log.at",
    "Capabilities": "ugs.storage",
    "EventQuery": "ugs.storage",
    "Graph": "ugs.graph.api",
    "Session": "ugs.storage",
    "Storage": "ugs.storage",
    "System": "ugs.system",
    "UgsError": "ugs.errors",
    "copy": "ugs.system",
}

__all__ = [
    "At",
    "Capabilities",
    "EventQuery",
    "Graph",
    "Session",
    "Storage",
    "System",
    "UgsError",
    "__version__",
    "copy",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing `ugs` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ugs' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
