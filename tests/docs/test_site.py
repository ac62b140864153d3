"""The documentation site: it builds without a warning, no link in it is dead, and the gateway serves it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
import uvicorn
from starlette.testclient import TestClient

from tests.gateway.browser import browsing
from tests.servers.places import PROJECT, free_port
from ugs_gateway.app import create_app
from ugs_gateway.rest import documentation
from ugs_gateway.settings import Settings

ALLOWED_ELSEWHERE = re.compile(r"https?://")
MAX_SITE_BYTES = 12_000_000


class Scan(HTMLParser):
    """What a page links to, loads, and can be reached by."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.loads, self.ids = list[str](), list[str](), set[str]()
        self.inline = list[str]()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {str(given[name]) for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag in ("script", "img", "link") and (given.get("src") or given.get("href")):
            self.loads.append(str(given.get("src") or given.get("href")))
        if (tag == "script" and "src" not in given and given.get("type") != "application/json") or "style" in given:
            self.inline.append(self.get_starttag_text() or tag)
        self.inline += [name for name in given if name.startswith("on")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    venv = Path(sys.executable).parents[1]
    done = subprocess.run([PROJECT / "scripts/docs.sh", venv, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Scan]:
    return {path: Scan(path) for path in site.rglob("*.html")}


def test_no_link_is_dead(site: Path, pages: dict[Path, Scan]) -> None:
    dead = []
    for path, scan in pages.items():
        for link in [*scan.links, *scan.loads]:
            if ALLOWED_ELSEWHERE.match(link):
                continue
            place, _, fragment = link.partition("#")
            target = (path.parent / unquote(place)).resolve() if place else path
            target = target / "index.html" if target.is_dir() else target
            if (
                not target.is_file()
                or not target.is_relative_to(site.resolve())
                or (fragment and target in pages and unquote(fragment) not in pages[target].ids)
            ):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []


def test_nothing_is_loaded_from_elsewhere_and_nothing_runs_within_a_page(pages: dict[Path, Scan]) -> None:
    assert [load for scan in pages.values() for load in scan.loads if ALLOWED_ELSEWHERE.match(load)] == []
    assert {inline for scan in pages.values() for inline in scan.inline} == set()


def test_the_site_is_of_a_sane_size(site: Path) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < MAX_SITE_BYTES


def test_every_page_of_the_folder_is_in_the_navigation(site: Path) -> None:
    told = (site / "llms.txt").read_text("utf-8")
    for page in (PROJECT / "docs").glob("*.md"):
        assert f"(/docs/{page.stem}/)" in told, f"{page.name} has no place in mkdocs.yml"
    assert not re.search(r"\]\([^)]*\): *$", told, re.MULTILINE), "a page without a first sentence"


def test_the_reference_is_made_from_the_code(site: Path) -> None:
    def text(name: str) -> str:
        return (site / "reference" / name / "index.html").read_text("utf-8")

    assert 'id="addnode"' in text("graphql-mutations") and 'id="graphnode"' in text("graphql-types")
    assert 'id="backup"' in text("command-line") and 'id="remember"' in text("mcp-tools")
    assert "/programs/execute" in text("rest") and "FactSuperseded" in text("events") and "ugs.System" in text("python")


def test_the_search_index_finds_what_pages_say(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    assert any("idempotency" in entry["text"] for entry in index["docs"])


def test_the_gateway_serves_the_site(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documentation, "FOLDER", site)
    documentation.files.cache_clear()
    try:
        with TestClient(create_app(Settings(store="memory:")), base_url="http://localhost") as client:
            assert client.get("/docs").url.path == "/docs/"
            front = client.get("/docs/")
            assert front.status_code == 200 and front.headers["content-security-policy"] == documentation.POLICY
            assert "unsafe" not in documentation.POLICY
            assert client.get("/docs/paging").url.path == "/docs/paging/"
            assert "cursor" in client.get("/docs/paging/").text
            assert client.get("/docs/llms.txt").headers["content-type"] == "text/plain; charset=utf-8"
            script = re.findall(r'src="(assets/[^"]+\.js)"', front.text)[0]
            assert client.get(f"/docs/{script}").headers["content-type"].startswith("text/javascript")
            for wrong in ("nothing", "../app.py", "%2e%2e/%2e%2e/app.py", "/etc/passwd"):
                assert client.get(f"/docs/{wrong}").status_code == 404, wrong
    finally:
        documentation.files.cache_clear()


def test_it_reads_and_searches_in_a_browser_under_the_policy(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documentation, "FOLDER", site)
    documentation.files.cache_clear()
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(create_app(Settings(store="memory:")), port=port, log_level="error"))
    running = threading.Thread(target=server.run, daemon=True)
    running.start()
    try:
        with browsing(tmp_path) as page:
            while not server.started:
                time.sleep(0.05)
            page.open(f"http://127.0.0.1:{port}/docs/paging/")
            page.wait_for("document.querySelector('h1')?.textContent.includes('Paging')")
            page.wait_for("document.querySelector('.md-search__input') && document.readyState === 'complete'")
            page.value(
                "(() => { const box = document.querySelector('.md-search__input'); box.focus();"
                " box.value = 'idempotency'; box.dispatchEvent(new Event('input', {bubbles: true}));"
                " box.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); })()"
            )
            page.wait_for("document.querySelectorAll('.md-search-result__link').length > 0")
            page.value("document.querySelector('#__palette_1').click()")
            page.wait_for("document.body.getAttribute('data-md-color-scheme') === 'slate'")
            assert page.problems == []
            assert [
                one for one in page.requests if not one.startswith((f"http://127.0.0.1:{port}/", "data:", "blob:"))
            ] == []
    finally:
        server.should_exit = True
        running.join(timeout=20)
        documentation.files.cache_clear()


def test_a_gateway_without_the_site_says_how_to_build_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documentation, "FOLDER", tmp_path)
    documentation.files.cache_clear()
    try:
        with TestClient(create_app(Settings(store="memory:")), base_url="http://localhost") as client:
            answer = client.get("/docs/")
            assert answer.status_code == 404 and "make docs" in answer.text
    finally:
        documentation.files.cache_clear()


def test_where_callers_log_in_strangers_do_not_see_it(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("a secret of more than thirty-two characters")
    with TestClient(
        create_app(Settings(store="memory:", jwt_key_file=str(key))), base_url="http://localhost"
    ) as client:
        assert client.get("/docs/").status_code == 401
