"""From one kind to another. Text that cannot be read gives null; a kind that cannot be converted is an error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from ugs.cypher.errors import CypherError, CypherTypeError
from ugs.cypher.functions.registry import function, wrong
from ugs.cypher.temporal import Duration, Temporal
from ugs.cypher.values.arithmetic import text_of
from ugs.values import MAX_INT, MIN_INT

NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
WORDS = {"true": True, "false": False}


@function("toBoolean", result="boolean")
def to_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return WORDS.get(value.strip().lower())
    if isinstance(value, int):
        return value != 0
    raise wrong("toBoolean", value)


@function("toInteger", result="integer")
def to_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    number = value if isinstance(value, float) else _number_in(value, "toInteger")
    if isinstance(number, float) and not math.isfinite(number):
        return None
    whole = None if number is None else int(number)
    return whole if whole is not None and MIN_INT <= whole <= MAX_INT else None


@function("toFloat", result="float")
def to_float(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    number = _number_in(value, "toFloat")
    return None if number is None else float(number)


def _number_in(value: Any, name: str) -> int | float | None:
    if not isinstance(value, str):
        raise wrong(name, value)
    if not NUMBER.fullmatch(value) or len(value) > 400:
        return None
    return int(value) if value.strip().lstrip("+-").isdigit() else float(value)


@function("toString", result="string")
def to_string(value: Any) -> str:
    if isinstance(value, str | bool | int | float | Temporal | Duration):
        return text_of(value)
    raise wrong("toString", value)


def _or_null(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def converted(value: Any) -> Any:
        try:
            return convert(value)
        except CypherError:
            return None

    return converted


def _of_list(name: str, convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    gentle = _or_null(convert)

    def converted(values: Any) -> list[Any]:
        if not isinstance(values, list):
            raise wrong(name, values)
        return [None if value is None else gentle(value) for value in values]

    return converted


CONVERSIONS = {"Boolean": to_boolean, "Integer": to_integer, "Float": to_float, "String": to_string}
for _kind, _convert in CONVERSIONS.items():
    function(f"to{_kind}OrNull", result=_kind.lower())(_or_null(_convert))
    function(f"to{_kind}List", "list", f"list<{_kind.lower()}>")(_of_list(f"to{_kind}List", _convert))


@function("coalesce", many=True, strict=False)
def coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


@function("nullIf", "any, any", strict=False)
def null_if(left: Any, right: Any) -> Any:
    from ugs.cypher.values.comparing import equals

    return None if equals(left, right) else left


@function("exists", "any", "boolean", strict=False)
def exists(value: Any) -> bool:
    return value is not None


@function("isEmpty", "string|list|map", "boolean")
def is_empty(value: Any) -> bool:
    if isinstance(value, str | list | dict):
        return not value
    raise CypherTypeError("InvalidArgumentValue", "isEmpty() takes a string, a list or a map")
