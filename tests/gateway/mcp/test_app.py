"""The MCP App: a page that draws what surrounds what was recalled, in a minimal host, in a real browser."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.gateway.browser import Page, browsing
from tests.gateway.mcp.client import near
from ugs_gateway.mcp.app.page import APP_TYPE, GRAPH_PAGE
from ugs_gateway.mcp.server import Profile

HOSTILE = '<img src=x onerror="window.parent.broken = 1">'
HOST = """<!doctype html><title>host</title><iframe id="app" sandbox="allow-scripts allow-same-origin"></iframe>
<script>
window.heard = []; window.broken = 0;
const told = TOLD, frame = document.getElementById("app");
const send = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
window.addEventListener("message", (event) => {
  if (event.source !== frame.contentWindow) return;
  const message = event.data;
  heard.push(message);
  if (message.method === "ui/initialize") {
    const result = {protocolVersion: message.params.protocolVersion, hostInfo: {name: "host", version: "1"},
                    hostCapabilities: {serverResources: {}}, hostContext: {theme: "dark"}};
    send({id: message.id, result});
  } else if (message.method === "ui/notifications/initialized") {
    send({method: "ui/notifications/tool-input", params: {arguments: {query: "x"}}});
    send({method: "ui/notifications/tool-result", params: told.result});
  } else if (message.method === "resources/read") {
    const found = told.resources[message.params.uri];
    send(found ? {id: message.id, result: found} : {id: message.id, error: {code: -32602, message: "unknown"}});
  }
});
frame.srcdoc = told.page;
</script>"""
APP = "document.getElementById('app').contentDocument"


async def recalled() -> dict[str, Any]:
    """What a host gets from the server: the page, an answer of recall, and what surrounds its items."""
    async with near(profile=Profile.MEMORY) as talk:
        for text, object in (("Ann knows Bob.", "Bob"), ("Ann likes tea.", None)):
            fact = {"subject": "Ann", "predicate": "knows" if object else "likes"}
            said = {**fact, "object": object} if object else {**fact, "value": "tea"}
            await talk("remember", text=text, facts=[said])
        hostile = {"subject": "Bob", "predicate": HOSTILE, "value": HOSTILE}
        await talk("remember", text="Bob said so.", facts=[hostile])
        answer = await talk("recall", query="what does Ann like")
        ids = ",".join(item["id"] for item in answer["items"] if item["kind"] == "fact")
        uri = f"ugs://neighbourhood/{ids}"
        page = (await talk.client.read_resource(GRAPH_PAGE)).contents[0]
        read = (await talk.client.read_resource(uri)).model_dump(mode="json", by_alias=True, exclude_none=True)
        tools = (await talk.client.list_tools()).tools
    assert page.mime_type == APP_TYPE
    (recall,) = [tool for tool in tools if tool.name == "recall"]
    assert recall.meta == {"ui": {"resourceUri": GRAPH_PAGE}}
    result = {"content": [{"type": "text", "text": json.dumps(answer)}], "structuredContent": answer}
    return {"page": page.text, "result": result, "resources": {uri: read}}


async def test_the_neighbourhood_is_a_graph_and_lines_of_text() -> None:
    told = await recalled()
    (read,) = told["resources"].values()
    drawn = json.loads(read["contents"][0]["text"])

    assert "Ann — likes → tea" in drawn["lines"] and "Ann — knows → Bob" in drawn["lines"]
    assert read["contents"][1]["text"].splitlines() == drawn["lines"]
    assert {node["label"] for node in drawn["nodes"] if node["recalled"]} >= {"Ann", "tea"}
    ids = {node["id"] for node in drawn["nodes"]}
    assert all({edge["from"], edge["to"]} <= ids for edge in drawn["edges"])


async def test_a_neighbourhood_of_nothing_or_of_too_much_is_refused() -> None:
    async with near(profile=Profile.MEMORY) as talk:
        for ids in ("", ",", ",".join(["x"] * 31)):
            with pytest.raises(Exception, match="neighbourhood"):
                await talk.client.read_resource(f"ugs://neighbourhood/{ids}")
        unknown = await talk.client.read_resource("ugs://neighbourhood/nobody")
    assert json.loads(unknown.contents[0].text) == {"nodes": [], "edges": [], "lines": [], "truncated": False}


async def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = str((await recalled())["page"])
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0]

    assert "default-src 'none'" in policy and "unsafe" not in policy and "sha256-" in policy
    assert not re.findall(r"""(?:src|href)\s*=|https?://(?!www\.w3\.org/2000/svg)|innerHTML|eval\(""", page)


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """The address of a page that hosts the app."""
    told = json.dumps(asyncio.run(recalled())).replace("<", "\\u003c")
    body = HOST.replace("TOLD", told).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body if self.path == "/" else b"")

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture
def page(host: str, tmp_path: Path) -> Iterator[Page]:
    with browsing(tmp_path / "chromium") as page:
        page.open(host)
        yield page


def test_a_host_shows_what_surrounds_what_was_recalled(page: Page) -> None:
    page.wait_for(f"{APP} && {APP}.querySelectorAll('circle').length > 3")

    lines = page.value(f"[...{APP}.querySelectorAll('#lines li')].map((line) => line.textContent)")
    assert "Ann — likes → tea" in lines
    assert f"Bob — {HOSTILE} → {HOSTILE}" in lines
    assert page.value(f"{APP}.querySelectorAll('img').length") == 0 and page.value("window.broken") == 0
    assert page.value(f"{APP}.documentElement.dataset.theme") == "dark"
    heard = page.value("heard.map((message) => message.method || 'answer')")
    assert heard[:2] == ["ui/initialize", "ui/notifications/initialized"]
    assert "resources/read" in heard and "ui/notifications/size-changed" in heard
    assert not page.problems, page.problems

    page.value("send({id: 77, method: 'ui/resource-teardown', params: {}})")
    page.wait_for("heard.some((message) => message.id === 77 && message.result)")
    page.value("delete told.resources[Object.keys(told.resources)[0]]")
    page.value("send({method: 'ui/notifications/tool-result', params: told.result})")
    page.wait_for(f"{APP}.getElementById('state').textContent.includes(', 0 connections')")
