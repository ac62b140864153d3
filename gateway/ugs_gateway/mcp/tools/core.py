"""The eighteen tools of the seed in its order, and one more: argument types, result types and functions."""

from __future__ import annotations

from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType
from ugs_gateway.mcp import inputs, outputs
from ugs_gateway.mcp.tools.base import ADDS, CHANGES, READS, Json, MemoryTool

DONE: Json = {"success": True}
MAX_LISTED = 20_000
"""Ids read per result, twice the number of nodes the seed expects; the result states the total. Clients process each
id, which takes them longer than finding it takes the server.
"""


async def create_node(memory: Memory, arguments: inputs.CreateNode) -> Json:
    made = await memory.create_node(
        arguments.type, arguments.content, arguments.format, arguments.encoding, arguments.properties
    )
    return {"node_id": made}


async def get_node(memory: Memory, arguments: inputs.NodeNamed) -> Json:
    return await memory.get_node(arguments.node_id)


async def get_node_content(memory: Memory, arguments: inputs.NodeNamed) -> Json:
    return {"content": await memory.get_node_content(arguments.node_id)}


async def get_connection_content(memory: Memory, arguments: inputs.ConnectionContent) -> Json:
    return part_of(await memory.get_connection_content(arguments.connection_id), arguments.offset, arguments.length)


def part_of(text: str, offset: int | None, length: int | None) -> Json:
    """The whole text; if a part is requested, that part with the total length."""
    if offset is None and length is None:
        return {"content": text}
    start = offset or 0
    end = len(text) if length is None else start + length
    answer: Json = {"content": text[start:end], "offset": start, "total": len(text)}
    return {**answer, "next_offset": end} if end < len(text) else answer


async def update_node(memory: Memory, arguments: inputs.UpdateNode) -> Json:
    await memory.update_node(
        arguments.node_id, arguments.properties, arguments.content, arguments.encoding, arguments.format
    )
    return DONE


async def delete_node(memory: Memory, arguments: inputs.NodeNamed) -> Json:
    await memory.delete_node(arguments.node_id)
    return DONE


async def create_connection(memory: Memory, arguments: inputs.CreateConnection) -> Json:
    made = await memory.create_connection(
        arguments.type, arguments.from_node_id, arguments.to_node_id, arguments.properties, arguments.content
    )
    return {"connection_id": made}


async def get_connection(memory: Memory, arguments: inputs.ConnectionNamed) -> Json:
    return await memory.get_connection(arguments.connection_id)


async def update_connection(memory: Memory, arguments: inputs.UpdateConnection) -> Json:
    await memory.update_connection(arguments.connection_id, arguments.properties, arguments.content)
    return DONE


async def delete_connection(memory: Memory, arguments: inputs.ConnectionNamed) -> Json:
    await memory.delete_connection(arguments.connection_id)
    return DONE


async def query_nodes(memory: Memory, arguments: inputs.QueryNodes) -> Json:
    return {"node_ids": await memory.query_nodes(arguments.type, arguments.properties, max_ids=MAX_LISTED)}


async def query_connections(memory: Memory, arguments: inputs.QueryConnections) -> Json:
    found = await memory.query_connections(
        arguments.from_node_id, arguments.to_node_id, arguments.type, arguments.properties, max_ids=MAX_LISTED
    )
    return {"connection_ids": found}


async def get_connected_nodes(memory: Memory, arguments: inputs.ConnectedNodes) -> Json:
    return {
        "node_ids": await memory.get_connected_nodes(arguments.node_id, arguments.direction, arguments.connection_type)
    }


async def search_content(memory: Memory, arguments: inputs.SearchContent) -> Json:
    found = await memory.search_content(arguments.query, arguments.node_type, arguments.limit, max_ids=MAX_LISTED)
    return {"node_ids": found}


async def validate_connection(memory: Memory, arguments: inputs.ValidateConnection) -> Json:
    valid = await memory.validate_connection(
        arguments.connection_type, arguments.from_node_type, arguments.to_node_type
    )
    return {"valid": valid}


async def create_ontology(memory: Memory, arguments: inputs.CreateOntology) -> Json:
    types = [
        ConnectionType(one.name, tuple(one.from_types), tuple(one.to_types), tuple(one.required_properties or ()))
        for one in arguments.connection_types
    ]
    await memory.create_ontology(arguments.node_types, types)
    return DONE


async def add_node_type(memory: Memory, arguments: inputs.AddNodeType) -> Json:
    await memory.add_node_type(arguments.type_name)
    return DONE


async def add_connection_type(memory: Memory, arguments: inputs.AddConnectionType) -> Json:
    required = tuple(arguments.required_properties or ())
    type = ConnectionType(arguments.type_name, tuple(arguments.from_types), tuple(arguments.to_types), required)
    await memory.add_connection_type(type)
    return DONE


async def get_ontology(memory: Memory, arguments: inputs.Nothing) -> Json:
    return (await memory.get_ontology()).as_json()


TOOLS: tuple[MemoryTool, ...] = (
    MemoryTool(
        "create_node",
        "Create a node",
        "Remember something as a node of a type in the ontology. Answers its id.",
        inputs.CreateNode,
        outputs.NODE_ID,
        ADDS,
        create_node,
        keeps_key=True,
    ),
    MemoryTool(
        "get_node",
        "Look at a node",
        "Type, times, properties and content format of a node, without its content.",
        inputs.NodeNamed,
        outputs.NODE,
        READS,
        get_node,
    ),
    MemoryTool(
        "get_node_content",
        "Read a node",
        "The content of a node, exactly as it was given.",
        inputs.NodeNamed,
        outputs.CONTENT,
        READS,
        get_node_content,
    ),
    MemoryTool(
        "update_node",
        "Update a node",
        "Merge properties into a node, replace its content (then say its encoding), or change its format.",
        inputs.UpdateNode,
        outputs.SUCCESS,
        CHANGES,
        update_node,
        keeps_key=True,
        keeps_version=True,
    ),
    MemoryTool(
        "delete_node",
        "Delete a node",
        "Delete a node, its content and all its connections. The nodes it was connected with stay.",
        inputs.NodeNamed,
        outputs.SUCCESS,
        CHANGES,
        delete_node,
        keeps_key=True,
        keeps_version=True,
    ),
    MemoryTool(
        "create_connection",
        "Connect two nodes",
        "Connect two nodes with a type that the ontology allows between them. Answers the connection's id.",
        inputs.CreateConnection,
        outputs.CONNECTION_ID,
        ADDS,
        create_connection,
        keeps_key=True,
    ),
    MemoryTool(
        "get_connection",
        "Look at a connection",
        "Ends, type, times and properties of a connection.",
        inputs.ConnectionNamed,
        outputs.CONNECTION,
        READS,
        get_connection,
    ),
    MemoryTool(
        "update_connection",
        "Update a connection",
        "Merge properties into a connection, or replace its notes.",
        inputs.UpdateConnection,
        outputs.SUCCESS,
        CHANGES,
        update_connection,
        keeps_key=True,
        keeps_version=True,
    ),
    MemoryTool(
        "delete_connection",
        "Delete a connection",
        "Delete a connection. Its nodes stay.",
        inputs.ConnectionNamed,
        outputs.SUCCESS,
        CHANGES,
        delete_connection,
        keeps_key=True,
        keeps_version=True,
    ),
    MemoryTool(
        "query_nodes",
        "Find nodes",
        "Ids of nodes of a type that have all the given properties with exactly these values.",
        inputs.QueryNodes,
        outputs.NODE_IDS,
        READS,
        query_nodes,
    ),
    MemoryTool(
        "query_connections",
        "Find connections",
        "Ids of connections by their ends, type and properties; all that is given must hold.",
        inputs.QueryConnections,
        outputs.CONNECTION_IDS,
        READS,
        query_connections,
    ),
    MemoryTool(
        "get_connected_nodes",
        "Follow connections",
        "Ids of the nodes that a node is connected with, by direction and connection type.",
        inputs.ConnectedNodes,
        outputs.NODE_IDS,
        READS,
        get_connected_nodes,
    ),
    MemoryTool(
        "search_content",
        "Search content",
        "Ids of nodes whose text contains the query.",
        inputs.SearchContent,
        outputs.NODE_IDS,
        READS,
        search_content,
    ),
    MemoryTool(
        "validate_connection",
        "Check a connection",
        "Whether the ontology allows a connection type between two node types.",
        inputs.ValidateConnection,
        outputs.VALID,
        READS,
        validate_connection,
    ),
    MemoryTool(
        "create_ontology",
        "Create the ontology",
        "Say once which node types and connection types there are. Types can be added later, never changed.",
        inputs.CreateOntology,
        outputs.SUCCESS,
        ADDS,
        create_ontology,
        keeps_key=True,
    ),
    MemoryTool(
        "add_node_type",
        "Add a node type",
        "Add a node type to the ontology.",
        inputs.AddNodeType,
        outputs.SUCCESS,
        ADDS,
        add_node_type,
        keeps_key=True,
    ),
    MemoryTool(
        "add_connection_type",
        "Add a connection type",
        "Add a connection type to the ontology.",
        inputs.AddConnectionType,
        outputs.SUCCESS,
        ADDS,
        add_connection_type,
        keeps_key=True,
    ),
    MemoryTool(
        "get_ontology",
        "Look at the ontology",
        "All node types and connection types.",
        inputs.Nothing,
        outputs.ONTOLOGY,
        READS,
        get_ontology,
    ),
)

CONTENT_TOOLS: tuple[MemoryTool, ...] = (
    MemoryTool(
        "get_connection_content",
        "Read the notes of a connection",
        "The content of a connection, exactly as it was given; of long content a part, with offset and length.",
        inputs.ConnectionContent,
        outputs.PART,
        READS,
        get_connection_content,
    ),
)
"""The tool for reading what the seed's tools can only write."""
