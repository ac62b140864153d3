"""Which Python an environment is made with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "python.sh"


def stub(path: Path, says: str) -> Path:
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("mine", "system", "chosen"),
    [
        ("3 11 slow", "3 11 fast", "system"),
        ("3 11 slow", "3 13 fast", "system"),
        ("3 13 slow", "3 11 fast", "python3"),
        ("3 11 fast", "3 13 fast", "python3"),
        ("3 11 slow", "3 11 slow", "python3"),
        ("3 11 slow", "", "python3"),
    ],
)
def test_an_optimised_python_is_preferred_to_a_slow_one(tmp_path: Path, mine: str, system: str, chosen: str) -> None:
    stub(tmp_path / "python3", mine)
    other = stub(tmp_path / "system", system)
    around = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SYSTEM_PYTHON": str(other)}
    done = subprocess.run([SCRIPT], env=around, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (str(other) if chosen == "system" else "python3")
    assert ("PYTHON=python3" in done.stderr) == (chosen == "system")


def test_what_is_chosen_can_make_environments() -> None:
    chosen = subprocess.run([SCRIPT], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([chosen, "-c", "import ensurepip, venv"], check=True)
