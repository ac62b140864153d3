"""The four relations between values, kept apart: equality, comparability, orderability and equivalence.

Equality (`=`) and comparability (`<`) are three-valued: None is "unknown". Orderability (ORDER BY, min, max) is total.
Equivalence (DISTINCT, grouping, UNION) is given by `identity`, a hashable stand-in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ugs.cypher.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time
from ugs.cypher.values.entities import Node, Path, Relationship
from ugs.cypher.values.point import Point

Ternary = bool | None
NUMBERS = (int, float)
MOMENTS = (Date, LocalTime, Time, LocalDateTime, DateTime)


def equals(left: Any, right: Any) -> Ternary:
    """`left = right`: unknown where nulls decide, false between kinds."""
    if left is None or right is None:
        return None
    kind, other = type(left), type(right)
    if kind is other:
        deep = DEEP.get(kind)
        return bool(left == right) if deep is None else deep(left, right)
    if kind in NUMBERS and other in NUMBERS:
        return bool(left == right)
    return False


def _equal_lists(left: list[Any], right: list[Any]) -> Ternary:
    if len(left) != len(right):
        return False
    answer: Ternary = True
    for mine, theirs in zip(left, right, strict=True):
        same = equals(mine, theirs)
        if same is False:
            return False
        answer = None if same is None else answer
    return answer


def _equal_maps(left: dict[str, Any], right: dict[str, Any]) -> Ternary:
    if left.keys() != right.keys():
        return False
    return _equal_lists(list(left.values()), [right[key] for key in left])


DEEP: dict[type, Callable[[Any, Any], Ternary]] = {list: _equal_lists, dict: _equal_maps}


def compare(left: Any, right: Any) -> int | None:
    """-1, 0 or 1 where `<` has an answer, None where it is unknown. NaN is handled by `less`."""
    kind, other = type(left), type(right)
    if kind in NUMBERS and other in NUMBERS:
        return int(left > right) - int(left < right)
    if kind is not other:
        return None
    if kind in (str, bool):
        return int(left > right) - int(left < right)
    if kind is list:
        return _compare_lists(left, right)
    if kind in MOMENTS:
        return int(left.place > right.place) - int(left.place < right.place)
    return 0 if kind is Point and left == right else None


def _compare_lists(left: list[Any], right: list[Any]) -> int | None:
    for mine, theirs in zip(left, right, strict=False):
        order = compare(mine, theirs)
        if order != 0:
            return order
    return int(len(left) > len(right)) - int(len(left) < len(right))


def _is_nan(value: Any) -> bool:
    return type(value) is float and value != value


def build_ordering(op: str) -> Callable[[Any, Any], Ternary]:
    """The function behind `<`, `<=`, `>` or `>=`."""
    wanted = ORDERINGS[op]

    def test(left: Any, right: Any) -> Ternary:
        if (_is_nan(left) and type(right) in NUMBERS) or (_is_nan(right) and type(left) in NUMBERS):
            return False
        order = compare(left, right)
        if order == 0 and type(left) is Point:  # a point is neither less nor greater than itself, but unordered
            return True if 0 in wanted else None
        return None if order is None else order in wanted

    return test


def not_equals(left: Any, right: Any) -> Ternary:
    same = equals(left, right)
    return None if same is None else not same


ORDERINGS = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}
COMPARISONS: dict[str, Callable[[Any, Any], Ternary]] = {
    "=": equals,
    "<>": not_equals,
    **{op: build_ordering(op) for op in ORDERINGS},
}


def sort_key(value: Any) -> tuple[Any, ...]:
    """A key that puts all values in one order: maps first, numbers near the end, null last."""
    return RANKS[type(value)](value)


def _number_key(value: int | float) -> tuple[Any, ...]:
    return (14, 1, 0) if value != value else (14, 0, value)


RANKS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    dict: lambda v: (0, len(v), tuple(sorted(v)), tuple(sort_key(v[key]) for key in sorted(v))),
    Node: lambda v: (1, v.id),
    Relationship: lambda v: (2, v.id),
    list: lambda v: (3, tuple(sort_key(item) for item in v)),
    Path: lambda v: (4, tuple(sort_key(element) for element in v.elements)),
    Point: lambda v: (5, v.place),
    DateTime: lambda v: (6, v.place),
    LocalDateTime: lambda v: (7, v.place),
    Date: lambda v: (8, v.place),
    Time: lambda v: (9, v.place),
    LocalTime: lambda v: (10, v.place),
    Duration: lambda v: (11, v.length),
    str: lambda v: (12, v),
    bool: lambda v: (13, v),
    int: _number_key,
    float: _number_key,
    type(None): lambda v: (15,),
}


def identity(value: Any) -> Hashable:
    """A stand-in that is equal exactly when two values are equivalent."""
    kind = type(value)
    if kind is str or kind is int:
        return value  # type: ignore[no-any-return]
    special = IDENTITIES.get(kind)
    return value if special is None else special(value)


IDENTITIES: dict[type, Callable[[Any], Hashable]] = {
    bool: lambda v: ("boolean", v),
    float: lambda v: ("nan",) if v != v else v,
    list: lambda v: ("list", tuple(identity(item) for item in v)),
    dict: lambda v: ("map", frozenset((key, identity(item)) for key, item in v.items())),
}


def contains(item: Any, values: list[Any]) -> Ternary:
    """`item IN values`: true when found, else unknown when a null could have been it."""
    unknown = False
    for value in values:
        same = equals(item, value)
        if same:
            return True
        unknown = unknown or same is None
    return None if unknown else False
