"""The express lane answers as the usual way does, and leaves to it whatever is not plain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gateway.app import create_app
from gateway.express import Express
from gateway.settings import Settings
from gateway.tokens import StoredToken, create_token
from ugs.api import Graph

POINT = "query($id: ID!) { graphNode(id: $id) { id type properties data } }"
LIST = "{ graphNodes { edges { cursor node { id properties } } pageInfo { endCursor } totalCount } }"
MODERN = "application/graphql-response+json"
TWICE = [("x-twice", "1"), ("x-twice", "2")]
"""Nothing that matters, but not plain: sends a request the usual way."""


class Ways:
    """Asks both ways and says which way was taken."""

    def __init__(self, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client, self.expressed = client, 0
        served = Express._run

        async def counted(lane: Express, *given: Any) -> Any:
            self.expressed += 1
            return await served(lane, *given)

        monkeypatch.setattr(Express, "_run", counted)

    def both(self, body: Any, **headers: str) -> tuple[Any, Any]:
        """The express answer and the usual one to a document that is known by then."""
        given = [(name.replace("_", "-"), value) for name, value in headers.items()]
        self.client.post("/graphql", json=body, headers=given + TWICE)
        before = self.expressed
        quick = self.client.post("/graphql", json=body, headers=given)
        assert self.expressed == before + 1, "the request did not take the express lane"
        usual = self.client.post("/graphql", json=body, headers=given + TWICE)
        assert self.expressed == before + 1
        return seen(quick), seen(usual)


def seen(answer: Any) -> tuple[int, bytes, dict[str, str]]:
    """An answer without what differs from request to request."""
    return answer.status_code, answer.content, {k: v for k, v in answer.headers.items() if k != "x-request-id"}


@pytest.fixture
def ways(demo: TestClient, monkeypatch: pytest.MonkeyPatch) -> Ways:
    return Ways(demo, monkeypatch)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"query": POINT, "variables": {"id": "bob"}}, {}),
        ({"query": POINT, "variables": {"id": "nobody"}}, {"accept": MODERN}),
        ({"query": POINT, "variables": {"id": 7}}, {}),
        ({"query": POINT, "variables": {"id": ["no"]}}, {"accept": MODERN}),
        ({"query": POINT}, {}),
        ({"query": LIST}, {"accept_encoding": "gzip"}),
        ({"query": LIST}, {"accept_encoding": "identity"}),
        ({"query": "{ stats { nodes } }"}, {"accept": f"{MODERN}, application/json;q=0.9"}),
        ({"query": "{ graphNodes(first: 400) { nodes { outgoing(first: 400) { nodes { id } } } } }"}, {}),
        ({"query": '{ graphNodes(after: "no cursor") { nodes { id } } }'}, {}),
        ({"query": "query A { stats { nodes } } query B { stats { edges } }", "operationName": "B"}, {}),
        ({"query": '{ graphNode(id: "bob", version: 9) { id } }'}, {"origin": "http://localhost"}),
    ],
)
def test_both_ways_give_the_same_answer(ways: Ways, body: Any, headers: dict[str, str]) -> None:
    quick, usual = ways.both(body, **headers)
    assert quick == usual


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"query": "{ nope }"}, {}),
        ({"query": LIST, "extensions": {"explain": True}}, {}),
        ({"query": LIST}, {"accept": "text/event-stream"}),
        ({"query": LIST}, {"accept": "text/html"}),
        ({"query": LIST}, {"content-type": "text/plain"}),
        ({"query": LIST}, {"content-encoding": "gzip"}),
        ({"query": LIST}, {"host": "example.com"}),
        ({"query": LIST}, {"origin": "https://example.com"}),
        ({"query": "subscription { events { position } }"}, {}),
        ({"query": "query A { stats { nodes } } query B { stats { edges } }"}, {}),
        ({}, {}),
        ([], {}),
    ],
)
def test_what_is_not_plain_takes_the_usual_way(ways: Ways, body: Any, headers: dict[str, str]) -> None:
    ways.client.post("/graphql", json=body, headers=headers)
    answer = ways.client.post("/graphql", json=body, headers=headers)
    assert ways.expressed == 0 and answer.status_code < 500


def test_an_unknown_document_is_looked_at_first_and_known_afterwards(ways: Ways) -> None:
    for expected in (0, 1):
        assert ways.client.post("/graphql", json={"query": LIST}).status_code == 200
        assert ways.expressed == expected


def test_the_callers_request_id_comes_back(ways: Ways) -> None:
    ways.client.post("/graphql", json={"query": LIST})
    answer = ways.client.post("/graphql", json={"query": LIST}, headers={"x-request-id": "mine-1"})
    assert ways.expressed == 1 and answer.headers["x-request-id"] == "mine-1"


def test_a_bug_is_masked_and_a_slow_answer_is_stopped(ways: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    lane: Express = ways.client.app.express  # type: ignore[attr-defined]
    ways.client.post("/graphql", json={"query": LIST})

    async def fail(*given: Any) -> None:
        raise RuntimeError("secret internals")

    async def sleep(*given: Any) -> None:
        await asyncio.sleep(5)

    monkeypatch.setattr(lane.operations, "answer_by", fail)
    broken = ways.client.post("/graphql", json={"query": LIST})
    assert broken.status_code == 500 and "secret" not in broken.text and "err_" in broken.text
    monkeypatch.setattr(lane.operations, "answer_by", sleep)
    monkeypatch.setattr(lane.door, "seconds", 0.05)
    slow = ways.client.post("/graphql", json={"query": LIST})
    assert (slow.status_code, slow.json()["errors"][0]["extensions"]["code"]) == (503, "TIMEOUT")


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[TestClient, dict[str, str]]]:
    """A gateway with logins, and the header of each role."""
    file = tmp_path / "keys"
    keys = {role: f"Bearer {create_token(file, StoredToken('', role, (role,)))}" for role in ("reader", "writer")}
    app = create_app(Settings(store="memory:", token_file=str(file), max_requests_per_minute=20))
    with TestClient(app, base_url="http://localhost") as client:
        client.portal.call(Graph(app.state.system).load_demo)  # type: ignore[union-attr]
        yield client, keys


def test_logins_roles_and_rates_hold_in_the_express_lane(
    guarded: tuple[TestClient, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, keys = guarded
    ways = Ways(client, monkeypatch)
    change = {"query": 'mutation { addNode(input: {id: "a1"}) { node { id } } }'}

    def asked(body: Any, who: str) -> int:
        return client.post("/graphql", json=body, headers={"authorization": keys.get(who, who)}).status_code

    assert asked({"query": LIST}, "reader") == 200
    assert asked({"query": LIST}, "reader") == 200 and ways.expressed == 1
    assert asked({"query": LIST}, "Bearer ugs_wrong") == 401
    assert asked(change, "writer") == 200
    assert asked(change, "reader") == 403
    assert ways.expressed == 1
    statuses = [asked({"query": LIST}, "reader") for _ in range(25)]
    assert statuses.count(200) == 17 and statuses.count(429) == 8


def test_a_bug_in_showing_a_refusal_is_masked(ways: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a change on the lane, so whatever goes wrong there must still become an answer."""
    app: Any = ways.client.app
    express = app.express
    monkeypatch.setattr(express, "_shown", lambda *given: 1 / 0)
    answer = express._not_done(None, None, ValueError("refused"))
    assert answer.status == 500
    assert b"err_" in answer.body
