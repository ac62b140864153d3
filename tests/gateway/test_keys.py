"""API keys kept in the store: who gets in with one, who may make them, and that nobody comes across them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ugs.identity import Principal
from ugs.keys.api import KEYS_STORE_NAME, Keyring
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.auth.authenticator import check_safe
from ugs_gateway.settings import Mode, Settings
from ugs_gateway.tenants import place_of

CREATE = (
    "mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { token apiKey { id tenant roles works } } }"
)
REVOKE = "mutation($id: ID!) { revokeApiKey(input: {id: $id}) { token apiKey { works revokedAt } } }"
LIST = "query($first: Int, $after: String) { apiKeys(first: $first, after: $after) { totalCount nodes { name tenant user works } pageInfo { hasNextPage endCursor } } }"
READ = "{ stats { nodes } }"
WRITE = "mutation { addNode(input: {}) { event { by } } }"
EVERYTHING_READABLE = [
    "{ events(first: 500) { nodes { type data by } } history(last: 500) { type data } }",
    '{ cypher(query: "MATCH (n) RETURN n", view: ALL) { rows } exportGraph stats { events } propertyKeys }',
    '{ search(query: "ugsk") { totalCount } graphNodes { nodes { id } } verify { digest eventsChecked } }',
    '{ node(id: "key/ID") { id } nodes(ids: ["apikey/ID", "ID"]) { id } element(id: "ID") { __typename } }',
    "{ apiKeys { nodes { id name user roles tenant project agent createdAt expiresAt revokedAt works } } }",
    '{ __type(name: "ApiKey") { fields { name } } }',
]


class Door:
    """A gateway that knows a root key from its file and all others from its store."""

    def __init__(self, client: TestClient, roots: dict[str, str]) -> None:
        self.client, self.roots = client, roots

    def ask(self, query: str, token: str | None = None, **variables: Any) -> Any:
        headers = {"authorization": f"Bearer {token or self.roots['default']}"}
        return self.client.post("/graphql", json={"query": query, "variables": variables}, headers=headers)

    def code(self, query: str, token: str | None = None, **variables: Any) -> Any:
        answer = self.ask(query, token, **variables)
        errors = answer.json().get("errors")
        return errors[0]["extensions"]["code"] if errors else answer.status_code

    def made(self, by: str | None = None, **input: Any) -> Any:
        answer = self.ask(CREATE, by, input={"name": "ci", **input}).json()
        return answer["data"]["createApiKey"]


@contextmanager
def opened(folder: Path, store: str) -> Iterator[Door]:
    file = folder / "tokens.jsonl"
    roots = {name: create_token(file, StoredToken("", name, ("admin",), name)) for name in ("default", "acme")}
    settings = Settings(store=store, token_file=str(file), store_keys=True)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield Door(client, roots)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with opened(tmp_path_factory.mktemp("keys"), "memory:") as door:
        yield door


@pytest.mark.parametrize(
    ("role", "may"),
    [("READER", [200, "FORBIDDEN", "FORBIDDEN"]), ("WRITER", [200, 200, "FORBIDDEN"]), ("ADMIN", [200] * 3)],
)
def test_a_stored_key_may_do_what_its_role_says(door: Door, role: str, may: list[Any]) -> None:
    token = door.made(roles=[role], user="jo")["token"]
    assert [door.code(query, token) for query in (READ, WRITE, LIST)] == may
    if role == "WRITER":
        assert door.ask(WRITE, token).json()["data"] == {"addNode": {"event": {"by": "jo"}}}


def test_a_key_that_was_taken_back_or_has_ended_opens_nothing(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    made, ends = door.made(), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    guest = door.made(expiresAt=ends)["token"]
    assert door.code(READ, made["token"]) == door.code(READ, guest) == 200
    told = door.ask(REVOKE, id=made["apiKey"]["id"]).json()["data"]["revokeApiKey"]
    assert told["apiKey"]["works"] is False and told["apiKey"]["revokedAt"] and told["token"] is None
    assert door.code(READ, made["token"]) == "UNAUTHENTICATED" and door.ask(READ, made["token"]).status_code == 401
    monkeypatch.setattr(keyring(door).system.clock, "now", lambda: int(time.time() * 1000) + 3_700_000)
    assert door.code(READ, guest) == "UNAUTHENTICATED"
    assert door.code(CREATE, input={"name": "late", "expiresAt": "2020-01-01T00:00:00Z"}) == "E005"
    assert door.code(REVOKE, id="nobody") == "KEY_NOT_FOUND"


def keyring(door: Door) -> Keyring:
    found = door.client.app.state.tenants.keyring  # type: ignore[attr-defined]
    assert isinstance(found, Keyring)
    return found


def test_admins_of_a_tenant_know_of_its_keys_only(door: Door) -> None:
    ours, acme = door.made(), door.roots["acme"]
    theirs = door.made(acme, tenant="default")
    assert theirs["apiKey"]["tenant"] == "acme"
    assert [key["tenant"] for key in door.ask(LIST, acme).json()["data"]["apiKeys"]["nodes"]] == ["acme"]
    assert {key["tenant"] for key in door.ask(LIST).json()["data"]["apiKeys"]["nodes"]} == {"default", "acme"}
    hidden, absent = (door.ask(REVOKE, acme, id=id).text for id in (ours["apiKey"]["id"], "f" * 16))
    assert hidden.replace(ours["apiKey"]["id"], "f" * 16) == absent
    assert door.code(READ, ours["token"]) == 200
    assert door.ask("{ stats { nodes } }", theirs["token"]).json() == {"data": {"stats": {"nodes": 0}}}


def test_pages_of_keys_follow_each_other(door: Door) -> None:
    for number in range(5):
        door.made(name=f"k{number}")
    names, after = [], None
    while True:
        page = door.ask(LIST, first=2, after=after).json()["data"]["apiKeys"]
        names += [key["name"] for key in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert sorted(name for name in names if name != "ci") == [f"k{number}" for number in range(5)]


def test_a_repeated_request_shows_no_key(door: Door) -> None:
    first, again = (door.made(idempotencyKey="once") for _ in range(2))
    assert first["token"] and again["token"] is None and again["apiKey"] == first["apiKey"]


def test_a31_neither_a_key_nor_its_hash_is_ever_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path, f"sqlite:///{tmp_path}/x.db") as door:
        made = door.made(roles=["ADMIN"])
        token, id = made["token"], made["apiKey"]["id"]
        (hash,) = [key.hash for key in keyring(door).list_keys(Principal())]
        secret, headers = token.removeprefix(f"ugsk_{id}_"), {"authorization": f"Bearer {token}"}
        answers = [door.ask(question.replace("ID", id), token) for question in EVERYTHING_READABLE]
        answers += [door.client.get(path, headers=headers) for path in ("/log", "/log/digest", "/metrics", "/health")]
        assert [answer.text for answer in answers if answer.status_code != 200 or '"errors":[' in answer.text] == []
        told = [answer.text for answer in answers] + [record.getMessage() for record in caplog.records]
        assert not [text for text in told if secret in text or hash in text or "ApiKeyCreated" in text]
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.name != "tokens.jsonl")
    assert secret.encode() not in kept and hash.encode() in kept


def test_no_tenant_lives_where_the_keys_are() -> None:
    assert KEYS_STORE_NAME not in {place_of(name) for name in (KEYS_STORE_NAME, "keys", "H_keys", "h_keys ", "h_", "")}


@pytest.mark.parametrize("token", ["ugsk_", "ugsk__", f"ugsk_{'0' * 16}_{'A' * 43}", "ugsk_é_x", "ugsk_" + "x" * 4_000])
def test_strangers_are_turned_away(door: Door, token: str) -> None:
    headers = {b"authorization": b"Bearer " + token.encode()}
    answer = door.client.post("/graphql", json={"query": READ}, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["errors"][0]["message"] == "This API key is not known here"


def test_a_gateway_without_stored_keys_says_so(client: TestClient) -> None:
    answer = client.post("/graphql", json={"query": LIST}).json()
    assert answer["errors"][0]["message"] == "This gateway keeps no API keys in its store: set store_keys"


def test_stored_keys_are_login_enough_for_production(tmp_path: Path) -> None:
    check_safe(Settings(mode=Mode.PRODUCTION, store=f"file:{tmp_path}/data", store_keys=True))
