"""The conformance kit through GraphQL over HTTP: the same tests, with a door between them and the system.

`python -m tests.doors --backend URL [pytest options]` runs it on one store, `python -m tests.doors --all` on every
store at hand. What cannot be said in JSON or in GraphQL's types is skipped, in words.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from conformance.__main__ import in_ci, scratch_folder
from conformance.faces import Faces
from conformance.stores import Column, columns
from tests.doors.facts import DoorFacts
from tests.doors.graph import DoorGraph

FILES = (
    "graph batches events queries scopes versions_and_time indexes companion errors laws facts facts_asserting"
    " facts_ingesting facts_merging facts_predicates facts_reading facts_laws"
)
"""The files whose tests speak to the graph or to facts; the others test what is behind the doors."""
FEWER = ["--histories=20", "--examples=5"]
UNTOLD = ["--deselect=conformance/test_laws.py::test_histories_that_once_differed[the same key twice in one commit]"]
"""GraphQL does not tell whether an answer is the repetition of an earlier one."""
KIT = Path(__file__).parents[2] / "conformance"


def main() -> int:
    if sys.argv[1:2] != ["--all"]:
        return through(sys.argv[1:])
    return int(any([run_one(store, sys.argv[2:]) for store in columns()]))


def through(options: list[str]) -> int:
    """Run the kit in this process with the doors' faces."""
    Faces.graph, Faces.facts, Faces.keeps_order = DoorGraph, DoorFacts, False
    files = [str(KIT / f"test_{name}.py") for name in FILES.split()]
    return int(pytest.main([*files, "-p", "no:cacheprovider", *FEWER, *UNTOLD, *options]))


def run_one(store: Column, options: list[str]) -> bool:
    """Run it on one store in a process of its own; whether that failed."""
    if store.url is None:
        print(f"{store.name}: not run, {store.missing}", flush=True)
        return in_ci()
    begun = time.monotonic()
    print(f"\n{store.name}, through GraphQL", flush=True)
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as scratch:
        command = [sys.executable, "-m", "tests.doors", f"--backend={store.url}", "-q", "--no-header"]
        code = subprocess.call([*command, f"--basetemp={scratch}/data", *options])
    print(f"{store.name}, through GraphQL: {time.monotonic() - begun:.1f} s", flush=True)
    return code != 0


if __name__ == "__main__":
    sys.exit(main())
