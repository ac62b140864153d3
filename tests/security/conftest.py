"""One gateway for each kind of attacker: open on a developer's machine, and guarded in production."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from ugs.graph.api import Graph
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.settings import Mode, Settings

SECRET = "a secret of more than thirty-two characters"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings(store="memory:")), base_url="http://localhost") as client:
        system = client.app.state.system  # type: ignore[attr-defined]
        client.portal.call(Graph(system).load_demo)  # type: ignore[union-attr]
        yield client


class Guarded(NamedTuple):
    """A gateway in production with a key for each role."""

    client: TestClient
    keys: dict[str, str]

    def ask(self, query: str, token: str | None, **more: Any) -> Any:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return self.client.post("/graphql", json={"query": query, **more}, headers=headers)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder: Path = tmp_path_factory.mktemp("guarded")
    file = folder / "tokens.jsonl"
    keys = {role: create_token(file, StoredToken("", f"the_{role}", (role,))) for role in ("reader", "writer", "admin")}
    (folder / "key").write_text(SECRET)
    settings = Settings(
        store=f"file:{folder}/data",
        mode=Mode.PRODUCTION,
        token_file=str(file),
        jwt_key_file=str(folder / "key"),
        jwt_audience="ugs",
        allowed_origins="https://app.example",
        max_failed_logins_per_minute=0,  # these tests send wrong tokens all the time
    )
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield Guarded(client, keys)


def code_of(answer: Any) -> str | None:
    """The code of the first error, None when all went well."""
    errors = answer.json().get("errors")
    return errors[0]["extensions"]["code"] if errors else None
