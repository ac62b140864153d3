"""The product where there is no `fcntl`, no folder to open, no signal in the event loop, and `:` is no letter.

Nothing here runs on Windows itself: each test starts a process that pretends (`tests/windows/windows_simulation.py`). That every
function exists there is the type checker's part (`make portable`).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from ugs_conformance.support.store_fixture import fixture
from ugs_gateway.mirror.names import on_windows

PRETEND = [sys.executable, "-m", "tests.windows"]
ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 60
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}

pytestmark = [
    pytest.mark.clause("ONT-193"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what it takes to pretend"),
]


def do(*words: object, code: int = 0) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([*PRETEND, *map(str, words)], cwd=ROOT, capture_output=True, timeout=TIMEOUT_SECONDS)
    assert done.returncode == code, done.stderr.decode()
    return done


@contextmanager
def running(*words: object, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not outlive the block, nor our patience."""
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout")}
    with subprocess.Popen([*PRETEND, *map(str, words)], cwd=ROOT, **pipes, **options) as process:
        end = Timer(TIMEOUT_SECONDS, process.kill)
        end.start()
        try:
            yield process
        finally:
            end.cancel()
            process.kill()


def test_deeds_that_need_one_process(tmp_path: Path) -> None:
    """Stores, files, links, the interrupt key, files in use, names: one after another, each in its folder."""
    do("everything_alone", tmp_path)


def test_a_second_process_is_refused_and_a_dead_holder_is_no_obstacle(tmp_path: Path) -> None:
    with running("holds", tmp_path) as holder:
        assert holder.stdout is not None and holder.stdout.readline().strip() == b"open"
        do("is_refused", tmp_path)
        told = do("ugs", "stats", "--store", f"file:{tmp_path}/data", code=3)
        assert str(holder.pid).encode() in told.stdout + told.stderr
    do("comes_after_the_dead", tmp_path)
    assert json.loads(do("ugs", "--agent", "stats", "--store", f"file:{tmp_path}/data").stdout)["nodes"] == 1


def test_what_is_said_and_exported_has_plain_newlines_and_utf8(tmp_path: Path) -> None:
    place = ("--store", f"file:{tmp_path}/data")
    do("ugs", "add-node", "Zo", "person", "name=Zoë", *place)
    for words in (("export", "--format", "ndjson"), ("get", "Zo", "--all"), ("list", "*", "--human")):
        said = do("ugs", *words, *place)
        assert b"\r" not in said.stdout + said.stderr and said.stdout.decode().endswith("\n")
    do("ugs", "export", tmp_path / "out.ndjson", *place)
    assert b"\r" not in (tmp_path / "out.ndjson").read_bytes()
    assert "Zoë" in (tmp_path / "out.ndjson").read_text("utf-8")


def test_the_gateway_serves_until_asked_to_stop_and_shares_its_port_with_nobody(tmp_path: Path) -> None:
    with running("ugs", "serve", "--store", f"file:{tmp_path}/data", "--port", "0") as gateway:
        assert gateway.stdout is not None
        address = next(word for line in gateway.stdout for word in line.decode().split() if word.startswith("http://"))
        question = json.dumps({"query": "{ stats { nodes } }"}).encode()
        asked = urllib.request.Request(f"{address}graphql", question, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=TIMEOUT_SECONDS) as answer:
            assert json.load(answer)["data"] == {"stats": {"nodes": 0}}
        port = address.rpartition(":")[2].strip("/")
        do("ugs", "serve", "--store", f"file:{tmp_path}/other", "--port", port, code=4)
        gateway.send_signal(signal.SIGTERM)
        assert gateway.wait(TIMEOUT_SECONDS) == 0


def called(id: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def test_mcp_over_standard_input_and_output(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        called(3, "create_ontology", **fixture("ont_ontology")),
        called(4, "create_node", type="Project", content="# Küche\n", format="markdown"),
    ]
    with running("ugs", "mcp", env={**os.environ, "BASE_PATH": str(tmp_path)}) as server:
        assert server.stdin is not None and server.stdout is not None
        answers = []
        for message in messages:
            # As a client on Windows may end its lines.
            server.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\r\n")
            server.stdin.flush()
            if "id" in message:
                answers.append(server.stdout.readline())
        server.stdin.close()
        assert server.stdout.read() == b"" and server.wait(TIMEOUT_SECONDS) == 0
    assert b"\r" not in b"".join(answers)
    assert len(json.loads(answers[1])["result"]["tools"]) == 18
    id = json.loads(answers[3])["result"]["structuredContent"]["node_id"]
    assert (tmp_path / "_content" / "nodes" / f"{id}.md").read_bytes().decode() == "# Küche\n"
    assert b"\r" not in (tmp_path / "_system" / "ontology.yaml").read_bytes()


def test_different_ids_have_different_files_even_where_case_does_not_count() -> None:
    letters = ["".join(word) for length in (1, 2, 3) for word in product("aB_b", repeat=length)]
    ids = [f"{scope}{id}" for scope in ("", "user:", "scratch:") for id in ["con", "CON", "Con", "lpt1", *letters]]
    names = {on_windows(f"_content/nodes/{id}.md").lower() for id in ids}
    assert len(names) == len(ids) and not any(set(name) & set('<>:"|?*') for name in names)
