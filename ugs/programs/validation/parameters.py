"""Parameters: declarations, the caller's values, and references `$name`.

In a query a parameter is bound, never written into the text. In an endpoint's parameters a value that is exactly
`"$name"` is replaced by the value with its type; `"$$name"` is the text `$name` (C-88). `$W_IDS` is in both places the
list of ids of the working graph when the statement runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ugs.errors import InvalidJSON
from ugs.programs.ast import GraphProgram, ParamDeclaration
from ugs.programs.validation.result import ValidationIssue, error
from ugs.values import check_value

W_IDS = "W_IDS"
REFERENCE = re.compile(r"\$([a-zA-Z_][a-zA-Z0-9_]*)")
KINDS: Mapping[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "number": (int, float),
    "bool": bool,
    "list": list,
    "string": str,
}
NUMERIC = frozenset({"int", "number"})
KIND_NAMES = {"number": "int/float"}


def is_of_kind(value: object, kind: str) -> bool:
    """Whether a value is of a kind; a boolean is no number."""
    if kind in NUMERIC and isinstance(value, bool):
        return False
    return isinstance(value, KINDS[kind])


def kind_name(kind: str) -> str:
    return KIND_NAMES.get(kind, kind)


def reference_in(value: object) -> str | None:
    """The parameter that a value of an endpoint's parameters refers to, or None."""
    found = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else found[1]


def literal(text: str) -> str:
    """A text escaped so that an endpoint's parameter has exactly this value."""
    return f"${text}" if text.startswith("$") and (text.startswith("$$") or reference_in(text)) else text


def check_declarations(declared: Sequence[ParamDeclaration]) -> Iterator[ValidationIssue]:
    """Declared names are unique and not reserved, and defaults have the declared type."""
    seen: set[str] = set()
    for one in declared:
        if one.name in seen:
            yield error("V004", f"Duplicate parameter name: {one.name}", field="params")
        seen.add(one.name)
        if one.name == W_IDS:
            yield error("V042", f"Reserved parameter name: {W_IDS} stands for the ids of W", field="params")
        if one.default is not None and not is_of_kind(one.default, one.type):
            yield _mismatch(one, one.default, "default ")


def check_values(declared: Sequence[ParamDeclaration], given: Mapping[str, Any]) -> Iterator[ValidationIssue]:
    """Every declared parameter has a value of its type, and every value belongs to a declaration."""
    for one in declared:
        value = given.get(one.name)
        if value is None and one.default is None:
            yield error("V040", f"Parameter ${one.name} has no value and no default", field=f"params.{one.name}")
        elif value is not None and not (is_of_kind(value, one.type) and _is_storable(value)):
            yield _mismatch(one, value, "")
    for name in sorted(given.keys() - {one.name for one in declared}):
        yield error("V040", f"Parameter {name} is not declared by the program", field=f"params.{name}")


def _is_storable(value: object) -> bool:
    """Whether every store can hold the value, and so compare with it."""
    try:
        check_value(value)
    except InvalidJSON:
        return False
    return True


def _mismatch(declared: ParamDeclaration, value: object, what: str) -> ValidationIssue:
    message = f"Parameter {declared.name}: {what}must be {declared.type}, got {type(value).__name__}"
    return error("V041", message, field=f"params.{declared.name}")


def undeclared_names(names: Iterable[str], declared: Sequence[ParamDeclaration]) -> list[str]:
    """The names without a declaration."""
    known = {W_IDS, *(one.name for one in declared)}
    return sorted(set(names) - known)


def resolve(program: GraphProgram, given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each declared parameter, fixed before the first statement runs."""
    return {one.name: one.default if given.get(one.name) is None else given[one.name] for one in program.declared}


def substitute(params: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Endpoint parameters with references replaced, also inside lists and objects."""
    return {name: _substitute_value(value, values) for name, value in params.items()}


def _substitute_value(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_substitute_value(item, values) for item in value]
    if isinstance(value, dict):
        return substitute(value, values)
    name = reference_in(value)
    if name is not None:
        return values[name]
    return value[1:] if isinstance(value, str) and value.startswith("$$") else value


def references_in(value: Any) -> Iterator[str]:
    """All parameters that a value refers to."""
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from references_in(item)
    elif (name := reference_in(value)) is not None:
        yield name
