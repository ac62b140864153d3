"""The server over standard input and output, as MCP clients start it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from mcp.server.stdio import stdio_server

from ugs.ontology.api import Memory
from ugs.system import System
from ugs_gateway.mcp.server import Profile, build_server
from ugs_gateway.mcp.sessions.address import SessionRequest
from ugs_gateway.mcp.sessions.host import hosting
from ugs_gateway.mcp.sessions.membership import Membership
from ugs_gateway.mcp.sessions.relay import Relay
from ugs_gateway.mcp.stdio_stream import message_lines
from ugs_gateway.mcp.truncation import DEFAULT_BOUNDS, Bounds
from ugs_gateway.mirror.mirror import FileMirror


async def serve_stdio(
    memory: Memory, profile: Profile, base: Path | None = None, bounds: Bounds = DEFAULT_BOUNDS
) -> None:
    """Serve one client until it closes its end, and meanwhile those of other processes that want the same folder; with
    a base folder, mirror the files there."""
    if base is None:
        async with hosting(memory.system):
            return await _serve(memory, profile, None, bounds)
    async with FileMirror(base, memory.system, memory.ontology).following() as mirror, hosting(memory.system, mirror):
        return await _serve(memory, profile, mirror, bounds)


async def _serve(memory: Memory, profile: Profile, mirror: FileMirror | None, bounds: Bounds) -> None:
    server = build_server(lambda context: memory, profile, mirror, bounds)
    with message_lines() as lines:
        async with stdio_server(stdout=lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


async def relay_stdio(
    open_store: Callable[[], Awaitable[System]], request: SessionRequest, before_close: Callable[[], Awaitable[None]]
) -> None:
    """Serve one client from the process that holds the folder; when that one ends, from the next, or from this one,
    which then calls `before_close` before it closes the store.

    Raises `StoreLocked` if the holder cannot be joined: a command line, or a version that cannot share.
    """
    with message_lines() as lines:
        async with (
            Membership(open_store, request, before_close) as membership,
            stdio_server(stdout=lines) as (incoming, outgoing),
        ):
            try:
                await Relay(Profile(request.profile), outgoing.send).run(incoming, membership.connect)
            finally:
                await outgoing.aclose()
