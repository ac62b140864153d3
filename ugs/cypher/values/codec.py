"""Values as properties keep them: JSON; moments, durations, points are objects of one key, `{"@date": "2024-02-29"}`.

A list property `_labels` holds the labels a node has beside its type; it is not a property to queries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher.errors import CypherArgumentError, CypherError
from ugs.cypher.temporal.duration import Duration, parse_duration
from ugs.cypher.temporal.parser import parse_date, parse_datetime, parse_localdatetime, parse_localtime, parse_time
from ugs.cypher.temporal.types import Temporal
from ugs.cypher.values.point import Point, build_point
from ugs.values import from_text

LABELS = "_labels"
POINT = "@point"
READERS: dict[str, Callable[[str], Any]] = {
    "@date": parse_date,
    "@localtime": parse_localtime,
    "@time": parse_time,
    "@localdatetime": parse_localdatetime,
    "@datetime": parse_datetime,
    "@duration": parse_duration,
}


def stored_properties(text: str) -> dict[str, Any]:
    """The properties as they are stored."""
    if text == "{}":
        return {}
    stored: dict[str, Any] = from_text(text)
    return stored


def to_visible_properties(stored: dict[str, Any]) -> dict[str, Any]:
    """The properties a query sees. What is stored as null is as good as absent."""
    return {
        key: decode(value) if isinstance(value, dict | list) else value
        for key, value in stored.items()
        if value is not None and key != LABELS
    }


def decode(value: Any, strict: bool = False) -> Any:
    """A stored value as a query sees it; a strict reader refuses a moment that there is not, such as 31 February."""
    if isinstance(value, list):
        return [decode(item, strict) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((key, text),) = value.items()
        reader = _reader(key, text)
        if reader is not None:
            return reader(text) if strict else _read(reader, text, value)
    return {key: decode(item, strict) for key, item in value.items()}


def _reader(key: str, value: Any) -> Callable[[Any], Any] | None:
    """What reads the only entry of an object; None if it is an ordinary map."""
    if isinstance(value, str):
        return READERS.get(key)
    return _read_point if key == POINT and isinstance(value, dict) else None


def _read_point(parts: dict[str, Any]) -> Point:
    found = build_point(parts)
    if found is None:
        raise CypherArgumentError("InvalidArgumentValue", "A coordinate of a point cannot be null")
    return found


def _read(reader: Callable[[Any], Any], text: Any, whole: dict[str, Any]) -> Any:
    """What is no moment or point after all stays what it was: a query must not fail over a foreign property."""
    try:
        return reader(text)
    except CypherError:
        return whole


def encode(value: Any) -> Any:
    """A value of a query as properties keep it; nodes, relationships and paths cannot be kept."""
    if isinstance(value, Temporal):
        return {f"@{value.kind}": str(value)}
    if isinstance(value, Duration):
        return {"@duration": str(value)}
    if isinstance(value, Point):
        return {POINT: value.as_map()}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def stored_labels(text: str) -> tuple[str, ...]:
    """The labels beside the type."""
    if f'"{LABELS}"' not in text:
        return ()
    labels = from_text(text).get(LABELS)
    return tuple(label for label in labels if isinstance(label, str)) if isinstance(labels, list) else ()
