"""Reading request bodies: bounded in size and time, JSON in UTF-8. No client input may cause a 500."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from ugs.errors import DeadlineExceeded, InvalidSyntax, LimitExceeded
from ugs_gateway.graphql.request import RequestRejected
from ugs_gateway.http.content_negotiation import PLAIN_TYPE, is_utf8


def check_json(request: Request) -> None:
    """Reject with 415 a body that is not declared as uncompressed JSON in UTF-8."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    if kind.strip().lower() != PLAIN_TYPE or not is_utf8(parameters):
        reason = "Send the request as JSON in UTF-8, with the header Content-Type: application/json"
        raise RequestRejected(415, InvalidSyntax(reason))
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestRejected(415, InvalidSyntax("Send the request uncompressed"))


async def read_body(request: Request, max_bytes: int, seconds: float) -> bytes:
    """Read the body within size limit and deadline; a larger Content-Length is rejected without reading. Used by all
    endpoints."""
    try:
        async with asyncio.timeout(seconds):
            return await _read(request, max_bytes)
    except TimeoutError as error:
        reason = f"The body of the request did not arrive within {seconds:g} seconds"
        raise RequestRejected(408, DeadlineExceeded(reason)) from error


async def _read(request: Request, max_bytes: int) -> bytes:
    body = bytearray()
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:12]) > max_bytes:
        raise RequestRejected(413, LimitExceeded(f"The body is larger than {max_bytes} bytes", limit=max_bytes))
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > max_bytes:
                raise RequestRejected(413, LimitExceeded(f"The body is larger than {max_bytes} bytes", limit=max_bytes))
    except ClientDisconnect as gone:
        raise RequestRejected(
            400, InvalidSyntax("The connection closed before the whole request had arrived")
        ) from gone
    return bytes(body)
