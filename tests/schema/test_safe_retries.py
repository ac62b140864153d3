"""Every mutation can be retried and made conditional on a version, or says here why not."""

from __future__ import annotations

from graphql import GraphQLField, GraphQLInputObjectType, GraphQLSchema, get_named_type

from tests.schema.test_generated_schema import opened
from ugs import System
from ugs_schema import build_schema

WITHOUT_KEY = {
    "snapshot": "writes no event; done again it writes the same",
    "installReadyPrograms": "programs that are there already are left as they are",
}
ADDS = "adds something of its own, so no version can be meant"
ROW_OF_FACTS = "entities, predicates, notes and facts have no versions; their rules decide what a change finds"
WITHOUT_VERSION = {
    **dict.fromkeys(("addNote", "createMemoryNode", "createConnection", "createApiKey", "createWebhook"), ADDS),
    **dict.fromkeys(
        (
            *("upsertEntity", "addEntityAlias", "renameEntity", "deleteEntity", "mergeEntities"),
            *("registerPredicate", "deletePredicate", "deleteNote"),
            *("approveProposal", "rejectProposal", "editProposal"),
            *("unmergeEntity", "keepEntitiesApart", "addFact", "invalidateFact", "correctFact", "deleteFact", "ingest"),
        ),
        ROW_OF_FACTS,
    ),
    **dict.fromkeys(
        ("createOntology", "addNodeType", "addConnectionType", "addPropertyDefinitions", "setOntologyEnforcement"),
        "an ontology only grows; what is there already is left as it is or refused",
    ),
    **dict.fromkeys(
        ("saveProgram", "updateProgram", "deleteProgram", "installReadyPrograms", "revokeApiKey"),
        "programs and keys have no versions",
    ),
    **dict.fromkeys(
        ("pauseWebhook", "resumeWebhook", "rewindWebhook", "deleteWebhook", "redeliverWebhook"),
        "webhooks have no versions; each change says what holds afterwards",
    ),
    **dict.fromkeys(
        ("clearScope", "loadDemo", "importGraph", "snapshot"), "about many elements, or none: no one version is meant"
    ),
    "configurePredicate": "has expectedStatus and expectedCardinality instead",
    "applyBatch": "each of its operations has one",
    "undo": "refuses with UNDO_CONFLICT what something else changed since",
    "sendMessage": "the actor decides by the state it finds, in the same transaction",
}


def names_of(field: GraphQLField) -> set[str]:
    """The arguments of a field, and the fields of its inputs."""
    inputs = [get_named_type(argument.type) for argument in field.args.values()]
    return set(field.args) | {
        name for input in inputs if isinstance(input, GraphQLInputObjectType) for name in input.fields
    }


def lacking(schema: GraphQLSchema, argument: str) -> set[str]:
    assert schema.mutation_type is not None
    return {name for name, field in schema.mutation_type.fields.items() if argument not in names_of(field)}


def test_every_mutation_has_a_retry_key_or_a_reason() -> None:
    assert lacking(build_schema()._schema, "idempotencyKey") == set(WITHOUT_KEY)


def test_every_mutation_has_an_expected_version_or_a_reason() -> None:
    assert lacking(build_schema()._schema, "expectedVersion") == set(WITHOUT_VERSION)


async def test_generated_mutations_have_both_but_those_that_add() -> None:
    async with System.at_url("memory:") as system:
        schema = (await opened(system)).operations.core
    assert lacking(schema, "idempotencyKey") == set()
    assert all(name.startswith(("create", "connect")) for name in lacking(schema, "expectedVersion"))


async def test_a_generated_change_is_refused_at_another_version() -> None:
    async with System.at_url("memory:") as system:
        ask = await opened(system)
        made = await ask("mutation { createProject(input: {}) { node { id version } } }")
        id = made["createProject"]["node"]["id"]
        update = "mutation($id: ID!, $v: Int) { updateProject(input: {id: $id, rank: 1, expectedVersion: $v}) { node { version } } }"
        delete = "mutation($id: ID!, $v: Int) { deleteProject(id: $id, expectedVersion: $v) { deletedId } }"
        assert (await ask(update, id=id, v=1))["updateProject"]["node"] == {"version": 2}
        assert await ask.refused(update, id=id, v=1) == "VERSION_CONFLICT"
        assert await ask.refused(delete, id=id, v=1) == "VERSION_CONFLICT"
        assert await ask(delete, id=id, v=2) == {"deleteProject": {"deletedId": id}}
