"""The examples of the actors: the seed's four as scripts, and a type of one's own as a stranger would install it."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.conftest import EXAMPLES, METADATA

TOLD = {
    "task_graph_setup.py": [
        ["root", "subtask-1"],
        [{"id": "edge_1", "fromId": "subtask-1", "toId": "root", "type": "spawned_by", "properties": {}}],
    ],
    "message_orchestration.py": [
        {"success": True, "state": "in_progress"},
        {
            "success": True,
            "state": "in_progress",
            "progress": 0.5,
            "reason": None,
            "blockedBy": [],
            "blockers": [],
            "childrenStatus": [],
        },
        {"success": True, "finalState": "completed"},
    ],
}


def run(folder: Path, *command: str, path: str = "") -> str:
    environ = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.clause("ACT-33", "ACT-34")
@pytest.mark.parametrize("name", list(TOLD))
def test_examples_one_and_two(name: str, tmp_path: Path) -> None:
    printed = run(tmp_path, str(EXAMPLES / "actors" / name), "sqlite:///tasks.db").splitlines()
    assert [ast.literal_eval(line) for line in printed] == TOLD[name]


@pytest.mark.clause("ACT-35", "ACT-36")
def test_example_three(tmp_path: Path) -> None:
    printed = run(tmp_path, str(EXAMPLES / "actors" / "graph_traversal.py"))
    assert printed.splitlines() == ["['subtask-1'] ['subtask-1']"] * 2


@pytest.mark.clause("ACT-37")
def test_example_four(tmp_path: Path) -> None:
    script = str(EXAMPLES / "actors" / "persistence_workflow.py")
    assert run(tmp_path, script, "graph.json", "memory:", "file:other").splitlines() == ["in_progress", "edge_2"]
    assert (tmp_path / "graph.json").read_text().startswith('{\n  "nodes": [\n    {\n')


def test_a_type_of_ones_own_is_ten_lines_and_an_entry_point(tmp_path: Path) -> None:
    source = EXAMPLES / "counter_actor.py"
    code = [line for line in source.read_text().partition('"""\n\n')[2].splitlines() if line.strip()]
    assert len(code) <= 10
    shutil.copy(source, tmp_path)
    info = tmp_path / "ugs_counter-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA.replace("ugs-dbm", "ugs-counter"))
    (info / "entry_points.txt").write_text("[ugs.actors]\ncounter = counter_actor:Counter\n")
    asked = """
import asyncio
from ugs import Graph, System
from ugs.actors.api import ActorGraph
from ugs.actors.registry import actor_types

async def main():
    async with System.at_url("memory:") as system:
        await Graph(system).add_node("c", "counter")
        for by in (1, 41):
            print((await ActorGraph(system).send("c", "add", {"by": by}))["count"])
        print((await Graph(system).get("c")).properties, "add" in actor_types()["counter"], "get" in actor_types()["counter"])

asyncio.run(main())
"""
    assert run(tmp_path, "-c", asked, path=str(tmp_path)).splitlines() == ["1", "42", "{'count': 42} True True"]


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (EXAMPLES.parent / "docs" / "actors.md").read_text()
    assert (EXAMPLES / "counter_actor.py").read_text().partition('"""\n\n')[2] in page
    assert 'counter = "counter_actor:Counter"' in page
