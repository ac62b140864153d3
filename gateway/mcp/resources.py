"""Resources: nodes and the ontology under addresses, for clients that attach things instead of calling tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from gateway.mcp.roles import check_role
from gateway.mcp.sizes import Bounds
from ugs.errors import LimitExceeded, UgsError
from ugs.graph.content import BASE64
from ugs.ontology import queries
from ugs.ontology.api import Memory
from ugs.ontology.yaml_text import to_yaml
from ugs.programs.syntax import SYNTAX

NODE, CONNECTION, ONTOLOGY = "ugs://node/", "ugs://connection/", "ugs://ontology"
PROGRAM_SYNTAX = "ugs://program/syntax"
JSON_TYPE = "application/json"
MIME_TYPES = {"markdown": "text/markdown", "json": JSON_TYPE, "html": "text/html", "pdf": "application/pdf"}
MIME_TYPES |= {"png": "image/png", "jpeg": "image/jpeg", "jpg": "image/jpeg", "csv": "text/csv", "yaml": "text/yaml"}

Contents = list[TextResourceContents | BlobResourceContents]
Told = Callable[[str], Awaitable[dict[str, Any]]]

RESOURCES = [
    Resource(
        uri=ONTOLOGY,
        name="ontology",
        title="The ontology",
        description="All node types and connection types.",
        mime_type="text/yaml",
    ),
    Resource(
        uri=PROGRAM_SYNTAX,
        name="program/syntax",
        title="The language of programs",
        description="How to write a graph program, as text or as JSON.",
        mime_type="text/markdown",
    ),
]
TEMPLATES = [
    ResourceTemplate(
        uri_template=NODE + "{id}",
        name="node",
        title="A node",
        description="What is known about a node, and its content.",
    ),
    ResourceTemplate(
        uri_template=CONNECTION + "{id}",
        name="connection",
        title="A connection",
        description="What is known about a connection, and its notes.",
    ),
]


async def read(memory: Memory, uri: str, bounds: Bounds) -> ReadResourceResult:
    """What stands behind an address."""
    try:
        check_role(memory.principal, "Reading a resource", reading=True)
        if uri == PROGRAM_SYNTAX:
            text = TextResourceContents(uri=uri, mime_type="text/markdown", text=SYNTAX)
            return ReadResourceResult(contents=[text])
        if uri == ONTOLOGY:
            return ReadResourceResult(contents=await _ontology(memory))
        for prefix, told in ((NODE, memory.get_node), (CONNECTION, memory.get_connection)):
            if uri.startswith(prefix):
                return ReadResourceResult(contents=await _element(memory, uri, uri.removeprefix(prefix), told, bounds))
    except UgsError as error:
        raise MCPError(
            code=INVALID_PARAMS, message=error.message, data={"code": error.code, "uri": uri[:512]}
        ) from error
    raise MCPError(code=INVALID_PARAMS, message=f"Unknown resource: {uri[:200]}", data={"uri": uri[:512]})


async def _ontology(memory: Memory) -> Contents:
    text = to_yaml(await memory.get_ontology())
    return [TextResourceContents(uri=ONTOLOGY, mime_type="text/yaml", text=text)]


async def _element(memory: Memory, uri: str, id: str, told: Told, bounds: Bounds) -> Contents:
    known = msgspec.json.encode(await told(id)).decode()
    contents: Contents = [TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=known)]
    async with memory.system.session() as session:
        content = await queries.find_content(session, id)
        body = "" if content is None else await queries.body_of(session, id)
    if content is None:
        return contents
    if len(body.encode()) > bounds.bytes:
        raise LimitExceeded(f"The content has {content.size} bytes: read it in parts with the tool read_content")
    place = f"{uri}#content"
    if content.encoding == BASE64:
        kind = MIME_TYPES.get(content.format, "application/octet-stream")
        return [*contents, BlobResourceContents(uri=place, mime_type=kind, blob=body)]
    kind = MIME_TYPES.get(content.format, "text/plain")
    return [*contents, TextResourceContents(uri=place, mime_type=kind, text=body)]
