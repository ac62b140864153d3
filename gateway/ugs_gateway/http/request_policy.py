"""The policy of every HTTP request as functions: request id, header limits, deadline, unexpected errors, access log.

The fast path and the middleware and endpoints of the framework call the same functions, so a request is treated alike
whichever serves it. The Host and Origin checks are in `authority` and `cors`, compression and response types in
`content_negotiation`, the reading of bodies in `request_body`, and authentication and rates in `graphql.admission`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from secrets import token_hex

import msgspec

from ugs.errors import DeadlineExceeded, LimitExceeded
from ugs_gateway.graphql.request import RequestRejected
from ugs_gateway.observability.structured_logs import Log
from ugs_schema.errors import build_masked_extensions

log = Log("ugs_gateway")

CLIENT_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
MAX_HEADERS = 200
MAX_HEADER_BYTES = 64 * 1024
UNLOGGED_PATHS = frozenset({"/livez", "/readyz", "/health", "/metrics"})
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
"""Headers of every response that does not set them itself."""

_PREFIX, _NUMBERS = token_hex(6), count()
"""Generated request ids: a random prefix per process and a counter. They need to be unique, not secret."""


def choose_request_id(given: str) -> str:
    """The client's request id if it is well-formed, else a generated one."""
    return given if given and CLIENT_REQUEST_ID.fullmatch(given) else f"{_PREFIX}{next(_NUMBERS):08x}"


def are_headers_too_large(headers: Iterable[tuple[bytes, bytes]], number: int) -> bool:
    """Whether the headers, `number` in all, exceed the limits."""
    return number > MAX_HEADERS or sum([len(name) + len(value) for name, value in headers]) > MAX_HEADER_BYTES


def rejection_for(error: Exception, seconds: float) -> RequestRejected:
    """The rejection for an error that a client can cause: a missed deadline of `seconds`, or too deep nesting."""
    if isinstance(error, RequestRejected):
        return error
    if isinstance(error, TimeoutError):
        reason = f"The request took longer than {seconds:g} seconds and was stopped"
        return RequestRejected(503, DeadlineExceeded(reason))
    if isinstance(error, RecursionError):
        return RequestRejected(400, LimitExceeded("The query is nested too deeply"))
    raise TypeError(f"{type(error).__name__} is no error of a client") from error


def report_unexpected(error: Exception) -> bytes:
    """The body for an unexpected error: the client gets an error id, the log gets the traceback with that id."""
    id = f"err_{token_hex(6)}"
    log.exception("a request failed", error, error_id=id)
    return msgspec.json.encode({"error": build_masked_extensions(id)})


def log_access(method: str, path: str, status: int, seconds: float) -> None:
    """Write a line of the access log; successful health checks and scrapes only at level debug."""
    if not log.is_info_enabled:
        return
    write = log.debug if path in UNLOGGED_PATHS and status == 200 else log.info
    write("served", method=method, path=path, status=status, took_ms=round(seconds * 1000, 1))
