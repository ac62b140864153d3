"""Functions on points."""

from __future__ import annotations

from typing import Any

from ugs.cypher.functions.registry import function, wrong_type
from ugs.cypher.values.entities import Node, Relationship
from ugs.cypher.values.point import Point, build_point, distance, is_within


@function("point", "map|node|relationship", "point")
def point(value: Any) -> Point | None:
    if isinstance(value, Node | Relationship):
        return build_point(value.properties)
    if isinstance(value, dict):
        return build_point(value)
    raise wrong_type("point", value)


@function("point.distance", "any, any", "float")
def point_distance(one: Any, other: Any) -> float | None:
    """Null where one is no point, as in Neo4j."""
    return distance(one, other) if isinstance(one, Point) and isinstance(other, Point) else None


@function("point.withinBBox", "any, any, any", "boolean")
def within_box(value: Any, lower_left: Any, upper_right: Any) -> bool | None:
    found = [one for one in (value, lower_left, upper_right) if isinstance(one, Point)]
    return is_within(*found) if len(found) == 3 else None
