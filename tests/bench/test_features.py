"""The comparisons of single features work: tiny sizes, and both sides give the same answers before they are measured."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

import bench.actors
import bench.facts
import bench.ontology
from bench.memories import write_peer_file

SIDES = {
    (bench.actors, "memory"): {"actor", "command", "read"},
    (bench.facts, "memory"): {"ours"},
    (bench.facts, "sqlite"): {"ours", "aiosqlite"},
}


def test_typed_memory_is_loaded_in_pieces_and_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--nodes", "300", "--calls", "1", "--no-peer", "--output", str(tmp_path / "figures.json")]
    assert bench.ontology.main([*asked, "--stores", "sqlite", "--minutes", "0"]) == 75
    assert bench.ontology.main([*asked, "--stores", "files,memory,sqlite"]) == 0
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert {figure["side"] for figure in figures} == {"files", "memory", "sqlite"}
    assert len(figures) == 3 * len({figure["work"] for figure in figures}) > 30
    assert all(0 < figure["waited"] <= figure["longest"] for figure in figures)
    registry = json.loads((tmp_path / "data" / "files-300" / "_system" / "registry.json").read_text())
    assert len(registry["nodes"]) >= 300 and len(registry["connections"]) >= 600
    write_peer_file(tmp_path / "peer.jsonl", 300)
    lines = [json.loads(line) for line in (tmp_path / "peer.jsonl").read_text().splitlines()]
    assert [line["type"] for line in lines] == ["entity"] * 300 + ["relation"] * 600


@pytest.mark.parametrize(("module", "store"), list(SIDES), ids=lambda part: getattr(part, "__name__", part))
def test_everybody_is_measured(
    module: ModuleType, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "figures.json"
    more = ["--facts", "200"] if module is bench.facts else []
    module.main(["--stores", store, "--seconds", "0.05", "--output", str(output), *more])
    figures = json.loads(output.read_text())
    assert {figure["side"] for figure in figures} == SIDES[module, store]
    assert all(figure["rate"] > 0 and figure["cpu_us"] > 0 for figure in figures)
    assert len(capsys.readouterr().out.splitlines()) == len(figures)
