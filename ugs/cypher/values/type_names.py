"""Names of value types in messages."""

from __future__ import annotations

from typing import Any

from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.cypher.values.point import Point

NAMES = {
    type(None): "null",
    bool: "a boolean",
    int: "an integer",
    float: "a float",
    str: "a string",
    list: "a list",
    dict: "a map",
    Node: "a node",
    Relationship: "a relationship",
    Path: "a path",
    Duration: "a duration",
    Point: "a point",
}


def kind_name(value: Any) -> str:
    """The type of a value with its article."""
    return f"a {value.kind}" if isinstance(value, Temporal) else NAMES.get(type(value), type(value).__name__)
