"""The fast path answers as the framework does, and leaves to it whatever is not plain."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from tests.gateway.test_header_timeout import listening
from ugs.graph.api import Graph
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.fastpath.handler import FastPath
from ugs_gateway.graphql.admission import RequestAdmission
from ugs_gateway.observability.counters import Column
from ugs_gateway.settings import Settings
from ugs_schema.compiler.executor import OperationExecutor

POINT = "query($id: ID!) { graphNode(id: $id) { id type properties data } }"
LIST = "{ graphNodes { edges { cursor node { id properties } } pageInfo { endCursor } totalCount } }"
MODERN = "application/graphql-response+json"
TWICE = [("x-twice", "1"), ("x-twice", "2")]
"""Nothing that matters, but not plain: sends a request to the framework."""


class Ways:
    """Sends requests both ways and counts those that the fast path answered."""

    def __init__(self, app: Starlette, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
        self.app, self.client, self.fast = app, client, 0
        record = FastPath.record_answer

        def counted(fast_path: FastPath, *given: Any) -> float:
            self.fast += 1
            return record(fast_path, *given)

        monkeypatch.setattr(FastPath, "record_answer", counted)

    async def post(self, body: Any, headers: Any = None) -> httpx2.Response:
        return await self.client.post("/graphql", json=body, headers=headers)

    async def both(self, body: Any, **headers: str) -> tuple[Any, Any]:
        """The answer of the fast path and that of the framework."""
        given = [(name.replace("_", "-"), value) for name, value in headers.items()]
        before = self.fast
        quick = await self.post(body, given)
        assert self.fast == before + 1, "the request did not take the fast path"
        usual = await self.post(body, given + TWICE)
        assert self.fast == before + 1
        return comparable(quick), comparable(usual)


def comparable(answer: httpx2.Response) -> tuple[int, bytes, dict[str, str]]:
    """An answer without what differs from request to request."""
    varying = ("x-request-id", "date")
    return answer.status_code, answer.content, {k: v for k, v in answer.headers.items() if k not in varying}


@asynccontextmanager
async def opened(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ways]:
    """An application with the demonstration data behind the fast path."""
    async with listening(app) as (address, _):
        await Graph(app.state.system).load_demo()
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{address[1]}", trust_env=False) as client:
            yield Ways(app, client, monkeypatch)


@pytest.fixture
async def ways(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ways]:
    async with opened(create_app(Settings(store="memory:")), monkeypatch) as ways:
        yield ways


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
        ({"query": "{ nope }"}, {}),
        ({"query": "{ nope }"}, {"accept": MODERN}),
        ({"query": "{"}, {}),
        ({"query": "{ a" + "{ a" * 200 + "}" * 201}, {}),
        ({"query": "subscription { events { position } }"}, {}),
        ({"query": "query A { stats { nodes } } query B { stats { edges } }"}, {"accept": MODERN}),
        ({"query": LIST, "variables": {"a": [[[[[[1]]]]]]}}, {}),
        ({"query": LIST, "variables": []}, {}),
        ({"query": LIST}, {"authorization": "Bearer ugs_wrong"}),
        ({}, {}),
        ([], {}),
    ],
)
async def test_both_ways_give_the_same_answer(ways: Ways, body: Any, headers: dict[str, str]) -> None:
    """Whether a document is new or known, and whether it is answered or rejected."""
    for _ in range(2):
        quick, usual = await ways.both(body, **headers)
        assert quick == usual


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"query": LIST, "extensions": {"explain": True}}, {}),
        ({"query": LIST, "documentId": "sha256:0"}, {}),
        ({"query": LIST}, {"accept": "text/event-stream"}),
        ({"query": LIST}, {"accept": "text/html"}),
        ({"query": LIST}, {"content-type": "text/plain"}),
        ({"query": LIST}, {"content-encoding": "gzip"}),
        ({"query": LIST}, {"host": "example.com"}),
        ({"query": LIST}, {"origin": "https://example.com"}),
        ({"query": "subscription { events { position } }"}, {"accept": "application/json, text/event-stream"}),
    ],
)
async def test_what_is_not_plain_goes_to_the_framework(ways: Ways, body: Any, headers: dict[str, str]) -> None:
    async with ways.client.stream("POST", "/graphql", json=body, headers=headers) as answer:
        assert ways.fast == 0 and answer.status_code < 500


async def test_a_document_is_parsed_and_admitted_once(ways: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the first time."""
    calls = list[str]()

    def count(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def counted(*given: Any, **more: Any) -> Any:
            calls.append(name)
            return original(*given, **more)

        monkeypatch.setattr(owner, name, counted)

    for owner, name in (
        (OperationExecutor, "_parse_and_validate"),
        (RequestAdmission, "principal"),
        (RequestAdmission, "admit"),
    ):
        count(owner, name)
    assert (await ways.post({"query": LIST})).status_code == 200
    assert ways.fast == 1 and sorted(calls) == ["_parse_and_validate", "admit", "principal"]
    calls.clear()
    assert (await ways.post({"query": "{ nope }"})).status_code == 200
    assert ways.fast == 2 and sorted(calls) == ["_parse_and_validate", "admit", "principal"]


async def test_the_callers_request_id_comes_back_and_others_get_one(ways: Ways) -> None:
    for more in ([], TWICE):
        answer = await ways.post({"query": LIST}, [("x-request-id", "mine-1"), *more])
        assert answer.headers["x-request-id"] == "mine-1"
    found = [
        (await ways.post({"query": LIST}, [("x-request-id", "not mine"), *more])).headers["x-request-id"]
        for more in ([], TWICE)
    ]
    assert len(set(found)) == 2
    assert len({id[:12] for id in found}) == 1, "one generator makes the ids of both ways"


async def test_a_bug_is_masked_and_a_slow_answer_is_stopped(ways: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    fast_path: FastPath = ways.app.state.fast_path

    async def fail(*given: Any) -> None:
        raise RuntimeError("secret internals")

    async def sleep(*given: Any) -> None:
        await asyncio.sleep(5)

    monkeypatch.setattr(FastPath, "run_sync", lambda *given: None)
    monkeypatch.setattr(fast_path, "seconds", 0.05)
    monkeypatch.setattr(fast_path.operations, "answer_bound", sleep)
    slow = await ways.post({"query": LIST})
    assert (slow.status_code, slow.json()["errors"][0]["extensions"]["code"]) == (503, "TIMEOUT")
    monkeypatch.setattr(fast_path.operations, "answer_bound", fail)
    broken = await ways.post({"query": LIST})
    assert broken.status_code == 500 and "secret" not in broken.text and "err_" in broken.text


async def test_logins_roles_and_rates_hold_on_the_fast_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "keys"
    keys = {role: f"Bearer {create_token(file, StoredToken('', role, (role,)))}" for role in ("reader", "writer")}
    app = create_app(Settings(store="memory:", token_file=str(file), max_requests_per_minute=20))
    change = {"query": 'mutation { addNode(input: {id: "a1"}) { node { id } } }'}
    async with opened(app, monkeypatch) as ways:

        async def status(body: Any, who: str) -> int:
            return (await ways.post(body, {"authorization": keys.get(who, who)})).status_code

        assert await status({"query": LIST}, "reader") == 200
        assert await status({"query": LIST}, "reader") == 200
        assert await status({"query": LIST}, "Bearer ugs_wrong") == 401
        assert await status(change, "writer") == 200
        assert await status(change, "reader") == 403
        statuses = [await status({"query": LIST}, "reader") for _ in range(25)]
        assert statuses.count(200) == 17 and statuses.count(429) == 8
        assert ways.fast == 30


async def test_failed_logins_are_counted_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "keys"
    create_token(file, StoredToken("", "reader", ("reader",)))
    app = create_app(Settings(store="memory:", token_file=str(file), max_failed_logins_per_minute=5))
    async with opened(app, monkeypatch) as ways:
        wrong = {"authorization": "Bearer ugs_wrong"}
        assert [(await ways.post({"query": LIST}, wrong)).status_code for _ in range(6)] == [401] * 5 + [429]
        assert ways.fast == 6


async def test_every_answer_is_logged_and_counted(ways: Ways, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ugs_gateway"):
        await ways.both({"query": "{ nope }"})
        await ways.both({"query": LIST})
    lines = [record.fields for record in caplog.records if record.message == "served"]  # type: ignore[attr-defined]
    assert [(line["method"], line["path"], line["status"]) for line in lines] == [("POST", "/graphql", 200)] * 4
    counted = ways.app.state.admission.metrics.counters.total
    assert (counted(Column.OK), counted(Column.ERRORS)) == (2, 2)


async def test_a_bug_in_rendering_a_refusal_is_masked(ways: Ways, monkeypatch: pytest.MonkeyPatch) -> None:
    """No caller awaits a submitted mutation, so an error while its answer is rendered must still become an answer."""
    change = {"query": 'mutation { addNode(input: {id: "twice"}) { node { id } } }'}
    assert "errors" not in (await ways.post(change)).json()
    monkeypatch.setattr(FastPath, "_to_answer", lambda *given: 1 / 0)
    answer = await ways.post(change)
    assert answer.status_code == 500 and "err_" in answer.text
