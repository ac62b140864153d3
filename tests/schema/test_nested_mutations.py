"""Typed upserts, and changes that create and connect further nodes: all of it or nothing, by the rules of the ontology."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import servers
from tests.schema.test_generated_schema import Door, opened
from ugs import System
from ugs.ontology.commands import node_tree


@pytest.fixture(params=["memory", "sqlite", "postgresql", "neo4j"])
async def ask(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Door]:
    name = request.param
    places = {"postgresql": "?schema=nested_mutations", "neo4j": "?namespace=nestedmutations"}
    if name in places:
        url = servers.require(name).partition("?")[0] + places[name]
    else:
        url = "memory:" if name == "memory" else f"sqlite:///{tmp_path / 'nested.db'}"
    async with System.at_url(url) as system:
        await system.storage.wipe()
    async with System.at_url(url) as system:
        yield await opened(system)


async def position(ask: Door) -> int:
    async with ask.context.system.session() as session:
        return (await session.head()).position


UPSERT = """mutation($in: UpsertProjectInput!, $by: [String!]) { upsertProject(input: $in, by: $by) {
    node { id version status rank content { body format } properties } clientMutationId } }"""
TREE = """mutation($in: CreateProjectInput!) { createProject(input: $in) { node { id status
    nextAction { edges { priority content { body } node { share_of_all
      relatedTo { nodes { ... on Person { id properties } ... on Project { id } } } } } } } } }"""
DEEP = {
    "nextAction": [
        {
            "create": {"share_of_all": 0.5, "relatedTo": [{"createPerson": {"properties": {"name": "Ada"}}}]},
            "connection": {"priority": "high", "content": "soon"},
        }
    ]
}


async def test_an_upsert_by_id_creates_and_then_changes(ask: Door) -> None:
    new = await ask(UPSERT, **{"in": {"id": "garden", "rank": 1, "content": "# Dig", "clientMutationId": "c"}})
    same = await ask(UPSERT, **{"in": {"id": "garden", "rank": 2}})

    assert new["upsertProject"]["node"] == {
        "id": "garden",
        "version": 1,
        "status": "active",
        "rank": 1,
        "content": {"body": "# Dig", "format": "markdown"},
        "properties": {"rank": 1, "status": "active"},
    }
    assert new["upsertProject"]["clientMutationId"] == "c"
    assert same["upsertProject"]["node"] == {**new["upsertProject"]["node"], "version": 2, "rank": 2} | {
        "properties": {"rank": 2, "status": "active"}
    }


async def test_an_upsert_by_values_finds_the_only_one_that_has_them(ask: Door) -> None:
    first = (await ask(UPSERT, **{"in": {"rank": 7}, "by": ["rank"]}))["upsertProject"]["node"]
    again = (await ask(UPSERT, **{"in": {"rank": 7, "status": "done"}, "by": ["rank"]}))["upsertProject"]["node"]
    other = (await ask(UPSERT, **{"in": {"rank": 8}, "by": ["rank"]}))["upsertProject"]["node"]

    assert (again["id"], again["version"], again["status"]) == (first["id"], 2, "done")
    assert other["id"] != first["id"]


async def test_an_upsert_that_does_not_say_which_one_is_refused(ask: Door) -> None:
    await ask(UPSERT, **{"in": {"id": "a", "rank": 1}})
    await ask(UPSERT, **{"in": {"id": "b", "rank": 1}})
    await ask('mutation { upsertAction(input: {id: "c", share_of_all: 1}) { node { id } } }')
    before = await position(ask)

    assert await ask.refused(UPSERT, **{"in": {"rank": 1}}) == "INVALID_ARGUMENT"
    assert await ask.refused(UPSERT, **{"in": {"id": "a"}, "by": ["rank"]}) == "INVALID_ARGUMENT"
    assert await ask.refused(UPSERT, **{"in": {"status": "done"}, "by": ["rank"]}) == "INVALID_ARGUMENT"
    assert await ask.refused(UPSERT, **{"in": {"rank": 1}, "by": ["rank"]}) == "INVALID_ARGUMENT"
    assert await ask.refused(UPSERT, **{"in": {"id": "no id"}}) != ""
    assert await ask.refused(UPSERT, **{"in": {"id": "c"}}) == "E001"
    assert await position(ask) == before


async def test_an_upsert_takes_a_version_and_a_retry_key(ask: Door) -> None:
    there_not = {"id": "a", "expectedVersion": 0, "idempotencyKey": "k"}
    first, again = [await ask(UPSERT, **{"in": there_not}) for _ in range(2)]

    assert first == again
    assert await ask.refused(UPSERT, **{"in": {**there_not, "idempotencyKey": "l"}}) == "VERSION_CONFLICT"
    assert await ask.refused(UPSERT, **{"in": {"id": "new", "expectedVersion": 3}}) == "VERSION_CONFLICT"


async def test_a_tree_of_nodes_is_created_in_one_transaction(ask: Door) -> None:
    made = (await ask(TREE, **{"in": DEEP}))["createProject"]["node"]

    [edge] = made["nextAction"]["edges"]
    assert (edge["priority"], edge["content"]["body"], edge["node"]["share_of_all"]) == ("high", "soon", 0.5)
    [person] = edge["node"]["relatedTo"]["nodes"]
    assert person["properties"] == {"name": "Ada"}


async def test_one_wrong_leaf_and_nothing_is_created(ask: Door) -> None:
    before = await position(ask)
    wrong = [
        {"nextAction": [{"connect": "nobody"}]},
        {"nextAction": [{}]},
        {"nextAction": [{"connect": "x", "create": {"share_of_all": 1}}]},
        {"nextAction": [{"create": {"share_of_all": 1, "relatedTo": [{"createPerson": {"properties": {"n": [1]}}}]}}]},
        {"nextAction": [{"create": {"share_of_all": 1}}, {"create": {"share_of_all": 1, "content": "é" * 9_000_000}}]},
    ]

    for input in wrong:
        assert await ask.refused(TREE, **{"in": input}) not in ("", "INTERNAL")
    assert await position(ask) == before


async def test_changes_connect_too_and_create_at_either_end(ask: Door) -> None:
    project = (await ask(UPSERT, **{"in": {"id": "p", "rank": 1}}))["upsertProject"]["node"]["id"]
    action = await ask(
        """mutation($p: ID!) { createAction(input: {share_of_all: 1, nextActionOf: [{connect: $p}, {create: {rank: 9}}]}) {
        node { id nextActionOf { nodes { rank } } } } }""",
        p=project,
    )
    id = action["createAction"]["node"]["id"]
    changed = await ask(
        """mutation($p: ID!, $a: ID!) {
        updateProject(input: {id: $p, expectedVersion: 1, relatedTo: [{connect: $a}]}) { node { id } } }""",
        p=project,
        a=id,
    )
    upserted = await ask(
        'mutation($a: ID!) { upsertProject(input: {id: "p", relatedTo: [{connect: $a}, {createProject: {rank: 4}}]}) { node { version relatedTo { totalCount } } } }',
        a=id,
    )

    assert action["createAction"]["node"]["nextActionOf"]["nodes"] == [{"rank": 1}, {"rank": 9}]
    assert changed["updateProject"]["node"] == {"id": "p"}
    assert upserted["upsertProject"]["node"] == {"version": 3, "relatedTo": {"totalCount": 3}}


async def test_one_change_makes_a_limited_number_of_connections(ask: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_tree, "MAX_NESTED", 2)
    before = await position(ask)

    assert await ask.refused(TREE, **{"in": {"relatedTo": [{"createPerson": {}}] * 3}}) == "LIMIT_EXCEEDED"
    assert await position(ask) == before
    assert await ask(TREE, **{"in": {"relatedTo": [{"createPerson": {}}] * 2}})
