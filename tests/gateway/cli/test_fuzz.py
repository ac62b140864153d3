"""Whatever is typed: no traceback, a known exit code, and in agent mode one JSON value for each command."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ugs_gateway.cli.command_table import COMMANDS
from ugs_gateway.cli.main import main

EXAMPLES = int(os.environ.get("UGS_TEST_CLI_FUZZ", "120"))
KNOWN = {0, 1, 2, 3}
WITHOUT_END = {"watch", "serve", "mcp", "conformance", "health"}
PRINTS_FILES = {"completion", "complete", "export"}
"""Commands whose answer is a file or lines for a shell."""
NAMES = [entry.name for entry in COMMANDS if entry.name not in WITHOUT_END] + ["help", "bogus", "", "exit"]

odd = st.text(st.characters(exclude_characters="/"), max_size=12)
known = st.sampled_from(
    ["alice", "bob", "e1", "task_1", "user:x", "user:*", "default:*", "*", "@(alice)", "@(alice:1)", "@(", "person", "both", "1",
     "-1", "2.5", "1e999", "999999999999999999999", "null", "-", "--", "k=v", "k:=1", "k:={", "k:=[1,", "+k=v", "-k", "+", "=", ":=",
     "--depth", "--depth=2", "--direction", "--limit=5", "--scope=user", "--type", "--data={}", "--data", "--at=1", "--at=x", "--force",
     "--human", "--agent", "--store", "--store=memory:", "--store=nope:x", "--all", "--as-of=2026-01-01T00:00:00Z", "--as-of=x",
     "RETURN 1", "MATCH (n) RETURN n", "MATCH (", "--format=csv", "--on-conflict=x", "--scope=", "--mode=hybrid", "--help", "-h", "\udcff", "\x00", "\x1b[31m"]
)  # fmt: skip
words = st.lists(known | odd, max_size=5)


def run(arguments: list[str], stdin: str = "") -> tuple[int, str, str]:
    """One command in this process."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.stdin = sys.stdin, io.StringIO(stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    finally:
        sys.stdin = before
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UGS_STORE", "memory:")
    for name in ("UGS_ACTOR", "UGS_URL", "UGS_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def check(code: int, out: str, err: str, human: bool) -> None:
    assert code in KNOWN, (code, err)
    assert "Traceback" not in err
    if not human:
        for line in out.split("\n")[:-1]:
            json.loads(line)


def is_for_people(arguments: list[str]) -> bool:
    """Whether the answer need not be JSON: a person's voice, a page of help, a file."""
    return arguments[0] in PRINTS_FILES or any(word in ("--human", "--help", "-h") for word in arguments)


@given(name=st.sampled_from(NAMES), words=words)
@settings(max_examples=EXAMPLES, deadline=None)
def test_words_of_any_kind_are_done_or_refused(name: str, words: list[str]) -> None:
    arguments = [name, *words]
    check(*run(arguments), human=is_for_people(arguments))


@given(words=words, first=st.sampled_from(["add-node", "add-edge", "update"]))
@settings(max_examples=EXAMPLES // 2, deadline=None)
def test_elements_of_any_kind_are_done_or_refused(words: list[str], first: str) -> None:
    arguments = [first, "a", "b", "c", *words]
    check(*run(arguments), human=is_for_people(arguments))


line = st.text(max_size=40) | st.lists(st.sampled_from(NAMES) | known, max_size=5).map(" ".join)


@given(
    lines=st.lists(line.filter(lambda text: not any(word in text for word in WITHOUT_END | PRINTS_FILES)), max_size=6)
)
@settings(max_examples=EXAMPLES // 2, deadline=None)
def test_scripts_of_any_kind_are_done_or_refused(lines: list[str]) -> None:
    code, out, err = run(["--store", "memory:"], stdin="load-demo\n" + "\n".join(lines))
    check(code, out, err, human=False)
    assert out.count("\n") <= "\n".join(lines).count("\n") + 2


def test_json_is_on_every_line_even_for_bytes_that_are_no_text(capfdbinary: Any) -> None:
    assert main(["--store", "memory:", "get", "\udcff"]) == 0
    assert main(["--store", "memory:", "delete", "\udcff"]) == 2
    for told in capfdbinary.readouterr().out.splitlines():
        json.loads(told)


@pytest.mark.parametrize(
    "words", [["search", "x", "--scope="], ["import", "a\0b.csv"], ["mirror", "\0"], ["export", "--scope="]]
)
def test_what_was_once_a_mistake_of_ours_is_refused(words: list[str]) -> None:
    for code, out, _ in (run(words), run([], stdin=" ".join(words))):
        assert code in (1, 2) and json.loads(out)["error"]["code"] == "E005"
