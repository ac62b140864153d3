"""What GraphQL can do, the tools of the profile `extended` can do, and the other way round; exceptions have a reason."""

from __future__ import annotations

from ugs_gateway.mcp.server import Profile, tools_of
from ugs_schema import build_schema

TOOL_FOR = {
    "recall": "recall",
    "changes": "changes",
    "cypher": "cypher",
    "resolve": "resolve",
    "search": "search",
    "searchContent": "search_content",
    "validateConnection": "validate_connection",
    **dict.fromkeys(("history", "events"), "history"),
    **dict.fromkeys(("graphNode", "element", "node", "nodes", "resolveAll"), "get_node"),
    **dict.fromkeys(("graphNodes", "findByProperty"), "list_nodes"),
    "graphEdge": "get_connection",
    "graphEdges": "list_connections",
    **dict.fromkeys(("connectedNodes", "neighbors"), "get_connected_nodes"),
    **dict.fromkeys(
        ("traverse", "path", "hubs", "roots", "stats", "scopes", "propertyKeys", "childTasks", "dependencies"), "cypher"
    ),
    **dict.fromkeys(("ontology", "ontologies"), "get_ontology"),
    "versions": "versions",
    **dict.fromkeys(("entity", "entities", "entityNeighborhood"), "subjects"),
    **dict.fromkeys(("predicates", "resolvePredicate", "registerPredicate", "configurePredicate"), "predicates"),
    **dict.fromkeys(("activeFacts", "facts", "askFacts", "factTimeline", "factReport"), "active_facts"),
    "whyFact": "why",
    **dict.fromkeys(
        ("duplicateEntities", "mergePreview", "mergeEntities", "unmergeEntity", "keepEntitiesApart"), "merge"
    ),
    **dict.fromkeys(("factProposals", "approveProposal", "rejectProposal", "editProposal"), "proposals"),
    **dict.fromkeys(("program", "programs", "validateProgram", "executeProgram", "executeDeck"), "program"),
    **dict.fromkeys(("saveProgram", "updateProgram", "deleteProgram"), "program"),
    **dict.fromkeys(("addNode", "createMemoryNode", "upsertNode"), "create_node"),
    **dict.fromkeys(("addEdge", "createConnection", "upsertEdge"), "create_connection"),
    "updateNode": "update_node",
    "updateEdge": "update_connection",
    **dict.fromkeys(("delete", "deleteNode"), "delete_node"),
    "deleteEdge": "delete_connection",
    "createOntology": "create_ontology",
    "addNodeType": "add_node_type",
    "addConnectionType": "add_connection_type",
    "addPropertyDefinitions": "define_property",
    "addFact": "add_fact",
    **dict.fromkeys(("addNote", "ingest"), "remember"),
    **dict.fromkeys(("upsertEntity", "addEntityAlias"), "add_fact"),
    **dict.fromkeys(("invalidateFact", "correctFact"), "correct"),
    **dict.fromkeys(("deleteFact", "deleteNote", "deleteEntity"), "forget"),
    **dict.fromkeys(("undo", "revertElement"), "undo"),
    "sendMessage": "send_message",
}
"""Which tool does what a field does; openCypher answers the questions about the shape of the graph."""
NOT_FOR_AGENTS = {
    **dict.fromkeys(("apiKeys", "createApiKey", "revokeApiKey"), "keys are the operator's"),
    **dict.fromkeys(("backend", "gateway", "viewer", "verify", "snapshot"), "about running the gateway"),
    **dict.fromkeys(
        ("exportGraph", "importGraph", "loadDemo", "clearScope"), "whole graphs go through files, not a model"
    ),
    "applyBatch": "a model calls one tool after another; a program or a retry key makes several safe",
    **dict.fromkeys(
        (
            "parseProgram",
            "printProgram",
            "compileBlocks",
            "programBlocks",
            "migrateExploration",
            "installReadyPrograms",
        ),
        "for editors of programs; the tool takes text and JSON",
    ),
    **dict.fromkeys(
        (
            *("webhooks", "createWebhook", "deleteWebhook", "pauseWebhook", "resumeWebhook"),
            *("rewindWebhook", "redeliverWebhook"),
        ),
        "webhooks are the operator's: they send what happens to an address",
    ),
    "actorTypes": "the prompt and the ontology tell them",
    "renameEntity": "a new spelling is an alias; a name is chosen by people",
    "deletePredicate": "the vocabulary is curated by people",
    "setOntologyEnforcement": "how strictly rules hold is decided by people",
}
ONLY_FOR_MODELS = {
    "get_node_content": "content is a field of nodes in GraphQL",
    "get_connection_content": "content is a field of edges in GraphQL",
    "read_content": "content in parts, for answers that are limited",
    "query_nodes": "of the seed; `graphNodes` with a filter",
    "query_connections": "of the seed; `graphEdges` with a filter",
    "get_json_schema": "a door of its own over HTTP",
    "changed": "`events` with types",
    "propose": "`ingest` with trust PROPOSE",
}


def fields() -> set[str]:
    schema = build_schema()._schema
    assert schema.query_type is not None and schema.mutation_type is not None
    return {*schema.query_type.fields, *schema.mutation_type.fields}


def tools() -> set[str]:
    return {tool.name for tool in tools_of(Profile.EXTENDED)}


def test_every_field_has_a_tool_or_a_reason() -> None:
    assert fields() == TOOL_FOR.keys() | NOT_FOR_AGENTS.keys()
    assert not TOOL_FOR.keys() & NOT_FOR_AGENTS.keys()


def test_every_tool_has_a_field_or_a_reason() -> None:
    assert tools() == set(TOOL_FOR.values()) | ONLY_FOR_MODELS.keys()
    assert not set(TOOL_FOR.values()) & ONLY_FOR_MODELS.keys()
