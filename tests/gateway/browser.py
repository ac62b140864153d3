"""A real Chromium, driven over its own debugging protocol: no driver package, no network but the page's own."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT_SECONDS = 90.0
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    # WebGL without a graphics card.
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--window-size=1400,900",
    "--remote-debugging-port=0",
    # Whatever the page or the browser wants from elsewhere, it does not get.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-proxy-server",
)


def chromium() -> str:
    """The browser's program; installed from the distribution where that is allowed."""
    found = _found()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"]
        subprocess.run(install, capture_output=True, check=False, timeout=300)
        found = _found()
    if found is None:
        reason = "Chromium is not installed: no page can be tried in a browser"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return found


def _found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One tab: what it was told, what it logged, and what it asked the network for."""

    def __init__(self, socket: ClientConnection, address: str) -> None:
        self.socket, self.address = socket, address
        self.number = 0
        self.session: str | None = None
        self.target = ""
        self.problems: list[str] = []
        self.requests: list[str] = []

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol; what happens meanwhile is remembered."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        self.socket.send(json.dumps({**message, "sessionId": self.session} if self.session else message))
        while True:
            heard = json.loads(self.socket.recv(timeout=TIMEOUT_SECONDS))
            if heard.get("id") == self.number:
                assert "error" not in heard, heard
                return heard["result"]
            self._hear(heard.get("method", ""), heard.get("params", {}))

    def _hear(self, method: str, told: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(told["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.problems.append(str(told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.problems.append(str(told["entry"]))
        elif method in ("Network.requestWillBeSent", "Network.webSocketCreated"):
            self.requests.append(told.get("url") or told["request"]["url"])

    def value(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait_for(self, script: str) -> Any:
        """The first true value of an expression."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not (found := self.value(script)):
            assert time.monotonic() < deadline, f"{script} never came true; {self.problems}"
            time.sleep(0.1)
        return found

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for something outside of the page."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"never: {what}"
            time.sleep(0.05)

    def open(self, url: str) -> None:
        self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for part in ("Runtime", "Log", "Network", "Page"):
            self.call(f"{part}.enable")
        self.call("Page.navigate", url=url)

    @contextmanager
    def another(self) -> Iterator[Page]:
        """A second tab of the same browser, with a session and a connection of its own, until the block ends."""
        with _connected(self.address) as socket:
            page = Page(socket, self.address)
            page.open("about:blank")
            try:
                yield page
            finally:
                page.session = None
                page.call("Target.closeTarget", targetId=page.target)

    def visit(self, url: str) -> None:
        """Another address in the same tab, loaded anew."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)

    def leave(self) -> None:
        """Leave the page there is, so that nothing of it goes on, and forget what it complained of."""
        self.call("Page.navigate", url="about:blank")
        self.wait_for("location.href === 'about:blank'")
        self.problems.clear()

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key where the focus is; a letter, or a name such as Enter."""
        text = {"Enter": "\r", "Tab": ""}.get(key, key if len(key) == 1 else "")
        codes = {
            "Enter": 13,
            "Tab": 9,
            "Escape": 27,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
            "End": 35,
        }
        code = codes.get(key, ord(key.upper()[0]))
        shared: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", **shared, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def type(self, text: str) -> None:
        """Text as from a keyboard, where the focus is."""
        self.call("Input.insertText", text=text)

    def picture(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


def _connected(address: str) -> ClientConnection:
    # Without pings: while a test does something else the browser's news fill the queue, and no pong is read.
    return connect(address, max_size=None, proxy=None, ping_interval=None)


@contextmanager
def browsing(folder: Path) -> Iterator[Page]:
    """A fresh browser, until the block ends."""
    command = [chromium(), *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port, path = _address(folder / "DevToolsActivePort", process)
        address = f"ws://127.0.0.1:{port}{path}"
        with _connected(address) as socket:
            yield Page(socket, address)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _address(file: Path, process: subprocess.Popen[bytes]) -> tuple[str, str]:
    """Where the browser listens, which it writes down once it does."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not file.exists() or len(file.read_text().split()) < 2:
        assert process.poll() is None, "the browser ended"
        assert time.monotonic() < deadline, "the browser never listened"
        time.sleep(0.1)
    port, path = file.read_text().split()[:2]
    return port, path
