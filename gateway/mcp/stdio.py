"""The server over standard input and output, as MCP clients start it."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from gateway.mcp.server import Profile, build_server
from ugs.ontology.api import Memory


async def serve_stdio(memory: Memory, profile: Profile) -> None:
    """Serve one client until it closes the line."""
    server = build_server(lambda context: memory, profile)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
