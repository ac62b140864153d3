"""Errors as clients see them: errors with a code in full, mistakes in the query with a code, everything else masked.

A masked error carries an id; the log holds the traceback under the same id.
"""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_hex
from typing import Any

from graphql import GraphQLError, GraphQLSyntaxError

from ugs.errors import UgsError

Report = Callable[[str, Exception], None]
"""Called with the id and the exception of every masked error."""


def format_error(error: GraphQLError, report: Report) -> dict[str, Any]:
    """One error in the response format of GraphQL."""
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if isinstance(cause, UgsError):
        return _format_located(error, cause.message, build_extensions(cause))
    if cause is None or isinstance(cause, GraphQLError):
        return _format_located(error, error.message, _classify_request_error(error))
    id = f"err_{token_hex(6)}"
    report(id, cause)
    return _format_located(
        error, f"Something went wrong inside the gateway; its log tells more under {id}", build_masked_extensions(id)
    )


def build_extensions(error: UgsError) -> dict[str, Any]:
    """The `extensions` of an error with a code."""
    return {"code": error.code, "name": error.name, "details": error.details, "retryable": error.retryable}


def build_masked_extensions(id: str) -> dict[str, Any]:
    return {"code": "INTERNAL", "name": "InternalError", "details": {"errorId": id}, "retryable": False}


def _classify_request_error(error: GraphQLError) -> dict[str, Any]:
    if isinstance(error, GraphQLSyntaxError):
        code, name = "GRAPHQL_PARSE_FAILED", "ParseFailed"
    else:
        code, name = "GRAPHQL_VALIDATION_FAILED", "ValidationFailed"
    return {"code": code, "name": name, "details": {}, "retryable": False}


def _format_located(error: GraphQLError, message: str, extensions: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {"message": message}
    if error.locations:
        shown["locations"] = [{"line": place.line, "column": place.column} for place in error.locations]
    if error.path:
        shown["path"] = error.path
    return {**shown, "extensions": extensions}
