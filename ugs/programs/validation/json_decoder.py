"""From JSON to the syntax tree: the first validation layer, which ends validation when it fails."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UnsetType

from ugs.errors import InvalidJSON
from ugs.programs.ast import ApiOp, GraphProgram, paths_in
from ugs.programs.validation.result import ValidationIssue, error, result_of, warning, with_place
from ugs.support.shape_errors import describe_shape_error
from ugs.values import MAX_INT, MIN_INT, check_value

PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`$")
MISSING = re.compile(r"missing required field `(?P<name>[^`]*)`")


def decode(raw: object, lenient: bool = False) -> tuple[GraphProgram | None, list[ValidationIssue]]:
    """The program, or the issues that prevent decoding; a lenient decoder only warns if `params` is missing."""
    if not isinstance(raw, Mapping):
        return None, [error("V000", "Program must be a JSON object")]
    try:
        check_value(raw, "program")
        program = msgspec.convert(_with_whole_numbers(raw), GraphProgram)
    except InvalidJSON as failure:
        return None, [error("V000", f"Program cannot be kept: {failure.message}")]
    except msgspec.ValidationError as failure:
        return None, [_to_issue(failure), *_numbered_faults(raw)]
    issues = list(_beyond_types(program, lenient))
    return (program if result_of(issues).valid else None), issues


def _with_whole_numbers(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The same program with floats such as `1.0` as integers, which JSON Schema treats as equal."""
    return {
        **raw,
        **({"version": _whole(raw["version"])} if "version" in raw else {}),
        **({"statements": _whole_limits(raw["statements"])} if "statements" in raw else {}),
    }


def _whole_limits(statements: object) -> object:
    if not isinstance(statements, list):
        return statements
    return [_whole_limit(one) for one in statements]


def _whole_limit(statement: object) -> object:
    operation = statement.get("operation") if isinstance(statement, Mapping) else None
    if not isinstance(statement, Mapping) or not isinstance(operation, Mapping):
        return statement
    changed = {name: _whole_limits(operation[name]) for name in ("then", "else") if name in operation}
    if "limit" in operation:
        changed["limit"] = _whole(operation["limit"])
    return {**statement, "operation": {**operation, **changed}} if changed else statement


def _whole(number: object) -> object:
    """An integer for a float without a fraction, within the range that stores can hold."""
    if isinstance(number, float) and number.is_integer():
        return max(MIN_INT, min(MAX_INT, int(number)))
    return number


def _to_issue(failure: msgspec.ValidationError) -> ValidationIssue:
    message = str(failure)
    place = PLACE.search(message)
    path = "" if place is None else place["path"]
    missing = MISSING.search(message)
    steps = [*re.findall(r"[\w-]+|\.\.\.", path), *([] if missing is None else [missing["name"]])]
    return error("V000", describe_shape_error(failure), field=".".join(steps) or None)


def _numbered_faults(raw: Mapping[str, Any]) -> Iterator[ValidationIssue]:
    """The three faults that have rule numbers of their own beside V000 (C-73)."""
    version, statements = raw.get("version"), raw.get("statements")
    if isinstance(version, int | float) and not isinstance(version, bool) and version != 1:
        yield error("V001", f"Program version must be 1, got {version}", field="version")
    if statements == []:
        yield error("V002", "Program must contain at least one statement", field="statements")
    if isinstance(statements, list):
        for index, statement in enumerate(statements):
            for path in _empty_thens(statement, str(index)):
                message = "Conditional must have at least one statement in then"
                yield with_place(error("V005", message, field="operation.then"), path)


def _empty_thens(statement: object, path: str) -> Iterator[str]:
    """The paths of conditionals whose `then` branch is empty."""
    operation = statement.get("operation") if isinstance(statement, Mapping) else None
    if not isinstance(operation, Mapping) or operation.get("type") != "conditional":
        return
    if operation.get("then") == []:
        yield path
    for name in ("then", "else"):
        branch = operation.get(name)
        for index, nested in enumerate(branch if isinstance(branch, list) else ()):
            yield from _empty_thens(nested, f"{path}.{name}.{index}")


def _beyond_types(program: GraphProgram, lenient: bool) -> Iterator[ValidationIssue]:
    """Checks that the types cannot express."""
    created = None if isinstance(program.metadata, UnsetType) else program.metadata.created
    if created is not None and not _is_instant(created):
        message = f"metadata.created must be an ISO 8601 timestamp, got {created[:40]!r}"
        yield error("V000", message, field="metadata.created")
    told = warning if lenient else error
    for path, statement in paths_in(program.statements):
        if isinstance(statement.operation, ApiOp) and isinstance(statement.operation.params, UnsetType):
            issue = told("V000", "An api operation needs params, if only {}", field="operation.params")
            yield with_place(issue, path)


def _is_instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
