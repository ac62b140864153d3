"""What a run has proven: for each test its requirements and how it went."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOT_APPLICABLE = "not applicable: "


class Record:
    """Outcomes by test; a failure in any phase of a test is a failure."""

    def __init__(self) -> None:
        self.tests: dict[str, dict[str, Any]] = {}

    def hear(self, report: pytest.TestReport) -> None:
        """Take note of one phase of a test."""
        if report.when != "call" and report.passed:
            return
        known = self.tests.get(report.nodeid)
        if known is None or report.failed:
            clauses = dict(report.user_properties).get("clauses", [])
            outcome, reason = outcome_of(report)
            self.tests[report.nodeid] = {"clauses": clauses, "outcome": outcome, "reason": reason}

    def write(self, path: str, backend: str) -> None:
        """Keep the record as a file. The URL stays out of it: it may hold a password."""
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = {"backend": backend.partition(":")[0], "tests": self.tests}
        file.write_text(json.dumps(whole, indent=1, ensure_ascii=False), encoding="utf-8")


def outcome_of(report: pytest.TestReport) -> tuple[str, str]:
    """Passed, failed, skipped or not applicable, with the reason where there is one."""
    if report.failed:
        return "failed", str(report.longrepr).strip().splitlines()[-1][:300] if report.longrepr else ""
    if report.passed:
        return "passed", ""
    reason = skip_reason(report)
    if reason.startswith(NOT_APPLICABLE):
        return "not applicable", reason.removeprefix(NOT_APPLICABLE)
    return "skipped", reason


def skip_reason(report: pytest.TestReport) -> str:
    """The words behind a skip."""
    where = report.longrepr
    text = where[2] if isinstance(where, tuple) else str(where)
    return text.removeprefix("Skipped: ")
