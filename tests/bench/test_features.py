"""The comparisons of single features work: tiny sizes, and both sides give the same answers before they are measured."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

import bench.actors
import bench.facts

SIDES = {
    (bench.actors, "memory"): {"actor", "command", "read"},
    (bench.facts, "memory"): {"ours"},
    (bench.facts, "sqlite"): {"ours", "aiosqlite"},
}


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
