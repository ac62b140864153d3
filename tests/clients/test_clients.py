"""What frontends use: Apollo, urql, graphql-ws, graphql-sse, and the audit of GraphQL over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.node import packages, run
from tests.gateway.processes import Gateway, serving


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    packages()
    folder: Path = tmp_path_factory.mktemp("clients")
    with serving(folder, "--store", "memory:") as gateway:
        gateway.ask("mutation { loadDemo { nodes } }")
        yield gateway


def test_every_audit_of_graphql_over_http_is_ok(gateway: Gateway) -> None:
    told = run("audit.mjs", f"{gateway.url}/graphql")
    assert [check for check in told if check["status"] != "ok"] == []
    assert len(told) == 61


def test_every_client_asks_changes_and_watches(gateway: Gateway) -> None:
    told = run("clients.mjs", f"{gateway.url}/graphql")
    for name in ("apollo", "urql"):
        assert told[name]["asked"]["graphNode"]["label"] == "Alice Johnson"
        assert told[name]["changed"]["addNode"]["node"]["id"] == f"by_{name}"
    for client in told.values():
        heard = client["heard"]["events"]
        assert (heard["seq"], heard["type"], heard["elementId"]) == (1, "NodeAdded", "alice")
