"""Regulars: bodies known again mean what they would mean if they were read as a whole."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.gateway.test_fastpath_handler import Ways, opened
from ugs.values import is_plain, is_plain_text
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.fastpath import request_cache
from ugs_gateway.fastpath.request_cache import MAX_BYTES, CachedRequest, RequestCache, split_at_variables
from ugs_gateway.graphql.request import GraphQLRequest, RequestRejected, from_body, is_deeper
from ugs_gateway.settings import Settings
from ugs_schema.compiler.executor import OperationExecutor

POINT = "query P($id: ID!) { graphNode(id: $id) { id type } }"
ADD = "mutation A($id: ID!) { addNode(input: {id: $id}) { node { id } } }"
ORDERS = [
    ("query", "variables"),
    ("operationName", "variables", "query"),
    ("query", "operationName", "variables"),
    ("variables", "query", "extra"),
]
PARTS = {"query": POINT, "operationName": "P", "extra": [1, '"variables":', {"variables": 7}]}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def body_of(order: tuple[str, ...], variables: Any, **format: Any) -> bytes:
    parts = {**PARTS, "variables": variables}
    return json.dumps({name: parts[name] for name in order}, **format).encode()


def regular(body: bytes) -> CachedRequest | None:
    """What is remembered of a body; who may ask and what answers is not looked at here."""
    asked = from_body(body)
    around = split_at_variables(body, asked)
    nobody: Any = None
    return (
        None
        if around is None
        else CachedRequest(*around, GraphQLRequest(asked.query, None, asked.operation), nobody, nobody)
    )


@given(st.sampled_from(ORDERS), st.booleans(), st.dictionaries(st.text(), values, max_size=3))
def test_variables_are_what_the_whole_body_says(order: tuple[str, ...], ascii: bool, variables: dict[str, Any]) -> None:
    known = regular(body_of(order, {"id": "bob"}))
    assert known is not None
    body = body_of(order, variables, ensure_ascii=ascii, separators=(",", ": "))
    assert regular(body_of(order, {}, separators=(",", ":"))) is not None
    again = known.before + json.dumps(variables, ensure_ascii=ascii).encode() + known.after
    found = known.variables_in(again, 32)
    try:
        whole: GraphQLRequest | None = from_body(again)
    except RequestRejected:
        whole = None
    assert found is None or (whole is not None and found == whole.variables == from_body(body).variables)
    assert found is None or GraphQLRequest(known.request.query, found, known.request.operation) == whole


@pytest.mark.parametrize(
    "rest",
    [
        b'{"id":"bob"},"operationName":"Other"}',
        b'{"id":"bob"},"query":"{ stats { nodes } }"}',
        b'{"id":"bob"},"variables":{"id":"eve"}}',
        b'{"id":"bob"}}}',
        b'{"id":"bob"',
        b'{"id":"bob\\u0000"}}',
        b'{"id":"\\ud800"}}',
        b'{"id":' + b"[" * 31 + b"]" * 31 + b"}}",
        b'{"id":99999999999999999999}}',
        b'[{"id":"bob"}]}',
        b"null}",
        b"}",
        b"",
    ],
)
def test_what_is_not_certain_is_read_as_a_whole(rest: bytes) -> None:
    known = regular(body_of(("query", "variables"), {"id": "bob"}, separators=(",", ":")))
    assert known is not None and known.variables_in(known.before + rest, 32) is None


@pytest.mark.parametrize(
    ("body", "known"),
    [
        (b'{"query":"{ a }"}', False),
        (b'{"query":"{ a }","variables":null}', True),
        (b'{"variables":{"id":1},"query":"{ a }","variables":{"id":2}}', False),
        (b'{"extra":{"variables":{"id":1}},"query":"{ a }","variables":{"id":1}}', False),
        (b'{"query":"{ a }","variables" : {"id":1}}', False),
    ],
)
def test_a_body_whose_variables_cannot_be_told_apart_is_not_remembered(body: bytes, known: bool) -> None:
    kept, nobody = RequestCache(), None
    kept.put(body, from_body(body), nobody, nobody)  # type: ignore[arg-type]
    assert (kept.find(body) is not None) is known


def test_long_bodies_are_not_remembered() -> None:
    nobody: Any = None
    for length, known in ((10, True), (MAX_BYTES, False)):
        body = body_of(("query", "variables"), {"id": "x" * length}, separators=(",", ":"))
        kept = RequestCache()
        kept.put(body, from_body(body), nobody, nobody)
        assert (kept.find(body) is not None) is known


# ── over HTTP ─────────────────────────────────────────────────────────


class Counted:
    """Counts how often a document had to be looked up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times, prepare = 0, OperationExecutor.prepare

        def counted(operations: OperationExecutor, query: str) -> Any:
            self.times += 1
            return prepare(operations, query)

        monkeypatch.setattr(OperationExecutor, "prepare", counted)


@pytest.fixture
async def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Ways, Path]]:
    file = tmp_path / "keys"
    create_token(file, StoredToken("", "nobody", ("reader",)))
    async with opened(create_app(Settings(store="memory:", token_file=str(file))), monkeypatch) as ways:
        yield ways, file


async def ask(ways: Ways, key: str, query: str, id: str) -> tuple[int, Any]:
    body = json.dumps({"query": query, "variables": {"id": id}}, separators=(",", ":"))
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    answer = await ways.client.post("/graphql", content=body, headers=headers)
    return answer.status_code, answer.json()


async def test_rights_are_those_of_the_caller(guarded: tuple[Ways, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    ways, file = guarded
    keys = {role: create_token(file, StoredToken("", role, (role,))) for role in ("reader", "writer")}
    ways.app.state.admission.authenticator._refresh()
    counted = Counted(monkeypatch)
    for number in range(3):
        status, found = await ask(ways, keys["writer"], ADD, f"new{number}")
        assert (status, found) == (200, {"data": {"addNode": {"node": {"id": f"new{number}"}}}})
    assert counted.times == 1, "from the second time on all but the variables is known"
    assert (await ask(ways, keys["reader"], ADD, "new9"))[0] == 403
    assert (await ask(ways, "ugs_wrong", ADD, "new9"))[0] == 401
    assert (await ask(ways, keys["reader"], POINT, "new9"))[1] == {"data": {"graphNode": None}}


async def test_a_revoked_key_is_rejected(guarded: tuple[Ways, Path]) -> None:
    ways, file = guarded
    key = create_token(file, StoredToken("", "guest", ("reader",)))
    authenticator = ways.app.state.admission.authenticator
    authenticator._refresh()
    assert [(await ask(ways, key, POINT, "bob"))[0] for _ in range(3)] == [200] * 3
    file.write_text("".join(line for line in file.read_text().splitlines(True) if "guest" not in line))
    authenticator._looked_at -= 10
    assert (await ask(ways, key, POINT, "bob"))[0] == 401


async def test_what_cannot_be_cached_is_not_split(guarded: tuple[Ways, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    ways, file = guarded
    key = create_token(file, StoredToken("", "guest", ("reader",)))
    ways.app.state.admission.authenticator._refresh()
    split = list[bytes]()
    monkeypatch.setattr(request_cache, "split_at_variables", lambda body, request: split.append(body))
    priced = "query($id: ID!, $n: Int) { graphNode(id: $id) { outgoing(first: $n) { nodes { id } } } }"
    for query in (priced, "{ stats { nodes } }"):
        for _ in range(3):
            body = {"query": query, "variables": {"id": "bob", "n": 2}} if "$" in query else {"query": query}
            assert (await ways.post(body, {"authorization": f"Bearer {key}"})).status_code == 200
    assert not split and ways.fast == 6


@given(st.dictionaries(st.text(), values, max_size=4), st.integers(1, 32), st.booleans())
@example({"a": 9_223_372_036_854_775_808}, 32, False)
@example({"a": 1e300}, 32, False)
@example({"": 1}, 32, False)
@example({"a": "\x00"}, 32, False)
@example({"a": [[[]]]}, 3, False)
@example({"a": "é"}, 32, False)
def test_what_looks_plain_is_plain(variables: dict[str, Any], depth: int, ascii: bool) -> None:
    raw = json.dumps(variables, ensure_ascii=ascii).encode(errors="surrogatepass")
    if is_plain_text(raw, depth - 1):
        assert is_plain(variables, depth - 1)
        assert not is_deeper(variables, depth - 1)


def test_most_of_what_is_sent_looks_plain() -> None:
    sent = {"id": "w1-2", "properties": {"name": "new 7", "score": 1.5, "tags": ["a", "b"]}, "data": {"source": "wrk"}}
    assert is_plain_text(json.dumps(sent).encode(), 31)
