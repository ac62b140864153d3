"""What a release consists of: one command, the same wheel from the source distribution, a bill of materials."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.packaging.test_lock import LOCK
from tests.servers.places import PROJECT

MCP_HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (PROJECT / "gateway/ugs_gateway/static/studio/index.html").exists() and not os.environ.get("CI"):
        pytest.skip("Studio is not built: Node.js is missing")
    folder = tmp_path_factory.mktemp("release") / "files"
    command = [PROJECT / "scripts" / "release.sh", os.path.relpath(sys.prefix, PROJECT), folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_source_distribution_builds_the_same_wheel(release: Path, wheel: Path) -> None:
    assert contents(next(release.glob("*.whl"))) == contents(wheel)


def test_the_wheel_holds_studio_and_graphiql(release: Path) -> None:
    names = set(contents(next(release.glob("*.whl"))))
    assert {"ugs_gateway/static/studio/index.html", "ugs_gateway/static/graphiql/index.html"} <= names


def test_the_bill_of_materials_lists_every_locked_package(release: Path) -> None:
    bill = json.loads(next(release.glob("*.cdx.json")).read_text())
    assert {f"{part['name']}=={part['version']}" for part in bill["components"]} == set(
        re.findall(r"^[a-z0-9-]+==[^ ;\\]+", LOCK, re.MULTILINE)
    )
    assert all(part["hashes"] for part in bill["components"])


def test_the_checksums_are_those_of_the_files(release: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"], cwd=release, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == len(list(release.iterdir())) - 1


def test_the_command_has_the_name_of_the_distribution_and_speaks_mcp(app: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [app / "bin" / "ugs-gateway", "mcp"],
        input=json.dumps(MCP_HANDSHAKE) + "\n",
        env={**os.environ, "BASE_PATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "graph-memory-core", done.stderr


@pytest.mark.parametrize("command", ["ugs", "ugs-gateway"])
def test_uvx_runs_it_from_the_wheel(release: Path, tmp_path: Path, command: str) -> None:
    """As `uvx ugs-gateway` and `pipx run ugs-gateway` would on a machine that has nothing of it."""
    run = [Path(sys.prefix) / "bin" / "uv", "tool", "run", "--isolated", "--from", next(release.glob("*.whl")), command]
    around = {**os.environ, "UV_SYSTEM_CERTS": "1", "UV_TOOL_DIR": str(tmp_path / "tools")}
    done = subprocess.run(
        [*run, "load-demo", "--store", f"sqlite:///{tmp_path}/graph.db"],
        env=around,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0 and '"nodes":8' in done.stdout, done.stderr


def test_the_workflow_calls_what_a_person_calls() -> None:
    workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "ci.yml").read_text())
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert ".ci/run" in commands
    targets = {word for command in commands for word in re.findall(r"^make (\S+)", command)}
    assert targets <= set(re.findall(r"^([a-z]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))


def contents(wheel: Path) -> dict[str, int]:
    """The checksum of every file in a wheel."""
    return {entry.filename: entry.CRC for entry in zipfile.ZipFile(wheel).infolist()}
