"""The eighteen tools through every door: the official client over stdio and HTTP, and GraphQL over HTTP.

A door that is closed and opened again is another process on the same data.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.gateway.mcp.client import UGS, refusal_in
from tests.gateway.processes import serving

ANSWERS = {
    "create_node": "node_id",
    "create_connection": "connection_id",
    "get_node_content": "content",
    "query_nodes": "node_ids",
    "get_connected_nodes": "node_ids",
    "search_content": "node_ids",
    "query_connections": "connection_ids",
    "validate_connection": "valid",
}


class Refused(Exception):
    """What a tool answered instead."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


Call = Callable[[str, dict[str, Any]], Awaitable[Any]]
Faces = dict[str, Call]
"""Ways to talk to one process, by name."""
Opened = Callable[[], AbstractAsyncContextManager[Faces]]


def over_mcp(client: Client) -> Call:
    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        result = await client.call_tool(tool, arguments)
        if result.is_error:
            told = refusal_in(result)
            raise Refused(told["code"], told["message"])
        data = result.structured_content
        return data[ANSWERS[tool]] if tool in ANSWERS else data

    return call


def stdio_door(base: Path, store: str | None) -> Opened:
    """A process that talks over standard input and output, with its files in the base folder."""
    options = ["--mirror", str(base), "--store", store] if store else []
    environment = {**os.environ, **({} if store else {"BASE_PATH": str(base)})}

    @asynccontextmanager
    async def opened() -> AsyncIterator[Faces]:
        async with Client(StdioServerParameters(command=UGS, args=["mcp", *options], env=environment)) as client:
            yield {"stdio": over_mcp(client)}

    return opened


def gateway_door(base: Path, store: str | None) -> Opened:
    """A gateway that serves MCP over HTTP and GraphQL, with its files in the base folder."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Faces]:
        with serving(base.parent, "--mirror", str(base), "--store", store or f"file:{base}/_system") as gateway:
            async with Client(f"{gateway.url}/mcp") as client, httpx2.AsyncClient(timeout=60) as http:
                yield {"http": over_mcp(client), "graphql": over_graphql(http, f"{gateway.url}/graphql")}

    return opened


ELEMENT = "id type createdAt modifiedAt properties content { format body }"
QUERIES = {
    "create_node": "mutation($in: MemoryNodeInput!) { r: createMemoryNode(input: $in) { node { id } } }",
    "update_node": "mutation($in: UpdateNodeInput!) { r: updateNode(input: $in) { node { id } } }",
    "delete_node": "mutation($id: ID!) { r: deleteNode(input: {id: $id}) { deletedId } }",
    "get_node": f"query($id: ID!) {{ r: graphNode(id: $id) {{ {ELEMENT} }} }}",
    "create_connection": "mutation($in: ConnectionInput!) { r: createConnection(input: $in) { edge { id } } }",
    "update_connection": "mutation($in: UpdateEdgeInput!) { r: updateEdge(input: $in) { edge { id } } }",
    "delete_connection": "mutation($id: ID!) { r: deleteEdge(input: {id: $id}) { deletedId } }",
    "get_connection": f"query($id: ID!) {{ r: graphEdge(id: $id) {{ from to {ELEMENT} }} }}",
    "query_nodes": "query($f: NodeFilter) { r: graphNodes(filter: $f, first: 500) { nodes { id } } }",
    "query_connections": "query($f: EdgeFilter) { r: graphEdges(filter: $f, first: 500) { nodes { id } } }",
    "get_connected_nodes": "query($id: ID!, $t: String, $d: Direction!) { r: connectedNodes(nodeId: $id, connectionType: $t, direction: $d) { id } }",
    "search_content": "query($q: String!, $t: String, $n: Int!) { r: searchContent(query: $q, nodeType: $t, limit: $n) { id } }",
    "validate_connection": "query($c: String!, $f: String!, $t: String!) { r: validateConnection(connectionType: $c, fromNodeType: $f, toNodeType: $t) { valid } }",
    "create_ontology": "mutation($in: CreateOntologyInput!) { r: createOntology(input: $in) { ontology { name } } }",
    "add_node_type": "mutation($n: String!) { r: addNodeType(typeName: $n) { ontology { name } } }",
    "add_connection_type": "mutation($t: ConnectionTypeInput!) { r: addConnectionType(type: $t) { ontology { name } } }",
    "get_ontology": "{ r: ontology { nodeTypes connectionTypes { name fromTypes toTypes requiredProperties } } }",
}
# What the doors of the plain graph say about an element that is not there.
SAME = {("E002", "node"): "NODE_NOT_FOUND", ("E003", "edge"): "CONNECTION_NOT_FOUND"}


def over_graphql(http: httpx2.AsyncClient, url: str) -> Call:
    async def ask(tool: str, variables: dict[str, Any]) -> Any:
        answer = (await http.post(url, json={"query": QUERIES[tool], "variables": variables})).json()
        if "errors" in answer:
            error = answer["errors"][0]
            code = error.get("extensions", {}).get("code", "GRAPHQL")
            kind = "edge" if "connection" in tool else "node"
            raise Refused(SAME.get((code, kind), code), error["message"])
        return answer["data"]["r"]

    async def call(tool: str, given: dict[str, Any]) -> Any:
        return await GRAPHQL[tool](ask, tool, given)

    return call


Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]
NAMES = {"node_id": "id", "connection_id": "id", "from_node_id": "fromNodeId", "to_node_id": "toNodeId"}
WAYS = {"out": "OUTGOING", "in": "INCOMING", "both": "BOTH"}
ENCODINGS = {"utf-8": "UTF8", "base64": "BASE64"}


def _type(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": told.get("name", told.get("type_name")),
        "fromTypes": told["from_types"],
        "toTypes": told["to_types"],
        "requiredProperties": told.get("required_properties"),
    }


async def _make(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    told = {NAMES.get(name, name): value for name, value in given.items()}
    if "encoding" in told:
        told["encoding"] = ENCODINGS[told["encoding"]]
    made = await ask(tool, {"in": told})
    return (made.get("node") or made["edge"])["id"]


async def _update(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    told: dict[str, Any] = {"id": given.get("node_id", given.get("connection_id"))}
    if given.get("properties"):
        told["properties"] = given["properties"]
    if "content" in given:
        encoding = ENCODINGS[given.get("encoding", "utf-8")]
        told["content"] = {"body": given["content"], "format": given.get("format", "markdown"), "encoding": encoding}
    await ask(tool, {"in": told})


async def _end(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    await ask(tool, {"id": given.get("node_id", given.get("connection_id"))})


async def _look(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    found = await ask(tool, {"id": given.get("node_id", given.get("connection_id"))})
    if found is None:
        raise Refused("NODE_NOT_FOUND" if tool == "get_node" else "CONNECTION_NOT_FOUND", "null")
    content = found.pop("content")
    ends = {"from_node_id": found.pop("from"), "to_node_id": found.pop("to")} if "from" in found else {}
    told = {"has_content": content is not None} if ends else {"content_format": (content or {}).get("format", "")}
    return {**found, **ends, **told, "created": found["createdAt"], "modified": found["modifiedAt"]}


async def _content(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    found = await ask("get_node", {"id": given["node_id"]})
    if found is None:
        raise Refused("NODE_NOT_FOUND", "null")
    return (found["content"] or {}).get("body", "")


async def _list(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    names = {"from_node_id": "from", "to_node_id": "to", "properties": "match"}
    wanted = {names.get(name, name): value for name, value in given.items()}
    return [node["id"] for node in (await ask(tool, {"f": wanted}))["nodes"]]


async def _follow(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    wanted = {"id": given["node_id"], "t": given.get("connection_type"), "d": WAYS[given["direction"]]}
    return [node["id"] for node in await ask(tool, wanted)]


async def _search(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    wanted = {"q": given["query"], "t": given.get("node_type"), "n": given.get("limit", 50)}
    return [node["id"] for node in await ask(tool, wanted)]


async def _validate(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    wanted = {"c": given["connection_type"], "f": given["from_node_type"], "t": given["to_node_type"]}
    return (await ask(tool, wanted))["valid"]


async def _create_ontology(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    types = [_type(told) for told in given["connection_types"]]
    await ask(tool, {"in": {"nodeTypes": given["node_types"], "connectionTypes": types}})


async def _add_node_type(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    await ask(tool, {"n": given["type_name"]})


async def _add_connection_type(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    await ask(tool, {"t": _type(given)})


async def _ontology(ask: Ask, tool: str, given: dict[str, Any]) -> Any:
    found = await ask(tool, {})
    if found is None:
        raise Refused("ONTOLOGY_NOT_FOUND", "null")
    types = []
    for one in found["connectionTypes"]:
        told = {"name": one["name"], "from_types": one["fromTypes"], "to_types": one["toTypes"]}
        types.append({**told, "required_properties": one["requiredProperties"]} if one["requiredProperties"] else told)
    return {"node_types": found["nodeTypes"], "connection_types": types}


GRAPHQL: dict[str, Callable[[Ask, str, dict[str, Any]], Awaitable[Any]]] = {
    **dict.fromkeys(("create_node", "create_connection"), _make),
    **dict.fromkeys(("update_node", "update_connection"), _update),
    **dict.fromkeys(("delete_node", "delete_connection"), _end),
    **dict.fromkeys(("get_node", "get_connection"), _look),
    **dict.fromkeys(("query_nodes", "query_connections"), _list),
    "get_node_content": _content,
    "get_connected_nodes": _follow,
    "search_content": _search,
    "validate_connection": _validate,
    "create_ontology": _create_ontology,
    "add_node_type": _add_node_type,
    "add_connection_type": _add_connection_type,
    "get_ontology": _ontology,
}
