"""The wheel in a clean environment: complete, alone in its names, and able to serve."""

import json
import subprocess
import zipfile
from pathlib import Path

from tests.packaging.servers import serving, status_of
from tests.servers.places import PROJECT, free_port

FOLDERS = {
    "ugs": PROJECT,
    "ugs_gateway": PROJECT / "gateway",
    "ugs_backends": PROJECT / "backends",
    "ugs_schema": PROJECT / "schema",
    "ugs_conformance": PROJECT / "conformance",
}
"""The packages, and the folders that hold them."""
NAMES = set(FOLDERS)

LOAD_ENTRY_POINTS = """
import json
from importlib.metadata import distribution
points = distribution("ugs-gateway").entry_points
print(json.dumps({p.name: callable(p.load()) for p in points if p.group != "pytest11"}))
"""


def test_the_wheel_has_exactly_the_five_top_level_names(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == NAMES


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert source_files() - packed == set()


def test_the_wheel_carries_its_licence(wheel: Path) -> None:
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in zipfile.ZipFile(wheel).namelist())


def test_only_the_five_names_are_added_to_the_environment(app: Path) -> None:
    site = next(app.glob("lib/python*/site-packages"))
    record = next(site.glob("ugs_gateway-*.dist-info")) / "RECORD"
    tops = {line.split("/")[0] for line in record.read_text().splitlines()}
    assert {top for top in tops if not top.endswith(".dist-info") and top != ".."} == NAMES


def test_every_entry_point_loads(app: Path) -> None:
    said = run(app, "python", "-c", LOAD_ENTRY_POINTS)
    loaded = json.loads(said)
    assert {"ugs", "memory", "file", "sqlite", "postgresql", "neo4j", "bolt"} <= set(loaded)
    assert all(loaded.values())


def test_the_command_explains_itself(app: Path) -> None:
    assert "serve" in run(app, "ugs", "--help")


def test_the_installed_gateway_serves(app: Path, tmp_path: Path) -> None:
    port = free_port()
    command = [
        f"{app}/bin/ugs",
        "serve",
        "--store",
        "file:store",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with serving(command, port, tmp_path) as url:
        assert status_of(f"{url}/readyz") == 200


def run(app: Path, program: str, *arguments: str) -> str:
    """Run from a foreign folder, so that nothing of the project is on the path by accident."""
    command = [f"{app}/bin/{program}", *arguments]
    return subprocess.run(command, cwd=app, check=True, capture_output=True, text=True).stdout


def source_files() -> set[str]:
    found = (
        path.relative_to(folder)
        for name, folder in FOLDERS.items()
        for path in (folder / name).rglob("*")
        if path.is_file()
    )
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}
