"""The gateway as a subgraph: the cases of Apollo's compatibility suite that a fixed schema can have, and composition."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema as parse_schema
from starlette.testclient import TestClient

from tests.schema_tools.tools import installed
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings
from ugs_schema import build_schema
from ugs_schema.schema_variants import subgraph_sdl

ENTITIES = "query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Node { id } "
ENTITIES += (
    "... on GraphNode { label outgoing { nodes { id } } } ... on GraphEdge { weight } ... on Fact { predicate } } }"
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings(store="memory:", federation=True)), base_url="http://localhost") as client:
        ask(client, "mutation { loadDemo { nodes } }")
        yield client


def ask(client: TestClient, query: str, **variables: Any) -> Any:
    return client.post("/graphql", json={"query": query, "variables": variables}).json()


def test_the_service_tells_its_schema_with_link_keys_and_shareable(client: TestClient) -> None:
    sdl = ask(client, "{ _service { sdl } }")["data"]["_service"]["sdl"]
    assert sdl.startswith("extend schema @link(url: ")
    assert 'type GraphNode implements Element & Node @key(fields: "id") {' in sdl
    assert "type PageInfo @shareable {" in sdl
    assert "_entities" not in sdl and "_Any" not in sdl, "the router adds these itself"


def test_every_type_with_a_global_id_is_an_entity() -> None:
    schema = parse_schema(build_schema(federation=True).as_str())
    members = {one.name for one in schema.type_map["_Entity"].types}  # type: ignore[attr-defined]
    assert members == {one.name for one in schema.get_possible_types(schema.type_map["Node"])}  # type: ignore[arg-type]
    assert subgraph_sdl().count('@key(fields: "id")') == len(members)


def test_entities_are_found_by_key_in_their_order(client: TestClient) -> None:
    wanted = [("GraphEdge", "e1"), ("GraphNode", "alice"), ("GraphNode", "nobody"), ("GraphNode", "e1")]
    found = ask(client, ENTITIES, r=[{"__typename": name, "id": id} for name, id in wanted])["data"]["_entities"]
    assert found[0] == {"__typename": "GraphEdge", "id": "e1", "weight": 1.0}
    assert found[1]["label"] == "Alice Johnson" and found[1]["outgoing"]["nodes"]
    assert found[2:] == [None, None]


def test_facts_and_their_entities_are_found_by_key(client: TestClient) -> None:
    given = {
        "scope": "project_shared",
        "subject": {"name": "Ann"},
        "predicate": "likes",
        "objectValue": "tea",
        "notes": [{"text": "Ann likes tea"}],
    }
    made = ask(client, "mutation($i: AddFactInput!) { addFact(input: $i) { fact { id subject { id } } } }", i=given)
    fact = made["data"]["addFact"]["fact"]
    wanted = [{"__typename": "Fact", "id": fact["id"]}, {"__typename": "Entity", "id": fact["subject"]["id"]}]
    found = ask(client, ENTITIES, r=wanted)["data"]["_entities"]
    assert [one["__typename"] for one in found] == ["Fact", "Entity"] and found[0]["predicate"] == "likes"


@pytest.mark.parametrize(
    "wrong", ["x", {"id": "alice"}, {"__typename": "GraphNode"}, {"__typename": "GraphNode", "id": 3}]
)
def test_a_malformed_representation_is_refused_with_a_code(client: TestClient, wrong: Any) -> None:
    errors = ask(client, ENTITIES, r=[wrong])["errors"]
    assert errors[0]["extensions"]["code"] == "E005"
    assert "__typename and id" in errors[0]["message"]


def test_too_many_representations_are_refused(client: TestClient) -> None:
    answer = ask(client, ENTITIES, r=[{"__typename": "GraphNode", "id": f"n{number}"} for number in range(5_000)])
    assert answer["errors"][0]["extensions"]["code"] in ("LIMIT_EXCEEDED", "QUERY_TOO_COMPLEX")


def test_the_ordinary_schema_is_unchanged() -> None:
    with TestClient(create_app(Settings(store="memory:")), base_url="http://localhost") as client:
        assert "_service" not in client.get("/schema.graphql").text
        assert ask(client, "{ _service { sdl } }")["errors"]


def test_it_composes_with_another_subgraph(tmp_path: Path) -> None:
    (tmp_path / "subgraph.graphql").write_text(subgraph_sdl())
    script = ["node", "compose.mjs", str(tmp_path / "subgraph.graphql")]
    done = subprocess.run(script, cwd=installed(), capture_output=True, text=True, check=True, timeout=120)
    result = json.loads(done.stdout)
    assert result["errors"] == []
    assert "reviews: [Review!]! @join__field(graph: REVIEWS)" in result["supergraph"]
