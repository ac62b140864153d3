"""Which test proves which requirement, on which stores and through which interface.

`python -m tests.conformance.clause_coverage` prints one line per requirement: the stores that the kit proves it on, the
interfaces that tests go through, and how many tests there are of each sort.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from msgspec import Struct

from tests.conformance_over_graphql.__main__ import FILES
from tests.conformance_over_graphql.inexpressible import REASONS
from ugs.connect import storage_for
from ugs.storage import Storage
from ugs_conformance.support.harness import CAPABILITIES
from ugs_conformance.support.report import all_clauses

PROJECT = Path(__file__).parents[2]
NO_STORE = " (no store)"
NEEDS = " (needs "
STORES = {
    "files": "file:somewhere",
    "sqlite": "sqlite:///somewhere.db",
    "postgresql": "postgresql://host/database",
    "neo4j": "neo4j://user:password@host",
}
"""The stores of the report, and URLs that show what each of them can do; none is opened."""
INTERFACES = {
    "tests/gateway/cli/": "command line",
    "tests/gateway/mcp/": "MCP",
    "tests/schema/": "GraphQL",
    "tests/security/": "HTTP",
    "tests/ugs/programs/test_rest": "REST",
    "tests/ugs/programs/test_mcp": "MCP",
    "tests/ugs/programs/test_graphql": "GraphQL",
    "tests/gateway/": "HTTP",
}
"""The interface that the tests of a folder go through."""
ON_ONE_STORE = {
    "tests/backends/memory/": "files",
    "tests/faults/test_mirror": "files",
    "tests/ugs/facts/test_tables": "sqlite",
}
"""Folders whose tests prove something of one store."""
THROUGH_GRAPHQL = tuple(f"test_{name}.py::" for name in FILES.split())


class Proof(Struct, frozen=True):
    """The tests that carry one requirement's id."""

    kit: list[str]
    """Tests of the conformance kit that use the store: they prove it for every store."""
    some: dict[str, str]
    """Tests of the kit that only stores with a capability run, with that capability."""
    rules: list[str]
    """Tests of the kit that need no store: parsers, validators, grammars."""
    graphql: list[str]
    """Those of them that run a second time through GraphQL over HTTP."""
    other: list[str]
    """Tests of one part: the command line, MCP, REST, one store, or rules that need no store."""

    @property
    def tests(self) -> int:
        return len(self.kit) + len(self.some) + len(self.rules) + len(self.other)

    @property
    def stores(self) -> list[str]:
        """The stores on which tests prove it."""
        found = {store for capability in self.some.values() for store in stores_with(capability)}
        found |= {store for start, store in ON_ONE_STORE.items() if any(test.startswith(start) for test in self.other)}
        return [store for store in STORES if self.kit or store in found]

    @property
    def interfaces(self) -> list[str]:
        """The interfaces through which tests prove it, beside Python."""
        found = {interface_of(test) for test in self.other} - {""}
        return sorted(found | ({"GraphQL"} if self.graphql else set()))


def interface_of(test: str) -> str:
    """The interface that a test outside the kit goes through; empty for none."""
    return next((name for start, name in INTERFACES.items() if test.startswith(start)), "")


@cache
def stores_with(capability: str) -> tuple[str, ...]:
    """The stores that run tests which need a capability."""
    has = CAPABILITIES[capability][0]
    stores = {name: storage_for(url) for name, url in STORES.items()}
    return tuple(name for name, store in stores.items() if (has or _is_native(capability))(store))


def _is_native(capability: str) -> Callable[[Storage], bool]:
    return lambda store: capability in store.capabilities.native


def collect_marks() -> dict[str, list[str]]:
    """The tests under each id, as pytest collects them; nothing is run."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "clauses.json"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "conformance/ugs_conformance",
            "tests",
            "--collect-only",
            "-q",
            "--backend=memory:",
        ]
        plugin = ["-p", "tests.conformance.clause_coverage", "-p", "no:cacheprovider"]
        run = subprocess.run(
            [*command, *plugin, f"--clauses-to={output}"], cwd=PROJECT, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
        marks: dict[str, list[str]] = json.loads(output.read_text(encoding="utf-8"))
        return marks


def proofs(marks: dict[str, list[str]]) -> dict[str, Proof]:
    """For every requirement the tests that prove it, sorted by how far they reach."""
    return {clause.id: _proof(marks.get(clause.id, [])) for clause in all_clauses()}


def _proof(tests: list[str]) -> Proof:
    of_kit = [test for test in tests if test.startswith("conformance/")]
    kit = [test for test in of_kit if not test.endswith(NO_STORE) and NEEDS not in test]
    return Proof(
        kit=kit,
        some={test: test.partition(NEEDS)[2].rstrip(")") for test in of_kit if NEEDS in test},
        rules=[test for test in of_kit if test.endswith(NO_STORE)],
        graphql=[test for test in kit if _is_sent(test.rpartition("/")[2])],
        other=[test for test in tests if not test.startswith("conformance/")],
    )


def _is_sent(test: str) -> bool:
    """Whether the run through GraphQL has this test, and does not skip it."""
    return test.startswith(THROUGH_GRAPHQL) and test not in REASONS


# ── the plugin inside the collecting run ─────────────────────────────────────


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--clauses-to", metavar="FILE", help="write the tests of each requirement as JSON")


def pytest_collection_finish(session: pytest.Session) -> None:
    path = session.config.getoption("--clauses-to", None)
    if path is None:
        return
    found: dict[str, list[str]] = {}
    for item in session.items:
        for id in {str(id) for mark in item.iter_markers("clause") for id in mark.args}:
            found.setdefault(id, []).append(item.nodeid + _suffix(item))
    Path(path).write_text(json.dumps(found), encoding="utf-8")


def _suffix(item: pytest.Item) -> str:
    needed = [str(mark.args[0]) for mark in item.iter_markers("needs")]
    # What every store has (a place beside it, say) leaves no store out.
    few = [capability for capability in needed if len(stores_with(capability)) < len(STORES)]
    return NO_STORE if not uses_store(item) else f"{NEEDS}{few[0]})" if few else ""


def uses_store(item: pytest.Item) -> bool:
    """Whether a test of the kit is given the store under test."""
    return "harness" in getattr(item, "fixturenames", ())


def main() -> None:
    for id, proof in proofs(collect_marks()).items():
        stores = "every store" if proof.kit else ", ".join(proof.stores) or "needs no store"
        counts = f"{len(proof.kit)} on every store, {len(proof.some)} on some, {len(proof.rules)} without one"
        interfaces = ", ".join(proof.interfaces) or "-"
        print(f"{id:9} {stores:28} {interfaces:28} {counts}, {len(proof.graphql)} sent, {len(proof.other)} elsewhere")


if __name__ == "__main__":
    main()
