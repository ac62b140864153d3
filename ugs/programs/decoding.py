"""From JSON to the syntax tree: the first layer of validation, which stops the others when it fails."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UnsetType

from ugs.errors import InvalidJSON
from ugs.programs.ast import ApiOp, GraphProgram, statements_in
from ugs.programs.issues import ValidationIssue, error, result_of, warning
from ugs.values import check_value

PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`$")
MISSING = re.compile(r"missing required field `(?P<name>[^`]*)`")


def decode(raw: object, lenient: bool = False) -> tuple[GraphProgram | None, list[ValidationIssue]]:
    """The program, or what keeps the JSON from being one; a lenient decoder warns where `params` is left out."""
    if not isinstance(raw, Mapping):
        return None, [error("V000", "Program must be a JSON object")]
    try:
        check_value(raw, "program")
        program = msgspec.convert(raw, GraphProgram)
    except InvalidJSON as failure:
        return None, [error("V000", f"Program cannot be kept: {failure.message}")]
    except msgspec.ValidationError as failure:
        return None, [_explained(str(failure)), *_known_by_number(raw)]
    issues = list(_beyond_types(program, lenient))
    return (program if result_of(issues).valid else None), issues


def _explained(message: str) -> ValidationIssue:
    place = PLACE.search(message)
    path = "" if place is None else place["path"]
    missing = MISSING.search(message)
    steps = [*re.findall(r"[\w-]+|\.\.\.", path), *([] if missing is None else [missing["name"]])]
    return error("V000", PLACE.sub("", message), field=".".join(steps) or None)


def _known_by_number(raw: Mapping[str, Any]) -> Iterator[ValidationIssue]:
    """The three mistakes that have numbers of their own beside V000 (C-73)."""
    version, statements = raw.get("version"), raw.get("statements")
    if type(version) is int and version != 1:
        yield error("V001", f"Program version must be 1, got {version}", field="version")
    if statements == []:
        yield error("V002", "Program must contain at least one statement", field="statements")
    if isinstance(statements, list):
        for index, statement in enumerate(statements):
            if _has_empty_then(statement):
                message = "Conditional must have at least one statement in then"
                yield error("V005", message, index, "operation.then")


def _has_empty_then(statement: object) -> bool:
    operation = statement.get("operation") if isinstance(statement, Mapping) else None
    if not isinstance(operation, Mapping) or operation.get("type") != "conditional":
        return False
    then, otherwise = operation.get("then"), operation.get("else")
    if then == []:
        return True
    branches = [branch for branch in (then, otherwise) if isinstance(branch, list)]
    return any(_has_empty_then(nested) for branch in branches for nested in branch)


def _beyond_types(program: GraphProgram, lenient: bool) -> Iterator[ValidationIssue]:
    """What the types cannot say."""
    created = None if isinstance(program.metadata, UnsetType) else program.metadata.created
    if created is not None and not _is_instant(created):
        message = f"metadata.created must be an ISO 8601 timestamp, got {created[:40]!r}"
        yield error("V000", message, field="metadata.created")
    told = warning if lenient else error
    for statement in statements_in(program.statements):
        if isinstance(statement.operation, ApiOp) and isinstance(statement.operation.params, UnsetType):
            yield told("V000", "An api operation needs params, if only {}", field="operation.params")


def _is_instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
