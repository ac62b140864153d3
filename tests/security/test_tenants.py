"""A24, A32, A33: what belongs to another tenant does not exist, on every store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests import servers
from tests.security.conftest import Guarded, code_of
from ugs.errors import InvalidSyntax
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token, read_tokens
from ugs_gateway.auth.authenticator import principal_of
from ugs_gateway.settings import Settings, Tenancy
from ugs_gateway.tenants import place_of

SETUP = """mutation {
  a: addNode(input: {id: "NAME", type: "person", properties: {name: "Needle"}, data: "haystack"}) { node { id } }
  b: addNode(input: {id: "user:NAME", type: "person"}) { node { id } }
  c: addEdge(input: {id: "e_NAME", from: "NAME", to: "user:NAME", type: "is"}) { edge { id } }
}"""
NOTE = """mutation { addNote(text: "Needle works in Kiel") { note { noteId } } }"""

QUESTIONS = [
    'node(id: "ID") { __typename id }',
    'graphNode(id: "ID") { id properties }',
    'graphNode(id: "user:ID") { id }',
    'graphEdge(id: "e_ID") { id from to }',
    'resolve(address: "@(ID)") { resolved value }',
    'resolve(address: "@(ID:1)") { resolved value }',
    'nodes(ids: ["ID", "e_ID"]) { id }',
    'neighbors(id: "ID") { id }',
    'traverse(id: "ID") { node { id } }',
    'path(from: "ID", to: "user:ID") { totalWeight }',
    'history(elementId: "ID") { type }',
    'versions(id: "ID") { version }',
]
WHOLE = [
    'search(query: "Needle") { totalCount edges { node { score } } }',
    "graphNodes(first: 9) { totalCount edges { node { id } } }",
    "graphEdges(first: 9) { totalCount edges { node { id } } }",
    "stats { nodes edges }",
    "hubs { node { id } degree }",
    "roots { totalCount edges { node { id } } }",
    "scopes { name nodeCount }",
    "propertyKeys",
    "events(first: 9) { edges { node { elementId } } }",
    "entities(first: 9) { edges { node { canonical } } }",
    "facts(first: 9) { edges { node { predicate } } }",
]


def opened(url: str, folder: Path, **more: Any) -> tuple[TestClient, dict[str, str]]:
    file = folder / "tokens.jsonl"
    keys = {name: create_token(file, StoredToken("", name, ("admin",), tenant=name)) for name in ("acme", "Über:Firma")}
    app = create_app(Settings(store=url, token_file=str(file), request_seconds=60, **more))
    return TestClient(app, base_url="http://localhost"), keys


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    client, keys = opened("memory:", tmp_path_factory.mktemp("tenants"))
    with client:
        guarded = Guarded(client, {"a": keys["acme"], "b": keys["Über:Firma"]})
        assert code_of(guarded.ask(SETUP.replace("NAME", "secret"), guarded.keys["a"])) is None
        assert code_of(guarded.ask(NOTE, guarded.keys["a"])) is None
        yield guarded


@pytest.mark.parametrize("question", QUESTIONS)
def test_a32_another_tenants_ids_are_answered_like_ids_that_never_were(two: Guarded, question: str) -> None:
    theirs = two.ask(f"{{ {question.replace('ID', 'secret')} }}", two.keys["b"]).text
    missing = two.ask(f"{{ {question.replace('ID', 'absent')} }}", two.keys["b"]).text
    assert theirs.replace("secret", "absent") == missing
    own = two.ask(f"{{ {question.replace('ID', 'secret')} }}", two.keys["a"])
    assert code_of(own) is None and own.text.replace("secret", "absent") != missing, "the owner sees it"


@pytest.mark.parametrize("question", WHOLE)
def test_a33_no_count_and_no_search_betrays_another_tenant(two: Guarded, question: str) -> None:
    answer = two.ask(f"{{ {question} }}", two.keys["b"]).json()
    assert "errors" not in answer and "Needle" not in str(answer) and "secret" not in str(answer)
    assert not any(isinstance(leaf, int) and leaf for leaf in leaves(answer["data"])), answer


def leaves(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return [value] if inner is None else [leaf for item in inner for leaf in leaves(item)]


def test_a33_an_edge_to_a_hidden_node_leads_nowhere(tmp_path: Path) -> None:
    client, keys = opened("memory:", tmp_path)
    with client:
        two = Guarded(client, {"a": keys["acme"], "b": keys["Über:Firma"]})
        two.ask(SETUP.replace("NAME", "secret"), two.keys["a"])
        bridge = 'mutation { addNode(input: {id: "n"}) { node { id } } addEdge(input: {id: "x", from: "n", to: "secret"}) { edge { dangling } warnings { code } } }'
        assert two.ask(bridge, two.keys["b"]).json()["data"]["addEdge"]["edge"]["dangling"] is True
        seen = two.ask('{ graphEdge(id: "x") { toNode { id } } neighbors(id: "n") { id } }', two.keys["b"])
        assert seen.json()["data"] == {"graphEdge": {"toNode": None}, "neighbors": []}


def test_a24_a_subscription_hears_nothing_of_another_tenant(two: Guarded) -> None:
    with two.client.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        socket.send_json({"type": "connection_init", "payload": {"authorization": f"Bearer {two.keys['b']}"}})
        assert socket.receive_json()["type"] == "connection_ack"
        query = "subscription { events { elementId } }"
        socket.send_json({"type": "subscribe", "id": "1", "payload": {"query": query}})
        two.ask('mutation { addNode(input: {id: "theirs"}) { node { id } } }', two.keys["a"])
        two.ask('mutation { addNode(input: {id: "mine"}) { node { id } } }', two.keys["b"])
        assert socket.receive_json()["payload"]["data"]["events"]["elementId"] == "mine"


@pytest.mark.parametrize("store", ["file", "sqlite", "postgresql", "neo4j"])
def test_every_store_keeps_tenants_apart_and_for_good(store: str, tmp_path: Path) -> None:
    places = {"file": f"file:{tmp_path}/data", "sqlite": f"sqlite:///{tmp_path}/graph.db"}
    option = "schema" if store == "postgresql" else "namespace"
    url = places.get(store) or f"{servers.require(store)}?{option}=tenancy"
    for attempt in range(2):
        client, keys = opened(url, tmp_path)
        with client:
            asking = Guarded(client, keys)
            for name, key in keys.items():
                if attempt == 0:
                    tenants = client.app.state.tenants  # type: ignore[attr-defined]
                    asking.ask("{ stats { nodes } }", key)
                    client.portal.call(tenants.opened(StoredToken("", "", (), name).principal).storage.wipe)  # type: ignore[union-attr]
                    asking.ask(f'mutation {{ addNode(input: {{id: "n", type: "{name}"}}) {{ node {{ id }} }} }}', key)
            types = [asking.ask("{ graphNodes { edges { node { type } } } }", key).json() for key in keys.values()]
        found = [[edge["node"]["type"] for edge in answer["data"]["graphNodes"]["edges"]] for answer in types]
        assert found == [["acme"], ["Über:Firma"]]


def test_tenants_may_share_one_graph_where_the_owner_says_so(tmp_path: Path) -> None:
    client, keys = opened("memory:", tmp_path, tenants=Tenancy.SHARED)
    with client:
        asking = Guarded(client, keys)
        asking.ask('mutation { addNode(input: {id: "n"}) { node { id } } }', keys["acme"])
        assert asking.ask("{ stats { nodes } }", keys["Über:Firma"]).json()["data"]["stats"]["nodes"] == 1


def test_a_gateway_serves_so_many_tenants_and_says_so(tmp_path: Path) -> None:
    client, keys = opened("memory:", tmp_path, max_tenants=1)
    with client:
        first, second = (Guarded(client, keys).ask("{ stats { nodes } }", key) for key in keys.values())
        assert (first.status_code, second.status_code, code_of(second)) == (200, 503, "LIMIT_EXCEEDED")


def test_places_are_names_that_every_database_takes() -> None:
    assert [place_of(name) for name in ("acme", "a_1")] == ["acme", "a_1"]
    hashed = [place_of(name) for name in ("Acme", "a:b", "../x", "x" * 40, "h_acme", "")]
    assert len(set(hashed)) == 6 and all(place.startswith("h_") and len(place) == 22 for place in hashed)


# ── one graph for several tenants ────────────────────────────────────────────

OF_THE_WHOLE_GRAPH = [
    "mutation { clearScope(scope: SCRATCH, force: true) { __typename } }",
    "mutation { snapshot { snapshot { eventCount } } }",
    "mutation { importGraph(graph: {nodes: [], edges: []}) { __typename } }",
    "{ exportGraph }",
    "{ verify { ok } }",
]
NAMES = ("default", "acme", "other")


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Admins of three tenants on one graph; keys are in the store, too."""
    folder = tmp_path_factory.mktemp("shared")
    file = folder / "tokens.jsonl"
    keys = {name: create_token(file, StoredToken("", "jo", ("admin",), tenant=name)) for name in NAMES}
    keys["writer"] = create_token(file, StoredToken("", "wo", ("writer",), tenant="acme"))
    settings = Settings(store="memory:", token_file=str(file), store_keys=True, tenants=Tenancy.SHARED)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield Guarded(client, keys)


@pytest.mark.parametrize("question", OF_THE_WHOLE_GRAPH)
def test_only_admins_of_the_owner_do_what_concerns_a_shared_graph(together: Guarded, question: str) -> None:
    assert code_of(together.ask(question, together.keys["acme"])) == "FORBIDDEN"
    assert code_of(together.ask(question, together.keys["default"])) is None


@pytest.mark.parametrize("path", ["/log", "/log/digest", "/metrics"])
def test_only_admins_of_the_owner_read_what_concerns_a_shared_graph(together: Guarded, path: str) -> None:
    def status(name: str) -> int:
        answer = together.client.get(path, headers={"authorization": f"Bearer {together.keys[name]}"})
        return int(answer.status_code)

    assert [status(name) for name in NAMES] == [200, 403, 403]


def test_an_admin_of_a_tenant_sees_no_facts_and_no_programs_of_others(together: Guarded) -> None:
    note = 'mutation { addNote(text: "Needle works in Kiel") { note { noteId } } }'
    fact = 'mutation { addFact(input: {subject: "Needle", predicate: "works_in", object: "Kiel"}) { fact { factId } } }'
    for question in (note, fact):
        together.ask(question, together.keys["default"])
    read = "{ facts(first: 9) { edges { node { predicate } } } entities(first: 9) { edges { node { canonical } } } }"
    assert "Needle" not in together.ask(read, together.keys["acme"]).text
    store = "mutation { installReadyPrograms { id } }"
    assert code_of(together.ask(store, together.keys["acme"])) == "FORBIDDEN"
    explained = together.ask("{ stats { nodes } }", together.keys["acme"], extensions={"explain": True})
    assert code_of(explained) == "FORBIDDEN"


def test_an_admin_of_a_tenant_writes_and_manages_its_own_keys(together: Guarded) -> None:
    acme = together.keys["acme"]
    assert code_of(together.ask("mutation { addNode(input: {}) { node { id } } }", acme)) is None
    create = 'mutation { createApiKey(input: {name: "k", roles: [ADMIN], tenant: "default"}) { token apiKey { id tenant } } }'
    made = together.ask(create, acme).json()["data"]["createApiKey"]
    assert made["apiKey"]["tenant"] == "acme"
    assert code_of(together.ask("{ exportGraph }", made["token"])) == "FORBIDDEN", "its admins are bound alike"
    listed = together.ask("{ apiKeys { nodes { tenant } } }", acme).json()["data"]["apiKeys"]["nodes"]
    assert {key["tenant"] for key in listed} == {"acme"}
    revoke = f'mutation {{ revokeApiKey(input: {{id: "{made["apiKey"]["id"]}"}}) {{ apiKey {{ works }} }} }}'
    assert code_of(together.ask(revoke, together.keys["other"])) == "KEY_NOT_FOUND"
    assert code_of(together.ask(revoke, together.keys["writer"])) == "FORBIDDEN"
    assert code_of(together.ask(revoke, acme)) is None


def test_no_token_names_the_bound_role(tmp_path: Path) -> None:
    assert principal_of({"sub": "jo", "roles": ["tenant_admin"]}).roles == frozenset()
    (tmp_path / "tokens.jsonl").write_text('{"hash":"x","user":"jo","roles":["tenant_admin"]}\n')
    with pytest.raises(InvalidSyntax):
        read_tokens(tmp_path / "tokens.jsonl")


def test_an_admin_of_a_tenant_with_a_graph_of_its_own_may_do_everything_to_it(tmp_path: Path) -> None:
    client, keys = opened("memory:", tmp_path)
    with client:
        asking = Guarded(client, keys)
        assert code_of(asking.ask("{ exportGraph verify { ok } }", keys["acme"])) is None
        headers = {"authorization": f"Bearer {keys['acme']}"}
        assert client.get("/log", headers=headers).status_code == 200
        assert client.get("/metrics", headers=headers).status_code == 403, "numbers of all tenants"
