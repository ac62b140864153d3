"""F02, F03, F05, F17, F18: a log that was cut, flipped, shuffled or written by somebody else."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from random import Random

import pytest

from tests.faults.damage import (
    NOON,
    WAL,
    Damage,
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

COMMANDS = 60


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return asyncio.run(make_sample(tmp_path_factory.mktemp("sample") / "data", COMMANDS))


def test_f02_a_log_cut_at_any_byte_opens_to_the_exact_prefix(
    sample: Sample, tmp_path: Path, full: bool, figures: Figures
) -> None:
    places = range(len(sample.wal) + 1) if full else cuts_of_some_lines(sample.wal)
    cuts: list[Damage] = [("cut", place) for place in places]
    with figures.timed("F02 log cut"):
        found = try_all(sample.files, WAL, cuts, tmp_path)
    wrong = silently_wrong(found, lambda index: sample.state_at(cuts[index][1]))
    torn = sum(bool(each.warnings) for each in found)
    figures.add("F02 log cut", cuts=len(cuts), exact=verdicts(found)["opened"] - len(wrong), told_as_torn=torn)
    assert [cuts[index] for index in wrong] == []
    assert verdicts(found) == {"opened": len(cuts)}
    assert all(each.warnings or whole(sample, cut[1]) for each, cut in zip(found, cuts, strict=True))


def whole(sample: Sample, size: int) -> bool:
    """Whether a log of this size ends with a command."""
    return size in sample.ends or size + 1 in sample.ends


def cuts_of_some_lines(wal: bytes) -> list[int]:
    """Every byte of the last line, many of a batch, both sides of newlines, and a sample of all others."""
    ends = [0, *(index + 1 for index, byte in enumerate(wal) if byte == 10)]
    chosen = {*range(ends[-2], ends[-1] + 1), *range(ends[2], ends[4], 5), *range(0, len(wal), 199)}
    return sorted(chosen | {end - side for end in ends[1::3] for side in (0, 1)})


def test_f02_a_cut_log_goes_on_and_stays_readable(sample: Sample, tmp_path: Path) -> None:
    for size in (len(sample.wal) - 9, sample.ends[2] + 40, 5):
        asyncio.run(cut_and_go_on(sample, size, tmp_path))


async def cut_and_go_on(sample: Sample, size: int, folder: Path) -> None:
    data = lay({WAL: sample.wal[:size]}, folder / "data")
    async with System.at_url(url_of(data)) as system:
        assert await system.digest() == sample.state_at(size)
        await Graph(system).add_node("later")
        expected = await system.digest()
    assert (data / WAL).read_bytes().startswith(sample.wal[:size])
    again = await start(data)
    assert (again.digest, again.code) == (expected, "")


def test_f03_a_flipped_bit_anywhere_in_the_log_is_reported_or_harmless(
    sample: Sample, tmp_path: Path, full: bool, figures: Figures, chance: Random
) -> None:
    bits = len(sample.wal) * 8
    places = range(bits) if full else sorted(flips_to_try(sample.wal, chance))
    flips: list[Damage] = [("flip", place) for place in places]
    with figures.timed("F03 log bit flips"):
        found = try_all(sample.files, WAL, flips, tmp_path)
    wrong = silently_wrong(found, lambda _: sample.final)
    count = verdicts(found)
    figures.add(
        "F03 log bit flips", flips=len(flips), E009=count["E009"], harmless=count["opened"], silently_wrong=len(wrong)
    )
    assert [(flips[index], found[index]) for index in wrong] == []
    assert unknown(found) == []
    assert all("line" in each.message and "byte" in each.message for each in found if each.code == "E009")


def flips_to_try(wal: bytes, chance: Random) -> set[int]:
    """Each bit of the first line's seal and of each newline, and some of all others."""
    first = wal.index(b"\n")
    seal = range((first - 18) * 8, (first + 1) * 8)
    newlines = [index * 8 + bit for index, byte in enumerate(wal) if byte == 10 for bit in range(8)]
    return {*seal, *newlines[-80:], *chance.sample(range(len(wal) * 8), 500)}


def test_f05_lost_doubled_swapped_and_foreign_lines_are_reported(
    sample: Sample, tmp_path: Path, figures: Figures
) -> None:
    other = asyncio.run(make_sample(tmp_path / "other", 20, now=NOON + 1))
    tried = 0
    for what, lines in shuffled(sample.wal.splitlines(keepends=True), other.wal.splitlines(keepends=True)):
        found = asyncio.run(start(lay({WAL: b"".join(lines)}, tmp_path / "data")))
        assert found.code == "E009", what
        tried += 1
    figures.add("F05 lines shuffled", shuffles=tried, E009=tried)


def shuffled(lines: list[bytes], others: list[bytes]) -> list[tuple[str, list[bytes]]]:
    """Logs of which a line is missing, stands twice or changed places, or that continue with another store's."""
    some = range(0, len(lines) - 1, 3)
    return [
        *((f"without line {at + 1}", lines[:at] + lines[at + 1 :]) for at in some),
        *((f"line {at + 1} twice", lines[: at + 1] + lines[at:]) for at in some),
        *((f"line {at + 1} swapped", [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]) for at in some),
        *((f"another store's line {at + 1}", [*lines, others[at]]) for at in range(len(others))),
        ("another store's end", lines[:8] + others[8:]),
    ]


PLAIN = [
    {"id": "evt_1_1", "timestamp": 1, "type": "NodeAdded", "data": {"id": "a", "type": "t", "properties": {"x": 1}}},
    {"id": "evt_1_2", "timestamp": 1, "type": "NodeAdded", "data": {"id": "b", "properties": {}}},
    {"id": "evt_2_3", "timestamp": 2, "type": "EdgeAdded", "data": {"id": "e", "from": "a", "to": "b"}},
    {"id": "evt_3_4", "timestamp": 3, "type": "NodeUpdated", "data": {"id": "a", "properties": {"y": 2}}},
]
"""A log in the seed's own format: no position, no checksum."""


def plain_log(*changes: tuple[int, str, object]) -> bytes:
    events = [dict(event) for event in PLAIN]
    for index, key, value in changes:
        events[index][key] = value
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


async def test_f18_a_log_of_the_old_format_loads_and_is_protected_from_the_next_event_on(
    tmp_path: Path, full: bool, figures: Figures
) -> None:
    data = lay({WAL: plain_log()}, tmp_path / "data")
    async with System.at_url(url_of(data)) as system:
        graph = Graph(system)
        a = await graph.get("a")
        assert a is not None and a.properties == {"x": 1, "y": 2}
        assert (await graph.stats()).edges == 1
        await graph.add_node("c")
        expected = await system.digest()
    kept = (data / WAL).read_bytes()
    assert kept.startswith(plain_log())
    assert b'"crc"' in kept.splitlines()[-1]
    assert (await start(data)).digest == expected
    flips = range(len(plain_log()) * 8, len(kept) * 8, 1 if full else 7)
    found = try_all({WAL: kept}, WAL, [("flip", place) for place in flips], tmp_path)
    assert silently_wrong(found, lambda _: expected) == []
    figures.add("F18 old format", flips_behind_it=len(flips), E009=verdicts(found)["E009"])


@pytest.mark.parametrize(
    "written",
    [
        plain_log().replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + plain_log(),
        plain_log().replace(b"\n", b"\n\n"),
        b"\n" + plain_log() + b"  \n",
        plain_log((1, "note", {"kept": True})),
        plain_log()[:-1],
    ],
    ids=["CRLF", "byte order mark", "blank lines", "blank ends", "extra field", "no last newline"],
)
async def test_f17_oddly_written_logs_load(written: bytes, tmp_path: Path) -> None:
    plain = await start(lay({WAL: plain_log()}, tmp_path / "plain"))
    odd = await start(lay({WAL: written}, tmp_path / "odd"))
    assert (odd.code, odd.digest, odd.position) == ("", plain.digest, len(PLAIN))


async def test_f17_extra_fields_are_kept(tmp_path: Path) -> None:
    data = lay({WAL: plain_log((1, "note", {"kept": True}))}, tmp_path / "data")
    async with System.at_url(url_of(data)) as system:
        events = await Graph(system).history(element="b")
    assert events[0].extra == '{"note":{"kept":true}}'


async def test_f17_an_unknown_event_type_is_reported_with_its_place(tmp_path: Path) -> None:
    for kind, code in itertools.product(("NodePainted", "", "nodeadded"), ("E009",)):
        found = await start(lay({WAL: plain_log((2, "type", kind))}, tmp_path / "data"))
        assert found.code == code
        assert "line 3" in found.message
