"""The application over a store in memory, and a client that talks to it without a network."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = create_app(Settings(store="memory:"))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


@pytest.fixture
def demo(client: TestClient) -> TestClient:
    """The same, holding the demonstration graph."""
    from ugs.graph.api import Graph

    async def load() -> None:
        await Graph(client.app.state.system).load_demo()  # type: ignore[attr-defined]

    client.portal.call(load)  # type: ignore[union-attr]
    return client


def ask(client: TestClient, query: str, **variables: Any) -> Any:
    """The JSON answer to a query."""
    return client.post("/graphql", json={"query": query, "variables": variables}).json()
