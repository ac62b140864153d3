"""NodeProperties: a node's properties as seed 003 shows them, beside the properties the kernel keeps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ugs.clock import iso
from ugs.errors import InvalidSyntax

READ_ONLY_PROPERTIES = ("id", "type", "createdAt")
"""What no update changes."""


def node_properties(id: str, type: str | None, properties: Mapping[str, Any], created: int | None) -> dict[str, Any]:
    """Everything a node says about itself: its identity, when it came to be, and its own fields."""
    since = {} if created is None else {"createdAt": iso(created)}
    return {**since, **properties, "id": id, "type": type}


def kernel_properties(id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The properties to keep for a node; id and type have their own place."""
    if given.get("id", id) != id:
        raise InvalidSyntax(f"the properties name {given['id']!r}, but the node is {id!r}", id=id)
    return {key: _plain(value) for key, value in given.items() if key not in ("id", "type")}


def _plain(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    return iso(round((value if value.tzinfo else value.astimezone()).timestamp() * 1_000))
