"""The image without an engine: the steps of the Dockerfile in a scratch folder, and what comes out of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.packaging.servers import serving, status_of
from tests.servers.places import PROJECT, free_port

STAGES = re.split(r"^FROM ", (PROJECT / "Dockerfile").read_text(), flags=re.MULTILINE)[1:]
BAKE = (PROJECT / "docker-bake.hcl").read_text()
PARTS = ("asyncpg", "neo4j", "mcp", "numpy", "sqlite_vec", "opentelemetry.sdk.trace")
"""What the image brings beside the gateway: both databases, MCP, vectors, OpenTelemetry."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder /app of the image, made by the steps of the stage `build`."""
    root = tmp_path_factory.mktemp("image")
    source = root / "src"
    source.mkdir()
    build = next(stage for stage in STAGES if " AS build\n" in stage)
    for line in re.findall(r"^COPY (?!--from)(.+)$", build, re.MULTILINE):
        *names, target = line.split()
        for name in names:
            copy(PROJECT / name, source / (name if target == "./" else target))
    (step,) = re.findall(r"^RUN (.+)$", build, re.MULTILINE)
    command = step.replace("/app", str(root / "app"))
    assert command != step
    subprocess.run(["sh", "-ec", command], cwd=source, check=True)
    shutil.rmtree(source)
    return root / "app"


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(
            source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
        )
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def command_of_the_image(folder: Path, port: int) -> list[str]:
    found = re.findall(r"^CMD (\[.*\])$", STAGES[-1], re.MULTILINE)[-1]
    swapped = {"file:/data": f"file:{folder}", "0.0.0.0": "127.0.0.1", "8000": str(port)}
    return [swapped.get(word, word) for word in json.loads(found)]


def test_it_has_the_parts_of_all_stores_and_no_tools_to_build(image: Path) -> None:
    script = f"import importlib; [importlib.import_module(name) for name in {PARTS}]"
    subprocess.run([image / "bin" / "python", "-c", script], check=True)
    assert not any((image / "bin" / name).exists() for name in ("pip", "uv", "pytest", "node"))


def test_it_refuses_to_listen_without_a_login(image: Path, tmp_path: Path) -> None:
    program, *words = json.loads(re.findall(r"^CMD (\[.*\])$", STAGES[-1], re.MULTILINE)[-1])
    words = [word.replace("file:/data", f"file:{tmp_path}") for word in words]
    done = subprocess.run([image / "bin" / program, *words], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 4 and "nobody has to log in" in done.stderr


def test_it_serves_when_the_command_says_so_and_its_health_check_agrees(image: Path, tmp_path: Path) -> None:
    port = free_port()
    program, *words = command_of_the_image(tmp_path, port)
    with serving([str(image / "bin" / program), *words, "--allow-open"], port, tmp_path) as url:
        assert status_of(f"{url}/readyz") == 200
        check = json.loads(re.findall(r"^ +CMD (\[.*\])$", STAGES[-1], re.MULTILINE)[-1])
        check = [word.replace(":8000", f":{port}") for word in check]
        environ = {**os.environ, "PATH": f"{image / 'bin'}:{os.environ['PATH']}", "no_proxy": "127.0.0.1"}
        assert subprocess.run(check, env=environ, check=False, timeout=60).returncode == 0


def test_it_is_built_for_both_architectures_under_the_version_of_the_project() -> None:
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    assert f'variable "VERSION" {{ default = "{version}" }}' in BAKE
    assert 'platforms  = ["linux/amd64", "linux/arm64"]' in BAKE
    assert STAGES[0].startswith("--platform=$BUILDPLATFORM "), "the pages are the same on both"
    assert all("--platform" not in stage.splitlines()[0] for stage in STAGES[1:])
