"""Functions on lists, and on what has a length."""

from __future__ import annotations

from typing import Any

from ugs.cypher.errors import CypherArgumentError, CypherTypeError
from ugs.cypher.functions.registry import function, wrong_type
from ugs.cypher.values.arithmetic import MAX_LIST
from ugs.cypher.values.entities import Path
from ugs.cypher.values.type_names import kind_name
from ugs.errors import LimitExceeded

NUMBER_BYTES = 40
"""What an element of a new list of numbers takes."""


def _list(name: str, value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise wrong_type(name, value)


@function("size", "string|list|map", "integer")
def size(value: Any) -> int:
    if isinstance(value, str | list | dict):
        return len(value)
    raise wrong_type("size", value)


@function("length", "path", "integer")
def length(value: Any) -> int:
    if isinstance(value, Path):
        return len(value)
    raise wrong_type("length", value)


@function("head", "list")
def head(value: Any) -> Any:
    items = _list("head", value)
    return items[0] if items else None


@function("last", "list")
def last(value: Any) -> Any:
    items = _list("last", value)
    return items[-1] if items else None


@function("tail", "list", "list")
def tail(value: Any) -> list[Any]:
    return _list("tail", value)[1:]


@function("reverse", "string|list")
def reverse(value: Any) -> Any:
    if isinstance(value, str | list):
        return value[::-1]
    raise wrong_type("reverse", value)


@function("range", "any, any, any", "list<integer>", min_arguments=2, live=True)
def integers(run: Any, start: Any, end: Any, step: Any = 1) -> list[int]:
    for value in (start, end, step):
        if type(value) is not int:
            raise CypherArgumentError("InvalidArgumentType", f"range() takes whole numbers, not {kind_name(value)}")
    if step == 0:
        raise CypherArgumentError("NumberOutOfRange", "The step of range() cannot be 0")
    count = max((end - start) // step + 1, 0)
    if count > MAX_LIST:
        raise LimitExceeded(f"range() would make more than {MAX_LIST} elements", limit=MAX_LIST)
    run.require(count * NUMBER_BYTES)
    return list(range(start, end + (1 if step > 0 else -1), step))


def element_at(subject: list[Any], index: Any) -> Any:
    """`list[index]`: negative counts from the end, outside is null."""
    if index is None:
        return None
    if type(index) is not int:
        raise CypherTypeError("InvalidArgumentType", f"A list is indexed by an integer, not {kind_name(index)}")
    return subject[index] if -len(subject) <= index < len(subject) else None
