"""Media types and encodings: what a client takes and what it gets."""

from __future__ import annotations

import gzip

from starlette.requests import Request
from starlette.responses import Response

RESPONSE_TYPE = "application/graphql-response+json"
PLAIN_TYPE = "application/json"
EVENT_STREAM = "text/event-stream"
WORTHWHILE = 1_400
"""Bytes that fit one packet anyway are not compressed."""


def is_utf8(parameters: str) -> bool:
    """Whether the charset of a content type is the only one JSON may have."""
    name, _, value = parameters.strip().partition("=")
    return name.strip().lower() != "charset" or value.strip().strip('"').lower() in ("utf-8", "utf8")


def accepted(request: Request) -> list[str]:
    """The media types a client takes, in its own order."""
    return [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "*/*").split(",")]


def is_acceptable(request: Request) -> bool:
    ours = {RESPONSE_TYPE, PLAIN_TYPE, EVENT_STREAM, "application/*", "*/*", ""}
    return any(kind in ours for kind in accepted(request))


def media_type(request: Request) -> str:
    """The modern type for clients that know it, plain JSON for all others."""
    kinds = accepted(request)
    return RESPONSE_TYPE if RESPONSE_TYPE in kinds else PLAIN_TYPE


def takes_gzip(request: Request) -> bool:
    """Whether a client has asked for compression."""
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";q=")
        if name == "gzip":
            return weight not in ("0", "0.0", "0.00", "0.000")
    return False


def packed(request: Request, body: bytes, status: int, headers: dict[str, str]) -> Response:
    """A response, compressed where that was asked for and is worthwhile."""
    if len(body) < WORTHWHILE:
        return Response(body, status, headers)
    headers["vary"] = "accept-encoding"
    if not takes_gzip(request):
        return Response(body, status, headers)
    headers["content-encoding"] = "gzip"
    return Response(gzip.compress(body, 4, mtime=0), status, headers)
