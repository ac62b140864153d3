"""The body of a request: bounded, JSON, in UTF-8. Nothing that a client sends may end in a 500."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request

from gateway.asked import Refused
from gateway.media import PLAIN_TYPE, is_utf8
from ugs.errors import InvalidSyntax, LimitExceeded


def check_json(request: Request) -> None:
    """Refuse a body that does not say it is plain JSON."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    if kind.strip().lower() != PLAIN_TYPE or not is_utf8(parameters):
        reason = "Send the request as JSON in UTF-8, with the header Content-Type: application/json"
        raise Refused(415, InvalidSyntax(reason))
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(415, InvalidSyntax("Send the request uncompressed"))


async def whole_body(request: Request, most: int) -> bytes:
    """The body, read no further than the limit; one that declares to be larger is not read at all."""
    body = bytearray()
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:12]) > most:
        raise Refused(413, LimitExceeded(f"The body is larger than {most} bytes", limit=most))
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise Refused(413, LimitExceeded(f"The body is larger than {most} bytes", limit=most))
    except ClientDisconnect as gone:
        raise Refused(400, InvalidSyntax("The connection closed before the whole request had arrived")) from gone
    return bytes(body)
