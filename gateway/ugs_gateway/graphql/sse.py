"""Subscriptions over server-sent events: one request, one stream (the distinct connections mode of GraphQL-SSE)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import msgspec
from graphql import ExecutionResult
from starlette.responses import StreamingResponse

from ugs_gateway.graphql import stream_access
from ugs_gateway.graphql.admission import RequestAdmission
from ugs_gateway.graphql.request import to_response
from ugs_gateway.graphql.stream_access import StreamAccess
from ugs_gateway.http.content_negotiation import EVENT_STREAM

HEARTBEAT_SECONDS = 12.0
COMPLETE = b"event: complete\ndata:\n\n"
HEARTBEAT = b":\n\n"


Result = bytes | ExecutionResult
"""A rendered response, or a result of graphql-core."""


def next_event(result: Result, hinting: bool) -> bytes:
    body = result if isinstance(result, bytes) else msgspec.json.encode(to_response(result, hinting)[0])
    return b"event: next\ndata: " + body + b"\n\n"


async def events_of(
    stream: AsyncIterator[Result], admission: RequestAdmission, access: StreamAccess, hinting: bool
) -> AsyncIterator[bytes]:
    """Results as events, until the client disconnects or its key or token is no longer valid."""
    with admission.metrics.subscription():
        async with aclosing(follow_results(stream, access, hinting)) as events:
            async for event in events:
                yield event
    yield COMPLETE


async def follow_results(stream: AsyncIterator[Result], access: StreamAccess, hinting: bool) -> AsyncGenerator[bytes]:
    """Results as events while access lasts, with heartbeats so that proxies do not close an idle connection."""
    async with aclosing(stream) as results:  # type: ignore[type-var]
        waiting: asyncio.Task[Any] | None = None
        silent_since = time.monotonic()
        try:
            while access.is_current():
                waiting = waiting or asyncio.ensure_future(anext(results, None))
                pause = min(stream_access.CHECK_SECONDS, HEARTBEAT_SECONDS)
                done, _ = await asyncio.wait([waiting], timeout=pause)
                if not done:
                    if time.monotonic() - silent_since >= HEARTBEAT_SECONDS:
                        silent_since = time.monotonic()
                        yield HEARTBEAT
                    continue
                result, waiting = waiting.result(), None
                if result is None or not access.is_current():
                    break
                silent_since = time.monotonic()
                yield next_event(result, hinting)
        finally:
            if waiting is not None:
                waiting.cancel()
                await asyncio.wait([waiting])


async def single_event(result: ExecutionResult, hinting: bool) -> AsyncIterator[bytes]:
    yield next_event(result, hinting)
    yield COMPLETE


def stream_response(
    found: AsyncIterator[Result] | ExecutionResult, admission: RequestAdmission, access: StreamAccess, hinting: bool
) -> StreamingResponse:
    """The streaming HTTP response."""
    body = (
        single_event(found, hinting)
        if isinstance(found, ExecutionResult)
        else events_of(found, admission, access, hinting)
    )
    return StreamingResponse(body, media_type=EVENT_STREAM, headers={"x-accel-buffering": "no"})
