"""The same story through GraphQL over HTTP on every store: answer for answer what the reference store says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests import servers
from tests.gateway.actor_story import ACTORS
from tests.gateway.fact_story import FACTS
from tests.gateway.story import STORY
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r'"(created|modified)": \d+')
"""Times of the element in a version conflict."""


def told(url: str) -> dict[str, Any]:
    """The answers of a store to the whole story."""
    with TestClient(create_app(Settings(store=url, request_seconds=60)), base_url="http://localhost") as client:
        client.portal.call(client.app.state.system.storage.wipe)  # type: ignore[attr-defined, union-attr]
    found: dict[str, Any] = {}
    with TestClient(create_app(Settings(store=url, request_seconds=60)), base_url="http://localhost") as client:
        for name, query, variables in (*STORY, *ACTORS, *FACTS):
            given = variables(found) if callable(variables) else variables
            answer = client.post("/graphql", json={"query": query, "variables": given})
            found[name] = answer.json()
            assert answer.status_code == 200, (name, answer.text)
    return {name: numbered(answer) for name, answer in found.items()}


def numbered(answer: Any) -> Any:
    """The answer with a number instead of every id that was made up at random, and without the times of elements."""
    seen: dict[str, str] = {}
    text = TIME.sub(r'"\1": 0', json.dumps(answer))
    return json.loads(UUID.sub(lambda id: seen.setdefault(id[0], f"id {len(seen)}"), text))


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return told("memory:")


def address(store: str, folder: Path) -> str:
    """A place of our own on a store, or a reason in words why there is none."""
    if store in ("file", "sqlite"):
        return f"file:{folder}" if store == "file" else f"sqlite:///{folder}/graph.db"
    return f"{servers.require(store)}?{'schema' if store == 'postgresql' else 'namespace'}=door"


def test_the_reference_store_refuses_what_it_should(reference: dict[str, Any]) -> None:
    codes = {name: found["errors"][0]["extensions"]["code"] for name, found in reference.items() if "errors" in found}
    assert codes == {
        "load again": "E001",
        "add twice": "E001",
        "key for another": "IDEMPOTENCY_CONFLICT",
        "stale": "VERSION_CONFLICT",
        "strict edge": "ENDPOINT_MISSING",
        "batch that fails": "E001",
        "delete again": "E002",
        "before there were": "E002",
        "nobody there": "E002",
        "payload that is no object": "E006",
        "at the same instant": "FACT_CONFLICT",
        "no object": "INVALID_FACT",
        "ends before it begins": "INVALID_FACT",
        "not said": "REJECT_STRUCTURED_INVALID",
    }


@pytest.mark.parametrize("store", ["file", "sqlite", "postgresql", "neo4j"])
def test_a_store_answers_as_the_reference_does(store: str, reference: dict[str, Any], tmp_path: Path) -> None:
    found = told(address(store, tmp_path))
    for name, expected in reference.items():
        assert found[name] == expected, name
