"""Relay's compiler takes the schema that a gateway serves for it: connections, refetching, mutations, subscriptions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from starlette.testclient import TestClient

from tests.schema_tools.tools import HERE, installed
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings
from ugs_schema import build_schema

PROJECT_OF_RELAY = HERE / "relay"


def compile_with(sdl: str, folder: Path) -> subprocess.CompletedProcess[str]:
    shutil.copytree(PROJECT_OF_RELAY, folder, dirs_exist_ok=True)
    (folder / "schema.graphql").write_text(sdl)
    compiler = installed() / "node_modules" / ".bin" / "relay-compiler"
    return subprocess.run([compiler], cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def served(path: str) -> str:
    with TestClient(create_app(Settings(store="memory:")), base_url="http://localhost") as client:
        return str(client.get(path).text)


def test_relay_compiles_against_the_schema_that_is_served_for_it(tmp_path: Path) -> None:
    done = compile_with(served("/schema.graphql?for=relay"), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    made = {path.name.partition(".")[0] for path in (tmp_path / "src" / "__generated__").iterdir()}
    assert {"BoardQuery", "BoardPaginationQuery", "BoardTaskQuery", "BoardMoveMutation", "BoardSubscription"} <= made


def test_the_schema_for_relay_lacks_one_argument_and_nothing_else() -> None:
    ordinary, for_relay = served("/schema.graphql").splitlines(), served("/schema.graphql?for=relay").splitlines()
    assert ordinary == (build_schema().as_str() + "\n").splitlines()
    changed = [(one, other) for one, other in zip(ordinary, for_relay, strict=True) if one != other]
    assert changed == [("  node(id: ID!, at: At = null): Node", "  node(id: ID!): Node")]


def test_relay_refuses_the_ordinary_schema_for_that_argument_alone(tmp_path: Path) -> None:
    done = compile_with(served("/schema.graphql"), tmp_path)
    assert done.returncode != 0 and "node(id: ID): Node" in done.stdout + done.stderr
