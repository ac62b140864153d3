"""Subscriptions over server-sent events: one request, one stream (the distinct connections mode of GraphQL-SSE)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import msgspec
from graphql import ExecutionResult
from starlette.responses import StreamingResponse

from gateway.asked import shown_result
from gateway.media import EVENT_STREAM
from gateway.reception import Reception

HEARTBEAT_SECONDS = 12.0
COMPLETE = b"event: complete\ndata:\n\n"
HEARTBEAT = b":\n\n"


Result = bytes | ExecutionResult
"""A response that is written already, or what the executor gave."""


def next_event(result: Result) -> bytes:
    body = result if isinstance(result, bytes) else msgspec.json.encode(shown_result(result)[0])
    return b"event: next\ndata: " + body + b"\n\n"


async def events_of(
    stream: AsyncIterator[Result], reception: Reception, authorization: str | None
) -> AsyncIterator[bytes]:
    """Results as events, until the client leaves or is no longer welcome."""
    with reception.metrics.subscription():
        async for event in followed(stream):
            if event is HEARTBEAT and not reception.gatekeeper.still_knows(authorization):
                break
            yield event
    yield COMPLETE


async def followed(stream: AsyncIterator[Result]) -> AsyncIterator[bytes]:
    """Results as events, with a sign of life now and then so that silence is not taken for a broken line."""
    async with aclosing(stream) as results:  # type: ignore[type-var]
        waiting: asyncio.Task[Any] | None = None
        try:
            while True:
                waiting = waiting or asyncio.ensure_future(anext(results, None))
                done, _ = await asyncio.wait([waiting], timeout=HEARTBEAT_SECONDS)
                if not done:
                    yield HEARTBEAT
                    continue
                result, waiting = waiting.result(), None
                if result is None:
                    break
                yield next_event(result)
        finally:
            if waiting is not None:
                waiting.cancel()
                await asyncio.wait([waiting])


async def single_event(result: ExecutionResult) -> AsyncIterator[bytes]:
    yield next_event(result)
    yield COMPLETE


def stream_response(
    found: AsyncIterator[Result] | ExecutionResult, reception: Reception, authorization: str | None
) -> StreamingResponse:
    """The stream as a response."""
    body = single_event(found) if isinstance(found, ExecutionResult) else events_of(found, reception, authorization)
    return StreamingResponse(body, media_type=EVENT_STREAM, headers={"x-accel-buffering": "no"})
