"""The public openCypher TCK: every scenario that only reads, with its exact rows or its exact error.

On `memory:` all of them; on the other stores a sample, and all of them with `make tck`. Nothing in the engine knows
a scenario. `DEVIATIONS` would name what cannot pass, with the reason; it is empty.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import servers
from tests.ugs.cypher import tck
from tests.ugs.cypher.__main__ import main
from tests.ugs.cypher.report import TITLES, by_category, column, page_table
from ugs_conformance.support.external_cases import is_required

DEVIATIONS: dict[str, str] = {}
EVERY_NTH = 12
"""The quick sample takes every so-manieth start graph, with all its scenarios."""


@pytest.fixture(scope="module")
def records() -> list[tck.Record]:
    if not tck.DATA.exists():
        message = f"The TCK data is not at {tck.DATA}: set UGS_TCK_DATA to its folder"
        (pytest.fail if is_required() else pytest.skip)(message)
    return tck.records()


def report(path: str, verdicts: Sequence[tck.Verdict]) -> list[str]:
    """Print the pass rate and answer what failed unexpectedly."""
    failed = [verdict for verdict in verdicts if not verdict.passed]
    print(f"\nTCK on {path}: {tck.summary(verdicts)}")
    return [f"{verdict.id}: {verdict.reason}" for verdict in failed if verdict.id not in DEVIATIONS]


async def on_postgresql(records: list[tck.Record]) -> list[tck.Verdict]:
    """In a schema of its own."""
    return await tck.judge_all(f"{servers.require('postgresql')}?schema=tck", records)


async def on_neo4j(records: list[tck.Record]) -> list[tck.Verdict]:
    """Neo4j Community has one database, so nobody else may use it meanwhile."""
    url = servers.require("neo4j")
    with servers.exclusive("neo4j"):
        return await tck.judge_all(url, records)


def sample(records: list[tck.Record], every: int = EVERY_NTH) -> list[tck.Record]:
    keys = list(dict.fromkeys(tck.graph_key(record) for record in records))
    chosen = {key for number, key in enumerate(keys) if number % every == 1}
    return [record for record in records if tck.graph_key(record) in chosen]


def test_a_file_without_a_scenario_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tck, "DATA", tmp_path / "empty.jsonl")
    tck.DATA.write_text("")
    with pytest.raises(AssertionError, match="holds no scenario"):
        tck.records()
    monkeypatch.setattr(sys, "argv", ["tck", "memory:"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="holds no scenario"):
        main()


async def test_every_scenario_passes_on_memory(records: list[tck.Record]) -> None:
    verdicts = await tck.judge_all("memory:", records)

    assert report("memory", verdicts) == []
    assert len(verdicts) == len(records)
    assert column(page_table(), "memory") == by_category(records, verdicts), "`make tck` writes the table anew"


def test_the_page_shows_every_store_and_nothing_left_out(records: list[tck.Record]) -> None:
    totals = {category: total for category, (_, total) in by_category(records, []).items()}

    for title in TITLES.values():
        assert column(page_table(), title) == {category: (total, total) for category, total in totals.items()}


async def test_the_same_answers_without_native_paths(records: list[tck.Record]) -> None:
    assert report("memory native=off", await tck.judge_all("memory:?native=off", sample(records))) == []


async def test_a_sample_passes_on_sqlite(records: list[tck.Record], tmp_path: Path) -> None:
    assert report("sqlite", await tck.judge_all(f"sqlite:///{tmp_path}/tck.db", sample(records))) == []


async def test_a_sample_passes_on_postgresql(records: list[tck.Record]) -> None:
    assert report("postgresql", await on_postgresql(sample(records))) == []


async def test_a_sample_passes_on_neo4j(records: list[tck.Record]) -> None:
    assert report("neo4j", await on_neo4j(sample(records, 5 * EVERY_NTH))) == []
