"""The task board with React and Apollo Client, started by its one command, in a real Chromium with two tabs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.browser import Page, browsing
from tests.servers.places import PROJECT, free_port

SOURCE = PROJECT / "examples" / "task_board"
TIMEOUT_SECONDS = 240.0

HELPERS = """
window.titles = (status) => [...document.querySelectorAll(`[data-status=${status}] li`)].map((row) => row.innerText.trim());
window.button = (text) => [...document.querySelectorAll('button')].find((found) => found.innerText.trim() === text && !found.disabled);
window.field = (label) => [...document.querySelectorAll('aside label, header form')].map((found) => found.querySelector('input, select, textarea'))
  .find((found) => (found.ariaLabel ?? found.closest('label').firstChild.textContent).trim() === label);
window.fill = (label, text) => { const found = field(label);
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(found), 'value').set.call(found, text);
  found.dispatchEvent(new Event(found.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); };
"""


REMEMBER_SOCKETS = """
window.sockets = [];
window.WebSocket = class extends WebSocket { constructor(...given) { super(...given); sockets.push(this); } };
"""


class Board:
    """A running board: where its page and its gateway are."""

    def __init__(self, page_port: int, gateway_port: int) -> None:
        self.url, self.gateway = f"http://127.0.0.1:{page_port}", f"http://127.0.0.1:{gateway_port}"

    def ask(self, query: str) -> Any:
        body = json.dumps({"query": query}).encode()
        request = urllib.request.Request(f"{self.gateway}/graphql/board", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = json.load(answer)
        assert "errors" not in found, found
        return found["data"]

    def open(self, page: Page) -> None:
        page.visit(self.url)
        page.wait_for("document.querySelectorAll('section li').length >= 4")
        page.value(HELPERS)

    def click(self, page: Page, text: str) -> None:
        page.wait_for(f"!!button({json.dumps(text)})")
        page.value(f"button({json.dumps(text)}).click()")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    if shutil.which("npm") is None:
        pytest.fail("Node.js is not there") if os.environ.get("CI") else pytest.skip("Node.js is not there")
    place = tmp_path_factory.mktemp("board") / "task_board"
    shutil.copytree(SOURCE, place, ignore=shutil.ignore_patterns("node_modules", "dist", "data"))
    board = Board(page_port := free_port(), gateway_port := free_port())
    environ = {
        "PORT": str(page_port),
        "GATEWAY_PORT": str(gateway_port),
        "UGS": str(Path(sys.executable).parent / "ugs"),
    }
    log = place.parent / "log"
    with log.open("w") as told:
        started = subprocess.Popen(
            ["node", place / "start.mjs"], cwd=place.parent, env={**os.environ, **environ}, stdout=told, stderr=told
        )
        try:
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while "The board is at" not in log.read_text("utf-8"):
                assert started.poll() is None and time.monotonic() < deadline, log.read_text("utf-8")
                time.sleep(0.1)
            yield board
        finally:
            started.terminate()
            started.wait(timeout=60)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(tmp_path_factory.mktemp("chromium")) as page:
        page.open("about:blank")
        yield page


def test_a_new_task_appears_in_both_windows_and_is_made_once(board: Board, page: Page) -> None:
    board.open(page)
    assert page.value("titles('doing')") == ["Write the invitation"]
    with page.another() as other:
        board.open(other)
        page.value("fill('New task', 'Buy flowers')")
        board.click(page, "Add")
        for window in (page, other):
            window.wait_for("titles('todo').includes('Buy flowers')")
        assert page.value("titles('todo').filter((title) => title === 'Buy flowers').length") == 1
        assert other.problems == []
    assert page.problems == []


def test_of_two_who_edit_one_task_the_second_sees_both_sides(board: Board, page: Page) -> None:
    board.open(page)
    with page.another() as other:
        board.open(other)
        for window in (page, other):
            board.click(window, "Find a room")
            window.wait_for("!!field('Title')")
        page.value("fill('Notes', 'with a window')")
        page.value("fill('Status', 'doing')")
        board.click(page, "Save")
        page.wait_for("titles('doing').includes('Find a room')")
        # The list of the other window follows; its form keeps what is typed there.
        other.wait_for("titles('doing').includes('Find a room')")
        other.value("fill('Notes', 'with a piano')")
        board.click(other, "Save")
        other.wait_for("document.querySelector('.conflict')?.innerText.includes('with a window')")
        assert "with a piano" in other.value("document.querySelector('.conflict').innerText")
        board.click(other, "Save mine")
        other.wait_for("!document.querySelector('aside')")
    notes = {
        task["title"]: task["notes"] for task in board.ask("{ tasks { nodes { title notes } } }")["tasks"]["nodes"]
    }
    assert notes["Find a room"] == "with a piano"
    assert page.problems == []


def test_what_happens_while_the_connection_is_lost_appears_afterwards(board: Board, page: Page) -> None:
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source=REMEMBER_SOCKETS)["identifier"]
    board.open(page)
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    page.wait_for("sockets.length === 1 && sockets[0].readyState === 1")
    gone = next(
        task
        for task in board.ask("{ tasks { nodes { id title } } }")["tasks"]["nodes"]
        if task["title"] == "Set the date"
    )
    page.value("void sockets[0].close()")
    board.ask('mutation { createTask(input: {title: "Meanwhile", status: "todo"}) { node { id } } }')
    board.ask(f'mutation {{ deleteTask(id: "{gone["id"]}") {{ deletedId }} }}')
    page.wait_for("titles('todo').includes('Meanwhile') && !titles('done').includes('Set the date')")
    assert page.value("sockets.length") > 1


def test_what_is_refused_is_told(board: Board, page: Page) -> None:
    board.open(page)
    board.click(page, "Ask who comes")
    page.wait_for("!!field('Title')")
    page.value(f"fill('Notes', {json.dumps('x')}.repeat(3000000))")
    board.click(page, "Save")
    page.wait_for("!!document.querySelector('aside em[role=alert]')?.innerText")
    assert page.value("field('Title').value") == "Ask who comes"
    page.problems.clear()
