"""A30, A31, A36, A38: pretending to be somebody else, or many."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jwt
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.security.conftest import SECRET, Guarded, code_of
from ugs.graph.commands import AddNode
from ugs.identity import LOCAL, Context, login_name
from ugs.system import System
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.auth.authenticator import UNREADABLE_SECONDS, Authenticator
from ugs_gateway.auth.login_limit import LoginLimit
from ugs_gateway.http.rate_limit import MAX_BUCKETS, RateLimiter, TooManyRequests
from ugs_gateway.settings import Settings, Tenancy

STATS = "{ stats { nodes } }"


def claims(**changed: Any) -> dict[str, Any]:
    whole = {"sub": "jo", "aud": "ugs", "exp": time.time() + 60, "roles": ["admin"], **changed}
    return {name: value for name, value in whole.items() if value is not None}


def unsigned(header: dict[str, Any]) -> str:
    parts = [json.dumps(part).encode() for part in (header, claims())]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."


FORGED = {
    "alg none": lambda: unsigned({"alg": "none", "typ": "JWT"}),
    "alg NONE": lambda: unsigned({"alg": "NonE"}),
    "another secret": lambda: jwt.encode(claims(), "x" * 40, "HS256"),
    "another algorithm": lambda: jwt.encode(claims(), SECRET + SECRET, "HS512"),
    "kid path": lambda: unsigned({"alg": "HS256", "kid": "../../dev/null"}),
    "kid SQL": lambda: unsigned({"alg": "HS256", "kid": "' UNION SELECT 'x"}),
    "unknown crit": lambda: jwt.encode(claims(), SECRET, "HS256", {"crit": ["zzz"], "zzz": 1}),
    "expired": lambda: jwt.encode(claims(exp=time.time() - 3600), SECRET, "HS256"),
    "not yet": lambda: jwt.encode(claims(nbf=time.time() + 3600), SECRET, "HS256"),
    "wrong audience": lambda: jwt.encode(claims(aud="others"), SECRET, "HS256"),
    "never expires": lambda: jwt.encode(claims(exp=None), SECRET, "HS256"),
    "nobody": lambda: jwt.encode(claims(sub=None), SECRET, "HS256"),
}


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.parametrize("name", FORGED)
def test_a30_forged_tokens_are_refused(guarded: Guarded, name: str) -> None:
    answer = guarded.ask(STATS, FORGED[name]())
    assert (answer.status_code, code_of(answer)) == (401, "UNAUTHENTICATED")


def test_a31_keys_are_found_by_their_hash_and_never_told(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    right = guarded.keys["reader"]
    near = [right[:-1] + ("A" if right[-1] != "A" else "B"), right[:10], right + "x", right.swapcase()]
    assert [guarded.ask(STATS, key).status_code for key in near] == [401] * 4
    assert guarded.ask(STATS, right).status_code == 200
    assert not any(right in record.getMessage() + str(getattr(record, "fields", "")) for record in caplog.records)


def test_a36_what_a_body_says_about_its_sender_counts_for_nothing(guarded: Guarded) -> None:
    write = 'mutation { addNode(input: {id: "n"}) { node { id } } }'
    pretence = {"tenant_id": "other", "owner_id": "root", "role": "admin", "principal": {"roles": ["admin"]}}
    assert code_of(guarded.ask(write, guarded.keys["reader"], **pretence)) == "FORBIDDEN"
    assert code_of(guarded.ask(write, guarded.keys["reader"], extensions=pretence)) == "FORBIDDEN"


@pytest.fixture(scope="module")
def limited() -> Iterator[TestClient]:
    settings = Settings(store="memory:", max_requests_per_minute=5)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield client


def test_a38_who_asks_too_often_waits_whatever_address_it_claims(limited: TestClient) -> None:
    found = [
        limited.post("/graphql", json={"query": STATS}, headers={"x-forwarded-for": f"10.0.0.{number}"})
        for number in range(7)
    ]
    assert [answer.status_code for answer in found] == [200] * 5 + [429] * 2
    assert (code_of(found[-1]), int(found[-1].headers["retry-after"]) > 0) == ("TOO_MANY_REQUESTS", True)


def test_a38_a_bucket_fills_again() -> None:
    now = 0.0
    rates = RateLimiter(60, lambda: now)
    for _ in range(60):
        rates.take("a")
    with pytest.raises(TooManyRequests):
        rates.take("a")
    rates.take("b")
    now = 1.0
    rates.take("a")


NO_TEXT = [[5], True, False, {}, {"a": "b"}, 5, 0, 1.5, "", None, ["acme"], "x" * 201, "a\x00b"]


@pytest.mark.parametrize("value", NO_TEXT, ids=repr)
@pytest.mark.parametrize("claim", ["tenant", "project", "agent", "sub"])
def test_a30_a_claim_that_is_no_text_is_refused(guarded: Guarded, claim: str, value: Any) -> None:
    token = jwt.encode({**claims(), claim: value}, SECRET, "HS256")
    answer = guarded.ask(STATS, token)
    assert (answer.status_code, code_of(answer)) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("value", ["admin", {"admin": True}, True, 5, None, [["admin"]], [5]], ids=repr)
def test_a30_roles_that_are_no_list_of_names_allow_nothing(guarded: Guarded, value: Any) -> None:
    answer = guarded.ask(STATS, jwt.encode({**claims(), "roles": value}, SECRET, "HS256"))
    assert (answer.status_code, code_of(answer)) == (403, "FORBIDDEN")


@pytest.mark.parametrize("value", [float("inf"), "soon", [], {}, True, 10**400], ids=repr)
def test_a30_odd_times_are_refused(guarded: Guarded, value: Any) -> None:
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims(exp=value))]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    signature = base64.urlsafe_b64encode(hmac.digest(SECRET.encode(), text, "sha256")).rstrip(b"=")
    answer = guarded.ask(STATS, (text + b"." + signature).decode())
    assert (answer.status_code, code_of(answer)) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
@pytest.mark.parametrize("value", [True, False, "soon", "9999999999", "0", [], {}], ids=repr)
def test_a30_times_that_are_no_numbers_are_refused(guarded: Guarded, name: str, value: Any) -> None:
    answer = guarded.ask(STATS, jwt_of(claims(**{name: value})))
    assert (answer.status_code, code_of(answer)) == (401, "UNAUTHENTICATED")


def jwt_of(parts: Any) -> str:
    """A signed token with any claims."""
    text = b".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
        for part in ({"alg": "HS256", "typ": "JWT"}, parts)
    )
    signature = base64.urlsafe_b64encode(hmac.digest(SECRET.encode(), text, "sha256")).rstrip(b"=")
    return (text + b"." + signature).decode()


WHO = "mutation { addNode(input: {}) { event { by } } }"


@pytest.mark.parametrize("user", ["local", "user:local", "LOCAL", "jo"])
def test_a30_whoever_logs_in_is_the_author_of_what_they_do(guarded: Guarded, tmp_path: Path, user: str) -> None:
    answer = guarded.ask(WHO, jwt.encode(claims(sub=user), SECRET, "HS256")).json()
    author = answer["data"]["addNode"]["event"]["by"]
    assert author and author.endswith(user) and author != "local"
    assert StoredToken("", user, ("reader",)).principal.user == author
    assert login_name(user) == author


def test_login_names_stay_different() -> None:
    names = ["local", "user:local", "user:user:local", "jo", "user:jo", "locals", "user:"]
    assert len({login_name(name) for name in names}) == len(names) and LOCAL.principal.user not in map(
        login_name, names
    )


def test_retry_keys_of_different_users_and_tenants_are_different(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET)
    settings = Settings(store="memory:", jwt_key_file=str(tmp_path / "key"), jwt_audience="ugs", tenants=Tenancy.SHARED)
    people = [
        ("default", "a/b", "c"),
        ("default", "a", "b/c"),
        ("acme", "a", "b/c"),
        ("acme", "a/b", "c"),
        ("a", "b", "c"),
        ("default", 'a","b', "c"),
        ("default", "a", 'b","c'),
    ]
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        asking = Guarded(client, {})

        def add(tenant: str, user: str, key: str) -> Any:
            query = "mutation($k: String!) { addNode(input: {idempotencyKey: $k}) { node { id } event { by } } }"
            token = jwt.encode(claims(sub=user, tenant=tenant, roles=["writer"]), SECRET, "HS256")
            return asking.ask(query, token, variables={"k": key}).json()["data"]["addNode"]

        first = [add(*person) for person in people]
        assert len({answer["node"]["id"] for answer in first}) == len(people)
        assert [add(*person) for person in people] == first, "a retry gets the first answer again"


def test_a_store_with_retry_keys_of_earlier_versions_opens(tmp_path: Path) -> None:
    async def write_and_read() -> None:
        place = f"sqlite:///{tmp_path}/old.db"
        with patch("ugs.writer.retry_key", lambda principal, key: f"{principal.user}/{key}"):
            async with System.at_url(place) as system:
                await system.execute(AddNode(id="n"), Context(idempotency_key="k"))
        async with System.at_url(place) as system:
            assert (await system.verify()).ok
            assert not (await system.execute(AddNode(id="m"), Context(idempotency_key="k"))).repeated
            assert (await system.execute(AddNode(id="m"), Context(idempotency_key="k"))).repeated
            assert (await system.verify()).ok

    asyncio.run(write_and_read())


def test_a38_equal_names_in_two_tenants_have_a_bucket_each(tmp_path: Path) -> None:
    file = tmp_path / "tokens.jsonl"
    keys = {name: create_token(file, StoredToken("", "jo", ("reader",), tenant=name)) for name in ("acme", "default")}
    settings = Settings(store="memory:", token_file=str(file), max_requests_per_minute=3)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        asking = Guarded(client, keys)
        assert [asking.ask(STATS, keys["acme"]).status_code for _ in range(4)] == [200] * 3 + [429]
        assert asking.ask(STATS, keys["default"]).status_code == 200


# ── wrong keys ───────────────────────────────────────────────────────────────

WRONG = ["ugs_wrong", "ugsk_0000000000000000_wrong", "a.b.c", "nonsense"]


def limited_logins(folder: Path, **more: Any) -> tuple[TestClient, str]:
    file = folder / "tokens.jsonl"
    key = create_token(file, StoredToken("", "jo", ("admin",)))
    settings = Settings(store="memory:", token_file=str(file), store_keys=True, max_failed_logins_per_minute=8, **more)
    return TestClient(create_app(settings), base_url="http://localhost"), key


def ask_at(client: TestClient, door: str, token: str | None) -> Any:
    headers = {"accept": "application/json, text/event-stream"}
    headers |= {} if token is None else {"authorization": f"Bearer {token}"}
    if door in ("/graphql", "/graphql/default", "/mcp"):
        return client.post(door, json={"query": STATS}, headers=headers)
    return client.get(door, headers=headers)


DOORS = ["/graphql", "/graphql/default", "/mcp", "/log", "/programs", "/metrics", "/schema.graphql"]


@pytest.mark.parametrize("door", DOORS)
def test_a38_wrong_keys_are_limited_at_every_door(tmp_path: Path, door: str) -> None:
    client, key = limited_logins(tmp_path)
    with client:
        found = [ask_at(client, door, WRONG[number % 4]) for number in range(12)]
        assert [answer.status_code for answer in found] == [401] * 8 + [429] * 4
        assert int(found[-1].headers["retry-after"]) > 0
        assert ask_at(client, door, key).status_code not in (401, 429), "a good key always works"
        assert ask_at(client, door, None).status_code == 401, "who shows no key has not guessed one"


def test_a38_wrong_keys_on_sockets_are_limited_too(tmp_path: Path) -> None:
    client, _ = limited_logins(tmp_path)

    def code() -> int:
        with client.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"]) as socket:
            socket.send_json({"type": "connection_init", "payload": {"authorization": "Bearer ugs_wrong"}})
            with pytest.raises(WebSocketDisconnect) as left:
                socket.receive_json()
            return left.value.code

    with client:
        assert [code() for _ in range(10)] == [4403] * 8 + [4429] * 2


def test_a38_wrong_keys_are_not_asked_more_often_than_good_ones(tmp_path: Path) -> None:
    client, _ = limited_logins(tmp_path, max_requests_per_minute=3)
    with client:
        found = [ask_at(client, "/graphql", "ugs_wrong").status_code for _ in range(5)]
    assert found == [401] * 3 + [429] * 2


def test_a38_failed_logins_are_counted_by_network_in_bounded_memory() -> None:
    limit = LoginLimit(1)
    limit.count_failure("2001:db8::1")
    with pytest.raises(TooManyRequests):
        limit.count_failure("2001:db8::2")
    limit.count_failure("2001:db8:0:1::1")
    limit.count_failure("192.0.2.1")
    with pytest.raises(TooManyRequests):
        limit.count_failure("::ffff:192.0.2.1")
    for number in range(20_000):
        limit.count_failure(f"client {number}")
    assert len(limit._rates._buckets) <= MAX_BUCKETS


# ── the token file ───────────────────────────────────────────────────────────


class Clock:
    """A clock that tests move on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr("ugs_gateway.auth.authenticator.time.monotonic", lambda: self.now)

    def pass_seconds(self, seconds: float = 6) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def keeper_of(file: Path) -> tuple[Authenticator, str]:
    key = create_token(file, StoredToken("", "jo", ("reader",)))
    return Authenticator(Settings(token_file=str(file))), f"Bearer {key}"


@pytest.mark.parametrize("what", ["deleted", "a folder", "its folder deleted"])
def test_keys_of_a_file_that_is_gone_stop_working_and_come_back_with_it(
    tmp_path: Path, clock: Clock, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "tokens.jsonl"
    keeper, header = keeper_of(file)
    text = file.read_bytes()
    assert keeper.is_accepted(header)
    file.unlink()
    if what == "a folder":
        file.mkdir()
    if what == "its folder deleted":
        folder.rmdir()
    for _ in range(3):
        clock.pass_seconds()
        assert not keeper.is_accepted(header)
    assert [record.getMessage() for record in caplog.records].count(
        "the token file is gone; its keys no longer work"
    ) == 1
    if what == "a folder":
        file.rmdir()
    folder.mkdir(exist_ok=True)
    file.write_bytes(text)
    clock.pass_seconds()
    assert keeper.is_accepted(header)


def test_a_broken_line_neither_brings_a_removed_key_back_nor_stops_the_others(tmp_path: Path, clock: Clock) -> None:
    file = tmp_path / "tokens.jsonl"
    keeper, kept = keeper_of(file)
    removed = f"Bearer {create_token(file, StoredToken('', 'mallory', ('admin',)))}"
    clock.pass_seconds()
    assert keeper.is_accepted(kept) and keeper.is_accepted(removed)
    first, _ = file.read_text().splitlines()
    for broken in (
        '{"hash": "half',
        "\x00",
        '{"hash":"x","user":"","roles":["admin"]}',
        '{"hash":"x","user":"a","roles":["root"]}',
    ):
        file.write_text(f"{first}\n{broken}")
        clock.pass_seconds()
        assert keeper.is_accepted(kept) and not keeper.is_accepted(removed)
    file.write_text("")
    clock.pass_seconds()
    assert not keeper.is_accepted(kept)


def test_a_file_that_cannot_be_read_keeps_its_keys_for_a_short_while(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, header = keeper_of(tmp_path / "tokens.jsonl")

    def fail(path: Path) -> Any:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as broken:
        broken.setattr("ugs_gateway.auth.authenticator.version_of", fail)
        clock.pass_seconds(UNREADABLE_SECONDS - 5)
        assert keeper.is_accepted(header)
        clock.pass_seconds(10)
        assert not keeper.is_accepted(header)
    clock.pass_seconds()
    assert keeper.is_accepted(header)
