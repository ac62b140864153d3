"""The report: requirement by store, from the records of several runs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import Struct

from ugs_conformance.support.html_report import matrix_page

NO_TEST = "no test"


class Clause(Struct, frozen=True):
    """A requirement of a seed."""

    id: str
    text: str
    section: str


def all_clauses() -> list[Clause]:
    """Every requirement of the five seeds, in order."""
    document = tomllib.loads((files("ugs_conformance") / "clauses.toml").read_text(encoding="utf-8"))
    return [
        Clause(f"{seed}-{number}", entry["text"], entry["section"])
        for seed, entries in document.items()
        for number, entry in entries.items()
    ]


def verdict(outcomes: Iterable[Mapping[str, Any]]) -> str:
    """What all tests of one requirement say together on one store, native paths on and off."""
    by_outcome: dict[str, list[str]] = {}
    for outcome in outcomes:
        by_outcome.setdefault(outcome["outcome"], []).append(outcome["reason"])
    if "failed" in by_outcome:
        return "failed"
    if "passed" in by_outcome:
        return "passed"
    if "not applicable" in by_outcome:
        return f"not applicable: {by_outcome['not applicable'][0]}"
    return NO_TEST


def verdicts(records: Mapping[str, list[Any]]) -> dict[str, dict[str, str]]:
    """For every requirement the verdict on every store; `records` holds the runs of each store."""
    table: dict[str, dict[str, str]] = {clause.id: {} for clause in all_clauses()}
    for store, runs in records.items():
        tests: dict[str, list[Any]] = {}
        for run in runs:
            for test in run["tests"].values():
                for id in test["clauses"]:
                    tests.setdefault(id, []).append(test)
        for id, row in table.items():
            row[store] = verdict(tests.get(id, []))
    return table


def write_report(folder: Path, records: Mapping[str, list[Any]], notes: Mapping[str, str]) -> dict[str, Any]:
    """Write `report.json` and `index.html`; answers the report."""
    folder.mkdir(parents=True, exist_ok=True)
    report = {"clauses": verdicts(records), "stores": {store: notes.get(store, "run") for store in records}}
    (folder / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False), encoding="utf-8")
    (folder / "index.html").write_text(matrix_page(all_clauses(), report), encoding="utf-8")
    return report
