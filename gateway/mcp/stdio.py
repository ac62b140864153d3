"""The server over standard input and output, as MCP clients start it."""

from __future__ import annotations

from pathlib import Path

from mcp.server.stdio import stdio_server

from gateway.mcp.files import FileMirror
from gateway.mcp.server import Profile, build_server
from gateway.mcp.sizes import USUAL, Bounds
from ugs.ontology.api import Memory


async def serve_stdio(memory: Memory, profile: Profile, base: Path | None = None, bounds: Bounds = USUAL) -> None:
    """Serve one client until it closes the line; with a base path, keep its files in step."""
    mirror = None if base is None else FileMirror(base, memory)
    if mirror is not None:
        await mirror.repair()
    server = build_server(lambda context: memory, profile, mirror, bounds)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
