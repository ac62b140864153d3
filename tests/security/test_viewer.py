"""`viewer` tells everybody their own rights; `gateway` tells only admins of the owning tenant, and never a secret."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.security.conftest import Guarded, code_of
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.observability.structured_logs import LogTail
from ugs_gateway.settings import SETTINGS, Settings, Tenancy

VIEWER = "{ viewer { user roles managesKeys managesGateway tenant project agent } }"
GATEWAY = "{ gateway { version settings { name value origin meaning } tenants { name store events } log } }"


@pytest.mark.parametrize(
    ("role", "roles"),
    [("reader", ["READER"]), ("writer", ["READER", "WRITER"]), ("admin", ["READER", "WRITER", "ADMIN"])],
)
def test_everybody_learns_their_own_rights(guarded: Guarded, role: str, roles: list[str]) -> None:
    found = guarded.ask(VIEWER, guarded.keys[role]).json()["data"]["viewer"]
    assert found == {
        "user": f"the_{role}",
        "roles": roles,
        "managesKeys": role == "admin",
        "managesGateway": role == "admin",
        **dict.fromkeys(("tenant", "project", "agent"), "default"),
    }


def test_without_a_login_the_viewer_may_do_everything(client: TestClient) -> None:
    found = client.post("/graphql", json={"query": VIEWER}).json()["data"]["viewer"]
    assert (found["user"], found["roles"], found["managesGateway"]) == ("local", ["READER", "WRITER", "ADMIN"], True)


@pytest.mark.parametrize("role", ["reader", "writer", None])
def test_only_admins_ask_the_gateway_about_itself(guarded: Guarded, role: str | None) -> None:
    answer = guarded.ask(GATEWAY, role and guarded.keys[role])
    assert code_of(answer) == ("FORBIDDEN" if role else "UNAUTHENTICATED")
    assert "data" not in answer.json() or answer.json()["data"] is None


@pytest.mark.parametrize("tenancy", list(Tenancy))
def test_an_admin_of_another_tenant_learns_nothing_of_the_gateway(tmp_path: Path, tenancy: Tenancy) -> None:
    file = tmp_path / "tokens.jsonl"
    acme = create_token(file, StoredToken("", "ann", ("admin",), "acme"))
    home = create_token(file, StoredToken("", "root", ("admin",)))
    settings = Settings(store=f"sqlite:///{tmp_path}/graph.db", token_file=str(file), tenants=tenancy)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        guarded = Guarded(client, {})
        shared = tenancy is Tenancy.SHARED
        viewer = guarded.ask(VIEWER, acme).json()["data"]["viewer"]
        assert (viewer["tenant"], viewer["managesKeys"], viewer["managesGateway"]) == ("acme", True, False)
        assert viewer["roles"] == ["READER", "WRITER", *([] if shared else ["ADMIN"])]
        assert code_of(guarded.ask(GATEWAY, acme)) == "FORBIDDEN"
        tenants = guarded.ask(GATEWAY, home).json()["data"]["gateway"]["tenants"]
        assert [tenant["name"] for tenant in tenants] == ["default", *([] if shared else ["acme"])]


def test_settings_come_with_their_origin_and_without_passwords(tmp_path: Path) -> None:
    settings = Settings(
        store="memory:", otlp_endpoint="http://user:hunter2@127.0.0.1:9/v1", origins={"store": "environment UGS_STORE"}
    )
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        answer = client.post("/graphql", json={"query": GATEWAY})
    found = {one["name"]: one for one in answer.json()["data"]["gateway"]["settings"]}
    assert set(found) == set(SETTINGS) and all(one["meaning"] for one in found.values())
    assert (found["store"]["value"], found["store"]["origin"]) == ("memory:", "environment UGS_STORE")
    assert (found["port"]["value"], found["port"]["origin"]) == (8000, "built in")
    assert "hunter2" not in answer.text


def test_the_end_of_the_log_is_short_and_masked() -> None:
    tail = LogTail(3)
    for number in range(5):
        record = logging.LogRecord("ugs", logging.INFO, "", 0, "served %d", (number,), None)
        record.fields = {"store": "postgresql://user:hunter2@db/graph"}
        tail.handle(record)
    assert [line.split("  store=")[0].split("served ")[1][0] for line in tail.last(10)] == ["2", "3", "4"]
    assert len(tail.last(2)) == 2 and tail.last(0) == []
    assert "hunter2" not in "".join(tail.last(10))


@pytest.mark.parametrize("last", [-1, 501])
def test_a_log_of_an_impossible_length_is_refused(client: TestClient, last: int) -> None:
    answer = client.post("/graphql", json={"query": f"{{ gateway {{ log(last: {last}) }} }}"})
    assert code_of(answer) in ("LIMIT_EXCEEDED", "INVALID_SYNTAX", "E005"), answer.text
