"""Run the mutants: `python -m tests.mutants [--count N] [--seed N] [--only FEATURE]`."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from tests.mutants.mutations import Mutation, mutations_of

PROJECT = Path(__file__).parents[2]
COPIED = ("ugs", "backends", "schema", "gateway", "conformance", "tests", "pyproject.toml")
SLOWDOWN = 4
"""A fault may make the tests this much slower than they are without it; beyond that it is a loop that never ends."""
START_SECONDS = 60
KIT = "--backend=memory:"


def of_kit(*names: str) -> tuple[str, ...]:
    """Files of the conformance kit."""
    return tuple(f"conformance/ugs_conformance/test_{name}.py" for name in names)


KERNEL = (
    *of_kit("primitives", "graph", "events", "batches", "concurrency", "subscriptions", "errors"),
    *of_kit("sort_keys", "degrees", "scopes", "copy"),
    *(
        f"tests/ugs/test_{name}.py"
        for name in (
            "unit_of_work",
            "writer",
            "bus",
            "values",
            "small_parts",
            "large_json",
            "audiences",
            "connect",
            "log_chunks",
        )
    ),
    "tests/backends/memory/test_foreign_logs.py",
)
LOG = (
    *of_kit("events", "persistence", "versions_and_time", "copy"),
    *(f"tests/ugs/test_{name}.py" for name in ("log_reader", "log_chunks", "event_ids")),
    *(f"tests/backends/memory/test_{name}.py" for name in ("recovery", "covered_log", "foreign_logs", "snapshots")),
)
READS = (
    *of_kit("primitives", "queries", "indexes", "laws", "port", "aggregates", "sort_keys", "degrees", "cypher"),
    *(f"tests/ugs/test_{name}.py" for name in ("reads", "aggregation", "batching_loader", "bounded_cache")),
    *(f"tests/schema/test_{name}.py" for name in ("native_fields", "graph_queries", "compiled_equals_executor")),
    *(f"tests/backends/sql/test_{name}.py" for name in ("plans", "json_renderer", "fetch_equals_reference")),
)
CYPHER = (
    *of_kit("cypher", "cypher_patterns"),
    *(f"tests/ugs/cypher/test_{name}.py" for name in ("answers", "refusals", "unparser", "match_merge", "grammar")),
    *(
        f"tests/ugs/cypher/test_{name}.py"
        for name in ("features", "path_selectors", "planning", "budget", "function_fuzz")
    ),
)


class Target(Struct, frozen=True):
    """A folder of rules, and the tests that must notice a fault in it."""

    folder: str
    tests: tuple[str, ...]
    files: str = "**/*.py"


TARGETS = {
    "graph": Target(
        "ugs/graph",
        (
            *("conformance/ugs_conformance", "tests/ugs/graph", KIT),
            *("-k", "not facts and not program and not actor and not ontology"),
        ),
    ),
    "facts": Target(
        "ugs/facts",
        ("conformance/ugs_conformance", "tests/ugs/facts", KIT, "-k", "fact or instant or name or group or table"),
    ),
    "ontology": Target(
        "ugs/ontology",
        ("conformance/ugs_conformance", "tests/ugs/ontology", KIT, "-k", "ontology or content or pattern"),
    ),
    "programs": Target("ugs/programs", ("conformance/ugs_conformance", "tests/ugs/programs", KIT, "-k", "program")),
    "actors": Target("ugs/actors", ("conformance/ugs_conformance", KIT, "-k", "actor")),
    "keys": Target("ugs/keys", ("conformance/ugs_conformance", "tests/ugs/test_keyring.py", KIT, "-k", "key")),
    "reads": Target("ugs/reads", (*READS, KIT)),
    "kernel": Target("ugs", (*KERNEL, KIT), files="*.py"),
    "log": Target("ugs/log", (*LOG, "--backend=file:{tmp}/data")),
    "cypher": Target("ugs/cypher", (*CYPHER, KIT)),
    "vectors": Target("ugs/vectors", (*of_kit("vectors"), "tests/ugs/vectors", KIT)),
}
EQUIVALENT: dict[str, str] = {
    "ugs/large_json.py: > → >= in `if added > PIECE_WEIGHT:`": (
        "an answer is divided into pieces elsewhere; its bytes are the same"
    ),
    "ugs/values.py: <= → < in `return texts if max(map(len, texts), default=0) <= max_chars else None`": (
        "None sends the commands the slow way, which counts the characters itself"
    ),
    "ugs/values.py: or → and in `return (value.keys() <= _passed or all(map(_is_key, value))) and "
    "_are_valid(value.values(), depth)`": "the quick check may say no to anything; the slow one decides then",
}
"""Mutants that change nothing anybody could see, with the reason; keyed by the line of code, not its number."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="put faults in, see who notices")
    parser.add_argument("--count", type=int, default=150, help="how many mutants (default: 150)")
    parser.add_argument("--seed", type=int, default=1, help="which of them (default: 1)")
    parser.add_argument("--only", choices=TARGETS, action="append", help="a feature; may be given several times")
    parser.add_argument("--report", type=Path, default=PROJECT / "build" / "mutants")
    options = parser.parse_args()
    chosen = choose(options.only or list(TARGETS), options.count, options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "project"
        copy_project(copy)
        limits = {name: time_limit(copy, name) for name in dict.fromkeys(name for name, _ in chosen)}
        if broken := [name for name, limit in limits.items() if limit is None]:
            print(f"the tests fail without any fault, and so prove nothing: {', '.join(broken)}")
            return 2
        survivors = [(name, one) for name, one in chosen if survives(copy, name, one, limits[name] or 0)]
    return write_report(options.report, chosen, survivors)


def choose(names: list[str], count: int, seed: int) -> list[tuple[str, Mutation]]:
    """As many mutants of every feature as there are, up to an equal share."""
    rng = random.Random(seed)
    share = max(count // len(names), 1)
    chosen: list[tuple[str, Mutation]] = []
    for name in names:
        files = sorted((PROJECT / TARGETS[name].folder).glob(TARGETS[name].files))
        found = [one for file in files for one in mutations_of(file, file.relative_to(PROJECT).as_posix())]
        chosen += [(name, one) for one in rng.sample(found, min(share, len(found)))]
    return chosen


def copy_project(copy: Path) -> None:
    copy.mkdir()
    for name in COPIED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "static"))
        else:
            shutil.copy(source, copy / name)


def time_limit(copy: Path, name: str) -> float | None:
    """How long the tests of a feature may take; None where they fail without a fault."""
    begun = time.monotonic()
    passed = run_tests(copy, TARGETS[name].tests, None)
    seconds = time.monotonic() - begun
    print(f"{'sound' if passed else 'BROKEN':9}{seconds:6.1f} s  {name} without a fault", flush=True)
    return START_SECONDS + SLOWDOWN * seconds if passed else None


def survives(copy: Path, name: str, mutation: Mutation, limit_seconds: float) -> bool:
    """Whether all tests of the feature pass with the fault in place."""
    file = copy / mutation.path
    text = file.read_text(encoding="utf-8")
    begun = time.monotonic()
    file.write_text(mutation.apply(text), encoding="utf-8")
    try:
        passed = run_tests(copy, TARGETS[name].tests, limit_seconds)
    finally:
        file.write_text(text, encoding="utf-8")
    print(f"{'SURVIVED' if passed else 'killed':9}{time.monotonic() - begun:6.1f} s  {mutation}", flush=True)
    return passed


def run_tests(copy: Path, tests: tuple[str, ...], limit_seconds: float | None) -> bool:
    command = [sys.executable, "-m", "pytest", *tests, "-x", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=limit_seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def write_report(folder: Path, chosen: list[tuple[str, Mutation]], survivors: list[tuple[str, Mutation]]) -> int:
    """Write the survivors down; answers 1 where one of them is not known to be equivalent."""
    folder.mkdir(parents=True, exist_ok=True)
    unknown = [one for one in survivors if shown_by_code(one[1]) not in EQUIVALENT]
    lines = [f"# Mutants: {len(chosen)} tried, {len(chosen) - len(survivors)} killed, {len(unknown)} survived", ""]
    lines += [f"- {name}: {mutation}" for name, mutation in unknown]
    (folder / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return int(bool(unknown))


def shown_by_code(mutation: Mutation) -> str:
    line = (PROJECT / mutation.path).read_text(encoding="utf-8").splitlines()[mutation.line - 1]
    return f"{mutation.path}: {mutation.old.strip()} → {mutation.new.strip()} in `{line.strip()}`"


if __name__ == "__main__":
    sys.exit(main())
