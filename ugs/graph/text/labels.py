"""The display label of a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMING = ("label", "name", "title")
"""Properties that may hold the label, in order of preference."""


def label_of(id: str, properties: Mapping[str, Any]) -> str:
    """The label, name or title of a node, else its id."""
    names = (properties.get(key) for key in NAMING)
    return next((name for name in names if isinstance(name, str) and name), id)
