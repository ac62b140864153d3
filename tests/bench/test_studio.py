"""The bench of Studio: the same graph every time, in parts that fit a request, and each figure beside what is wanted."""

from bench.studio import EVENTS_PER_BATCH, ROWS_PER_IMPORT, StudioFigures, changes_of, graph_of


def test_the_graph_is_whole_and_the_same_every_time() -> None:
    parts = list(graph_of(5_000, 9_000))
    assert parts == list(graph_of(5_000, 9_000))
    assert all(len(part["nodes"]) + len(part["edges"]) <= ROWS_PER_IMPORT for part in parts)
    ids = [node["id"] for part in parts for node in part["nodes"]]
    edges = [edge for part in parts for edge in part["edges"]]
    assert len(set(ids)) == 5_000 and len({edge["id"] for edge in edges}) == 9_000
    assert {edge["from"] for edge in edges} | {edge["to"] for edge in edges} <= set(ids)


def test_each_figure_is_held_against_its_aim() -> None:
    good = StudioFigures(1.9, 31.0, 60.0, 8.0, 0.9, 0.2, 2, 0.1)
    assert [verdict.met for verdict in good.verdicts()] == [True] * 5
    poor = StudioFigures(2.1, 29.0, 60.0, 34.0, 1.1, 0.4, 2, 0.1)
    assert [verdict.met for verdict in poor.verdicts()] == [False] * 5


def test_the_log_that_is_slid_over_has_the_events_that_are_asked_for() -> None:
    batches = list(changes_of(1_100, 40))
    assert batches == list(changes_of(1_100, 40))
    assert [len(batch) for batch in batches] == [EVENTS_PER_BATCH, EVENTS_PER_BATCH, 100]
    assert {operation["updateNode"]["id"] for batch in batches for operation in batch} == {f"n{at}" for at in range(40)}
