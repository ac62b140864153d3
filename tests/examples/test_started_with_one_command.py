"""The examples that start with one command each: an agent, a store for LangGraph, a notebook, a backend, a migration."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import yaml
from graphql import build_schema, parse, validate

from tests.clients.node import missing
from tests.examples.conftest import EXAMPLES, PROJECT
from tests.gateway.processes import serving

BIN = Path(sys.executable).parent
CLIENT = PROJECT / "clients" / "python"


def start(*command: str | Path, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    around = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "no_proxy": "127.0.0.1", **environ}
    return subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, check=False, timeout=300)


def test_the_agent_remembers_and_is_asked_by_a_later_conversation(tmp_path: Path) -> None:
    agent = EXAMPLES / "memory_agent" / "agent.py"
    said = start(sys.executable, agent, "Lena works at Nordwind.", "Where does Lena work?", folder=tmp_path)
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[1] == "I shall remember that."
    assert said.stdout.splitlines()[3] == "Lena works at Nordwind"
    later = start(sys.executable, agent, "Where does Lena work?", "What does Zoe like?", folder=tmp_path)
    assert later.stdout.splitlines()[1] == "Lena works at Nordwind"


def test_the_agent_takes_a_model_by_its_url(tmp_path: Path) -> None:
    sys.path.insert(0, str(EXAMPLES / "memory_agent"))
    try:
        from stub_model import serving_stub  # type: ignore[import-not-found]

        with serving_stub() as url:
            agent = EXAMPLES / "memory_agent" / "agent.py"
            done = start(sys.executable, agent, "Ada likes tea.", folder=tmp_path, MODEL_URL=url, MODEL="any")
    finally:
        sys.path.remove(str(EXAMPLES / "memory_agent"))
    assert done.stdout.splitlines()[1] == "I shall remember that.", done.stderr


def test_langgraph_keeps_its_items_in_the_graph(tmp_path: Path) -> None:
    """With the package that has LangGraph's `BaseStore`, in an environment of its own: it brings 35 others."""
    venv = PROJECT / "build" / "langgraph"
    python = venv / "bin" / "python"
    if not (venv / "installed").exists():
        around = {**os.environ, "UV_SYSTEM_CERTS": "1"}
        subprocess.run([BIN / "uv", "venv", "--quiet", "--clear", "--python", sys.executable, venv], check=True)
        install = [BIN / "uv", "pip", "install", "--quiet", "--python", python, "langgraph-checkpoint>=4,<5"]
        done = subprocess.run(install, env=around, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            missing(f"LangGraph's package cannot be fetched: {done.stderr[-200:]}")
        (venv / "installed").touch()
    with serving(tmp_path, "--store", "memory:") as gateway:
        script = EXAMPLES / "langgraph_store" / "try_store.py"
        tried = start(python, script, gateway.url, folder=tmp_path, PYTHONPATH=str(CLIENT))
        assert tried.stdout == "the store of LangGraph works\n", tried.stderr[-3000:]
        kept = gateway.ask('{ graphNodes(filter: {type: "langgraph_item"}) { totalCount } }')
        assert kept["data"]["graphNodes"]["totalCount"] == 2 + 29


def test_the_notebook_draws_a_picture_of_the_table(tmp_path: Path) -> None:
    done = start(sys.executable, EXAMPLES / "csv_to_picture" / "run.py", tmp_path, folder=tmp_path)
    assert done.stdout.splitlines()[0] == "[['Deniz', 28], ['Ada', 22], ['Carla', 18]]", done.stderr
    picture = ElementTree.fromstring((tmp_path / "picture.svg").read_text())
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(map(str, texts)) == ["Ada", "Ben", "Carla", "Deniz", "Eva"]
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}line"))) == 7


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads((EXAMPLES / "csv_to_picture" / "csv_to_picture.ipynb").read_text())["cells"]
    assert all(not cell["outputs"] for cell in cells if cell["cell_type"] == "code")


def test_a_backend_of_ones_own_passes_its_own_ci(tmp_path: Path) -> None:
    folder = tmp_path / "examples" / "backend_project"
    shutil.copytree(EXAMPLES / "backend_project", folder)
    shutil.copy(EXAMPLES / "one_file_backend.py", folder.parent)
    site = tmp_path / "site"
    install = f"{BIN / 'uv'} pip install --quiet --python {sys.executable} --target {site}"
    few = ("-k", "test_graph and not histories", "--examples", "5")
    done = start("./ci.sh", *few, folder=folder, INSTALL=install, PYTHONPATH=str(site))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert re.search(r"\d\d+ passed", done.stdout), done.stdout[-300:]
    workflow = yaml.safe_load((folder / ".github" / "workflows" / "ci.yml").read_text())
    assert {"run": "./ci.sh"} in workflow["jobs"]["kit"]["steps"]


def test_memories_of_two_other_programs_move_in(tmp_path: Path) -> None:
    done = start(EXAMPLES / "migration" / "migrate.sh", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert told[0]["notes"] and told[1]["notes"] and not told[2]["notes"], "a second time adds nothing"
    assert "Porto" in done.stdout and "Nordwind" in done.stdout


def test_compose_with_a_frontend_is_valid_and_asks_for_what_there_is(tmp_path: Path) -> None:
    folder = EXAMPLES / "compose_frontend"
    check = [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", folder / "docker-compose.yml"]
    done = start(*check, folder=tmp_path)
    assert done.returncode == 0, done.stdout
    services = yaml.safe_load((folder / "docker-compose.yml").read_text())["services"]
    assert "ports" not in services["gateway"] and services["frontend"]["ports"] == ["127.0.0.1:8080:80"]
    schema = build_schema((PROJECT / "schema/ugs_schema/schema.graphql").read_text())
    script = (folder / "site" / "notes.js").read_text()
    documents = [
        text for _, text in re.findall(r"""(['"])((?:\{ stats|mutation|subscription).+?)\1,?\s*[,;\n]""", script)
    ]
    assert len(documents) == 3
    for document in documents:
        assert validate(schema, parse(document.replace('\\"', '"'))) == []
    program, *words = services["gateway"]["command"]
    words = [{"0.0.0.0": "127.0.0.1"}.get(word, word) for word in words]
    assert program == "ugs" and "--allow-open" in words and "gateway" in words
