"""Validation: layer by layer, cheapest first, without a store. Structure and safety are both always told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ugs.programs.ast import ApiOp, CypherOp, GraphProgram, ParamDeclaration, Statement, statements_in
from ugs.programs.bounds import BOUNDS, Bounds, nesting_depth, operation_count
from ugs.programs.decoding import decode
from ugs.programs.endpoints import ENDPOINTS
from ugs.programs.issues import ValidationIssue, ValidationResult, error, result_of, warning
from ugs.programs.parameters import (
    W_IDS,
    check_declarations,
    fits,
    kind_shown,
    reference_in,
    references_in,
    unresolved,
)
from ugs.programs.safety import check_query


def validate(raw: object, bounds: Bounds = BOUNDS) -> ValidationResult:
    """All that is wrong with a program, given as JSON."""
    return checked(raw, bounds)[1]


def checked(raw: object, bounds: Bounds = BOUNDS) -> tuple[GraphProgram | None, ValidationResult]:
    """The program when it is valid, and everything there is to say about it."""
    program, issues = decode(raw, bounds.lenient_api_params)
    if program is None:
        return None, result_of(issues)
    result = result_of([*issues, *issues_of(program, bounds)])
    return (program if result.valid else None), result


def issues_of(program: GraphProgram, bounds: Bounds = BOUNDS) -> Iterator[ValidationIssue]:
    """What is wrong with a program that is one by its types."""
    yield from check_declarations(program.declared)
    yield from _check_size(program.statements, bounds)
    for index, top in enumerate(program.statements):
        for statement in statements_in([top]):
            yield from _check_statement(statement, index, program.declared, bounds)


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
    for name in unresolved(found.parameters, declared):
        yield error("V040", f"Unresolved parameter: ${name}", index, "operation.query")


def _check_api(operation: ApiOp, index: int, declared: Sequence[ParamDeclaration]) -> Iterator[ValidationIssue]:
    if operation.endpoint not in ENDPOINTS:
        message = f"Endpoint not in allowlist: {operation.endpoint[:200]}. Known: {', '.join(ENDPOINTS)}"
        yield error("V020", message, index, "operation.endpoint")
        return
    for name in unresolved(references_in(operation.given), declared):
        yield error("V040", f"Unresolved parameter: ${name}", index, "operation.params")
    kinds = {W_IDS: "list", **{one.name: one.type for one in declared}}
    yield from check_params(operation.endpoint, operation.given, index, kinds)


def check_params(
    path: str, given: Mapping[str, Any], index: int, declared: Mapping[str, str] | None = None
) -> Iterator[ValidationIssue]:
    """An endpoint's parameters: all that are required, none that is unknown, each of its type."""
    endpoint = ENDPOINTS[path]
    for name in endpoint.required:
        if name not in given:
            yield error("V021", f"Required parameter missing: {name}", index, f"operation.params.{name}")
    for name, value in given.items():
        field = f"operation.params.{name}"
        if name not in endpoint.takes:
            yield warning("V022", f"Unknown parameter: {name}", index, field)
        elif (got := _misfit(value, endpoint.takes[name], declared or {})) is not None:
            message = f"Parameter {name} must be {kind_shown(endpoint.takes[name])}, got {got}"
            yield error("V023", message, index, field)


def _misfit(value: object, kind: str, declared: Mapping[str, str]) -> str | None:
    """What a value is instead of the kind it should be; a reference is what its declaration says."""
    given = declared.get(reference_in(value) or "")
    if given is not None:
        return None if given in POSSIBLE[kind] else given
    return None if fits(value, kind) else type(value).__name__


POSSIBLE = {"str": {"string"}, "int": {"number"}, "number": {"number"}, "bool": set(), "list": {"list"}}
"""Which declared types can turn out to be of a kind; whether a number is whole is seen when the program runs."""
