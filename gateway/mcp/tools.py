"""The eighteen tools of the seed, in its order: what they take, what they answer, and what they do."""

from __future__ import annotations

from gateway.mcp import inputs, outputs
from gateway.mcp.tool import ADDS, CHANGES, READS, Json, MemoryTool
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType

DONE: Json = {"success": True}
MOST_LISTED = 20_000
"""So many ids are read for an answer, twice the nodes the seed thinks of; it says how many there are in all.
Clients look at each id of an answer, which takes them longer than finding it takes us."""


async def create_node(memory: Memory, given: inputs.CreateNode) -> Json:
    made = await memory.create_node(given.type, given.content, given.format, given.encoding, given.properties)
    return {"node_id": made}


async def get_node(memory: Memory, given: inputs.NodeNamed) -> Json:
    return await memory.get_node(given.node_id)


async def get_node_content(memory: Memory, given: inputs.NodeNamed) -> Json:
    return {"content": await memory.get_node_content(given.node_id)}


async def update_node(memory: Memory, given: inputs.UpdateNode) -> Json:
    await memory.update_node(given.node_id, given.properties, given.content, given.encoding, given.format)
    return DONE


async def delete_node(memory: Memory, given: inputs.NodeNamed) -> Json:
    await memory.delete_node(given.node_id)
    return DONE


async def create_connection(memory: Memory, given: inputs.CreateConnection) -> Json:
    made = await memory.create_connection(
        given.type, given.from_node_id, given.to_node_id, given.properties, given.content
    )
    return {"connection_id": made}


async def get_connection(memory: Memory, given: inputs.ConnectionNamed) -> Json:
    return await memory.get_connection(given.connection_id)


async def update_connection(memory: Memory, given: inputs.UpdateConnection) -> Json:
    await memory.update_connection(given.connection_id, given.properties, given.content)
    return DONE


async def delete_connection(memory: Memory, given: inputs.ConnectionNamed) -> Json:
    await memory.delete_connection(given.connection_id)
    return DONE


async def query_nodes(memory: Memory, given: inputs.QueryNodes) -> Json:
    return {"node_ids": await memory.query_nodes(given.type, given.properties, most=MOST_LISTED)}


async def query_connections(memory: Memory, given: inputs.QueryConnections) -> Json:
    found = await memory.query_connections(
        given.from_node_id, given.to_node_id, given.type, given.properties, most=MOST_LISTED
    )
    return {"connection_ids": found}


async def get_connected_nodes(memory: Memory, given: inputs.ConnectedNodes) -> Json:
    return {"node_ids": await memory.get_connected_nodes(given.node_id, given.direction, given.connection_type)}


async def search_content(memory: Memory, given: inputs.SearchContent) -> Json:
    found = await memory.search_content(given.query, given.node_type, given.limit, most=MOST_LISTED)
    return {"node_ids": found}


async def validate_connection(memory: Memory, given: inputs.ValidateConnection) -> Json:
    valid = await memory.validate_connection(given.connection_type, given.from_node_type, given.to_node_type)
    return {"valid": valid}


async def create_ontology(memory: Memory, given: inputs.CreateOntology) -> Json:
    types = [
        ConnectionType(one.name, tuple(one.from_types), tuple(one.to_types), tuple(one.required_properties or ()))
        for one in given.connection_types
    ]
    await memory.create_ontology(given.node_types, types)
    return DONE


async def add_node_type(memory: Memory, given: inputs.AddNodeType) -> Json:
    await memory.add_node_type(given.type_name)
    return DONE


async def add_connection_type(memory: Memory, given: inputs.AddConnectionType) -> Json:
    required = tuple(given.required_properties or ())
    type = ConnectionType(given.type_name, tuple(given.from_types), tuple(given.to_types), required)
    await memory.add_connection_type(type)
    return DONE


async def get_ontology(memory: Memory, given: inputs.Nothing) -> Json:
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
    ),
    MemoryTool(
        "delete_node",
        "Delete a node",
        "Delete a node, its content and all its connections. The nodes it was connected with stay.",
        inputs.NodeNamed,
        outputs.SUCCESS,
        CHANGES,
        delete_node,
    ),
    MemoryTool(
        "create_connection",
        "Connect two nodes",
        "Connect two nodes with a type that the ontology allows between them. Answers the connection's id.",
        inputs.CreateConnection,
        outputs.CONNECTION_ID,
        ADDS,
        create_connection,
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
    ),
    MemoryTool(
        "delete_connection",
        "Delete a connection",
        "Delete a connection. Its nodes stay.",
        inputs.ConnectionNamed,
        outputs.SUCCESS,
        CHANGES,
        delete_connection,
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
    ),
    MemoryTool(
        "add_node_type",
        "Add a node type",
        "Add a node type to the ontology.",
        inputs.AddNodeType,
        outputs.SUCCESS,
        ADDS,
        add_node_type,
    ),
    MemoryTool(
        "add_connection_type",
        "Add a connection type",
        "Add a connection type to the ontology.",
        inputs.AddConnectionType,
        outputs.SUCCESS,
        ADDS,
        add_connection_type,
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
