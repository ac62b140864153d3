"""The server: lists the tools, calls them, and puts answers and refusals into the protocol's words.

What a tool refuses is an answer the model can read (`isError` with code, message and details); only a call that is no
call at all is an error of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from secrets import token_hex
from typing import Any

import msgspec
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from gateway.logs import Log
from gateway.mcp.files import FileMirror, FilesBehind
from gateway.mcp.inputs import schema_of
from gateway.mcp.tools import TOOLS, Json, MemoryTool
from ugs import __version__
from ugs.errors import Forbidden, InvalidJSON, InvalidSyntax, StorageIOError, UgsError
from ugs.identity import Principal
from ugs.ontology.api import Memory
from ugs.ontology.errors import ContentReadFailed, FileCreationFailed, InvalidArgument

NAME = "graph-memory-core"
INSTRUCTIONS = (
    "A lasting memory of typed nodes and connections. Begin with get_ontology; when there is none, create_ontology. "
    "Create nodes with content and properties, connect them, and find them again by type, properties, connections or "
    "words in their content."
)

log = Log("gateway.mcp")

FILE_TROUBLE = {
    "create_node": FileCreationFailed.code,
    "create_connection": FileCreationFailed.code,
    "get_node_content": ContentReadFailed.code,
}

MemoryOf = Callable[[ServerRequestContext[Any]], Memory]
"""The memory a request works on, on behalf of whoever asks."""


class Profile(StrEnum):
    """Which tools are offered."""

    READ_ONLY = "read-only"
    CORE = "core"


def tools_of(profile: Profile) -> tuple[MemoryTool, ...]:
    """The tools of a profile, in the seed's order."""
    return tuple(tool for tool in TOOLS if profile is Profile.CORE or tool.hints.read_only)


def shown(tool: MemoryTool) -> Tool:
    """A tool as clients see it."""
    hints = ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.hints.read_only,
        destructive_hint=tool.hints.destructive,
        idempotent_hint=tool.hints.idempotent,
        open_world_hint=False,
    )
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.takes),
        output_schema=tool.answers,
        annotations=hints,
    )


def build_server(memory_of: MemoryOf, profile: Profile = Profile.CORE, mirror: FileMirror | None = None) -> Server[Any]:
    """A server for the tools of a profile."""
    offered = {tool.name: tool for tool in tools_of(profile)}
    listed = [shown(tool) for tool in offered.values()]

    async def list_tools(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        tool = offered.get(params.name)
        if tool is None:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name[:80]}")
        return await called(tool, params.arguments or {}, lambda: memory_of(context), mirror)

    return Server(
        NAME,
        version=__version__,
        title="Graph memory",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def called(
    tool: MemoryTool, arguments: Json, memory: Callable[[], Memory], mirror: FileMirror | None = None
) -> CallToolResult:
    """Call a tool; whatever happens becomes an answer."""
    try:
        here = memory()
        check_rights(tool, here.principal)
        given = understood(tool, arguments)
        if mirror is None or tool.hints.read_only:
            return answered(tool, await tool.call(here, given))
        async with mirror.around(arguments):
            answer = await tool.call(here, given)
        return answered(tool, answer)
    except UgsError as error:
        return refused(tool, error)
    except Exception as error:
        # A bug: the caller gets an id, the log gets the rest.
        id = f"err_{token_hex(6)}"
        log.exception("a tool failed", error, error_id=id, tool=tool.name)
        return failure({"code": "INTERNAL", "message": f"Something went wrong here ({id})", "details": {"id": id}})


def check_rights(tool: MemoryTool, principal: Principal) -> None:
    """Refuse a tool that the principal's roles do not cover."""
    needed = {"admin", "writer"} if not tool.hints.read_only else {"admin", "writer", "reader"}
    if not needed & principal.roles:
        raise Forbidden(f"{tool.name} needs the role {'reader' if tool.hints.read_only else 'writer'}")


def understood(tool: MemoryTool, arguments: Json) -> Any:
    """The arguments as the tool wants them."""
    try:
        return msgspec.convert(arguments, tool.takes)
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"{tool.name}: {error}", tool=tool.name) from error


def answered(tool: MemoryTool, answer: Json) -> CallToolResult:
    """Data for programs, and the same as text for models."""
    content = answer.get("content")
    text = content if isinstance(content, str) and len(answer) == 1 else written(answer)
    return CallToolResult(content=[TextContent(text=text)], structured_content=answer)


def refused(tool: MemoryTool, error: UgsError) -> CallToolResult:
    """A refusal under the code that typed memory has for it."""
    return failure(
        {"code": code_of(tool, error), "message": error.message, "details": msgspec.to_builtins(error.details)}
    )


def code_of(tool: MemoryTool, error: UgsError) -> str:
    if isinstance(error, InvalidSyntax | InvalidJSON):
        return InvalidArgument.code
    if error.code == StorageIOError.code and not isinstance(error, FilesBehind):
        return FILE_TROUBLE.get(tool.name, error.code)
    return error.code


def failure(told: Json) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=written(told))], structured_content=told, is_error=True)


def written(value: Json) -> str:
    return msgspec.json.encode(value).decode()
