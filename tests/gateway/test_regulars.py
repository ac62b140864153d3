"""Regulars: bodies known again mean what they would mean if they were read as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from gateway import regulars
from gateway.app import create_app
from gateway.asked import Asked, Refused, from_body, is_deeper
from gateway.regulars import MOST_BYTES, Regular, Regulars, around_variables
from gateway.settings import Settings
from gateway.tokens import StoredToken, create_token
from schema.operations import Operations
from ugs.api import Graph
from ugs.values import is_plain, is_plain_text

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


def regular(body: bytes) -> Regular | None:
    """What is remembered of a body; who may ask and what answers is not looked at here."""
    asked = from_body(body)
    around = around_variables(body, asked)
    nobody: Any = None
    return None if around is None else Regular(*around, Asked(asked.query, None, asked.operation), nobody, nobody)


@given(st.sampled_from(ORDERS), st.booleans(), st.dictionaries(st.text(), values, max_size=3))
def test_variables_are_what_the_whole_body_says(order: tuple[str, ...], ascii: bool, variables: dict[str, Any]) -> None:
    known = regular(body_of(order, {"id": "bob"}))
    assert known is not None
    body = body_of(order, variables, ensure_ascii=ascii, separators=(",", ": "))
    assert regular(body_of(order, {}, separators=(",", ":"))) is not None
    again = known.before + json.dumps(variables, ensure_ascii=ascii).encode() + known.after
    found = known.variables_in(again, 32)
    try:
        whole: Asked | None = from_body(again)
    except Refused:
        whole = None
    assert found is None or (whole is not None and found == whole.variables == from_body(body).variables)
    assert found is None or Asked(known.asked.query, found, known.asked.operation) == whole


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
    kept, nobody = Regulars(), None
    kept.remember(body, from_body(body), nobody, nobody)  # type: ignore[arg-type]
    assert (kept.find(body) is not None) is known


def test_long_bodies_are_not_remembered() -> None:
    nobody: Any = None
    for length, known in ((10, True), (MOST_BYTES, False)):
        body = body_of(("query", "variables"), {"id": "x" * length}, separators=(",", ":"))
        kept = Regulars()
        kept.remember(body, from_body(body), nobody, nobody)
        assert (kept.find(body) is not None) is known


# ── through the door ─────────────────────────────────────────────────────────


class Counted:
    """Counts how often a document had to be looked up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times, prepare = 0, Operations.prepare

        def counted(operations: Operations, query: str) -> Any:
            self.times += 1
            return prepare(operations, query)

        monkeypatch.setattr(Operations, "prepare", counted)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[TestClient, Path]]:
    file = tmp_path / "keys"
    create_token(file, StoredToken("", "nobody", ("reader",)))
    app = create_app(Settings(store="memory:", token_file=str(file)))
    with TestClient(app, base_url="http://localhost") as client:
        client.portal.call(Graph(app.state.system).load_demo)  # type: ignore[union-attr]
        yield client, file


def asked(client: TestClient, key: str, query: str, id: str) -> tuple[int, Any]:
    body = json.dumps({"query": query, "variables": {"id": id}}, separators=(",", ":"))
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    answer = client.post("/graphql", content=body, headers=headers)
    return answer.status_code, answer.json()


def test_rights_are_those_of_whoever_asks(
    guarded: tuple[TestClient, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, file = guarded
    keys = {role: create_token(file, StoredToken("", role, (role,))) for role in ("reader", "writer")}
    client.app.express.reception.gatekeeper._refresh()  # type: ignore[attr-defined]
    counted = Counted(monkeypatch)
    for number in range(3):
        status, told = asked(client, keys["writer"], ADD, f"new{number}")
        assert (status, told) == (200, {"data": {"addNode": {"node": {"id": f"new{number}"}}}})
    assert counted.times == 2, "the third time all but the variables is known"
    assert asked(client, keys["reader"], ADD, "new9")[0] == 403
    assert asked(client, "ugs_wrong", ADD, "new9")[0] == 401
    assert asked(client, keys["reader"], POINT, "new9")[1] == {"data": {"graphNode": None}}


def test_a_key_that_is_withdrawn_opens_nothing_any_more(guarded: tuple[TestClient, Path]) -> None:
    client, file = guarded
    key = create_token(file, StoredToken("", "guest", ("reader",)))
    gatekeeper = client.app.express.reception.gatekeeper  # type: ignore[attr-defined]
    gatekeeper._refresh()
    assert [asked(client, key, POINT, "bob")[0] for _ in range(3)] == [200] * 3
    file.write_text("".join(line for line in file.read_text().splitlines(True) if "guest" not in line))
    gatekeeper._looked_at -= 10
    assert asked(client, key, POINT, "bob")[0] == 401


def test_what_is_never_known_again_is_not_looked_at_for_that(
    guarded: tuple[TestClient, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, file = guarded
    key = create_token(file, StoredToken("", "guest", ("reader",)))
    client.app.express.reception.gatekeeper._refresh()  # type: ignore[attr-defined]
    looked = list[bytes]()
    monkeypatch.setattr(regulars, "around_variables", lambda body, asked: looked.append(body))
    priced = "query($id: ID!, $n: Int) { graphNode(id: $id) { outgoing(first: $n) { nodes { id } } } }"
    for query in (priced, "{ stats { nodes } }"):
        for _ in range(3):
            body = {"query": query, "variables": {"id": "bob", "n": 2}} if "$" in query else {"query": query}
            assert client.post("/graphql", json=body, headers={"authorization": f"Bearer {key}"}).status_code == 200
    assert not looked


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
