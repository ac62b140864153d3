"""The protocol's own conformance suite and inspector against a real gateway: `make mcp`.

Both come from their registry when this runs, and a recent Node where the machine's is too old for the suite. Ends with
status 1 when a scenario that applies fails.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.graphql.peer_packages import ensure_node
from tests.gateway.processes import UGS, Gateway, serving

BUILD = Path("build/mcp")
PACKAGES = Path(__file__).with_name("official.json")
SCENARIOS = ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection")
"""Those that ask nothing of the suite's own test server, and nothing a stateless server does not offer."""
TOOLS = 18


def installed() -> Path:
    """The folder with suite and inspector."""
    BUILD.mkdir(parents=True, exist_ok=True)
    wanted = BUILD / "package.json"
    if not (BUILD / "node_modules").is_dir() or wanted.read_bytes() != PACKAGES.read_bytes():
        shutil.copy(PACKAGES, wanted)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=BUILD, check=True)
    return BUILD.resolve() / "node_modules" / ".bin"


class Official:
    """Runs the programs of others with a Node that they can use."""

    def __init__(self, programs: Path, node: str) -> None:
        self.programs = programs
        self.environment = {**os.environ, "PATH": f"{Path(node).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}

    def run(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.programs / program), *words]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120, check=False)

    def scenario(self, gateway: Gateway, name: str) -> bool:
        """Whether the gateway passes a scenario of the conformance suite."""
        done = self.run("conformance", "server", "--url", f"{gateway.url}/mcp", "--scenario", name)
        result = next((line for line in done.stdout.splitlines() if line.startswith("Passed:")), "no result")
        print(f"{name:28} {result}")
        return done.returncode == 0 and ", 0 failed" in result

    def inspector(self, *words: str) -> Any:
        """What the inspector shows."""
        done = self.run("mcp-inspector", "--cli", *words)
        if done.returncode != 0:
            raise SystemExit(f"the inspector failed: {done.stderr[-2000:]}")
        return json.loads(done.stdout)


def inspected(official: Official, *target: str) -> bool:
    """Whether the inspector lists the tools and can call them."""
    tools = official.inspector(*target, "--method", "tools/list")["tools"]
    made = official.inspector(*target, *_call("create_ontology", 'node_types=["Project"]', "connection_types=[]"))
    print(
        f"inspector, {target[0].rpartition('/')[2]:17} {len(tools)} tools, create_ontology: {made['structuredContent']}"
    )
    return len(tools) == TOOLS and made["structuredContent"] == {"success": True}


def _call(tool: str, *arguments: str) -> list[str]:
    return [
        "--method",
        "tools/call",
        "--tool-name",
        tool,
        *(word for each in arguments for word in ("--tool-arg", each)),
    ]


def main() -> int:
    official = Official(installed(), ensure_node(BUILD))
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), "--store", "memory:") as gateway:
        passed = [official.scenario(gateway, name) for name in SCENARIOS]
        passed.append(inspected(official, f"{gateway.url}/mcp", "--transport", "http"))
        passed.append(inspected(official, UGS, "mcp", "--store", "memory:"))
    print(f"{passed.count(True)} passed, {passed.count(False)} failed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
