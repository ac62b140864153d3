"""Beside other people's packages: nothing generic is installed, and their pytest does not notice the kit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.places import PROJECT

THEIR_TEST = """
import sys
import schema

def test_schema_is_theirs() -> None:
    assert schema.Schema(int).validate(3) == 3

def test_nothing_of_the_kit_is_loaded() -> None:
    assert "hypothesis" not in sys.modules
    assert not [name for name in sys.modules if name.startswith("ugs_conformance.") and name != "ugs_conformance.plugin"]

def test_their_own_option_is_theirs(pytestconfig) -> None:
    assert pytestconfig.getoption("--backend") == "theirs"
"""
THEIR_CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--backend")
"""


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, `schema` from PyPI and pytest, without hypothesis, installed one after the other."""
    venv = tmp_path_factory.mktemp("foreign") / "venv"
    uv = str(Path(sys.executable).parent / "uv")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(venv)], check=True)
    for what in (f"ugs-gateway @ file://{wheel}", "schema", "pytest"):
        install = [uv, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python")]
        install += ["--constraint", str(PROJECT / "requirements.lock"), what]
        subprocess.run(install, check=True, env={**os.environ, "UV_SYSTEM_CERTS": "1"})
    return venv


def test_a_foreign_pytest_runs_without_hypothesis(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(THEIR_TEST)
    (tmp_path / "conftest.py").write_text(THEIR_CONFTEST)
    said = run(environment, tmp_path, "pytest", "-q", "--backend=theirs")
    assert said.returncode == 0, said.stdout + said.stderr
    assert "3 passed" in said.stdout


def test_the_kit_says_what_it_needs(environment: Path, tmp_path: Path) -> None:
    said = run(environment, tmp_path, "pytest", "--pyargs", "ugs_conformance", "--backend=memory:")
    assert said.returncode != 0
    assert "pip install 'ugs-gateway[conformance]'" in said.stdout + said.stderr


def test_the_command_works_beside_a_foreign_schema(environment: Path, tmp_path: Path) -> None:
    said = run(environment, tmp_path, "ugs", "--store", "memory:", "stats")
    assert said.returncode == 0, said.stderr
    imported = run(
        environment, tmp_path, "python", "-c", "import schema, ugs_gateway.app; print(schema.Schema.__module__)"
    )
    assert imported.stdout.strip() == "schema", imported.stderr


@pytest.mark.parametrize(("url", "extra"), [("postgres://me@h/g", "postgresql"), ("neo4j://me:x@h", "neo4j")])
def test_a_driver_that_is_missing_is_named(environment: Path, tmp_path: Path, url: str, extra: str) -> None:
    said = run(environment, tmp_path, "ugs", "--store", url, "stats")
    assert said.returncode == 3, said.stderr
    assert f"pip install 'ugs-gateway[{extra}]'" in said.stderr


def run(environment: Path, folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(environment / "bin" / program), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
