"""The TCK's results as a report for machines, and as the table in `docs/cypher.md` for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.ugs.cypher import tck

PAGE = Path(__file__).parents[3] / "docs" / "cypher.md"
BEGIN, END = "<!-- table of the TCK: begin -->", "<!-- table of the TCK: end -->"
TITLES = {
    "memory": "memory",
    "sqlite": "SQLite, step by step",
    "sqlite-native": "SQLite",
    "postgresql": "PostgreSQL, step by step",
    "postgresql-native": "PostgreSQL",
    "neo4j": "Neo4j",
}


def path_name(url: str) -> str:
    """What a run is called in the report: the store, and on SQL whether whole patterns are handed to it."""
    scheme = url.partition(":")[0].partition("+")[0]
    return f"{scheme}-native" if scheme in ("sqlite", "postgresql") and "native=off" not in url else scheme


def by_category(records: Sequence[tck.Record], verdicts: Sequence[tck.Verdict]) -> dict[str, tuple[int, int]]:
    """For each category how many scenarios passed, and how many there are."""
    passed = {verdict.id for verdict in verdicts if verdict.passed}
    total: Counter[str] = Counter(record["category"] for record in records)
    good: Counter[str] = Counter(record["category"] for record in records if record["id"] in passed)
    return {category: (good[category], total[category]) for category in sorted(total)}


def make_report(records: Sequence[tck.Record], runs: Mapping[str, Sequence[tck.Verdict]]) -> dict[str, Any]:
    """The summary of each path, the table by category, and every scenario with its outcome and reason."""
    return {
        "summary": {name: tck.summary(verdicts) for name, verdicts in runs.items()},
        "categories": {name: by_category(records, verdicts) for name, verdicts in runs.items()},
        "records": {name: msgspec.to_builtins(verdicts) for name, verdicts in runs.items()},
    }


def table(categories: dict[str, dict[str, Any]]) -> str:
    """The table for people: one row for each category, one column for each path."""
    names = [name for name in TITLES if name in categories]
    lines = ["| scenarios | of | " + " | ".join(TITLES[name] for name in names) + " |"]
    lines.append("| --- " * (len(names) + 2) + "|")
    known = sorted({category for found in categories.values() for category in found})
    for category in known:
        row = [categories[name][category] for name in names]
        lines.append(f"| {category} | {row[0][1]} | " + " | ".join(str(good) for good, _ in row) + " |")
    sums = [[sum(part[place] for part in categories[name].values()) for place in (0, 1)] for name in names]
    lines.append(f"| **all** | {sums[0][1]} | " + " | ".join(str(good) for good, _ in sums) + " |")
    return "\n".join(lines)


def page_table() -> str:
    """The table as the page has it."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0].strip()


def write_page(text: str) -> None:
    """Put a table into the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", "utf-8")


def column(text: str, title: str) -> dict[str, tuple[int, int]]:
    """One column of a table: for each category how many passed, and how many there are."""
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    place = head.index(title)
    return {row[0]: (int(row[place]), int(row[1])) for row in rows if not row[0].startswith("**")}
