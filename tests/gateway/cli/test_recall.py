"""`ugs recall`: what the memory holds about a question, in a store and through a gateway."""

from pathlib import Path

from tests.gateway.cli.conftest import Ugs
from tests.gateway.cli.test_ingest import JOB


def test_a_question_is_answered_with_facts_and_their_evidence(ugs: Ugs) -> None:
    assert ugs("ingest", "-", stdin=JOB).code == 0
    found = ugs("recall", "where", "does", "Ann", "work").value
    assert (found["entities"], found["omitted"], found["budget_tokens"]) == (["Ann"], 0, 2_000)
    (item,) = found["items"]
    assert (item["kind"], item["text"]) == ("fact", "Ann works at Initech")
    assert item["valid_from"] == "2026-01-01T00:00:00Z"
    assert [quote["text"] for quote in item["evidence"]] == ["Ann works at Initech"]
    assert ugs("recall", "Ann", "--as-of", "2025-01-01T00:00:00Z", "--kind", "fact").value["items"] == []


def test_what_the_budget_leaves_out_is_said(ugs: Ugs) -> None:
    Path("notes.ndjson").write_text(f"{JOB}\n{JOB.replace('Initech', 'Globex')}\n")
    assert ugs("ingest", "notes.ndjson").code == 0
    done = ugs("recall", "Ann", "--limit", "1")
    assert len(done.value["items"]) == 1 and done.value["omitted"] >= 1
    assert "OMITTED" in done.err


def test_wrong_arguments_are_refused(demo: Ugs) -> None:
    assert demo("recall", "Ann", "--kind", "gossip").value["error"]["code"] == "E005"
    assert demo("recall", "Ann", "--budget", "0").value["error"]["code"] == "LIMIT_EXCEEDED"
    assert demo("recall", " ").value["error"]["code"] == "E005"


def test_an_empty_base_path_is_refused(ugs: Ugs) -> None:
    done = ugs("mcp", BASE_PATH="")
    assert done.code == 2 and "BASE_PATH is empty" in done.out + done.err
