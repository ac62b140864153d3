"""How little a command loads before it answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gateway.processes import UGS
from ugs_gateway.cli.main import main


def test_a_question_loads_only_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["load-demo"]) == 0
    script = (
        "import sys; from ugs_gateway.cli.main import main; main(['stats']);"
        "print([name for name in sys.argv[1:] if name in sys.modules], file=sys.stderr)"
    )
    heavy = [
        "ugs.cypher.execution",
        "rich",
        "prompt_toolkit",
        "strawberry",
        "starlette",
        "sqlalchemy",
        "neo4j",
        "numpy",
        "argparse",
    ]
    done = subprocess.run([sys.executable, "-c", script, *heavy], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_a_gateway_loads_what_mcp_needs_with_the_first_request_to_it() -> None:
    script = """
import sys
from starlette.testclient import TestClient
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings

hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
headers = {"accept": "application/json, text/event-stream"}
app = create_app(Settings(store="memory:"))
for again in range(2):  # the second time in another event loop
    with TestClient(app, base_url="http://localhost") as client:
        assert client.post("/graphql", json={"query": "{ __typename }"}).status_code == 200
        assert again or not {"mcp", "mcp_types", "pydantic"} & sys.modules.keys()
        assert client.get("/mcp").status_code == 405
        assert client.post("/mcp", json=hello, headers=headers).json()["id"] == 1
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr[-2000:]


def heard(output: int, *words: str, stdin: str = "") -> tuple[int, str]:
    """The exit code and the messages of a command whose answer goes somewhere else."""
    done = subprocess.run([UGS, *words], stdout=output, stderr=subprocess.PIPE, input=stdin, text=True)
    return done.returncode, done.stderr


def test_an_output_that_takes_nothing_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["load-demo"]) == 0
    full = os.open("/dev/full", os.O_WRONLY)
    told = "ugs: the answer cannot be written: No space left on device\n"
    for words in (["stats"], ["search", "login"], ["export"], ["export", "--format", "log"], ["help"]):
        assert heard(full, *words) == (1, told), words
    assert heard(full, stdin="stats\nstats\n") == (1, told)
    os.close(full)
    reader, gone = os.pipe()
    os.close(reader)
    for words in (["stats"], ["export"]):
        assert heard(gone, *words) == (1, ""), words
    os.close(gone)
