"""The server over standard input and output, as MCP clients start it."""

from __future__ import annotations

from pathlib import Path

from mcp.server.stdio import stdio_server

from gateway.mcp.lines import message_lines
from gateway.mcp.server import Profile, build_server
from gateway.mcp.sizes import USUAL, Bounds
from gateway.mirror.mirror import FileMirror
from ugs.ontology.api import Memory


async def serve_stdio(memory: Memory, profile: Profile, base: Path | None = None, bounds: Bounds = USUAL) -> None:
    """Serve one client until it closes the line; with a base folder, keep its files in step."""
    if base is None:
        return await _serve(memory, profile, None, bounds)
    async with FileMirror(base, memory.system, memory.ontology).following() as mirror:
        return await _serve(memory, profile, mirror, bounds)


async def _serve(memory: Memory, profile: Profile, mirror: FileMirror | None, bounds: Bounds) -> None:
    server = build_server(lambda context: memory, profile, mirror, bounds)
    with message_lines() as lines:
        async with stdio_server(stdout=lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
