"""The conformance kit through GraphQL over HTTP: the same tests, with a door between them and the system.

`python -m tests.conformance_over_graphql --backend URL [pytest options]` runs it on one store, `python -m tests.conformance_over_graphql --all` on every
store at hand. Only tests listed in `inexpressible`, each with its reason, are skipped.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.conformance_over_graphql.actors import DoorActorGraph
from tests.conformance_over_graphql.facts import DoorFacts
from tests.conformance_over_graphql.graph import DoorGraph
from tests.conformance_over_graphql.inexpressible import InexpressibleTests
from tests.conformance_over_graphql.memory import DoorMemory
from tests.conformance_over_graphql.programs import DoorPrograms
from ugs_conformance.__main__ import in_ci, scratch_folder
from ugs_conformance.support.api_under_test import Faces
from ugs_conformance.support.stores import Column, columns

FILES = (
    "graph batches events queries scopes versions_and_time indexes companion errors laws facts facts_assertion"
    " facts_ingestion facts_merge facts_predicates facts_queries facts_laws ontology ontology_beyond ontology_memory"
    " ontology_properties ontology_scenarios ontology_search actors actors_delivery actors_messages programs"
    " program_endpoints"
)
"""The files whose tests speak to the graph, facts, typed memory, actors or programs; the others test what is behind the doors."""
FEWER = ["--histories=20", "--examples=5"]
KIT = Path(__file__).parents[2] / "conformance" / "ugs_conformance"


def main() -> int:
    if sys.argv[1:2] != ["--all"]:
        return through(sys.argv[1:])
    return int(any([run_one(store, sys.argv[2:]) for store in columns()]))


def through(options: list[str]) -> int:
    """Run the kit in this process with the doors' faces."""
    Faces.graph, Faces.facts, Faces.memory = DoorGraph, DoorFacts, DoorMemory
    Faces.actors, Faces.programs = DoorActorGraph, DoorPrograms
    Faces.keeps_order = Faces.tells_repetition = False
    files = [str(KIT / f"test_{name}.py") for name in FILES.split()]
    options = [*files, "-p", "no:cacheprovider", *FEWER, *options]
    return int(pytest.main(options, plugins=[InexpressibleTests()]))


def run_one(store: Column, options: list[str]) -> bool:
    """Run it on one store in a process of its own; whether that failed."""
    if store.url is None:
        print(f"{store.name}: not run, {store.missing}", flush=True)
        return in_ci()
    begun = time.monotonic()
    print(f"\n{store.name}, through GraphQL", flush=True)
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as scratch:
        command = [
            sys.executable,
            "-m",
            "tests.conformance_over_graphql",
            f"--backend={store.url}",
            "-q",
            "--no-header",
        ]
        code = subprocess.call([*command, f"--basetemp={scratch}/data", *options])
    print(f"{store.name}, through GraphQL: {time.monotonic() - begun:.1f} s", flush=True)
    return code != 0


if __name__ == "__main__":
    sys.exit(main())
