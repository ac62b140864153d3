"""The benchmark of past reads asks all its questions, and replays nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import bench.past


@pytest.mark.parametrize("url", ["memory:", "sqlite:///{}/past.db"])
async def test_past_reads_are_measured_beside_those_of_now(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench.past, "TURNS", 1)

    await bench.past.compare_reads(url.format(tmp_path), 300, 3)
    await bench.past.compare_writes(url.format(tmp_path), 160)

    told = capsys.readouterr().out
    assert all(f"{name} " in told for name in bench.past.QUESTIONS)
    assert "events replayed: 0" in told and "add a node" in told
