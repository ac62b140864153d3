"""GraphQL request parameters from a JSON body, a query string or a WebSocket message, checked for shape."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from graphql import ExecutionResult, OperationDefinitionNode
from msgspec import Struct
from starlette.requests import Request

from ugs.errors import InvalidJSON, InvalidSyntax, UgsError
from ugs.large_json import parse_bounded, share_verdicts
from ugs.support.shape_errors import describe_shape_error
from ugs.values import MAX_DEPTH, parse_json
from ugs_gateway.observability.structured_logs import Log
from ugs_schema.compiler.executor import Prepared
from ugs_schema.errors import build_extensions, format_error

ENVELOPE_DEPTH = 16
"""Levels of nesting around a stored value: body, variables, input, operations, one operation, properties."""
MAX_REQUEST_DEPTH = MAX_DEPTH + ENVELOPE_DEPTH
log = Log("ugs_gateway.graphql")
HINT = re.compile(r" Did you mean [^?]{1,600}\?")
"""graphql-core's suggestions. The repetition is bounded because error messages contain values from the client."""


class RequestRejected(Exception):
    """The request is rejected before execution; carries the HTTP status."""

    def __init__(self, status: int, error: UgsError) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers that belong to the status, such as Retry-After."""
        if self.status == 401:
            return {"www-authenticate": "Bearer"}
        if self.status == 405:
            return {"allow": "POST"}
        return {"retry-after": str(self.error.details.get("seconds", 60))} if self.status == 429 else {}


class GraphQLRequest(Struct, frozen=True, forbid_unknown_fields=False):
    """The parameters of a request, as the GraphQL over HTTP specification names them."""

    query: str | None = None
    variables: dict[str, Any] | None = None
    operation: str | None = msgspec.field(default=None, name="operationName")
    extensions: dict[str, Any] | None = None
    document_id: str | None = msgspec.field(default=None, name="documentId")

    @property
    def explains(self) -> bool:
        """Whether `extensions.explain` asks for the query plan."""
        return bool((self.extensions or {}).get("explain") is True)


def from_body(body: bytes, max_depth: int = MAX_REQUEST_DEPTH) -> GraphQLRequest:
    """Parse a JSON body."""
    try:
        found = parse_json(body, MAX_REQUEST_DEPTH)
    except UgsError as error:
        raise RequestRejected(400, error) from error
    return _checked(found, max_depth)


async def from_long_body(body: bytes, max_depth: int) -> GraphQLRequest:
    """Parse a JSON body of any length, without blocking the event loop."""
    try:
        found, verdicts = await parse_bounded(body, MAX_REQUEST_DEPTH)
    except UgsError as error:
        raise RequestRejected(400, error) from error
    share_verdicts(verdicts)
    return _checked(found, max_depth)


def _checked(found: Any, max_depth: int) -> GraphQLRequest:
    if max_depth < MAX_REQUEST_DEPTH and is_deeper(found, max_depth):
        raise RequestRejected(400, InvalidJSON(f"The request is nested deeper than {max_depth}"))
    return to_request(found)


def is_deeper(value: Any, max_depth: int) -> bool:
    """Whether a JSON value is nested deeper than `max_depth` levels."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return max_depth == 0 or any(is_deeper(item, max_depth - 1) for item in inner)


def from_query_string(request: Request) -> GraphQLRequest:
    """Parse the query string of a GET request."""
    given: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if name in given:
            given[name] = _json_parameter(name, given[name])
    return to_request(given)


def _json_parameter(name: str, text: str) -> Any:
    try:
        return parse_json(text.encode(), MAX_REQUEST_DEPTH)
    except (UgsError, UnicodeEncodeError) as error:
        raise RequestRejected(400, InvalidJSON(f"The parameter {name} is not valid JSON: {error}")) from error


def to_request(found: Any) -> GraphQLRequest:
    """Convert a parsed JSON value to a `GraphQLRequest`, or reject it with 400."""
    try:
        return msgspec.convert(found, GraphQLRequest)
    except msgspec.ValidationError as error:
        raise RequestRejected(
            400,
            InvalidSyntax(
                f'A GraphQL request looks like {{"query": "{{ stats {{ nodes }} }}"}}: {describe_shape_error(error)}'
            ),
        ) from error


def select_operation(prepared: Prepared, name: str | None) -> OperationDefinitionNode | None:
    """The operation to run; None only if the document has errors, which are reported instead."""
    operation = prepared.operation(name)
    if operation is None and not prepared.errors:
        reason = "Name the operation that shall run: the document has none of that name, or several"
        raise RequestRejected(400, InvalidSyntax(reason))
    return operation


def to_response(result: ExecutionResult, hinting: bool = False) -> tuple[dict[str, Any], bool]:
    """A result in the response format, and whether execution began.

    Errors are masked or build_extensions; suggestions of schema names are removed unless `hinting`.
    """
    body: dict[str, Any] = {}
    if result.errors:
        errors = [format_error(error, report_bug) for error in result.errors]
        body["errors"] = errors if hinting else [strip_hint(error) for error in errors]
    executed = result.data is not None or not result.errors or any(error.path for error in result.errors)
    if executed:
        body["data"] = result.data
    return body, executed


def strip_hint(error: dict[str, Any]) -> dict[str, Any]:
    """The error without suggestions, which would reveal schema names."""
    return {**error, "message": HINT.sub("", error["message"])}


def report_bug(id: str, error: Exception) -> None:
    log.exception("a resolver failed", error, error_id=id)


def refusal(error: UgsError) -> dict[str, Any]:
    """A rejected request in the response format of GraphQL."""
    return {"errors": [{"message": error.message, "extensions": build_extensions(error)}]}
