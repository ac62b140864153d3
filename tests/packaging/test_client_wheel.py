"""The Python client as a distribution: it installs alone, brings nothing, and talks to a gateway."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.gateway.processes import serving
from tests.servers.places import PROJECT

TRIED = """
import sys
from ugs_client import Client
with Client(sys.argv[1]) as graph:
    graph.load_demo()
    print(len(list(graph.iterate_graph_nodes())), "ugs" in sys.modules, "asyncio" in sys.modules)
"""


@pytest.fixture(scope="module")
def client_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("client")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, PROJECT / "clients" / "python"]
    subprocess.run(build, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *folder.iterdir()], check=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_the_client_and_its_types(client_wheel: Path) -> None:
    names = set(zipfile.ZipFile(client_wheel).namelist())
    assert {"ugs_client/client.py", "ugs_client/graph/types.py", "ugs_client/py.typed"} <= names
    assert {name.partition("/")[0] for name in names} == {"ugs_client", "ugs_client-0.1.0.dist-info"}


def test_it_works_where_nothing_else_is_installed(client_wheel: Path, tmp_path: Path) -> None:
    uv, python = Path(sys.executable).parent / "uv", tmp_path / "venv" / "bin" / "python"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    install = [uv, "pip", "install", "--quiet", "--offline", "--python", python, client_wheel]
    subprocess.run(install, check=True)
    with serving(tmp_path, "--store", "memory:") as gateway:
        done = subprocess.run([python, "-c", TRIED, gateway.url], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["8", "False", "False"]
