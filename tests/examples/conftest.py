"""The example backend as a distribution of its own, the way pip would leave it: a module and its entry point."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
EXAMPLES = PROJECT / "examples"
METADATA = "Metadata-Version: 2.1\nName: ugs-dbm\nVersion: 1.0\n"
ENTRY_POINTS = "[ugs.backends]\ndbm = one_file_backend:open_dbm\n"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the site-packages of somebody who has installed the example."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(EXAMPLES / "one_file_backend.py", folder)
    info = folder / "ugs_dbm-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    """Run a program of the environment from a foreign folder, with the example installed."""

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(Path(sys.executable).parent / program), *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    return run
