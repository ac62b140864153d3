"""`python -m tests.ugs.cypher [url …]`: the whole TCK on each store, as a report in `build/tck` and a table by category.

Without URLs it runs on every store, and the table in `docs/cypher.md` is written anew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path

from tests import servers
from tests.ugs.cypher import tck
from tests.ugs.cypher.report import make_report, path_name, table, write_page

REPORT = Path("build/tck/report.json")


async def run(urls: list[str]) -> dict[str, list[tck.Verdict]]:
    """Judge every scenario on every store."""
    records, runs = tck.records(), {}
    for url in urls:
        name = path_name(url)
        # Neo4j Community has one database, so nobody else may use it meanwhile.
        with servers.exclusive("neo4j") if name == "neo4j" else nullcontext():
            runs[name] = await tck.judge_all(url, records)
        print(f"{name}: {tck.summary(runs[name])}", flush=True)
    return runs


def default_urls() -> list[str]:
    """Memory, SQLite with native paths on and off, and the servers that the environment names."""
    sqlite = f"sqlite:///{REPORT.parent.resolve()}/tck.db"
    urls = ["memory:", f"{sqlite}?native=off", sqlite]
    if server := os.environ.get("UGS_TEST_POSTGRESQL"):
        urls += [f"{server}?schema=tck&native=off", f"{server}?schema=tck"]
    return urls + ([os.environ["UGS_TEST_NEO4J"]] if "UGS_TEST_NEO4J" in os.environ else [])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ugs.cypher", description="the openCypher TCK on stores")
    parser.add_argument("urls", nargs="*", metavar="url", help="a store to judge, emptied for it; default: all at hand")
    asked = parser.parse_args()
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    runs = asyncio.run(run(asked.urls or default_urls()))
    report = make_report(tck.records(), runs)
    REPORT.write_text(json.dumps(report, indent=1), "utf-8")
    print(table(report["categories"]))
    failed = any(part["failed"] for part in report["summary"].values())
    if not failed and len(runs) == 6:
        write_page(table(report["categories"]))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
