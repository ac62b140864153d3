"""The interactive mode in a real terminal: prompt, completion, several lines, history, interruption."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from tests.gateway.processes import UGS
from ugs_conformance.support.pytest_plugin import clause
from ugs_gateway.cli.interactive.completion import Vocabulary, complete
from ugs_gateway.cli.interactive.prompt import words_before

TIMEOUT_SECONDS = 60.0
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")
KNOWN = Vocabulary(("alice", "api_proj", "bob"), ("e1",), ("person", "task"), ("name", "role"))
UP = "\x1b[A"


class Terminal:
    """A program in a terminal of its own: keys in, screen out."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.shown = ""
        self._read_until = 0
        self.handle, slave = pty.openpty()
        ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environ = {
            **os.environ,
            "TERM": "xterm-256color",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "UGS_HISTORY": str(folder / "typed"),
        }
        for name in ("UGS_ACTOR", "UGS_URL", "NO_COLOR"):
            environ.pop(name, None)
        self.process = subprocess.Popen(
            [UGS, *words],
            cwd=folder,
            env=environ,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            # The terminal becomes the program's own, so that its interrupt key reaches the program.
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def type(self, keys: str) -> None:
        os.write(self.handle, keys.encode())

    def wait_for(self, text: str) -> str:
        """What was shown since the last wait, up to the text."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while (place := self.plain.find(text, self._read_until)) < 0:
            assert time.monotonic() < deadline, f"{text!r} never came:\n{self.plain[self._read_until :]}"
            if select.select([self.handle], [], [], 0.2)[0]:
                self.shown += os.read(self.handle, 65536).decode("utf-8", "replace")
        start, self._read_until = self._read_until, place + len(text)
        return self.plain[start : self._read_until]

    @property
    def plain(self) -> str:
        return ESCAPES.sub("", self.shown)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.handle)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path, "--human")
    opened.wait_for("ugs>")
    yield opened
    opened.close()


@clause("UGS-226", "UGS-114")
def test_a_conversation(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type("load-demo\r")
    terminal.wait_for("events  15")
    # Tab completes a command, an option and an id.
    for keys, completed in (("trav\t", "erse"), (" ali\t", "ce"), (" --dep\t", "th")):
        terminal.type(keys)
        terminal.wait_for(completed)
    terminal.type(" 1\r")
    assert "├── ─assigned_to▶ task_1 (task)" in terminal.wait_for("3 nodes")
    assert "\x1b[1mtask_1\x1b[0m" in terminal.shown
    # An open bracket goes on in the next line.
    terminal.type('add-node t9 task tags:=["a",\r"b"]\r')
    terminal.wait_for("...>")
    terminal.wait_for('["a", "b"]')
    # A mistake gets a hint.
    terminal.type("get\r")
    terminal.wait_for("❌ InvalidSyntax (E005): <id> is missing")
    terminal.wait_for("💡")
    # The interrupt key ends a command, not the conversation.
    terminal.type("watch --after 15\r")
    terminal.wait_for("NodeAdded")
    terminal.type("\x03")
    terminal.wait_for("interrupted")
    terminal.wait_for("ugs>")
    # What was typed comes back, and help is there.
    terminal.type("stats\r")
    terminal.wait_for("📊 Graph Statistics")
    terminal.wait_for("ugs>")
    terminal.type(f"{UP}\r")
    terminal.wait_for("Nodes: 9")
    terminal.type("help neighbors\r")
    terminal.wait_for("usage: ugs neighbors <id> [direction]")
    terminal.wait_for("ugs>")
    terminal.type("exit\r")
    assert terminal.process.wait(TIMEOUT_SECONDS) == 0
    assert "+stats" in (tmp_path / "typed").read_text()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("ge", ["get"]),
        ("get a", ["alice", "api_proj"]),
        ("get e", ["e1"]),
        ("neighbors e", []),
        ("path e", []),
        ("add-edge x al", ["alice"]),
        ("resolve @(b", ["@(bob)"]),
        ("list p", ["person"]),
        ("find-by-property r", ["role"]),
        ("update bob na", ["name="]),
        ("add-node new ta", ["task"]),
        ("traverse alice --d", ["--depth", "--direction"]),
        ("traverse alice --direction ", ["both", "incoming", "outgoing"]),
        ("neighbors bob out", ["outgoing"]),
        ("clear-scope s", ["scratch"]),
        ("help exit", ["exit", "exit-codes"]),
        ("bogus x", []),
        ("serve x", []),
        ('get "al', []),
    ],
)
def test_what_may_come_next(typed: str, found: list[str]) -> None:
    before, word = words_before(typed)
    assert complete(before, word, KNOWN) == found
