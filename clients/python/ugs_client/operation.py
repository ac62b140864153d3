"""One root field of the schema as a request: its document, its variables, and how it may be retried."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any, Literal, NamedTuple
from uuid import UUID, uuid4

KEY = "idempotencyKey"


class _Omitted(Enum):
    OMITTED = "omitted"


OMITTED: Any = _Omitted.OMITTED
"""An argument that is not sent, so that the gateway's default holds; `None` is sent as null."""


class Operation(NamedTuple):
    """A field of Query, Mutation or Subscription; made by `ugs_client.codegen`."""

    kind: Literal["query", "mutation", "subscription"]
    field: str
    arguments: Mapping[str, str]
    """The GraphQL type of each argument."""
    selection: str = ""
    """What is asked for unless told otherwise; empty for a field without subfields."""
    key: Literal["", "argument", "input"] = ""
    """Where its idempotency key goes; empty: it has none, and is not sent again by itself."""
    page: Literal["", "nodes", "edges"] = ""
    """For a list in pages: where its rows are."""
    position: str = ""
    """For a subscription that can resume: the field of its events that holds the position in the log."""


class Request(NamedTuple):
    """What is sent."""

    document: str
    variables: dict[str, Any]
    retryable: bool
    """Whether it can be sent a second time without being done a second time."""


def build_request(operation: Operation, arguments: Mapping[str, Any], fields: str | None) -> Request:
    """The request for an operation, with a new idempotency key where it has one and the caller gave none."""
    given = {name: value for name, value in arguments.items() if value is not OMITTED}
    if operation.key == "argument" and given.get(KEY) is None:
        given[KEY] = str(uuid4())
    elif operation.key == "input" and given["input"].get(KEY) is None:
        given["input"] = {**given["input"], KEY: str(uuid4())}
    declared = ", ".join(f"${name}: {operation.arguments[name]}" for name in given)
    passed = ", ".join(f"{name}: ${name}" for name in given)
    selection = operation.selection if fields is None or not operation.selection else fields
    document = (
        f"{operation.kind}{f'({declared})' if declared else ''} "
        f"{{ {operation.field}{f'({passed})' if passed else ''}{f' {{ {selection} }}' if selection else ''} }}"
    )
    return Request(document, given, operation.kind == "query" or bool(operation.key))


def encode(document: str, variables: Mapping[str, Any]) -> bytes:
    """The body of a request; times and UUIDs become text."""
    body = {"query": document, "variables": variables}
    return json.dumps(body, default=_encode_value, ensure_ascii=False, separators=(",", ":")).encode()


def _encode_value(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError(f"A {type(value).__name__} cannot be sent as JSON")
