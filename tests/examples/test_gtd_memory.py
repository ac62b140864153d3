"""examples/gtd_memory.py: remembers once, and reviews what it remembers."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.examples.conftest import EXAMPLES

REVIEW = """# Kitchen
  next: Call three plumbers
    waiting for Ann, plumber, ask again on 2026-05-08
  next: Measure the wall
calls to make: 1
"""


def test_the_agent_reviews_what_it_remembers(tmp_path: Path) -> None:
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for _ in range(2):
        command = [sys.executable, str(EXAMPLES / "gtd_memory.py"), str(tmp_path / "memory")]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
        assert done.stdout == REVIEW
    registry = json.loads((tmp_path / "memory/_system/registry.json").read_text("utf-8"))
    assert (len(registry["nodes"]), len(registry["connections"])) == (4, 3)
