"""GraphQL over HTTP: right answers, coded errors, and no 500 for anything a client sends."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.gateway.conftest import ask


def test_the_stats_of_the_demonstration_graph(demo: TestClient) -> None:
    assert ask(demo, "{ stats { nodes edges types properties events } }") == {
        "data": {"stats": {"nodes": 8, "edges": 7, "types": 3, "properties": 5, "events": 15}}
    }


def test_a_query_may_come_by_get(demo: TestClient) -> None:
    answer = demo.get(
        "/graphql", params={"query": "query($n: ID!) { graphNode(id: $n) { id } }", "variables": '{"n":"bob"}'}
    )
    assert answer.json() == {"data": {"graphNode": {"id": "bob"}}}


def test_a_modern_client_gets_its_own_media_type_and_status(client: TestClient) -> None:
    modern = {"accept": "application/graphql-response+json"}
    bad = client.post("/graphql", json={"query": "{ nope }"}, headers=modern)
    assert (bad.status_code, bad.headers["content-type"]) == (400, "application/graphql-response+json; charset=utf-8")
    assert client.post("/graphql", json={"query": "{ nope }"}).status_code == 200


def test_a_coded_error_comes_whole(client: TestClient) -> None:
    (error,) = ask(client, "{ stats(at: {position: 9}) { nodes } }")["errors"]
    assert error["extensions"] == {
        "code": "POSITION_NOT_FOUND",
        "name": "PositionNotFound",
        "details": {"position": 9, "end": 0},
        "retryable": False,
    }
    assert error["path"] == ["stats"]


def test_an_unknown_exception_is_masked_and_found_in_the_log(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("secret internals")

    client.app.state.system.storage.session = fail  # type: ignore[attr-defined]
    answer = client.post("/graphql", json={"query": "{ stats { nodes } }"})
    (error,) = answer.json()["errors"]
    assert answer.status_code == 200
    assert "secret" not in answer.text
    assert error["extensions"]["code"] == "INTERNAL"
    id = error["extensions"]["details"]["errorId"]
    assert id in error["message"]
    assert any(getattr(record, "fields", {}).get("error_id") == id and record.exc_info for record in caplog.records)


DEEP = b"[" * 100_000 + b"]" * 100_000

BAD_BODIES = {
    "nothing": b"",
    "broken JSON": b'{"query": ',
    "no object": b"[]",
    "no query": b"{}",
    "query is no text": b'{"query": 5}',
    "variables are no object": b'{"query": "{ stats { nodes } }", "variables": [1]}',
    "100,000 levels": DEEP,
    "deep variables": b'{"query": "{ stats { nodes } }", "variables": {"a": %s}}' % DEEP,
    "49 levels": b'{"query": "{ stats { nodes } }", "variables": {"a": %s}}' % (b"[" * 47 + b"]" * 47),
    "5,000 digits": b'{"query": "{ stats { nodes } }", "variables": {"a": %s}}' % (b"9" * 5000),
    "NaN": b'{"query": "{ stats { nodes } }", "variables": {"a": NaN}}',
    "1e999": b'{"query": "{ stats { nodes } }", "variables": {"a": 1e999}}',
    "lone surrogate": b'{"query": "{ stats { nodes } }", "variables": {"a": "\\ud800"}}',
    "not UTF-8": b'{"query": "\xff\xfe"}',
    "a NUL": b'{"query": "{ stats { nodes } }", "variables": {"a": "\\u0000"}}',
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_that_makes_no_sense_is_a_400_in_words(client: TestClient, name: str) -> None:
    answer = client.post("/graphql", content=BAD_BODIES[name], headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["extensions"]["code"] in ("E005", "E006")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_only_json_is_read(client: TestClient, kind: str) -> None:
    answer = client.post("/graphql", content=b'{"query": "{ stats { nodes } }"}', headers={"content-type": kind})
    assert answer.status_code == 415


def test_a_body_beyond_the_limit_is_a_413(client: TestClient) -> None:
    body = json.dumps({"query": "{ stats { nodes } }", "x": "x" * (1 << 20)})
    answer = client.post("/graphql", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


BAD_QUERIES = {
    "nothing": "",
    "a syntax error": "{ stats ",
    "an unknown field": "{ nope }",
    "3,000 levels": "{a" * 3000 + "}" * 3000,
    "450 lists": "{ graphNode(id: " + "[" * 450 + "]" * 450 + ") { id } }",
    "too many tokens": "{ stats { " + "nodes " * 2000 + "} }",
    "a mutation that does not exist": "mutation { drop }",
    "a subscription": "subscription { events { id } }",
    "a fragment that eats its tail": "{ ...f } fragment f on Query { ...f }",
    "a time that is none": '{ stats(at: {instant: "tomorrow"}) { nodes } }',
    "a time of no zone": '{ stats(at: {instant: "2026-01-01T00:00:00"}) { nodes } }',
    "two moments": '{ stats(at: {position: 0, instant: "2026-01-01T00:00:00Z"}) { nodes } }',
    "no moment": "{ stats(at: {}) { nodes } }",
    "a position below zero": "{ stats(at: {position: -1}) { nodes } }",
    "a position beyond 64 bits": "{ stats(at: {position: 99999999999999999999}) { nodes } }",
    "a huge version": '{ graphNode(id: "a", version: 99999999999) { id } }',
    "a version and a moment": '{ graphNode(id: "a", version: 1, at: {position: 0}) { id } }',
    "a depth beyond the limit": '{ graphNode(id: "alice") { properties(resolveDepth: 6) } }',
}


@pytest.mark.parametrize("name", BAD_QUERIES)
def test_a_query_that_makes_no_sense_is_a_coded_error(demo: TestClient, name: str) -> None:
    answer = demo.post("/graphql", json={"query": BAD_QUERIES[name]})
    assert answer.status_code in (200, 400, 405)
    codes = {error["extensions"]["code"] for error in answer.json()["errors"]}
    assert codes <= {"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "E005", "LIMIT_EXCEEDED"}


def test_an_id_that_is_none_finds_nothing(client: TestClient) -> None:
    assert ask(client, '{ graphNode(id: "no such id!") { id } }') == {"data": {"graphNode": None}}


def test_a_mutation_by_get_is_refused(client: TestClient) -> None:
    answer = client.get("/graphql", params={"query": "mutation { x }"})
    assert answer.status_code == 405
    assert answer.json()["errors"][0]["message"] == "GET only reads; send mutations by POST"


def test_a_browser_is_told_how_to_ask_without_graphiql(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugs_gateway.graphql.graphiql.FOLDER", tmp_path)
    page = client.get("/graphql", headers={"accept": "text/html,*/*"})
    assert page.status_code == 200
    assert "curl http://localhost/graphql" in page.text


def test_a_request_that_takes_too_long_is_stopped_with_a_code() -> None:
    import asyncio
    from contextlib import asynccontextmanager

    from ugs_gateway.app import create_app
    from ugs_gateway.settings import Settings

    @asynccontextmanager
    async def slow(**_: Any) -> Any:
        await asyncio.sleep(30)
        yield

    with TestClient(create_app(Settings(store="memory:", request_seconds=0.1)), base_url="http://localhost") as client:
        client.app.state.system.storage.session = slow  # type: ignore[attr-defined]
        answer = client.post("/graphql", json={"query": "{ stats { nodes } }"})
    assert answer.json()["errors"][0]["extensions"]["code"] in ("TIMEOUT",)
    assert answer.status_code in (200, 503)
