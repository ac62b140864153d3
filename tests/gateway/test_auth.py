"""Who may ask what."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from ugs.errors import InvalidSyntax
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.settings import Mode, Settings

SECRET = "a secret of more than thirty-two characters"
READ = "{ stats { nodes } }"
WRITE = 'mutation { addNode(input: {id: "n"}) { event { by } } }'
ADMIN = "mutation { snapshot { snapshot { eventCount } } }"


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, str]:
    file = tmp_path / "tokens.jsonl"
    return {role: create_token(file, StoredToken("", f"the_{role}", (role,))) for role in ("reader", "writer", "admin")}


@pytest.fixture
def guarded(tmp_path: Path, keys: dict[str, str]) -> Iterator[TestClient]:
    (tmp_path / "key").write_text(SECRET)
    settings = Settings(
        store="memory:",
        token_file=str(tmp_path / "tokens.jsonl"),
        jwt_key_file=str(tmp_path / "key"),
        jwt_audience="ugs",
    )
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield client


def asked(client: TestClient, query: str, token: str | None) -> Any:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    answer = client.post("/graphql", json={"query": query}, headers=headers)
    errors = answer.json().get("errors")
    return errors[0]["extensions"]["code"] if errors else answer.status_code


def signed(**claims: Any) -> str:
    whole = {"sub": "jo", "aud": "ugs", "exp": time.time() + 60, "roles": ["writer"], **claims}
    return jwt.encode({name: value for name, value in whole.items() if value is not None}, SECRET, "HS256")


@pytest.mark.parametrize(
    ("role", "read", "write", "admin"),
    [
        ("reader", 200, "FORBIDDEN", "FORBIDDEN"),
        ("writer", 200, 200, "FORBIDDEN"),
        ("admin", 200, 200, 200),
    ],
)
def test_a_role_may_do_what_it_says(
    guarded: TestClient, keys: dict[str, str], role: str, read: Any, write: Any, admin: Any
) -> None:
    found = [asked(guarded, query, keys[role]) for query in (READ, WRITE, ADMIN)]
    assert found == [read, write, admin]


@pytest.mark.parametrize("token", [None, "", "nonsense", "ugs_unknown", "a.b.c"])
def test_strangers_are_turned_away(guarded: TestClient, token: str | None) -> None:
    assert asked(guarded, READ, token) == "UNAUTHENTICATED"
    assert guarded.post("/graphql", json={"query": READ}).status_code == 401


def test_events_name_their_author(guarded: TestClient, keys: dict[str, str]) -> None:
    headers = {"authorization": f"Bearer {keys['writer']}"}
    answer = guarded.post("/graphql", json={"query": WRITE}, headers=headers).json()
    assert answer == {"data": {"addNode": {"event": {"by": "the_writer"}}}}


def test_a_signed_token_is_as_good_as_a_key(guarded: TestClient) -> None:
    assert asked(guarded, WRITE, signed()) == 200


@pytest.mark.parametrize(
    "claims",
    [{"exp": time.time() - 3600}, {"exp": None}, {"aud": "others"}, {"aud": None}, {"sub": None}],
)
def test_a_token_must_be_current_and_meant_for_us(guarded: TestClient, claims: dict[str, Any]) -> None:
    assert asked(guarded, READ, signed(**claims)) == "UNAUTHENTICATED"


def test_another_algorithm_or_none_is_refused(guarded: TestClient) -> None:
    claims = {"sub": "jo", "aud": "ugs", "exp": time.time() + 60, "roles": ["admin"]}
    assert asked(guarded, READ, jwt.encode(claims, "", "none")) == "UNAUTHENTICATED"
    assert asked(guarded, READ, jwt.encode(claims, SECRET, "HS512")) == "UNAUTHENTICATED"


def test_made_up_roles_count_for_nothing(guarded: TestClient) -> None:
    assert asked(guarded, READ, signed(roles=["root", 7])) == "FORBIDDEN"
    assert asked(guarded, READ, signed(roles="admin")) == "FORBIDDEN"


def test_a_fragment_does_not_hide_an_admins_field(guarded: TestClient, keys: dict[str, str]) -> None:
    hidden = "mutation { ...m } fragment m on Mutation { ... { snapshot { snapshot { eventCount } } } }"
    assert asked(guarded, hidden, keys["writer"]) == "FORBIDDEN"


def test_a_socket_says_who_it_is_when_it_is_introduced(guarded: TestClient, keys: dict[str, str]) -> None:
    with guarded.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        socket.send_json({"type": "connection_init", "payload": {"authorization": f"Bearer {keys['reader']}"}})
        assert socket.receive_json() == {"type": "connection_ack"}
        socket.send_json({"type": "subscribe", "id": "1", "payload": {"query": WRITE}})
        assert socket.receive_json()["payload"][0]["extensions"]["code"] == "FORBIDDEN"
    with guarded.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        socket.send_json({"type": "connection_init"})
        with pytest.raises(WebSocketDisconnect) as left:
            socket.receive_json()
        assert left.value.code == 4403


def test_keys_are_kept_as_hashes_for_their_owner_only(tmp_path: Path, keys: dict[str, str]) -> None:
    file = tmp_path / "tokens.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    assert not any(key in file.read_text() for key in keys.values())


@pytest.mark.parametrize(
    "unsafe",
    [{}, {"token_file": "t", "allowed_origins": "*"}, {"token_file": "t", "store": "memory:"}],
)
def test_production_refuses_what_is_unsafe(unsafe: dict[str, str]) -> None:
    with pytest.raises(InvalidSyntax, match="Not safe for production"):
        create_app(Settings(**{"mode": Mode.PRODUCTION, "store": "file:./data", **unsafe}))  # type: ignore[arg-type]


def test_the_log_is_for_admins(guarded: TestClient, keys: dict[str, str]) -> None:
    assert asked(guarded, WRITE, keys["writer"]) == 200
    for path in ("/log", "/log?after=0", "/log/digest"):
        assert guarded.get(path).status_code == 401
        for role, status in (("reader", 403), ("writer", 403), ("admin", 200)):
            assert guarded.get(path, headers={"authorization": f"Bearer {keys[role]}"}).status_code == status
    admin = {"authorization": f"Bearer {keys['admin']}"}
    lines = guarded.get("/log", headers=admin)
    assert (lines.headers["ugs-last"], lines.text.count("\n"), '"by":"the_writer"' in lines.text) == ("1", 1, True)
    assert guarded.get("/log?after=1", headers=admin).text == ""
    assert guarded.get("/log?after=-1", headers=admin).json()["code"] == "E005"
    assert guarded.get("/log", headers={**admin, "origin": "https://elsewhere.example"}).status_code == 403
