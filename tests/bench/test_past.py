"""The benchmark of past reads asks all its questions, and replays nothing."""

from __future__ import annotations

import pytest

import bench.past


async def test_past_reads_are_measured_beside_those_of_now(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench.past, "ROUNDS", 3)
    monkeypatch.setattr(bench.past, "TURNS", 1)

    await bench.past.compare_reads(300)
    await bench.past.compare_writes(160)

    told = capsys.readouterr().out
    assert all(f"{name} " in told for name in bench.past.QUESTIONS)
    assert "events replayed: 0" in told and "add a node" in told
