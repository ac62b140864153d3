"""Node and the clients' packages, installed once into build/clients from the lock file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "clients"
FILES = ("package.json", "package-lock.json", ".npmrc", "audit.mjs", "clients.mjs", "mcp.mjs")


def missing(reason: str) -> None:
    """In CI a missing tool fails the run; a person is told why the tests were skipped."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def packages() -> Path:
    """The folder with the installed packages; installing is skipped when nothing changed."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        missing("Node.js is not installed: the JavaScript clients cannot be tried")
    BUILD.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(HERE / name, BUILD / name)
    wanted = sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    stamp = BUILD / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run(
            ["npm", "ci", "--no-audit", "--no-fund"], cwd=BUILD, check=True, capture_output=True, timeout=300
        )
        stamp.write_text(wanted)
    return BUILD


def run(script: str, *arguments: str) -> Any:
    """What a script prints, as JSON."""
    done = subprocess.run(
        ["node", script, *arguments], cwd=packages(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
