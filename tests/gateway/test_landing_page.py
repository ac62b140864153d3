"""Health and front page: what a person, a probe and a browser get."""

import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import ugs
from ugs.errors import Unavailable
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.settings import Mode, Settings


def test_a_fresh_gateway_lives_and_is_ready(client: TestClient) -> None:
    assert client.get("/livez").text == "alive\n"
    assert client.get("/readyz").text == "ready\n"


def test_health_tells_store_position_and_state(demo: TestClient) -> None:
    found = demo.get("/health").json()
    assert found["ready"] is True
    assert found["position"] == 15
    assert found["state"] == "Ready"


def break_store(client: TestClient, error: Exception) -> None:
    """Let the open store fail the way a driver's would when its server has gone."""

    @asynccontextmanager
    async def gone(**_: Any) -> Any:
        raise error
        yield

    client.app.state.system.storage.session = gone  # type: ignore[attr-defined]


def test_a_store_that_went_away_makes_it_not_ready_with_the_reason(client: TestClient) -> None:
    break_store(client, Unavailable("cannot reach postgresql://me:s3cret@db/graph"))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.text == "not ready: UNAVAILABLE cannot reach postgresql://me:***@db/graph\n"
    assert client.get("/livez").status_code == 200
    assert client.get("/").status_code == 503
    assert client.get("/health").json()["reason"] in answer.text


@pytest.mark.parametrize("mode", [Mode.PRODUCTION, Mode.DEVELOPMENT])
def test_strangers_hear_whether_it_is_ready_and_no_more(tmp_path: Path, mode: Mode) -> None:
    """Where callers log in: nothing of version, store, position and counts, well or ill, and nothing to a wrong key."""
    file = tmp_path / "tokens.jsonl"
    key = create_token(file, StoredToken("", "the_reader", ("reader",)))
    other = create_token(file, StoredToken("", "guest", ("reader",), tenant="other"))
    settings = Settings(store=f"file:{tmp_path}/store-folder", mode=mode, token_file=str(file))
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        known = {"authorization": f"Bearer {key}"}
        assert client.get("/health", headers=known).json()["version"] == ugs.__version__
        assert ugs.__version__ in client.get("/", headers=known).text
        for ill in (False, True):
            if ill:
                break_store(client, Unavailable("cannot reach postgresql://me@db/graph"))
                assert "db/graph" in client.get("/readyz", headers=known).text
            for authorization in (None, "Bearer wrong", "Basic x", f"Bearer {other}"):
                headers = {} if authorization is None else {"authorization": authorization}
                assert client.get("/health", headers=headers).json() == {"ready": not ill}
                pages = [client.get(path, headers=headers) for path in ("/", "/livez", "/readyz", "/openapi.json")]
                assert [page.status_code for page in pages] == [503 if ill else 200, 200, 503 if ill else 200, 200]
                told = "".join(page.text + str(page.headers) for page in pages)
                for detail in (ugs.__version__, "store-folder", "files in", "db/graph", "UNAVAILABLE", "<dt>"):
                    assert detail not in told.replace("3.1.0", ""), detail


def test_an_unknown_failure_of_the_store_keeps_its_words_to_the_log(client: TestClient) -> None:
    break_store(client, RuntimeError("secret internals"))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.text) == (503, "not ready: the store failed; the log tells more\n")


def test_the_front_page_shows_what_is_there_and_loads_nothing_from_elsewhere(demo: TestClient) -> None:
    page = demo.get("/")
    assert page.status_code == 200
    assert "<dt>nodes</dt><dd>8</dd>" in page.text
    assert "<dt>events</dt><dd>15</dd>" in page.text
    assert "http" not in page.text.replace("http://localhost/graphql", "")
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_every_link_of_the_front_page_leads_somewhere(client: TestClient) -> None:
    import re

    links = re.findall(r'href="([^"]+)"', client.get("/").text)
    assert len(links) >= 4
    for link in links:
        assert client.get(link, headers={"accept": "text/html"}).status_code == 200, link


def test_what_comes_from_outside_is_escaped(client: TestClient) -> None:
    client.app.state.system.storage.warnings = ["<script>alert(1)</script>"]  # type: ignore[attr-defined]
    assert "<script>" not in client.get("/").text
    assert "&lt;script&gt;" in client.get("/").text


def test_an_address_that_does_not_exist_is_told_as_json(client: TestClient) -> None:
    answer = client.get("/nowhere")
    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found: GET /nowhere"})


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", "192.168.1.2"])
def test_a_foreign_host_name_is_refused_when_only_this_machine_is_served(client: TestClient, host: str) -> None:
    assert client.get("/health", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_the_names_of_this_machine_are_welcome(client: TestClient, host: str) -> None:
    assert client.get("/health", headers={"host": host}).status_code == 200


def test_an_open_gateway_answers_to_the_names_it_was_told() -> None:
    for names, status in (("", 421), ("graph.example", 200)):
        settings = Settings(store="memory:", host="0.0.0.0", allowed_hosts=names)
        with TestClient(create_app(settings), base_url="http://graph.example") as client:
            assert client.get("/readyz").status_code == status


def test_the_callers_request_id_comes_back_when_it_is_harmless(client: TestClient) -> None:
    assert client.get("/livez", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    made = client.get("/livez", headers={"x-request-id": "a b<c>"}).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{20}", made)
