"""From one kind to another. Text that cannot be read gives null; a kind that cannot be converted is an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from ugs.cypher.errors import CypherError, CypherTypeError
from ugs.cypher.functions.registry import function, wrong_type
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.values.arithmetic import text_of
from ugs.cypher.values.point import Point
from ugs.cypher.values.value_types import value_type
from ugs.values import MAX_INT, MIN_INT

NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity", "+Infinity"})
WORDS = {"true": True, "false": False}


@function("toBoolean", result="boolean")
def to_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return WORDS.get(value.strip().lower())
    if isinstance(value, int):
        return value != 0
    raise wrong_type("toBoolean", value)


@function("toInteger", result="integer")
def to_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    number = value if isinstance(value, float) else _parse_number(value, "toInteger")
    if isinstance(number, float) and not math.isfinite(number):
        return None
    whole = None if number is None else int(number)
    return whole if whole is not None and MIN_INT <= whole <= MAX_INT else None


@function("toFloat", result="float")
def to_float(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value.strip() in NOT_FINITE:
        return float(value)
    return None if _parse_number(value, "toFloat") is None else float(value)


def _parse_number(value: Any, name: str) -> int | float | None:
    if not isinstance(value, str):
        raise wrong_type(name, value)
    if not NUMBER.fullmatch(value) or len(value) > 400:
        return None
    return int(value) if value.strip().lstrip("+-").isdigit() else float(value)


@function("toString", result="string")
def to_string(value: Any) -> str:
    if isinstance(value, str | bool | int | float | Temporal | Duration | Point):
        return text_of(value)
    raise wrong_type("toString", value)


def _convert_or_null(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def converted(value: Any) -> Any:
        try:
            return convert(value)
        except CypherError:
            return None

    return converted


def _convert_list(name: str, convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    convert_or_null = _convert_or_null(convert)

    def converted(values: Any) -> list[Any]:
        if not isinstance(values, list):
            raise wrong_type(name, values)
        return [None if value is None else convert_or_null(value) for value in values]

    return converted


CONVERSIONS = {"Boolean": to_boolean, "Integer": to_integer, "Float": to_float, "String": to_string}
for _kind, _convert in CONVERSIONS.items():
    function(f"to{_kind}OrNull", result=_kind.lower())(_convert_or_null(_convert))
    function(f"to{_kind}List", "list", f"list<{_kind.lower()}>")(_convert_list(f"to{_kind}List", _convert))


@function("valueType", "any", "string", strict=False)
def value_type_of(value: Any) -> str:
    return value_type(value)


@function("coalesce", many=True, strict=False)
def coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


@function("nullIf", "any, any", strict=False)
def null_if(left: Any, right: Any) -> Any:
    from ugs.cypher.values.comparison import equals

    return None if equals(left, right) else left


@function("exists", "any", "boolean", strict=False)
def exists(value: Any) -> bool:
    return value is not None


@function("isEmpty", "string|list|map", "boolean")
def is_empty(value: Any) -> bool:
    if isinstance(value, str | list | dict):
        return not value
    raise CypherTypeError("InvalidArgumentValue", "isEmpty() takes a string, a list or a map")
