"""The wheel, built once, and a clean environment with nothing but it and its locked dependencies."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.places import PROJECT


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(PROJECT),
    ]
    subprocess.run(build, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def app(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment that the image holds too, made by the same script."""
    venv = tmp_path_factory.mktemp("clean") / "app"
    install = [PROJECT / "scripts" / "install_app.sh", venv, PROJECT / "requirements.lock", wheel]
    subprocess.run(install, check=True, cwd=venv.parent)
    return venv
