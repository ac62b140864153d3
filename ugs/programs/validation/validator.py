"""Validation in layers, cheapest first, without a store. Structural and safety issues are always reported together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ugs.programs.ast import ApiOp, CypherOp, GraphProgram, ParamDeclaration, Statement, paths_in
from ugs.programs.endpoints import ENDPOINTS
from ugs.programs.validation.json_decoder import decode
from ugs.programs.validation.limits import BOUNDS, Bounds, nesting_depth, operation_count
from ugs.programs.validation.parameters import (
    W_IDS,
    check_declarations,
    is_of_kind,
    kind_name,
    reference_in,
    references_in,
    undeclared_names,
)
from ugs.programs.validation.query_safety import check_query
from ugs.programs.validation.result import ValidationIssue, ValidationResult, error, result_of, warning, with_place
from ugs.support.worker_threads import take_turn


def validate(raw: object, bounds: Bounds = BOUNDS) -> ValidationResult:
    """All issues of a program given as JSON."""
    return decode_and_validate(raw, bounds)[1]


def decode_and_validate(raw: object, bounds: Bounds = BOUNDS) -> tuple[GraphProgram | None, ValidationResult]:
    """The program if it is valid, and all its issues."""
    program, issues = decode(raw, bounds.lenient_api_params)
    if program is None:
        return None, result_of(issues)
    result = result_of([*issues, *issues_of(program, bounds)])
    return (program if result.valid else None), result


def issues_of(program: GraphProgram, bounds: Bounds = BOUNDS) -> Iterator[ValidationIssue]:
    """The issues of a program that has been decoded."""
    yield from check_declarations(program.declared)
    yield from _check_size(program.statements, bounds)
    # Of a program with too many statements, which is refused anyway, only the first ones are looked at.
    most = None if operation_count(program.statements) <= bounds.operations else bounds.operations
    for path, statement in islice(paths_in(program.statements), most):
        take_turn()
        for issue in _check_statement(statement, 0, program.declared, bounds):
            yield with_place(issue, path)


def _check_size(statements: Sequence[Statement], bounds: Bounds) -> Iterator[ValidationIssue]:
    count, depth = operation_count(statements), nesting_depth(statements)
    if count > bounds.operations:
        message = f"Program exceeds maximum operation count ({count} > {bounds.operations})"
        yield error("V006", message, field="statements")
    if depth > bounds.depth:
        message = f"Conditional nesting exceeds maximum depth ({depth} > {bounds.depth})"
        yield error("V007", message, field="statements")


def _check_statement(
    statement: Statement, index: int, declared: Sequence[ParamDeclaration], bounds: Bounds
) -> Iterator[ValidationIssue]:
    operation = statement.operation
    if isinstance(operation, CypherOp):
        yield from _check_cypher(operation, index, declared, bounds)
    elif isinstance(operation, ApiOp):
        yield from _check_api(operation, index, declared)


def _check_cypher(
    operation: CypherOp, index: int, declared: Sequence[ParamDeclaration], bounds: Bounds
) -> Iterator[ValidationIssue]:
    found = check_query(operation.query, bounds.path)
    for fault in found.faults:
        yield error(fault.rule, fault.message, index, "operation.query")
    for name in undeclared_names(found.parameters, declared):
        yield error("V040", f"Unresolved parameter: ${name}", index, "operation.query")


def _check_api(operation: ApiOp, index: int, declared: Sequence[ParamDeclaration]) -> Iterator[ValidationIssue]:
    if operation.endpoint not in ENDPOINTS:
        message = f"Endpoint not in allowlist: {operation.endpoint[:200]}. Known: {', '.join(ENDPOINTS)}"
        yield error("V020", message, index, "operation.endpoint")
        return
    for name in undeclared_names(references_in(operation.params_or_empty), declared):
        yield error("V040", f"Unresolved parameter: ${name}", index, "operation.params")
    kinds = {W_IDS: "list", **{one.name: one.type for one in declared}}
    yield from check_params(operation.endpoint, operation.params_or_empty, index, kinds)


def check_params(
    path: str, given: Mapping[str, Any], index: int, declared: Mapping[str, str] | None = None
) -> Iterator[ValidationIssue]:
    """Check an endpoint's parameters: required ones present, none unknown, each of its type."""
    endpoint = ENDPOINTS[path]
    for name in endpoint.required:
        if name not in given:
            yield error("V021", f"Required parameter missing: {name}", index, f"operation.params.{name}")
    for name, value in given.items():
        field = f"operation.params.{name}"
        if name not in endpoint.takes:
            yield warning("V022", f"Unknown parameter: {name}", index, field)
        elif (got := _actual_kind(value, endpoint.takes[name], declared or {})) is not None:
            message = f"Parameter {name} must be {kind_name(endpoint.takes[name])}, got {got}"
            yield error("V023", message, index, field)


def _actual_kind(value: object, kind: str, declared: Mapping[str, str]) -> str | None:
    """The actual kind of a value that is not of the expected kind, else None; a reference has its declared type."""
    given = declared.get(reference_in(value) or "")
    if given is not None:
        return None if given in POSSIBLE[kind] else given
    return None if is_of_kind(value, kind) else type(value).__name__


POSSIBLE = {"str": {"string"}, "int": {"number"}, "number": {"number"}, "bool": set(), "list": {"list"}}
"""The declared types that may have a value of a kind; whether a number is whole is only known at run time."""
