"""Resources: nodes and the ontology under URIs, for clients that attach data instead of calling tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

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

from ugs.errors import LimitExceeded, UgsError
from ugs.graph.content import BASE64
from ugs.ontology import queries
from ugs.ontology.api import Memory
from ugs.ontology.yaml_format import to_yaml
from ugs.programs.language_reference import SYNTAX
from ugs_gateway.mcp.app.neighbourhood import neighbourhood
from ugs_gateway.mcp.app.page import APP_TYPE, GRAPH_PAGE, PAGE_META, graph_page
from ugs_gateway.mcp.roles import check_role
from ugs_gateway.mcp.truncation import Bounds, too_large

NODE, CONNECTION, ONTOLOGY = "ugs://node/", "ugs://connection/", "ugs://ontology"
NEIGHBOURHOOD = "ugs://neighbourhood/"
PROGRAM_SYNTAX = "ugs://program/syntax"
JSON_TYPE = "application/json"
MIME_TYPES = {"markdown": "text/markdown", "json": JSON_TYPE, "html": "text/html", "pdf": "application/pdf"}
MIME_TYPES |= {"png": "image/png", "jpeg": "image/jpeg", "jpg": "image/jpeg", "csv": "text/csv", "yaml": "text/yaml"}

Contents = list[TextResourceContents | BlobResourceContents]
MetadataReader = Callable[[str], Awaitable[dict[str, Any]]]

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
    Resource(
        uri=GRAPH_PAGE,
        name="graph",
        title="What was recalled, as a graph",
        description="A page for clients that show MCP Apps beside the answers of recall.",
        mime_type=APP_TYPE,
        _meta=PAGE_META,
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
    ResourceTemplate(
        uri_template=NEIGHBOURHOOD + "{ids}",
        name="neighbourhood",
        title="The neighbourhood of what was recalled",
        description="What surrounds facts and nodes, named by their ids with commas: as JSON, and as lines of text.",
    ),
]


async def read_resource(memory: Memory, uri: str, bounds: Bounds) -> ReadResourceResult:
    """The contents of a URI."""
    try:
        check_role(memory.principal, "Reading a resource", reading=True)
        if uri == PROGRAM_SYNTAX:
            text = TextResourceContents(uri=uri, mime_type="text/markdown", text=SYNTAX)
            return ReadResourceResult(contents=[text])
        if uri == GRAPH_PAGE:
            page = TextResourceContents(uri=uri, mime_type=APP_TYPE, text=graph_page(), _meta=PAGE_META)
            return ReadResourceResult(contents=[page])
        if uri.startswith(NEIGHBOURHOOD):
            return ReadResourceResult(contents=await _neighbourhood(memory, uri, bounds))
        if uri == ONTOLOGY:
            return ReadResourceResult(contents=await _ontology(memory, bounds))
        for prefix, told in ((NODE, memory.get_node), (CONNECTION, memory.get_connection)):
            if uri.startswith(prefix):
                return ReadResourceResult(contents=await _element(memory, uri, uri.removeprefix(prefix), told, bounds))
    except UgsError as error:
        raise MCPError(
            code=INVALID_PARAMS, message=error.message, data={"code": error.code, "uri": uri[:512]}
        ) from error
    raise MCPError(code=INVALID_PARAMS, message=f"Unknown resource: {uri[:200]}", data={"uri": uri[:512]})


def _within(text: str, bounds: Bounds) -> str:
    """The text; refused if it is too large."""
    size = len(text.encode())
    if size > bounds.bytes:
        raise too_large(size, bounds.bytes)
    return text


async def _neighbourhood(memory: Memory, uri: str, bounds: Bounds) -> Contents:
    ids = [unquote(id) for id in uri.removeprefix(NEIGHBOURHOOD).split(",")]
    found = await neighbourhood(memory, ids)
    text = _within(msgspec.json.encode(found).decode(), bounds)
    return [
        TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=text),
        TextResourceContents(uri=f"{uri}#text", mime_type="text/plain", text="\n".join(found["lines"])),
    ]


async def _ontology(memory: Memory, bounds: Bounds) -> Contents:
    text = _within(to_yaml(await memory.get_ontology()), bounds)
    return [TextResourceContents(uri=ONTOLOGY, mime_type="text/yaml", text=text)]


async def _element(memory: Memory, uri: str, id: str, read_metadata: MetadataReader, bounds: Bounds) -> Contents:
    known = msgspec.json.encode(await read_metadata(id)).decode()
    contents: Contents = [TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=_within(known, bounds))]
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
