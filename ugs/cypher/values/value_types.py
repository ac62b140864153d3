"""The types of values: `valueType()` and `IS ::`."""

from __future__ import annotations

import re
from typing import Any

from ugs.cypher.syntax import ValueType
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.cypher.values.point import Point

TEMPORAL_TYPES = {
    "date": "DATE",
    "localtime": "LOCAL TIME",
    "time": "ZONED TIME",
    "localdatetime": "LOCAL DATETIME",
    "datetime": "ZONED DATETIME",
}
TYPES: dict[type, str] = {
    bool: "BOOLEAN",
    str: "STRING",
    int: "INTEGER",
    float: "FLOAT",
    Duration: "DURATION",
    Node: "NODE",
    Relationship: "RELATIONSHIP",
    dict: "MAP",
    list: "LIST",
    Path: "PATH",
    Point: "POINT",
}
ORDER = [*list(TYPES.values())[:4], *TEMPORAL_TYPES.values(), "DURATION", "POINT", "NODE", "RELATIONSHIP", "MAP"]
ORDER += ["LIST", "PATH"]
"""The order in which the types of list elements are shown."""
WORDS_BETWEEN = re.compile(r"[<>|]| NOT NULL")
PROPERTY_TYPES = frozenset({"BOOLEAN", "STRING", "INTEGER", "FLOAT", "DURATION", "POINT", *TEMPORAL_TYPES.values()})


def type_name(value: Any) -> str:
    """The name of a value's type, without its elements."""
    return TEMPORAL_TYPES[value.kind] if isinstance(value, Temporal) else TYPES[type(value)]


def value_type(value: Any) -> str:
    """The most precise type of a value, as `valueType()` shows it."""
    return "NULL" if value is None else f"{_describe(value)} NOT NULL"


def _describe(value: Any) -> str:
    if not isinstance(value, list):
        return type_name(value)
    if not value:
        return "LIST<NOTHING>"
    known = {_describe(item) for item in value if item is not None}
    if not known:
        return "LIST<NULL>"
    suffix = "" if any(item is None for item in value) else " NOT NULL"
    names = sorted(known, key=_rank)
    return f"LIST<{' | '.join(name + suffix for name in names)}>"


def _rank(name: str) -> list[int]:
    """The place of a type among others: lists by the types of their elements."""
    return [ORDER.index(part.strip()) for part in WORDS_BETWEEN.split(name) if part.strip() in ORDER]


def has_type(value: Any, expected: ValueType) -> bool:
    """`value IS :: TYPE`."""
    if expected.name == "NOTHING":
        return False
    if value is None and expected.not_null:
        return False
    if expected.options:
        return any(has_type(value, option) for option in expected.options)
    if value is None or expected.name == "ANY":
        return True
    if expected.name == "PROPERTY VALUE":
        return _can_be_stored(value)
    if expected.name == "LIST" and expected.item is not None:
        return isinstance(value, list) and all(has_type(item, expected.item) for item in value)
    return type_name(value) == expected.name


def _can_be_stored(value: Any) -> bool:
    """Whether a property may hold a value: a scalar, or a list of scalars of one type without null."""
    if not isinstance(value, list):
        return type_name(value) in PROPERTY_TYPES
    names = {"NULL" if item is None else type_name(item) for item in value}
    return len(names) <= 1 and names <= PROPERTY_TYPES
