"""Random requests made from the schema, right ones and wrong ones: never a 5xx, always a coded answer.

Quick here; `make fuzz` asks for many more (UGS_TEST_FUZZ is the number of examples for each kind).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_graphql import from_schema, nodes
from starlette.testclient import TestClient

from tests.gateway.fuzz_stores import STORES, url_of
from ugs.graph.api import Graph
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings
from ugs_schema import build_schema

EXAMPLES = int(os.environ.get("UGS_TEST_FUZZ", "40"))
KNOWN_IDS = ("alice", "bob", "api_proj", "user:x", "no such", "")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
INSTANTS = st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T00:00:00", "tomorrow", "0001-01-01T00:00:00+14:00"])

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "Millis": st.integers(-1, 2**63).map(nodes.Int),
    "Position": st.integers(-1, 2**63).map(nodes.Int),
    "DateTime": INSTANTS.map(nodes.String),
    "JSON": st.one_of(TEXTS.map(nodes.String), st.integers().map(nodes.Int), st.floats(-1e9, 1e9).map(nodes.Float)),
    "UUID": st.sampled_from(["00000000-0000-0000-0000-000000000000", "x"]).map(nodes.String),
    "ID": st.sampled_from(KNOWN_IDS).map(nodes.String),
}
for name in ("Millis", "Position", "DateTime", "JSON", "UUID"):
    schemathesis.graphql.scalar(name, SCALARS[name])

SDL = build_schema().as_str()
OWN = {name: made for name, made in SCALARS.items() if f"scalar {name}\n" in SDL + "\n"}
usual = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 100,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module", params=STORES)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    store = url_of(request.param, tmp_path_factory.mktemp("fuzz_requests"))
    options = Settings(
        store=store, request_seconds=120, max_tokens=20_000, max_depth=50, max_aliases=1_000, max_cost=1_000_000
    )
    with TestClient(create_app(options), base_url="http://localhost", raise_server_exceptions=False) as client:
        system = client.app.state.system  # type: ignore[attr-defined]
        client.portal.call(Graph(system).load_demo)  # type: ignore[union-attr]
        yield client


def check(answer: Any) -> None:
    """Never our fault, and every error has a code that says whose."""
    assert answer.status_code < 500, answer.text
    for error in answer.json().get("errors", ()):
        assert error["extensions"]["code"] != "INTERNAL", answer.request.content


@usual
@given(query=from_schema(SDL, custom_scalars=OWN, allow_null=True))
def test_right_operations_are_answered(client: TestClient, query: str) -> None:
    if not query.lstrip().startswith("subscription"):
        check(client.post("/graphql", json={"query": query}))


@usual
@given(query=from_schema(SDL, custom_scalars=OWN), place=st.integers(0, 10_000), piece=TEXTS)
def test_broken_operations_are_refused(client: TestClient, query: str, place: int, piece: str) -> None:
    cut = place % (len(query) + 1)
    check(client.post("/graphql", json={"query": query[:cut] + piece + query[cut + len(piece) :]}))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
MUTATION = "mutation ($input: AddNodeInput!) { addNode(input: $input) { node { id } } }"


@usual
@given(
    body=st.fixed_dictionaries(
        {"query": st.just(MUTATION), "variables": st.dictionaries(st.sampled_from(["input"]), ANYTHING)}
    )
)
def test_variables_of_any_shape_are_answered(client: TestClient, body: Any) -> None:
    import json

    check(client.post("/graphql", content=json.dumps(body).encode(), headers={"content-type": "application/json"}))


api = schemathesis.graphql.from_dict(build_schema().introspect())


@pytest.fixture(scope="module")
def served(client: TestClient) -> TestClient:
    return client


@usual
@given(data=st.data())
def test_schemathesis_finds_no_server_error(served: TestClient, data: st.DataObject) -> None:
    operations = [found.ok() for found in api.get_all_operations()]
    chosen = data.draw(st.sampled_from(operations))
    case = data.draw(chosen.as_strategy())
    if str(case.body).lstrip().startswith("subscription"):
        return
    check(served.post("/graphql", json={"query": case.body}))
