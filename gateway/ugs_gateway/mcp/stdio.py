"""The server over standard input and output, as MCP clients start it."""

from __future__ import annotations

from pathlib import Path

from mcp.server.stdio import stdio_server

from ugs.ontology.api import Memory
from ugs_gateway.mcp.server import Profile, build_server
from ugs_gateway.mcp.stdio_stream import message_lines
from ugs_gateway.mcp.truncation import DEFAULT_BOUNDS, Bounds
from ugs_gateway.mirror.mirror import FileMirror


async def serve_stdio(
    memory: Memory, profile: Profile, base: Path | None = None, bounds: Bounds = DEFAULT_BOUNDS
) -> None:
    """Serve one client until it closes its end; with a base folder, mirror the files there."""
    if base is None:
        return await _serve(memory, profile, None, bounds)
    async with FileMirror(base, memory.system, memory.ontology).following() as mirror:
        return await _serve(memory, profile, mirror, bounds)


async def _serve(memory: Memory, profile: Profile, mirror: FileMirror | None, bounds: Bounds) -> None:
    server = build_server(lambda context: memory, profile, mirror, bounds)
    with message_lines() as lines:
        async with stdio_server(stdout=lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
