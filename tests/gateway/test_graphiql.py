"""GraphiQL in a real browser without a network: it opens, runs its examples, subscribes, and complains of nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.gateway.browser import Page, browsing
from tests.gateway.processes import Gateway, serving
from ugs_gateway.graphql.graphiql import POLICY, assets, is_built

BUILD = Path(__file__).parents[2] / "build"
RESULT = "[...document.querySelectorAll('.result-window .view-line')].map(line => line.textContent).join('\\n')"
RUN = "document.querySelector('.graphiql-execute-button')"


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if not is_built():
        reason = "GraphiQL is not built (make web)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("graphiql"), "--store", "memory:") as gateway:
        gateway.ask("mutation { loadDemo { nodes } }")
        yield gateway


@pytest.fixture(scope="module")
def page(gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(tmp_path_factory.mktemp("chromium")) as page:
        page.open(f"{gateway.url}/graphql")
        page.wait_for(f"!!{RUN}")
        yield page


def tab(page: Page, number: int) -> None:
    """Show one of the example tabs and run it."""
    page.value(f"document.querySelectorAll('.graphiql-tab-button')[{number}].click()")
    page.wait_for(
        f"document.querySelectorAll('.graphiql-tab')[{number}].getAttribute('aria-selected') === 'true' || document.querySelectorAll('.graphiql-tab')[{number}].classList.contains('graphiql-tab-active')"
    )
    page.value(f"{RUN}.click()")


def test_the_first_example_shows_data(page: Page, gateway: Gateway) -> None:
    page.wait_for("document.querySelectorAll('.graphiql-query-editor .view-line').length > 3")
    page.value(f"{RUN}.click()")
    shown = page.wait_for(f"({RESULT}).includes('totalCount') && {RESULT}").replace("\xa0", " ")
    assert '"nodes": 8' in shown
    BUILD.mkdir(exist_ok=True)
    (BUILD / "graphiql.png").write_bytes(page.picture())
    assert page.problems == []


def test_a_subscription_runs_over_the_web_socket(page: Page) -> None:
    tab(page, page.value("document.querySelectorAll('.graphiql-tab-button').length") - 1)
    page.wait_for(f"({RESULT}).includes('elementId')")
    assert any(url.startswith("ws://127.0.0.1") for url in page.requests)
    page.value(f"{RUN}.click()")
    assert page.problems == []


def test_nothing_came_from_elsewhere(page: Page, gateway: Gateway) -> None:
    own = (gateway.url, gateway.url.replace("http", "ws"), "data:", "blob:")
    assert [url for url in page.requests if not url.startswith(own)] == []
    assert len(page.requests) > 3


HOSTILE = "<img src=x onerror=window.pwned=1><script>window.pwned=1</script>"


def test_a09_neither_addresses_nor_data_run_as_scripts(gateway: Gateway, tmp_path: Path) -> None:
    gateway.ask(f'mutation {{ addNode(input: {{id: "aa", type: "{HOSTILE}"}}) {{ node {{ id }} }} }}')
    with browsing(tmp_path) as page:
        page.open(f"{gateway.url}/graphql?query_={quote(HOSTILE)}&operationName={quote(HOSTILE)}#{quote(HOSTILE)}")
        page.wait_for(f"!!{RUN}")
        page.wait_for("document.querySelectorAll('.graphiql-query-editor .view-line').length > 3")
        tab(page, 0)
        page.wait_for(f"({RESULT}).replaceAll('\\n', '').includes('onerror')")
        assert page.value("window.pwned") is None
        assert page.problems == []


def test_the_policy_allows_only_our_own_scripts(client: TestClient) -> None:
    page = client.get("/graphql", headers={"accept": "text/html"})
    assert page.headers["content-security-policy"] == POLICY
    assert "script-src 'self';" in POLICY
    assert "<script>" not in page.text and "http" not in page.text


def test_only_files_of_graphiql_are_served(client: TestClient) -> None:
    name = next(name for name in assets() if name.startswith("main-") and name.endswith(".js"))
    found = client.get(f"/graphiql/assets/{name}", headers={"range": "bytes=0-1,0-1,0-1"})
    assert (found.status_code, found.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    for path in ("../index.html", "%2e%2e/index.html", "..%2f..%2fsettings.py", "main%00.js", "nothing.js"):
        assert client.get(f"/graphiql/assets/{path}").status_code in (400, 404)
