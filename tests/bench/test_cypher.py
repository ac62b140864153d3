"""The comparison of openCypher engines works at a tiny size, and a load that was broken off goes on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import bench.cypher
from bench import cypher_peers
from bench.sampler import Effort
from bench.stores import STORES, Loads, ensure_loaded

SIZE = 400


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bench.cypher, "BUILD", tmp_path)
    monkeypatch.setattr(bench.cypher, "FOLDER", tmp_path / "data")
    monkeypatch.setattr(bench.cypher, "EFFORT", Effort(repetitions=1, seconds=0.01, retakes=0, questions=4))
    return tmp_path


def test_all_sides_agree_and_nothing_is_left_open(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = threading.active_count()

    ended = bench.cypher.main(["--stores", "memory,sqlite", "--sizes", str(SIZE), "--beside", ""])

    told = capsys.readouterr().out
    assert ended == 0 and "differ" not in told
    assert told.count("SQL by hand") == 2 * 8  # a line and a target each
    assert threading.active_count() == before
    assert (folder / "cypher.json").exists()


def test_a_side_with_other_answers_makes_the_comparison_fail(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def wrong(text: str, params: dict[str, str]) -> list[list[str]]:
        return [["nonsense"]]

    side = bench.cypher.Asking("ladybug", lambda question: question.ladybug, wrong)
    monkeypatch.setattr(bench.cypher, "open_peers", lambda size, names, tell: [side])

    assert bench.cypher.main(["--stores", "memory", "--sizes", str(SIZE), "--beside", "ladybug"]) == 1
    assert "answers differ: memory, hop1, ladybug" in capsys.readouterr().out


def test_an_engine_that_cannot_be_had_does_not_take_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cypher_peers, "PLACE", tmp_path)
    nobody = cypher_peers.Peer(f"nobody @ {(tmp_path / 'nobody').as_uri()}", "nobody_has_this", SIZE, lambda *_: None)  # type: ignore[arg-type,return-value]
    monkeypatch.setattr(cypher_peers, "PEERS", {"nobody": nobody})

    assert cypher_peers.open_peers(SIZE, ["nobody", "neo4j"], lambda told: None) == []
    assert "not compared with nobody" in capsys.readouterr().err
    assert cypher_peers.open_peers(SIZE + 1, ["nobody"], lambda told: None) == []


async def test_a_load_that_was_broken_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, loads, told = STORES["sqlite"], Loads(tmp_path), []  # type: ignore[var-annotated]
    url = store.url(tmp_path, SIZE)
    monkeypatch.setattr("bench.data.chunks.__defaults__", (300,))

    def stop(text: str) -> None:
        told.append(text)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await ensure_loaded(store, url, SIZE, loads, stop)
    broken = loads.find("sqlite", SIZE)
    whole = await ensure_loaded(store, url, SIZE, Loads(tmp_path), told.append)

    assert broken is not None and broken.events == 600
    assert [line.split()[-2] for line in told] == ["300", "600", "900", "1,200", "1,500", "1,800", "2,000"]
    assert whole.events == 2_000 and whole.seconds > broken.seconds
