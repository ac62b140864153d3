"""The recall benchmark measures all contenders, also on data in the format of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench.recall
from bench.recall_data import build_questions, build_statements


def test_the_synthetic_memory_follows_from_its_seed() -> None:
    statements = build_statements(20, 400)
    assert len(statements) == 400 and statements == build_statements(20, 400)
    questions = build_questions(statements, 50)
    assert all(statements[question.answer].holds for question in questions)
    assert len({question.text for question in questions}) > 30


@pytest.mark.parametrize(("people", "facts"), [(500, 20_000), (500, 100_000), (2_000, 100_000)])
def test_statements_of_any_number_do_not_collide(people: int, facts: int) -> None:
    statements = build_statements(people, facts)
    assert len(statements) == facts
    assert len({(one.subject, one.topic.predicate, one.day) for one in statements}) == facts
    assert len({one.subject for one in statements}) == people
    assert max(one.day for one in statements) < 80
    assert sum(one.holds for one in statements) == people * 10


def test_recall_is_measured_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = [[{"role": "user", "content": "The boat is green."}], [{"role": "user", "content": "It rained."}]]
    entry = {"question": "What color is the boat?", "answer_session_ids": ["s1"], "haystack_session_ids": ["s1", "s2"]}
    (tmp_path / "longmemeval_s.json").write_text(json.dumps([{**entry, "haystack_sessions": sessions}]))
    turns = [{"dia_id": "D1:1", "speaker": "Ann", "text": "My cat is called Tom."}]
    talk = {"conversation": {"session_1": turns}, "qa": [{"question": "Who is Tom?", "evidence": ["D1:1"]}]}
    (tmp_path / "locomo10.json").write_text(json.dumps([talk]))
    monkeypatch.setenv("UGS_LONGMEMEVAL", str(tmp_path))
    monkeypatch.setenv("UGS_LOCOMO", str(tmp_path))
    bench.recall.main(["--people", "10", "--facts", "200", "--questions", "20"])
    told = capsys.readouterr().out
    assert [line.partition(":")[0] for line in told.splitlines() if "questions" in line] == [
        "synthetic",
        "LongMemEval-S",
        "LoCoMo",
    ]
    assert told.count("R@5 100.0%") >= 4
