"""The comparisons work: tiny sizes, everything on, every side with the same answers."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from bench import data
from bench.__main__ import main
from bench.publish import END, START, insert_figures
from bench.results import Results, parse_size, size_name
from tests import servers

TINY = ["--sizes", "300", "--repetitions", "1", "--retakes", "0", "--seconds", "0.01", "--questions", "4"]


def test_the_graph_is_the_same_every_time_and_has_four_edges_a_node():
    first, second = list(data.events(50)), list(data.events(50))

    assert first == second
    assert [event.position for event in first] == list(range(1, data.event_count(50) + 1))


@pytest.mark.parametrize(("text", "size"), [("10k", 10_000), ("1M", 1_000_000), ("300", 300)])
def test_sizes_are_written_as_people_say_them(text, size):
    assert parse_size(text) == size and size_name(size) == text


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_all_sides_give_the_same_answers_and_everything_is_reported(store, tmp_path, capsys):
    status = main([*TINY, "--stores", store, "--output", str(tmp_path)])

    assert status == 0
    printed = capsys.readouterr().out
    assert "targets" in printed and "answers differ" not in printed
    (found,) = json.loads((tmp_path / "results.json").read_text())["sizes"]
    assert found["figures"] and found["writes"] and not found["differing"]
    assert "<svg" in (tmp_path / "results.html").read_text()


@pytest.mark.parametrize("store", ["postgresql", "neo4j"])
def test_server_stores_give_the_answers_of_their_raw_drivers(store, tmp_path):
    servers.require(store)

    assert main([*TINY, "--stores", store, "--only", "reads", "--output", str(tmp_path)]) == 0


def test_a_repeated_run_uses_the_data_of_the_one_before(tmp_path):
    reads = [*TINY, "--stores", "sqlite", "--only", "point", "--output", str(tmp_path)]
    main(reads)
    loaded = _loads(tmp_path)

    main(reads)

    assert _loads(tmp_path) == loaded


def _loads(folder: Path) -> bytes:
    (file,) = (folder / "data").glob("loads-*.json")
    return file.read_bytes()


def test_figures_are_written_between_the_marks_of_the_page(tmp_path):
    main([*TINY, "--stores", "sqlite", "--only", "point", "--output", str(tmp_path)])
    results = msgspec.json.decode((tmp_path / "results.json").read_bytes(), type=Results)

    page = insert_figures(f"before\n{START}\nold\n{END}\nafter\n", results)

    assert page.startswith("before\n") and page.endswith(f"{END}\nafter\n") and "old" not in page
    assert "| sqlite | node by id | aiosqlite |" in page
