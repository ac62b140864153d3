"""The published JSON Schema and the types that really decode a program agree."""

from __future__ import annotations

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.world import fixture
from ugs.programs.decoding import decode
from ugs.programs.json_schema import JSON_SCHEMA

JUDGE = jsonschema.Draft202012Validator(JSON_SCHEMA)
OK = {"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}


def branch(**more: Any) -> dict[str, Any]:
    return {"op": "?", "operation": {"type": "conditional", "condition": {"test": "empty"}, "then": [OK], **more}}


NOT_PROGRAMS: list[tuple[str, Any]] = [
    ("PROG-162", {"version": 2, "statements": [OK]}),
    ("PROG-162", {"version": 1, "statements": []}),
    ("PROG-163", {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": ""}}]}),
    ("PROG-163", {"version": 1, "statements": [{"op": "+", "operation": {**OK["operation"], "limit": 0}}]}),  # type: ignore[dict-item]
    ("PROG-164", {"version": 1, "statements": [{"op": "+", "operation": {"type": "api", "endpoint": "/x"}}]}),
    (
        "PROG-164",
        {"version": 1, "statements": [{"op": "+", "operation": {"type": "api", "endpoint": "", "params": {}}}]},
    ),
    ("PROG-165", {"version": 1, "statements": [branch(then=[])]}),
    ("PROG-165", {"version": 1, "statements": [branch(condition="empty")]}),
    ("PROG-166", {"version": 1, "statements": [branch(condition={"test": "full"})]}),
    ("PROG-167", {"version": 1, "statements": [OK], "params": [{"name": "x", "type": "list"}]}),
    ("PROG-167", {"version": 1, "statements": [OK], "params": [{"type": "string"}]}),
    ("PROG-168", {"version": 1, "statements": [{**OK, "block": {"blockType": "dance", "params": {}}}]}),
    ("PROG-168", {"version": 1, "statements": [{**OK, "block": {"blockType": "search"}}]}),
    ("PROG-169", {"version": 1, "statements": [OK], "metadata": {"author": "robot"}}),
]


@pytest.mark.clause(*(f"PROG-{number}" for number in range(162, 170)))
def test_what_is_no_program_to_the_one_is_none_to_the_other() -> None:
    for clause, raw in NOT_PROGRAMS:
        assert not JUDGE.is_valid(raw), (clause, raw)
        assert decode(raw)[0] is None, (clause, raw)
    for raw in ({"version": 1, "statements": [branch(**{"else": []})]}, {"version": 1, "statements": [OK], "x": 1}):
        assert JUDGE.is_valid(raw) and decode(raw)[0] is not None
    for case in fixture("prog_validation_cases")["cases"]:
        if decode(case["program"])[0] is not None:
            assert JUDGE.is_valid(case["program"]), case["name"]
    assert JUDGE.is_valid(fixture("prog_organizational_patterns")["program"])


names = st.text("ab_1", min_size=1, max_size=4)
values = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=3)
conditions: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"test": st.sampled_from(["has_results", "empty", "count_gte", "has_ontology", "nothing"])},
    optional={"value": values, "ontology": values},
)
operations: st.SearchStrategy[Any] = st.deferred(
    lambda: st.fixed_dictionaries(
        {"type": st.sampled_from(["cypher", "api", "conditional", "loop"])},
        optional={
            "query": values,
            "limit": values,
            "endpoint": values,
            "params": st.just({}) | values,
            "condition": conditions,
            "then": st.lists(statements, max_size=2),
            "else": st.lists(statements, max_size=2),
        },
    )
)
statements: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"op": st.sampled_from(["+", "-", "&", "?", "!", "*"]), "operation": operations},
    optional={"label": st.text(max_size=3)},
)


@settings(max_examples=40, deadline=None)
@given(st.lists(statements, max_size=3), st.sampled_from([1, 1, 1, 2, "1"]))
def test_generated_programs_are_judged_alike(found: list[Any], version: Any) -> None:
    raw = {"version": version, "statements": found}
    tree, issues = decode(raw)
    if tree is not None:
        assert JUDGE.is_valid(tree.as_json())
        assert decode(tree.as_json())[0] == tree
    elif JUDGE.is_valid(raw):
        # The schema lets a count stand without its number (C-75); the types do not.
        assert "value" in issues[0].message or "ontology" in issues[0].message or "Expected" in issues[0].message
