"""A wheel without Studio is not built in CI, by whatever command; elsewhere, and for editable installs, it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.places import PROJECT

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "small"
version = "1"
[tool.hatch.build]
artifacts = ["gateway/ugs_gateway/static/**"]
[tool.hatch.build.hooks.custom]
[tool.hatch.build.targets.wheel]
packages = ["gateway/ugs_gateway"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the hook and one package, which has no pages yet."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    shutil.copy(PROJECT / "hatch_build.py", tmp_path)
    package = tmp_path / "gateway" / "ugs_gateway"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    return tmp_path


def build(project: Path, ci: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(project / "dist")]
    return subprocess.run(
        command, cwd=project, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False
    )


def test_without_studio_no_wheel_is_built_in_ci(project: Path) -> None:
    done = build(project, "true")
    assert done.returncode != 0 and "static/studio/index.html" in done.stderr and "make web" in done.stderr
    assert not list(project.glob("dist/*.whl"))


def test_without_ci_or_with_studio_it_is_built(project: Path) -> None:
    assert build(project, "").returncode == 0
    for name in ("studio", "graphiql"):
        page = project / "gateway" / "ugs_gateway" / "static" / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text("<!doctype html>")
    done = build(project, "true")
    assert done.returncode == 0, done.stderr


def test_this_project_uses_the_hook() -> None:
    assert "[tool.hatch.build.hooks.custom]" in (PROJECT / "pyproject.toml").read_text("utf-8")
