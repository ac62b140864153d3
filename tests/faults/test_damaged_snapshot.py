"""F04, F06: a snapshot that is damaged, of another time or of another store is never served."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest

from tests.faults.damage import (
    NOON,
    SNAPSHOT,
    WAL,
    Damage,
    Files,
    Sample,
    lay,
    make_sample,
    silently_wrong,
    start,
    try_all,
    unknown,
    url_of,
    verdicts,
)
from tests.faults.figures import Figures
from ugs.graph.api import Graph
from ugs.system import System

COMMANDS = 24


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """A store with a snapshot half way."""
    folder = tmp_path_factory.mktemp("sample") / "data"
    return asyncio.run(make_sample(folder, COMMANDS, snapshot_after=COMMANDS // 2))


def test_f04_a_damaged_snapshot_is_reported_and_rebuilt_from_the_log(
    sample: Sample, tmp_path: Path, full: bool, figures: Figures, chance: Random
) -> None:
    size = len(sample.files[SNAPSHOT])
    places = range(size * 8) if full else sorted(chance.sample(range(size * 8), 300))
    cuts = range(size) if full else range(0, size, 23)
    damages: list[Damage] = [*(("flip", place) for place in places), *(("cut", place) for place in cuts)]
    with figures.timed("F04 snapshot damage"):
        found = try_all(sample.files, SNAPSHOT, damages, tmp_path)
    wrong = silently_wrong(found, lambda _: sample.final)
    told = sum(any("E008" in warning for warning in each.warnings) for each in found)
    figures.add("F04 snapshot damage", damages=len(damages), E008_told=told, silently_wrong=len(wrong))
    assert [(damages[index], found[index]) for index in wrong] == []
    assert unknown(found) == []
    assert verdicts(found) == {"opened": len(damages)}
    assert [damage for damage, each in zip(damages, found, strict=True) if not each.warnings] == []


async def test_f04_strict_recovery_refuses_a_damaged_snapshot(sample: Sample, tmp_path: Path) -> None:
    broken = sample.files[SNAPSHOT].replace(b'"eventCount"', b'"eventcount"')
    found = await start(lay({**sample.files, SNAPSHOT: broken}, tmp_path / "data"), strict_recovery="on")
    assert found.code == "E008"


async def test_f06_snapshots_of_another_time_or_store_are_never_served(
    sample: Sample, tmp_path: Path, figures: Figures
) -> None:
    other = await make_sample(tmp_path / "other", 12, snapshot_after=12, now=NOON + 1)
    stranger = await stranger_snapshot(tmp_path / "stranger")
    early = sample.wal[: sample.ends[4]]
    cases: dict[str, tuple[Files, str]] = {
        "missing": ({WAL: sample.wal}, sample.final),
        "empty": ({**sample.files, SNAPSHOT: b""}, sample.final),
        "empty object": ({**sample.files, SNAPSHOT: b"{}"}, sample.final),
        "of a store with the same commands": ({**sample.files, SNAPSHOT: other.files[SNAPSHOT]}, sample.final),
        "of a stranger": ({**sample.files, SNAPSHOT: stranger}, sample.final),
        "newer than the log": ({**sample.files, WAL: early}, sample.state_at(len(early))),
    }
    for name, (files, digest) in cases.items():
        found = await start(lay(files, tmp_path / "data"))
        assert found.code == ("E009" if name == "newer than the log" else ""), (name, found)
        assert found.code or found.digest == digest, (name, found)
        assert found.code or found.warnings or name == "missing", (name, found)
    figures.add("F06 odd snapshots", cases=len(cases), served=0)


async def stranger_snapshot(folder: Path) -> bytes:
    """A snapshot with as many events as the sample's, but other ones."""
    async with System.at_url(url_of(folder)) as system:
        for number in range(16):
            await Graph(system).add_node(f"strange{number}")
        await system.snapshot()
    return (folder / SNAPSHOT).read_bytes()


async def test_f06_a_snapshot_without_the_lines_of_its_log_is_refused_not_started_empty(
    sample: Sample, tmp_path: Path
) -> None:
    data = lay({SNAPSHOT: sample.files[SNAPSHOT], WAL: b""}, tmp_path / "data")
    found = await start(data)
    assert found.code == "E009", found
    assert (data / SNAPSHOT).read_bytes() == sample.files[SNAPSHOT]
