"""Documents by hash: trusted ones, those sent before, and answers that need not be sent again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.gateway.conftest import ask
from ugs.errors import UgsError
from ugs_gateway.app import create_app
from ugs_gateway.graphql.persisted_documents import document_hash
from ugs_gateway.settings import Settings

QUERY = "query Q($id: ID!) { graphNode(id: $id) { label } }"
HASH = document_hash(QUERY)
BY_HASH = {"persistedQuery": {"version": 1, "sha256Hash": HASH}}


def code_of(answer: Any) -> str:
    found: str = answer.json()["errors"][0]["extensions"]["code"]
    return found


def test_a_document_is_sent_once_and_named_by_its_hash_then(demo: TestClient) -> None:
    first = demo.post("/graphql", json={"extensions": BY_HASH})
    assert (first.status_code, code_of(first)) == (200, "PERSISTED_QUERY_NOT_FOUND")
    assert first.json()["errors"][0]["message"] == "PersistedQueryNotFound"
    whole = {"query": QUERY, "variables": {"id": "bob"}, "extensions": BY_HASH}
    answer = demo.post("/graphql", json=whole).json()
    assert answer["data"]["graphNode"]["label"]
    assert demo.post("/graphql", json={"variables": {"id": "bob"}, "extensions": BY_HASH}).json() == answer
    by_id = {"documentId": f"sha256:{HASH}", "variables": {"id": "bob"}}
    assert demo.post("/graphql", json=by_id).json() == answer


@pytest.mark.parametrize(
    "extensions",
    [
        {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}},
        {"persistedQuery": {"version": 2, "sha256Hash": HASH}},
        {"persistedQuery": 5},
    ],
)
def test_a_hash_must_be_that_of_the_query(demo: TestClient, extensions: Any) -> None:
    answer = demo.post("/graphql", json={"query": QUERY, "extensions": extensions})
    assert (answer.status_code, code_of(answer)) == (400, "E005")


def test_a_query_that_is_not_valid_is_not_kept(demo: TestClient) -> None:
    bad = "{ nope }"
    named = {"persistedQuery": {"version": 1, "sha256Hash": document_hash(bad)}}
    demo.post("/graphql", json={"query": bad, "extensions": named})
    assert code_of(demo.post("/graphql", json={"extensions": named})) == "PERSISTED_QUERY_NOT_FOUND"


def test_an_answer_is_not_sent_again_until_the_log_moves(demo: TestClient) -> None:
    demo.post("/graphql", json={"query": QUERY, "variables": {"id": "bob"}, "extensions": BY_HASH})
    address = {"extensions": json.dumps(BY_HASH), "variables": '{"id":"bob"}'}
    first = demo.get("/graphql", params=address)
    tag = {"if-none-match": first.headers["etag"]}
    again = demo.get("/graphql", params=address, headers=tag)
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert first.headers["cache-control"] == "private, no-cache"
    ask(demo, 'mutation { addNode(input: {id: "new"}) { node { id } } }')
    assert demo.get("/graphql", params=address, headers=tag).status_code == 200
    assert "etag" not in demo.get("/graphql", params={"query": "{ stats { nodes } }"}).headers


@pytest.fixture(params=["folder", "file"])
def trusted(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "folder":
        (tmp_path / "one.graphql").write_text(QUERY)
        return tmp_path
    (tmp_path / "documents.json").write_text(json.dumps({f"sha256:{HASH}": QUERY}))
    return tmp_path / "documents.json"


def test_only_trusted_documents_run_where_that_is_wanted(trusted: Path) -> None:
    settings = Settings(store="memory:", trusted_documents=str(trusted), trusted_only=True)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        by_id = {"documentId": HASH, "variables": {"id": "x"}}
        assert client.post("/graphql", json=by_id).json() == {"data": {"graphNode": None}}
        assert client.post("/graphql", json={"query": QUERY, "variables": {"id": "x"}}).status_code == 200
        other = client.post("/graphql", json={"query": "{ stats { nodes } }"})
        assert (other.status_code, code_of(other)) == (403, "DOCUMENT_NOT_ALLOWED")


def test_a_list_of_documents_that_lies_is_refused(tmp_path: Path) -> None:
    (tmp_path / "documents.json").write_text(json.dumps({"0" * 64: QUERY}))
    with pytest.raises(UgsError, match="is not the SHA-256 of its document"):
        create_app(Settings(store="memory:", trusted_documents=str(tmp_path / "documents.json")))


def test_a_large_answer_is_compressed_for_those_who_ask(demo: TestClient) -> None:
    query = {"query": "{ __schema { types { name description } } }"}
    plain = demo.post("/graphql", json=query, headers={"accept-encoding": "identity"})
    with demo.stream("POST", "/graphql", json=query, headers={"accept-encoding": "gzip"}) as answer:
        assert answer.headers["content-encoding"] == "gzip"
        assert gzip.decompress(b"".join(answer.iter_raw())) == plain.content
    small = demo.post("/graphql", json={"query": "{ stats { nodes } }"}, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in small.headers
