"""The published JSON Schema and the types that really decode a program agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ugs.programs.validation.json_decoder import decode
from ugs.programs.validation.json_schema import JSON_SCHEMA
from ugs_conformance.support.store_fixture import fixture

JUDGE = jsonschema.Draft202012Validator(JSON_SCHEMA)
OK = {"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}


def branch(**more: Any) -> dict[str, Any]:
    return {"op": "?", "operation": {"type": "conditional", "condition": {"test": "empty"}, "then": [OK], **more}}


def without(statement: dict[str, Any], name: str) -> dict[str, Any]:
    return {**statement, "operation": {key: value for key, value in statement["operation"].items() if key != name}}


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
    ("PROG-165", {"version": 1, "statements": [without(branch(), "condition")]}),
    ("PROG-165", {"version": 1, "statements": [without(branch(), "then")]}),
    ("PROG-165", {"version": 1, "statements": [branch(**{"else": OK})]}),
    ("PROG-166", {"version": 1, "statements": [branch(condition={"test": "full"})]}),
    ("PROG-167", {"version": 1, "statements": [OK], "params": [{"name": "x", "type": "list"}]}),
    ("PROG-167", {"version": 1, "statements": [OK], "params": [{"type": "string"}]}),
    ("PROG-167", {"version": 1, "statements": [OK], "params": [{"name": "x"}]}),
    ("PROG-167", {"version": 1, "statements": [OK], "params": [{"name": 1, "type": "string"}]}),
    ("PROG-167", {"version": 1, "statements": [OK], "params": [{"name": "x", "type": "boolean"}]}),
    ("PROG-168", {"version": 1, "statements": [{**OK, "block": {"blockType": "dance", "params": {}}}]}),
    ("PROG-168", {"version": 1, "statements": [{**OK, "block": {"blockType": "search"}}]}),
    ("PROG-169", {"version": 1, "statements": [OK], "metadata": {"author": "robot"}}),
]


@pytest.mark.clause(*(f"PROG-{number}" for number in range(162, 170)))
def test_what_is_no_program_to_the_one_is_none_to_the_other() -> None:
    for clause, raw in NOT_PROGRAMS:
        assert not JUDGE.is_valid(raw), (clause, raw)
        assert decode(raw)[0] is None, (clause, raw)
    declared = [{"name": "x", "type": "string"}, {"name": "y", "type": "number", "default": 1}]
    for raw in (
        {"version": 1, "statements": [branch(**{"else": []})]},
        {"version": 1, "statements": [branch()]},
        {"version": 1, "statements": [OK], "params": declared},
        {"version": 1, "statements": [OK], "x": 1},
    ):
        assert JUDGE.is_valid(raw) and decode(raw)[0] is not None
    for case in fixture("prog_validation_cases")["cases"]:
        if decode(case["program"])[0] is not None:
            assert JUDGE.is_valid(case["program"]), case["name"]
    assert JUDGE.is_valid(fixture("prog_organizational_patterns")["program"])


names = st.text("ab_1", min_size=1, max_size=4)
values = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 5.0, 2.5, 1e300]) | st.text("ab", max_size=3)
)
conditions: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"test": st.sampled_from(["has_results", "empty", "count_gte", "count_lte", "has_ontology", "nothing"])},
    optional={"value": values | st.floats(-3, 3), "ontology": values},
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
@given(
    st.lists(statements, max_size=3),
    st.sampled_from([1, 1, 1.0, 2, 2.0, "1"]),
    st.lists(
        st.fixed_dictionaries(
            {"name": names, "type": st.sampled_from(["string", "number"])}, optional={"default": values}
        ),
        max_size=2,
    ),
)
def test_generated_programs_are_judged_alike(found: list[Any], version: Any, params: list[Any]) -> None:
    raw = {"version": version, "statements": found, "params": params}
    tree, _ = decode(raw)
    if tree is not None:
        assert JUDGE.is_valid(tree.as_json())
        assert decode(tree.as_json())[0] == tree
    elif JUDGE.is_valid(raw):
        # What the published cases refuse beside the schema: a condition without its operand, a count of no nodes, and
        # the names of parameters.
        assert any(map(is_odd, conditions_in(found))) or any(not NAME.match(one["name"]) for one in params), raw


NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*$")


def conditions_in(found: list[Any]) -> Iterator[dict[str, Any]]:
    for statement in found:
        operation = statement["operation"]
        if operation["type"] == "conditional":
            yield operation["condition"]
            yield from conditions_in([*operation.get("then", ()), *operation.get("else", ())])


def is_odd(condition: dict[str, Any]) -> bool:
    if condition["test"] in ("count_gte", "count_lte"):
        return "value" not in condition or (condition["test"] == "count_gte" and condition["value"] <= 0)
    return condition["test"] == "has_ontology" and not condition.get("ontology")


def test_whole_numbers_may_be_written_with_a_point() -> None:
    query = {"type": "cypher", "query": "MATCH (n) RETURN n", "limit": 5.0}
    deep = branch(then=[{"op": "+", "operation": query}], condition={"test": "count_gte", "value": 2.5})
    tree, issues = decode({"version": 1.0, "statements": [{"op": "+", "operation": query}, deep]})
    assert issues == []
    assert tree is not None
    told = tree.as_json()
    assert (told["version"], told["statements"][0]["operation"]["limit"]) == (1, 5)
    assert told["statements"][1]["operation"]["then"][0]["operation"]["limit"] == 5
    assert told["statements"][1]["operation"]["condition"]["value"] == 2.5
    assert [issue.rule_id for issue in decode({"version": 2.0, "statements": [OK]})[1]] == ["V000", "V001"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0, "`statements[0].operation.condition`: the value of count_gte must be more than 0, not 0"),
        (-1.5, "`statements[0].operation.condition`: the value of count_gte must be more than 0, not -1.5"),
        ("1", "`statements[0].operation.condition.value` must be a number, not a text"),
    ],
)
def test_a_refused_count_is_told_what_would_do(value: Any, told: str) -> None:
    _, issues = decode({"version": 1, "statements": [branch(condition={"test": "count_gte", "value": value})]})
    assert [(issue.rule_id, issue.message) for issue in issues] == [("V000", told)]
