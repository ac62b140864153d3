"""Run the kit: `python -m ugs_conformance --backend URL`, or `--all --report FOLDER` for every store at hand.

With `--all` each store runs twice, native paths on and off, in a process of its own. PostgreSQL and Neo4j are taken
from `UGS_TEST_POSTGRESQL` and `UGS_TEST_NEO4J`; a missing one is told in the summary, and in CI it is a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from asyncio import run
from pathlib import Path
from typing import Any

import pytest

from ugs.connect import storage_for
from ugs.errors import UgsError
from ugs.feature_registry import CATALOG
from ugs_conformance.support.pytest_plugin import EXAMPLES, HISTORIES
from ugs_conformance.support.report import write_report
from ugs_conformance.support.stores import Column, columns

NATIVE_OFF_SHARE = 4
"""With native paths off a quarter of the random cases is tried."""


USAGE = 2
"""The exit code of a command line that was not understood, as everywhere in `ugs`."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ugs_conformance", description="the UGS conformance kit")
    parser.add_argument("--all", action="store_true", help="every store at hand, native paths on and off")
    parser.add_argument("--only", action="append", default=[], metavar="STORE", help="with --all: only these stores")
    parser.add_argument("--report", type=Path, default=Path("build/conformance"), help="where the report goes")
    parser.add_argument("--histories", type=int, default=HISTORIES, help="random histories per store")
    asked, rest = parser.parse_known_args()
    if not asked.all:
        code = subprocess.call([*PYTEST, *rest, f"--histories={asked.histories}"])
        return USAGE if code == pytest.ExitCode.USAGE_ERROR else code
    return run_all(asked.report, asked.histories, asked.only, rest)


PYTEST = [sys.executable, "-m", "pytest", "--pyargs", "ugs_conformance"]


def run_all(folder: Path, histories: int, only: list[str], rest: list[str]) -> int:
    """Run every store, write the report, and say in a few lines how it went."""
    stores = [store for store in columns() if not only or store.name in only]
    records: dict[str, list[Any]] = {}
    notes: dict[str, str] = {}
    failed = False
    for store in stores:
        records[store.name] = []
        if store.url is None:
            notes[store.name] = f"not run, {store.missing}"
            print(f"{store.name}: {notes[store.name]}", flush=True)
            failed |= in_ci()
            continue
        for native in ("on", "off"):
            code, record = run_one(store, native, histories, stores, rest)
            records[store.name].append(record)
            failed |= code != 0
    for store in stores:
        run(delete_run_data(store))
    report = write_report(folder, records, notes)
    print(summary(report, folder))
    return int(failed)


async def delete_run_data(store: Column) -> None:
    """Take away what the runs have made on a server that others use too; what stays is told, and no test's fault."""
    for url in (store.url, store.spare) if store.shared else ():
        storage = storage_for(url or "")
        try:
            await storage.open(CATALOG)
            await storage.drop()
        except UgsError as error:
            print(f"{store.name}: something was left on the server: {error}", flush=True)
        finally:
            await storage.close()


def run_one(store: Column, native: str, histories: int, stores: list[Column], rest: list[str]) -> tuple[int, Any]:
    """One store, one way: the exit code of pytest and what it has recorded."""
    share = store.share * (1 if native == "on" else NATIVE_OFF_SHARE)
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as scratch:
        record = Path(scratch) / "record.json"
        command = [*PYTEST, "-q", "--no-header", f"--backend={store.url}", f"--native={native}", f"--record={record}"]
        command += [f"--basetemp={scratch}/data"]
        command += [f"--histories={max(histories // share, 1)}", f"--examples={max(EXAMPLES // share, 3)}"]
        command += [f"--also={other.spare}" for other in stores if other.spare and native == "on"]
        print(f"\n{store.name}, native paths {native}", flush=True)
        begun = time.monotonic()
        code = subprocess.call([*command, *rest])
        print(f"{store.name}, native paths {native}: {time.monotonic() - begun:.1f} s", flush=True)
        return code, json.loads(record.read_text(encoding="utf-8")) if record.exists() else {"tests": {}}


def scratch_folder() -> str | None:
    """In memory where possible: what is proven here is meaning, and waiting for disks does not add to it."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def summary(report: dict[str, Any], folder: Path) -> str:
    """The report in one line per store."""
    lines = ["", f"{'':12} {'passed':>8} {'failed':>8} {'n/a':>8} {'no test':>8}"]
    for store, note in report["stores"].items():
        verdicts = [row[store].split(":")[0] for row in report["clauses"].values()]
        counts = [verdicts.count(word) for word in ("passed", "failed", "not applicable", "no test")]
        told = "" if note == "run" else f"  ({note})"
        lines.append(f"{store:12} " + " ".join(f"{count:8}" for count in counts) + told)
    return "\n".join([*lines, f"report: {folder / 'report.json'}, {folder / 'index.html'}"])


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("true", "1")


if __name__ == "__main__":
    sys.exit(main())
