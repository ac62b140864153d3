"""Validation results: issues with a rule number, a place and a message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

RULES = {
    "V000": "not a program: a field is missing or of the wrong type",
    "V001": "the version is not 1",
    "V002": "no statements",
    "V003": "reserved",
    "V004": "a parameter name is declared twice",
    "V005": "a conditional without statements in then",
    "V006": "too many operations",
    "V007": "conditionals nest too deep",
    "V010": "CREATE in a query",
    "V011": "SET in a query",
    "V012": "DELETE in a query",
    "V013": "MERGE in a query",
    "V014": "REMOVE in a query",
    "V015": "DROP in a query",
    "V016": "DETACH in a query",
    "V017": "a procedure call in a query",
    "V018": "LOAD CSV or FOREACH in a query",
    "V020": "the endpoint is not in the allowlist",
    "V021": "a required parameter is missing",
    "V022": "an unknown parameter (warning)",
    "V023": "a parameter of the wrong type",
    "V030": "a variable-length path without an upper bound, or with too great a one",
    "V031": "the query cannot be read, or is not MATCH … RETURN",
    "V040": "a $name that nothing resolves",
    "V041": "a value or default that does not fit its declared type",
    "V042": "a reserved parameter name",
}


class ValidationIssue(Struct, frozen=True, omit_defaults=True):
    """One issue."""

    rule_id: str
    severity: Literal["error", "warning"]
    message: str
    statement: int | None = None
    """The top-level statement, counted from 0; absent for the program as a whole."""
    field: str | None = None
    path: str | None = None
    """Where a statement inside a branch stands, such as `2.then.0`, as in the log of a run."""


class ValidationResult(Struct, frozen=True):
    """All issues; warnings do not prevent execution."""

    valid: bool
    errors: list[ValidationIssue] = field(default_factory=list)
    warnings: list[ValidationIssue] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def error(rule: str, message: str, statement: int | None = None, field: str | None = None) -> ValidationIssue:
    return ValidationIssue(rule, "error", message, statement, field)


def warning(rule: str, message: str, statement: int | None = None, field: str | None = None) -> ValidationIssue:
    return ValidationIssue(rule, "warning", message, statement, field)


def with_place(issue: ValidationIssue, path: str) -> ValidationIssue:
    """The issue with the place of its statement: the index of the top-level one, and the path inside a branch."""
    top, dot, _ = path.partition(".")
    return msgspec.structs.replace(issue, statement=int(top), path=path if dot else None)


def result_of(issues: Iterable[ValidationIssue]) -> ValidationResult:
    """Issues separated into errors and warnings."""
    found = list(issues)
    errors = [issue for issue in found if issue.severity == "error"]
    return ValidationResult(not errors, errors, [issue for issue in found if issue.severity == "warning"])
