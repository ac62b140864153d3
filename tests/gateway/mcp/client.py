"""Talking to the server with the official client: in the same process, or to a process of its own."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult

from ugs.identity import LOCAL, Principal
from ugs.ontology.api import Memory
from ugs.system import System
from ugs_gateway.mcp.server import Profile, build_server
from ugs_gateway.mcp.truncation import DEFAULT_BOUNDS, Bounds

UGS = str(Path(sys.executable).parent / "ugs")


class Talk:
    """A client that knows the tools by name and the seed's example ids by the ids that stand behind them."""

    def __init__(self, client: Client, memory: Memory | None = None) -> None:
        self.client, self.memory = client, memory

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        """The data a tool answers; what it refuses is an assertion."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content[0].text
        text = result.content[0]
        if list(result.structured_content) == ["content"]:
            assert text.text == result.structured_content["content"]
        else:
            assert msgspec.json.decode(text.text) == result.structured_content
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Code, message and details of a refusal."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        return refusal_in(result)


def refusal_in(result: CallToolResult) -> dict[str, Any]:
    """What a refused call says: as text for models, and the same for programs, but never as an answer of the tool."""
    assert result.is_error
    assert result.structured_content is None
    told: dict[str, Any] = msgspec.json.decode(result.content[0].text)
    assert result.meta is not None
    assert result.meta["ugs/error"] == told
    assert told.keys() == {"code", "message", "details"}
    return told


@asynccontextmanager
async def near(
    url: str = "memory:",
    profile: Profile = Profile.CORE,
    bounds: Bounds = DEFAULT_BOUNDS,
    principal: Principal = LOCAL.principal,
) -> AsyncIterator[Talk]:
    """A server in this process."""
    async with System.at_url(url) as system:
        memory = Memory(system, principal)
        async with Client(build_server(lambda context: memory, profile, bounds=bounds)) as client:
            yield Talk(client, memory)


@asynccontextmanager
async def over_stdio(base: Path, *options: str) -> AsyncIterator[Talk]:
    """A process of its own, as an MCP client's configuration starts it."""
    environment = {**os.environ, "BASE_PATH": str(base)}
    parameters = StdioServerParameters(command=UGS, args=["mcp", *options], env=environment)
    async with Client(parameters) as client:
        yield Talk(client)
