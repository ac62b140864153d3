"""`python -m tests.cypher [url …]`: the whole TCK on each store, as a report in `build/tck` and a table by category."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from tests.cypher import tck

REPORT = Path("build/tck/report.json")


def path_name(url: str) -> str:
    """What a run is called in the report: the store, and whether its native paths were off."""
    scheme = url.partition(":")[0].partition("+")[0]
    return scheme if "native=off" in url else f"{scheme}-native" if scheme != "memory" else scheme


async def run(urls: list[str]) -> dict[str, Any]:
    """Judge every scenario on every store."""
    records = tck.records()
    report: dict[str, Any] = {"summary": {}, "records": {}}
    for url in urls:
        verdicts = await tck.judge_all(url, records)
        name = path_name(url)
        report["summary"][name] = tck.summary(verdicts)
        report["records"][name] = msgspec.to_builtins(verdicts)
        print(f"{name}: {report['summary'][name]}")
        print_table(records, verdicts)
    return report


def print_table(records: list[tck.Record], verdicts: list[tck.Verdict]) -> None:
    passed = {verdict.id for verdict in verdicts if verdict.passed}
    total: Counter[str] = Counter(record["category"] for record in records)
    good: Counter[str] = Counter(record["category"] for record in records if record["id"] in passed)
    for category in sorted(total):
        print(f"  {category:<40} {good[category]:>5} of {total[category]}")


def default_urls() -> list[str]:
    """Memory, SQLite with native paths on and off, and the servers that the environment names."""
    sqlite = f"sqlite:///{REPORT.parent.resolve()}/tck.db"
    urls = ["memory:", sqlite, f"{sqlite}?native=off"]
    if server := os.environ.get("UGS_TEST_POSTGRESQL"):
        urls += [f"{server}?schema=tck", f"{server}?schema=tck&native=off"]
    return urls + ([os.environ["UGS_TEST_NEO4J"]] if "UGS_TEST_NEO4J" in os.environ else [])


def main() -> int:
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    report = asyncio.run(run(sys.argv[1:] or default_urls()))
    REPORT.write_text(json.dumps(report, indent=1), "utf-8")
    return int(any(part["failed"] for part in report["summary"].values()))


if __name__ == "__main__":
    sys.exit(main())
