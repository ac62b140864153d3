"""The cases of the public project behind seed 002, each exactly as published unless a decision of ours says otherwise.

Where one does, the table `DECIDED` names the case, the decision, and what counts instead; nothing else is let pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from ugs.cypher.values.entities import Node, Relationship
from ugs.programs.ast import Operator
from ugs.programs.commands import parse_valid
from ugs.programs.execution.graph_mapper import Mapper
from ugs.programs.execution.operators import AssertionFailed, apply, drop_dangling
from ugs.programs.execution.working_graph import RawLink
from ugs.programs.validation.limits import Bounds, nesting_depth, operation_count
from ugs.programs.validation.query_safety import check_query
from ugs.programs.validation.result import ValidationIssue, ValidationResult
from ugs.programs.validation.validator import validate
from ugs.values import to_text
from ugs_conformance.support.external_cases import cases_or_skip
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.test_programs_language import graph, run_scripted


def erring(*rules: str, statement: int | None = None) -> dict[str, Any]:
    issues = [{"rule_id": rule, "severity": "error", "statement": statement} for rule in rules]
    return {"valid": False, "error_rules": list(rules), "issues": issues}


def expected_graph(nodes: Mapping[str, str], *links: Mapping[str, Any]) -> dict[str, Any]:
    """Nodes by their labels, and links."""
    named = [{"concept_id": id, "label": label} for id, label in nodes.items()]
    return {"expected": {"nodes": named, "links": list(links)}}


def link(source: str, target: str, type: str, **more: Any) -> dict[str, Any]:
    return {"from_id": source, "to_id": target, "relationship_type": type, **more}


LINK_FIELDS = {"category": "cat", "confidence": 0.5, "properties": {"z": 1}}
FOO = {"nodes": [{"concept_id": "7", "label": "foo", "properties": {"name": "foo"}}], "links": []}
DECIDED: dict[str, tuple[str, dict[str, Any]]] = {
    # Two readings of the catalogue: the type check and the rule of its own are both told.
    "TestLayer1Deserialization.test_v000_empty_statements_list": ("C-73", erring("V000", "V002")),
    "TestLayer2Structural.test_v001_wrong_version_value": ("C-73", erring("V000", "V001")),
    "TestPydanticModels.test_graph_program_rejects_invalid": ("C-73", erring("V000", "V002")),
    # The seed says three times that an api operation has parameters.
    "TestEdgeCases.test_v000_api_params_defaults_empty": ("C-75", erring("V000", statement=0)),
    # Whatever the parser cannot read is refused too: an empty text, and size() of a pattern (openCypher, List6 [6]).
    "cypher_guard.TestWriteKeywordRejection.test_empty_query": ("C-72", {"valid": False, "error_rules": ["V031"]}),
    "cypher_guard.TestCleanQueriesPass.test_with_clause": ("C-72", {"valid": False, "error_rules": ["V031"]}),
    # A label is the property label, name or title, else the id; never the type.
    "result_mapping.node_without_concept_id": ("C-90", {"expected": FOO}),
    "result_mapping.node_no_properties": ("C-90", expected_graph({"7": "7"})),
    "result_mapping.rel_endpoints_returned": (
        "C-90",
        expected_graph({"a": "1", "b": "2"}, link("a", "b", "SUP", **LINK_FIELDS)),
    ),
    "result_mapping.path_list": ("C-90", expected_graph({"a": "1", "b": "2"}, link("a", "b", "SUP"))),
    "result_mapping.rel_one_endpoint": ("C-90", expected_graph({"a": "1"})),
    # Lists are unwrapped, however deep.
    "result_mapping.nested_list": ("C-94, C-90", expected_graph({"a": "1"})),
    # Two links are one when their ends and their type are.
    "result_mapping.dup_links_rows": ("PROG-52, C-90", expected_graph({"a": "1", "b": "2"}, link("a", "b", "S"))),
}


def external_cases_of(*kinds: str) -> list[Any]:
    """The cases of these kinds, as they count."""
    cases = (case for case in cases_or_skip("graphprogram_cases") if case["kind"] in kinds)
    return [{**case, **DECIDED.get(case["name"], ("", {}))[1]} for case in cases]


def check_decisions() -> None:
    """Each decision is about a case, changes it, and goes against no verdict of the seed."""
    cases = {case["name"]: case for case in cases_or_skip("graphprogram_cases")}
    assert len(cases) == 227
    for name, (_, instead) in DECIDED.items():
        assert any(cases[name].get(key) != value for key, value in instead.items()), name
        assert not cases[name].keys() & {"seed_verdict", "seed_statements"}, name


@clause("PROG-72", "PROG-73", "PROG-74", "PROG-75", "PROG-76", "PROG-77", "PROG-78", "PROG-85")
async def test_the_executor_cases() -> None:
    for case in external_cases_of("executor"):
        start = None if case["initial_w"] is None else graph(case["initial_w"])
        told = (await run_scripted(case["program"], case["operation_results"], start)).as_json()
        expected = case["expected"]
        assert told["result"] == graph(expected["result"]).as_json(), case["name"]
        assert told.get("aborted") == expected["aborted"], case["name"]
        numbers = case.get("seed_statements") or [entry["statement"] for entry in expected["log"]]
        for entry, wanted, number in zip(told["log"], expected["log"], numbers, strict=True):
            assert {key: entry.get(key) for key in wanted} == {**wanted, "statement": number}, case["name"]
            assert entry["duration_ms"] >= 0


@pytest.mark.clause("PROG-86", "PROG-87", "PROG-104")
def test_the_validation_cases() -> None:
    check_decisions()
    for case in external_cases_of("validator", "parse", "operation_count", "nesting_depth"):
        told = validate(case["program"])
        assert told.valid is case["valid"], case["name"]
        assert {issue.rule_id for issue in told.errors} == set(case["error_rules"]), case["name"]
        assert {issue.rule_id for issue in told.warnings} == set(case["warning_rules"]), case["name"]
        check_issues(case, told)
        check_measures(case)


def check_issues(case: Mapping[str, Any], told: ValidationResult) -> None:
    """Each issue at its place and as often as it should come; those of the type check have fields of their own."""
    issues = told.errors + told.warnings
    if "issues" in case:
        places = Counter((one["rule_id"], one["severity"], one["statement"]) for one in case["issues"])
        assert Counter((one.rule_id, one.severity, one.statement) for one in issues) == places, case["name"]
        for wanted in case["issues"]:
            assert any(_is(issue, wanted) for issue in issues), (case["name"], wanted)
    for rule, words in case.get("message_contains", {}).items():
        messages = [issue.message for issue in issues if issue.rule_id == rule]
        assert messages and all(word in message for message in messages for word in words), case["name"]


def _is(issue: ValidationIssue, wanted: Mapping[str, Any]) -> bool:
    return all(getattr(issue, key) == value for key, value in wanted.items())


def check_measures(case: Mapping[str, Any]) -> None:
    if not case["valid"]:
        assert not case.keys() & {"operation_count", "nesting_depth"} and not case.get("parsed")
        return
    tree = parse_valid(case["program"], Bounds())
    assert operation_count(tree.statements) == case.get("operation_count", operation_count(tree.statements))
    assert nesting_depth(tree.statements) == case.get("nesting_depth", nesting_depth(tree.statements))
    for path, value in case.get("parsed", {}).items():
        path = path.replace("statement_count", "statements.length")
        told: Any = tree.as_json()
        for step in path.split("."):
            told = len(told) if step == "length" else told[int(step) if step.isdecimal() else step]
        assert told == value, (case["name"], path)


@pytest.mark.clause("PROG-26", "PROG-27", "PROG-92", "PROG-93")
def test_the_guards_cases() -> None:
    for case in external_cases_of("cypher_guard"):
        faults = check_query(case["query"]).faults
        assert sorted(fault.rule for fault in faults) == sorted(case["error_rules"]), case["name"]
        assert (not faults) is case["valid"], case["name"]


@pytest.mark.clause("PROG-52", "PROG-53", "PROG-77")
def test_the_operator_cases() -> None:
    for case in external_cases_of("operator"):
        check_operator(case)
    for case in external_cases_of("link_key"):
        keys = [RawLink(a, c, b).key for a, b, c in case.get("links", ())]
        if "link" in case:
            assert list(msgspec.convert(case["link"], RawLink).key) == case["key"]
        else:
            assert (keys[0] == keys[1]) is case["same"]


def check_operator(case: Mapping[str, Any]) -> None:
    w = graph(case["W"])
    if case["op"] == "invariant":
        assert drop_dangling(w) == case["links_removed"]
    elif "aborts" in case:
        with pytest.raises(AssertionFailed):
            apply(Operator(case["op"]), w, graph(case["R"]))
        return
    else:
        affected = apply(Operator(case["op"]), w, graph(case["R"]))
        assert tuple(affected) == (case["nodes_affected"], case["links_affected"]), case["name"]
    assert w.as_json() == graph(case["W_after"]).as_json(), case["name"]


def value_of(raw: Any) -> Any:
    """A value of the public project's engine as ours gives it."""
    if isinstance(raw, list):
        return [value_of(item) for item in raw]
    if not isinstance(raw, dict) or "id" not in raw:
        return raw
    properties = to_text(raw.get("properties", {}))
    if "start_id" in raw:
        return Relationship(str(raw["id"]), raw["label"], str(raw["start_id"]), str(raw["end_id"]), properties)
    return Node(str(raw["id"]), (raw["label"],), properties)


@pytest.mark.clause("PROG-79", "PROG-80", "PROG-81")
def test_the_result_cases() -> None:
    for case in external_cases_of("result_mapping"):
        rows = [[value_of(value) for value in record.values()] for record in case["records"]]
        assert Mapper({}).to_working_graph(rows).as_json() == graph(case["expected"]).as_json(), case["name"]
