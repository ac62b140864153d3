"""Access to parts of values: properties, elements, slices, map projections."""

from __future__ import annotations

from typing import Any

from ugs.cypher.engine.run import Row
from ugs.cypher.engine.slots import Fn
from ugs.cypher.errors import CypherTypeError
from ugs.cypher.functions.lists import element_at
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.temporal.components import field_of
from ugs.cypher.values.entities import Node, Relationship
from ugs.cypher.values.point import Point
from ugs.cypher.values.point import field_of as point_field
from ugs.cypher.values.type_names import kind_name


def get_property(subject: Any, key: str) -> Any:
    """`subject.key`."""
    if subject is None:
        return None
    if isinstance(subject, dict):
        return subject.get(key)
    if isinstance(subject, Node | Relationship):
        return subject.value(key)
    if isinstance(subject, Temporal | Duration):
        return field_of(subject, key)
    if isinstance(subject, Point):
        return point_field(subject, key)
    raise CypherTypeError("InvalidArgumentType", f"{kind_name(subject)} has no properties")


def get_index(subject: Any, index: Any) -> Any:
    """`subject[index]`: an element of a list, or a property by a computed name."""
    if subject is None:
        return None
    if isinstance(subject, list):
        return element_at(subject, index)
    if not isinstance(subject, dict | Node | Relationship):
        raise CypherTypeError("InvalidArgumentType", f"{kind_name(subject)} cannot be indexed")
    if index is None:
        return None
    if not isinstance(index, str):
        raise CypherTypeError("MapElementAccessByNonString", f"A key is a string, not {kind_name(index)}")
    return get_property(subject, index)


def get_slice(subject: Any, start: Any, end: Any) -> Any:
    """`subject[start..end]`."""
    if subject is None or start is None or end is None:
        return None
    if not isinstance(subject, list) or type(start) is not int or type(end) is not int:
        raise CypherTypeError("InvalidArgumentType", "A slice is cut from a list, between two integers")
    return subject[start:end]


def project_map(subject: Any, everything: bool, entries: list[tuple[str, Fn | None]], row: Row) -> Any:
    """`subject {.*, .key, name: value}`."""
    if subject is None:
        return None
    found: dict[str, Any] = {}
    if everything:
        found.update(subject if isinstance(subject, dict) else subject.properties)
    for key, value in entries:
        found[key] = get_property(subject, key) if value is None else value(row)
    return found
