"""The recipes of CONTRIBUTING.md are followed: their diffs apply, and what they add works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PROJECT

PACKAGES = ("schema", "gateway")
DIFFS = re.findall(r"^### (.+?)$.*?^```diff\n(.*?)^```$", (PROJECT / "CONTRIBUTING.md").read_text(), re.M | re.S)
PREPARED = """
import asyncio, json
from ugs import Graph, System
from ugs.ontology.api import Memory
"""
TRIED = {
    "A field of nodes or edges": """
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

async def main():
    operations = OperationExecutor(build_schema())
    async with System.at_url("sqlite:///recipe.db") as system:
        await Graph(system).add_edge("e1", "a", "b")
        asked = operations.prepare('{ graphEdge(id: "e1") { seq } }')
        fast = await operations.answer(asked, RequestContext(system), {})
        slow = await operations.execute(asked, RequestContext(system), {})
        assert json.loads(fast)["data"] == slow.data == {"graphEdge": {"seq": 1}}, (fast, slow)
        assert len(system.storage.statement_cache._kept) == 1

asyncio.run(main())
""",
    "An MCP tool": """
from ugs_gateway.mcp.server import Profile, call_tool, tools_of

async def main():
    tool = next(tool for tool in tools_of(Profile.EXTENDED) if tool.name == "count_nodes")
    async with System.at_url("memory:") as system:
        await Graph(system).load_demo()
        result = await call_tool(tool, {"type": "person"}, lambda: Memory(system))
        assert result.structured_content == {"count": 3}, result

asyncio.run(main())
""",
    "A command of the command line": """
import subprocess, sys
from pathlib import Path
ugs = str(Path(sys.executable).parent / "ugs")
subprocess.run([ugs, "load-demo"], check=True, capture_output=True)
ran = subprocess.run([ugs, "--agent", "size"], capture_output=True, text=True)
assert json.loads(ran.stdout).keys() == {"nodes", "edges"}, ran
""",
}


def test_every_recipe_with_a_diff_is_tried() -> None:
    assert [title for title, _ in DIFFS] == list(TRIED)


@pytest.mark.parametrize(("title", "diff"), DIFFS, ids=[title for title, _ in DIFFS])
def test_a_recipe_works_as_it_is_written(title: str, diff: str, tmp_path: Path) -> None:
    for name in PACKAGES:
        shutil.copytree(PROJECT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "static"))
    applied = subprocess.run(["git", "apply", "-"], input=diff, text=True, cwd=tmp_path, capture_output=True)
    assert applied.returncode == 0, applied.stderr
    paths = os.pathsep.join(str(tmp_path / name) for name in PACKAGES)
    environment = {**os.environ, "PYTHONPATH": paths, "BASE_PATH": str(tmp_path / "data")}

    tried = subprocess.run(
        [sys.executable, "-c", PREPARED + TRIED[title]], cwd=tmp_path, env=environment, text=True, capture_output=True
    )

    assert tried.returncode == 0, tried.stderr
