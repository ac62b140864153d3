"""The tools, installed once into build/schema_tools from the lock file."""

from __future__ import annotations

import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

from tests.clients.node import missing

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "schema_tools"


def installed() -> Path:
    """The folder with the tools; installing is skipped when nothing changed."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        missing("Node.js is not installed: the tools of others cannot be tried on the schema")
    BUILD.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", ".npmrc", "compose.mjs"):
        shutil.copy(HERE / name, BUILD / name)
    wanted, stamp = sha256((HERE / "package-lock.json").read_bytes()).hexdigest(), BUILD / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        done = subprocess.run(["npm", "ci"], cwd=BUILD, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            missing(f"The tools of others cannot be fetched: {done.stderr[-300:]}")
        stamp.write_text(wanted)
    return BUILD
