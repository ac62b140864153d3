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


def parts_of(accept: str) -> list[str]:
    """The media types in an `Accept` header, in their order."""
    return [part.partition(";")[0].strip().lower() for part in accept.split(",")]


def accepted(request: Request) -> list[str]:
    """The media types a client takes, in its own order."""
    return parts_of(request.headers.get("accept", "*/*"))


def is_acceptable(request: Request) -> bool:
    ours = {RESPONSE_TYPE, PLAIN_TYPE, EVENT_STREAM, "application/*", "*/*", ""}
    return any(kind in ours for kind in accepted(request))


def media_type(kinds: list[str]) -> str:
    """The modern type for clients that know it, plain JSON for all others."""
    return RESPONSE_TYPE if RESPONSE_TYPE in kinds else PLAIN_TYPE


def takes_gzip(encodings: str) -> bool:
    """Whether a client has asked for compression."""
    for part in encodings.lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";q=")
        if name == "gzip":
            return weight not in ("0", "0.0", "0.00", "0.000")
    return False


def compressed(body: bytes, encodings: str) -> tuple[bytes, dict[str, str]]:
    """The body, compressed where that was asked for and is worthwhile, and the headers that say so."""
    if len(body) < WORTHWHILE:
        return body, {}
    if not takes_gzip(encodings):
        return body, {"vary": "accept-encoding"}
    return gzip.compress(body, 4, mtime=0), {"vary": "accept-encoding", "content-encoding": "gzip"}


def packed(request: Request, body: bytes, status: int, headers: dict[str, str]) -> Response:
    """A response, compressed where that was asked for and is worthwhile."""
    body, more = compressed(body, request.headers.get("accept-encoding", ""))
    return Response(body, status, {**headers, **more})
