"""The function registry: name, number and types of arguments, type of the result, implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ugs.cypher.errors import CypherTypeError
from ugs.cypher.values.type_names import kind_name

Code = Callable[..., Any]


class Function(Struct, frozen=True):
    """One function. Strict ones answer null as soon as an argument is null, without being called."""

    name: str
    code: Code
    low: int
    high: int | None
    """Most arguments; None is any number."""
    accepts: tuple[frozenset[str], ...]
    """For each argument the static kinds it may have; empty is anything. The last one serves all further ones."""
    result: str
    strict: bool = True
    live: bool = False
    """The code also gets the running query as its first argument, for the graph and the clock."""


FUNCTIONS: dict[str, Function] = {}


def function(
    name: str,
    arguments: str = "any",
    result: str = "any",
    *,
    min_arguments: int | None = None,
    many: bool = False,
    strict: bool = True,
    live: bool = False,
) -> Callable[[Code], Code]:
    """Register a function; `arguments` lists accepted kinds, as in `"string, integer|float"`."""
    parts = [part.strip() for part in arguments.split(",") if part.strip()]
    accepts = tuple(frozenset() if part == "any" else frozenset(part.split("|")) for part in parts)

    def register(code: Code) -> Code:
        low = len(parts) if min_arguments is None else min_arguments
        FUNCTIONS[name.lower()] = Function(name, code, low, None if many else len(parts), accepts, result, strict, live)
        return code

    return register


def wrong_type(name: str, value: Any) -> CypherTypeError:
    """The error for a value that a function cannot use."""
    return CypherTypeError("InvalidArgumentValue", f"{name}() cannot use {kind_name(value)}")
