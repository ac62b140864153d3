"""Content negotiation: media types of Accept and Content-Type, and gzip."""

from __future__ import annotations

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import Response

from ugs.support.bounded_cache import bounded_cache

RESPONSE_TYPE = "application/graphql-response+json"
PLAIN_TYPE = "application/json"
EVENT_STREAM = "text/event-stream"
MIN_GZIP_BYTES = 1_400
"""Smaller bodies fit into one packet and are not compressed."""
LARGE_GZIP_BYTES = 128 << 10
"""Larger bodies are compressed in a thread: a mebibyte takes up to 40 ms."""
_COMPRESSOR = ThreadPoolExecutor(1, thread_name_prefix="ugs-gzip")
"""A single thread, so that compression takes one core at most; zlib does not hold the GIL."""


def is_utf8(parameters: str) -> bool:
    """Whether a parameter of a content type allows UTF-8, the only charset of JSON."""
    name, _, value = parameters.strip().partition("=")
    return name.strip().lower() != "charset" or value.strip().strip('"').lower() in ("utf-8", "utf8")


def parts_of(accept: str) -> list[str]:
    """The media types in an Accept header, in their order; quality values are ignored."""
    return [part.partition(";")[0].strip().lower() for part in accept.split(",")]


def accepted_types(request: Request) -> list[str]:
    """The media types a client accepts, in its order."""
    return parts_of(request.headers.get("accept", "*/*"))


def is_acceptable(request: Request) -> bool:
    ours = {RESPONSE_TYPE, PLAIN_TYPE, EVENT_STREAM, "application/*", "*/*", ""}
    return any(kind in ours for kind in accepted_types(request))


def media_type(kinds: list[str]) -> str:
    """`application/graphql-response+json` if the client accepts it explicitly, else plain JSON."""
    return RESPONSE_TYPE if RESPONSE_TYPE in kinds else PLAIN_TYPE


def prefers_stream(kinds: list[str]) -> bool:
    """Whether a client accepts server-sent events, and none of the other response types."""
    return EVENT_STREAM in kinds and not {RESPONSE_TYPE, PLAIN_TYPE, "*/*"} & set(kinds)


@bounded_cache(max_entries=1_000, max_bytes=1 << 20)
def single_response_type(accept: str) -> str | None:
    """The media type of the response if an Accept header asks for a single JSON response by name or by `*/*`; None if
    it also accepts server-sent events, or needs a closer look."""
    kinds = parts_of(accept)
    is_single = EVENT_STREAM not in kinds and {RESPONSE_TYPE, PLAIN_TYPE, "*/*"} & set(kinds)
    return media_type(kinds) if is_single else None


def takes_gzip(encodings: str) -> bool:
    """Whether an Accept-Encoding header accepts gzip."""
    for part in encodings.lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";q=")
        if name == "gzip":
            return weight not in ("0", "0.0", "0.00", "0.000")
    return False


def compress(body: bytes, encodings: str) -> tuple[bytes, dict[str, str]]:
    """The body, compressed if the client accepts it and it is large enough, with the headers that say so."""
    if len(body) < MIN_GZIP_BYTES:
        return body, {}
    if not takes_gzip(encodings):
        return body, {"vary": "accept-encoding"}
    return gzip.compress(body, 4, mtime=0), {"vary": "accept-encoding", "content-encoding": "gzip"}


def is_slow_to_compress(body: bytes, encodings: str) -> bool:
    """Whether compressing the body would block the event loop for too long."""
    return len(body) > LARGE_GZIP_BYTES and takes_gzip(encodings)


async def compress_off_loop(body: bytes, encodings: str) -> tuple[bytes, dict[str, str]]:
    """As `compress`, with large bodies compressed in a thread."""
    if not is_slow_to_compress(body, encodings):
        return compress(body, encodings)
    return await asyncio.get_running_loop().run_in_executor(_COMPRESSOR, compress, body, encodings)


async def compressed_response(request: Request, body: bytes, status: int, headers: dict[str, str]) -> Response:
    """A response, compressed if the client accepts it and it is large enough."""
    body, more = await compress_off_loop(body, request.headers.get("accept-encoding", ""))
    return Response(body, status, {**headers, **more})
