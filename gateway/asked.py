"""What is asked: the parameters of a GraphQL request, checked for shape, wherever they came from."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from graphql import ExecutionResult, OperationDefinitionNode
from msgspec import Struct
from starlette.requests import Request

from gateway.logs import Log
from schema.errors import coded, shown_error
from schema.operations import Prepared
from ugs.errors import InvalidJSON, InvalidSyntax, UgsError
from ugs.values import MAX_DEPTH, parse_json

log = Log("gateway.graphql")
HINT = re.compile(r" Did you mean .*\?$", re.DOTALL)


class Refused(Exception):
    """The request cannot be a GraphQL request; carries the HTTP status."""

    def __init__(self, status: int, error: UgsError) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error


class Asked(Struct, frozen=True, forbid_unknown_fields=False):
    """The parameters of a request, as the GraphQL over HTTP specification names them."""

    query: str | None = None
    variables: dict[str, Any] | None = None
    operation: str | None = msgspec.field(default=None, name="operationName")
    extensions: dict[str, Any] | None = None
    document_id: str | None = msgspec.field(default=None, name="documentId")

    @property
    def explains(self) -> bool:
        """Whether the plan is asked for as well."""
        return bool((self.extensions or {}).get("explain") is True)


def from_body(body: bytes, most_depth: int = MAX_DEPTH) -> Asked:
    """The parameters in a JSON body."""
    try:
        found = parse_json(body)
    except UgsError as error:
        raise Refused(400, error) from error
    if most_depth < MAX_DEPTH and is_deeper(found, most_depth):
        raise Refused(400, InvalidJSON(f"The request is nested deeper than {most_depth}"))
    return asked_in(found)


def is_deeper(value: Any, most: int) -> bool:
    """Whether JSON is nested deeper than so many levels."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return most == 0 or any(is_deeper(item, most - 1) for item in inner)


def from_address(request: Request) -> Asked:
    """The parameters in the query string."""
    given: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if name in given:
            given[name] = _json_parameter(name, given[name])
    return asked_in(given)


def _json_parameter(name: str, text: str) -> Any:
    try:
        return parse_json(text.encode())
    except (UgsError, UnicodeEncodeError) as error:
        raise Refused(400, InvalidJSON(f"The parameter {name} is not valid JSON: {error}")) from error


def asked_in(found: Any) -> Asked:
    """The parameters, checked for shape."""
    try:
        return msgspec.convert(found, Asked)
    except msgspec.ValidationError as error:
        raise Refused(
            400, InvalidSyntax(f'A GraphQL request looks like {{"query": "{{ stats {{ nodes }} }}"}}: {error}')
        ) from error


def operation_meant(prepared: Prepared, name: str | None) -> OperationDefinitionNode | None:
    """The operation to run; None only where the document has errors of its own to tell."""
    operation = prepared.operation(name)
    if operation is None and not prepared.errors:
        reason = "Name the operation that shall run: the document has none of that name, or several"
        raise Refused(400, InvalidSyntax(reason))
    return operation


def shown_result(result: ExecutionResult, hinting: bool = True) -> tuple[dict[str, Any], bool]:
    """A result as clients see it, and whether anything was executed at all."""
    body: dict[str, Any] = {}
    if result.errors:
        errors = [shown_error(error, report_bug) for error in result.errors]
        body["errors"] = errors if hinting else [without_hint(error) for error in errors]
    executed = result.data is not None or not result.errors or any(error.path for error in result.errors)
    if executed:
        body["data"] = result.data
    return body, executed


def without_hint(error: dict[str, Any]) -> dict[str, Any]:
    """The error without names from the schema that the caller did not write."""
    return {**error, "message": HINT.sub("", error["message"])}


def report_bug(id: str, error: Exception) -> None:
    log.exception("a resolver failed", error, error_id=id)


def refusal(error: UgsError) -> dict[str, Any]:
    """A refused request in the response format of GraphQL."""
    return {"errors": [{"message": error.message, "extensions": coded(error)}]}
