"""The kit itself: it passes a store that is right, catches stores that are wrong, and disturbs nobody."""

from __future__ import annotations

import json

import pytest

from tests.conformance.stranger import Stranger
from tests.conformance.test_report import NO_SEEDS_OWN


@pytest.mark.slow
def test_a_strangers_right_store_passes_the_whole_kit(stranger: Stranger) -> None:
    run = stranger.kit("ugs_conformance", "--backend=plain:", "--record=record.json")

    assert run.returncode == 0, run.stdout[-3000:]
    tests = json.loads((stranger.work / "record.json").read_text())["tests"]
    outcomes = {test["outcome"] for test in tests.values()}
    assert outcomes <= {"passed", "not applicable", "skipped"}
    assert len(tests) > 400
    assert all(test["clauses"] for name, test in tests.items() if not any(each in name for each in NO_SEEDS_OWN))


@pytest.mark.parametrize(
    ("fault", "module", "caught_by"),
    [
        ("reversed", "test_queries", "test_list_gives_all_nodes_of_a_type_by_id"),
        ("inclusive", "test_queries", "test_lists_come_in_pages"),
        ("truthy", "test_indexes", "test_property_values_match_by_kind"),
        ("lawless", "test_port", "test_unique_rules_hold"),
        ("leaky", "test_port", "test_an_exception_in_a_session_leaves_nothing"),
        ("forgetful", "test_graph", "test_events_name_who_asked"),
    ],
)
def test_a_wrong_store_is_caught(stranger: Stranger, fault: str, module: str, caught_by: str) -> None:
    run = stranger.kit(f"ugs_conformance.{module}", f"--backend=plain:{fault}", "-k", caught_by)

    assert run.returncode == 1, run.stdout[-3000:]
    assert "failed" in run.stdout


def test_a_conftest_may_say_where_stores_come_from(stranger: Stranger) -> None:
    (stranger.work / "conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture(scope='session')\ndef fresh_store_url():\n    return 'plain:'\n"
    )

    run = stranger.kit("ugs_conformance.test_scopes")

    assert run.returncode == 0, run.stdout[-3000:]


def test_without_a_store_the_kit_says_what_to_do(stranger: Stranger) -> None:
    run = stranger.kit("ugs_conformance.test_scopes")

    assert run.returncode == 1
    assert "Name the store to test: --backend URL" in run.stdout


def test_other_peoples_runs_do_not_notice_the_plugin(stranger: Stranger) -> None:
    (stranger.work / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--backend')\n    parser.addoption('--native')\n"
    )
    (stranger.work / "test_theirs.py").write_text(
        "import pytest\n\n\n"
        "@pytest.fixture\ndef graph():\n    return 7\n\n\n"
        "def test_theirs(graph, pytestconfig):\n"
        "    assert (graph, pytestconfig.getoption('--backend')) == (7, 'theirs')\n"
    )

    run = stranger.pytest("--backend=theirs", "--strict-markers")

    assert run.returncode == 0, run.stdout[-3000:]


def test_what_a_store_lacks_is_recorded_with_its_reason(stranger: Stranger) -> None:
    run = stranger.kit("ugs_conformance.test_persistence", "--backend=plain:", "--record=record.json", "-k", "restart")

    assert run.returncode == 0, run.stdout[-3000:]
    record = json.loads((stranger.work / "record.json").read_text())
    assert record["backend"] == "plain"
    assert {(test["outcome"], test["reason"]) for test in record["tests"].values()} == {
        ("not applicable", "keeps nothing when it is closed")
    }


def test_missing_outside_cases_are_a_skip_in_words_and_a_failure_where_required(stranger: Stranger) -> None:
    words = ["ugs_conformance.test_companion", "--backend=plain:", "-k", "test_addresses", "-rs"]
    nowhere = str(stranger.folder / "nowhere")

    skipped = stranger.kit(*words, UGS_OUTSIDE_DATA=nowhere, UGS_REQUIRE_OUTSIDE="")
    in_ci = stranger.kit(*words, UGS_OUTSIDE_DATA=nowhere, UGS_REQUIRE_OUTSIDE="", CI="true")
    failed = stranger.kit(*words, UGS_OUTSIDE_DATA=nowhere, UGS_REQUIRE_OUTSIDE="1")

    assert skipped.returncode == 0
    assert in_ci.returncode == 0
    assert "UGS_OUTSIDE_DATA" in skipped.stdout
    assert failed.returncode == 1
