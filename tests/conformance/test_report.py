"""The report: verdicts from records, and the page that shows them."""

from __future__ import annotations

import ast
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import ugs_conformance
from ugs_conformance.support.report import all_clauses, verdict, write_report

KIT = Path(ugs_conformance.__file__).parent


def outcome(word: str, reason: str = "", *clauses: str) -> dict[str, Any]:
    return {"outcome": word, "reason": reason, "clauses": list(clauses) or ["UGS-1"]}


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], "no test"),
        ([outcome("passed")], "passed"),
        ([outcome("passed"), outcome("failed")], "failed"),
        ([outcome("not applicable", "no files"), outcome("passed")], "passed"),
        ([outcome("not applicable", "no files")], "not applicable: no files"),
        ([outcome("not applicable", "no files"), outcome("failed")], "failed"),
        ([outcome("skipped", "no data")], "no test"),
        ([outcome("skipped", "no data"), outcome("passed")], "passed"),
    ],
)
def test_all_tests_of_a_clause_make_its_verdict(outcomes: list[dict[str, Any]], expected: str) -> None:
    assert verdict(outcomes) == expected


def test_the_report_has_every_clause_on_every_store(tmp_path: Path) -> None:
    runs = {"t1": outcome("passed", "", "UGS-1", "UGS-2"), "t2": outcome("failed", "boom", "UGS-2")}
    records: dict[str, list[Any]] = {"memory": [{"tests": runs}, {"tests": {"t1": runs["t1"]}}], "other": []}

    write_report(tmp_path, records, {"other": "not run, no server <here>"})

    report = json.loads((tmp_path / "report.json").read_text())
    assert len(report["clauses"]) == 781
    assert report["clauses"]["UGS-1"] == {"memory": "passed", "other": "no test"}
    assert report["clauses"]["UGS-2"]["memory"] == "failed"
    page = (tmp_path / "index.html").read_text()
    assert "not run, no server &lt;here&gt;" in page
    assert page.count("<tr id=") == 781
    Complete().feed(page)


class Complete(HTMLParser):
    """Refuses a page that loads anything from elsewhere."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe"), tag
        assert not [name for name, _ in attrs if name in ("src", "href")]


def test_every_clause_is_listed_once_with_its_sentence() -> None:
    clauses = all_clauses()

    counts = {
        seed: len([c for c in clauses if c.id.startswith(seed)]) for seed in ("UGS", "FACT", "PROG", "ACT", "ONT")
    }
    assert counts == {"UGS": 243, "FACT": 88, "PROG": 169, "ACT": 82, "ONT": 199}
    assert len({clause.id for clause in clauses}) == len(clauses)
    assert all(clause.text and clause.section for clause in clauses)


NO_SEEDS_OWN = (
    "test_aggregates",
    "test_changes_and_undo",
    "test_changes_of_records",
    "test_cypher",
    "test_expressions",
    "test_extraction",
    "test_facts_correction",
    "test_facts_schedule",
    "test_proposals",
    "test_recall",
    "test_vectors",
    "test_facts_ingestion.py::test_a_note_that_was_ingested_before",
    "test_port.py::test_wiping_forgets_everything",
)
"""Aggregates, what changed and undo, openCypher, JSON written by the store, extraction, corrections and facts that begin
later, proposals, recall, likeness, repeated imports and emptying: no seed asks for these."""


def kit_tests() -> list[tuple[str, ast.AsyncFunctionDef | ast.FunctionDef]]:
    found = []
    for path in sorted(KIT.glob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef) and node.name.startswith("test_"):
                found.append((f"{path.name}::{node.name}", node))
    return found


def test_every_test_of_the_kit_names_clauses_that_exist() -> None:
    known = {clause.id for clause in all_clauses()}
    for name, test in kit_tests():
        named = [
            argument.value
            for decorator in test.decorator_list
            if isinstance(decorator, ast.Call)
            and "clause" in (getattr(decorator.func, "id", ""), getattr(decorator.func, "attr", ""))
            for argument in ast.walk(decorator)
            if isinstance(argument, ast.Constant)
        ]
        assert named or name.startswith(NO_SEEDS_OWN), f"{name} names no clause"
        assert set(named) <= known, f"{name} names clauses that no seed has"


def test_the_kit_imports_the_kernel_only() -> None:
    allowed = {"ugs", "ugs_conformance", "pytest", "hypothesis", "msgspec"}
    for path in KIT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                top = node.module.partition(".")[0]
                assert top in allowed or top in __import__("sys").stdlib_module_names, (path.name, node.module)
