"""Seed 002, the language: syntax tree, rules, operators, conditions, text and blocks. Nothing here needs a store."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import msgspec
import pytest

from ugs.errors import UgsError
from ugs.programs.ast import (
    AnyCondition,
    ApiOp,
    BlockType,
    ConditionalOp,
    CypherOp,
    GraphProgram,
    Operator,
    statements_in,
)
from ugs.programs.blocks import blocks_of, compile_blocks
from ugs.programs.commands import parse_valid
from ugs.programs.endpoints import ENDPOINTS
from ugs.programs.errors import BlockInvalid, ProgramTextError
from ugs.programs.execution.conditions import holds
from ugs.programs.execution.executor import PreparedProgram, run_program
from ugs.programs.execution.operators import AssertionFailed, apply
from ugs.programs.execution.results import ProgramResult
from ugs.programs.execution.working_graph import WorkingGraph
from ugs.programs.migration import from_exploration, is_exploration
from ugs.programs.text import parse_program, parse_text, print_text
from ugs.programs.validation.json_decoder import decode
from ugs.programs.validation.json_schema import JSON_SCHEMA
from ugs.programs.validation.limits import Bounds, nesting_depth, operation_count
from ugs.programs.validation.result import RULES, ValidationIssue
from ugs.programs.validation.validator import validate
from ugs_conformance.support.store_fixture import fixture

OK = {"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}
COMPLETE = fixture("prog_organizational_patterns")["program"]
DSL = (files("ugs_conformance") / "data" / "prog_organizational_patterns.dsl").read_text("utf-8")
CASES = fixture("prog_validation_cases")["cases"]


def program(*statements: Any, **more: Any) -> dict[str, Any]:
    return {"version": 1, "statements": list(statements) or [OK], **more}


def cypher(query: str, op: str = "+", **more: Any) -> dict[str, Any]:
    return {"op": op, "operation": {"type": "cypher", "query": query, **more}}


def api(endpoint: str, **params: Any) -> dict[str, Any]:
    return {"op": "+", "operation": {"type": "api", "endpoint": endpoint, "params": params}}


def when_step(condition: Mapping[str, Any], *then: Any, **more: Any) -> dict[str, Any]:
    operation = {"type": "conditional", "condition": condition, "then": list(then) or [OK], **more}
    return {"op": "?", "operation": operation}


def rules(raw: object, **bounds: Any) -> list[str]:
    return [issue.rule_id for issue in validate(raw, Bounds(**bounds)).errors]


def graph(raw: Mapping[str, Any]) -> WorkingGraph:
    """A working graph of a fixture; links may be written as triples."""
    links = [
        {"from_id": link[0], "relationship_type": link[1], "to_id": link[2]} if isinstance(link, list) else link
        for link in raw["links"]
    ]
    return msgspec.convert({"nodes": raw["nodes"], "links": links}, WorkingGraph)


# ── the validator ────────────────────────────────────────────────────────────


@pytest.mark.clause(
    *("PROG-86", "PROG-87", "PROG-88", "PROG-92", "PROG-93", "PROG-94", "PROG-95", "PROG-102", "PROG-103"),
    *("PROG-13", "PROG-16", "PROG-19", "PROG-20", "PROG-23", "PROG-26", "PROG-27", "PROG-28", "PROG-30", "PROG-31"),
    *("PROG-42", "PROG-43", "PROG-89", "PROG-90", "PROG-91", "PROG-96", "PROG-97", "PROG-98", "PROG-99"),
    *("PROG-100", "PROG-101", "PROG-156"),
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_seeds_validation_cases(case: dict[str, Any]) -> None:
    found, expected = validate(case["program"]), case["expected"]
    assert found.valid is expected["valid"], found
    assert set(expected["error_rules"]) <= {issue.rule_id for issue in found.errors}
    assert {issue.rule_id for issue in found.warnings} == set(expected["warning_rules"])
    assert {issue.rule_id for issue in found.errors + found.warnings} <= RULES.keys()


@pytest.mark.clause("PROG-104", "PROG-87")
def test_issues_say_where_and_what() -> None:
    def issue_of(raw: object) -> ValidationIssue:
        (found,) = validate(raw).errors
        return found

    nested = program(OK, when_step({"test": "empty"}, cypher("MATCH (n) DELETE n")))
    assert issue_of(nested) == ValidationIssue(
        "V012", "error", "Cypher query contains write keyword: DELETE", 1, "operation.query", "1.then.0"
    )
    unwritten = when_step({"test": "empty"}, OK, **{"else": [when_step({"test": "empty"}, api("/x"))]})
    assert (issue_of(program(OK, unwritten)).statement, issue_of(program(OK, unwritten)).path) == (
        1,
        "1.else.0.then.0",
    )
    assert issue_of(program(cypher("MATCH (n) DELETE n"))).path is None
    assert issue_of(program(api("/x"))).message.startswith("Endpoint not in allowlist: /x")
    assert issue_of(program(api("/search/concepts"))).message == "Required parameter missing: query"
    assert issue_of(program(api("/search/concepts", query=1))).message == "Parameter query must be str, got int"
    assert issue_of(program(api("/search/concepts", query="x", limit=True))).field == "operation.params.limit"
    assert issue_of(program(params=[{"name": "x", "type": "string"}] * 2)).message == "Duplicate parameter name: x"
    assert issue_of(program(*[OK] * 101)).message == "Program exceeds maximum operation count (101 > 100)"
    deep = when_step(
        {"test": "empty"},
        when_step({"test": "empty"}, when_step({"test": "empty"}, when_step({"test": "empty"}))),
    )
    assert issue_of(program(deep)).message == "Conditional nesting exceeds maximum depth (4 > 3)"
    assert "[*1..10]" in issue_of(program(cypher("MATCH (a)-[*1..10]-(b) RETURN a"))).message
    assert issue_of({"statements": [OK], "version": "1"}).field == "version"
    assert issue_of(program({"op": "*", "operation": OK["operation"]})).field == "statements.0.op"
    assert issue_of(program({"op": "+"})).field == "statements.0.operation"
    (warned,) = validate(program(api("/search/concepts", query="x", bogus=1))).warnings
    assert (warned.rule_id, warned.severity, warned.message) == ("V022", "warning", "Unknown parameter: bogus")
    whole = validate(program()).as_json()
    assert whole == {"valid": True, "errors": [], "warnings": []}
    assert "statement" not in validate([]).as_json()["errors"][0]


WRITES = [
    ("MATCH (a)--(b) SET a.x = 1 RETURN a", "V011"),
    ("MATCH (a)-->(b) DELETE a", "V012"),
    ("MATCH (a) -- (b) DELETE a\nRETURN a", "V012"),
    ("MATCH (n) WHERE n.x = 'it\\'s' SET n.y = 'z' RETURN n", "V011"),
    ('MATCH (n) WHERE n.x = "\'" SET n.y = "\'" RETURN n', "V011"),
    ("MATCH (n) CALL db.labels() YIELD label RETURN n", "V017"),
    ("CALL { MATCH (n) RETURN n } RETURN n", "V017"),
    ("LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row", "V018"),
    ("MATCH (n) FOREACH (x IN [1] | SET n.y = x) RETURN n", "V011 V018"),
    ("MATCH (n) RETURN n; MATCH (m) DELETE m", "V012"),
    ("MATCH (n) RETURN n; MATCH (m) RETURN m", "V031"),
    ("USE other MATCH (n) RETURN n", "V031"),
    ("SHOW DATABASES", "V031"),
    ("EXPLAIN MATCH (n) RETURN n", "V031"),
    ("RETURN 1", "V031"),
    ("MATCH (n)", "V031"),
    ("   ", "V031"),
    ("MATCH (n) RETURN 'open", "V031"),
    ("MATCH (n) \\u0053ET n.x = 1 RETURN n", "V031"),
    ("MATCH (a)-[r*]->(b) RETURN a", "V030"),
    ("MATCH (a)-[r*1..10]->(b) RETURN a", "V030"),
    ("MATCH (a)-[:T*]->(b) RETURN a", "V030"),
    ("MATCH (a)-[r:T|U*2..]->(b) RETURN a", "V030"),
    ("MATCH (a)-[* {k: 1}]->(b) RETURN a", "V030"),
    ("MATCH (a) WHERE EXISTS { (a)-[*]->(b) } RETURN a", "V030"),
    ("MATCH p = shortestPath((a)-[*]-(b)) RETURN p", "V030"),
    ("MATCH (a)-[*]-(b), (c)-[*9]-(d) RETURN a", "V030 V030"),
]
READS = [
    "MATCH (n) RETURN n // SET n.x = 1",
    "MATCH (n) -- SET is only a word, isn't it\nRETURN n",
    "MATCH (n:`SET`) WHERE n.create = 'MERGE' AND n.`drop` = \"DELETE\" RETURN n",
    "MATCH (a)--(b)-->(c)<--(d) RETURN a, b, c, d",
    "MATCH (a)-[r:A|B]-(b) WHERE a.concept_id IN $W_IDS RETURN a, r, b;",
    "MATCH (n) RETURN {set: n.x, offset: 2} AS m",
]


@pytest.mark.clause("PROG-24", "PROG-26", "PROG-27", "PROG-92", "PROG-93")
def test_only_reading_within_bounds_is_safe() -> None:
    for query, expected in WRITES:
        found = rules(program(cypher(query)))
        assert found == expected.split(), (query, found)
    for query in READS:
        assert rules(program(cypher(query))) == [], query
    assert rules(program(cypher("MATCH (a)-[*..8]-(b) RETURN a")), path=8) == []


@pytest.mark.clause("PROG-15", "PROG-39", "PROG-40", "PROG-95")
def test_parameters_are_declared_typed_and_resolved() -> None:
    declared = [{"name": "who", "type": "string", "default": "x"}, {"name": "n", "type": "number"}]
    used = cypher("MATCH (a) WHERE a.name = $who AND a.n < $n RETURN a")
    assert rules(program(used, api("/search/concepts", query="$who", limit="$n"), params=declared)) == []
    assert rules(program(used)) == ["V040", "V040"]
    assert rules(program(api("/search/concepts", query="$nobody"))) == ["V040"]
    assert rules(program(api("/search/concepts", query="$$nobody"))) == []
    assert rules(program(api("/search/concepts", query="$n"), params=declared)) == ["V023"]
    assert rules(program(api("/concepts/batch", concept_ids="$W_IDS"))) == []
    assert rules(program(api("/concepts/details", concept_id="$W_IDS"))) == ["V023"]
    assert rules(program(params=[{"name": "n", "type": "number", "default": "1"}])) == ["V041"]
    assert rules(program(params=[{"name": "n", "type": "string", "default": 1.5}])) == ["V041"]
    assert rules(program(params=[{"name": "a b", "type": "string"}])) == ["V000"]


@pytest.mark.clause("PROG-3", "PROG-106", "PROG-107", "PROG-71")
def test_the_vocabulary_is_closed() -> None:
    for word in ("loop", "repeat", "while", "define", "macro", "function", "let", "goto", "call", "CYPHER", ""):
        assert rules(program({"op": "+", "operation": {"type": word, "query": "MATCH (n) RETURN n"}})) == ["V000"]
    for op in ("=", "++", "*", "", None, 1):
        assert rules(program({**OK, "op": op})) == ["V000"]
    tree, _ = decode(program({**OK, "repeat": 5, "as": "x"}, functions=[1]))
    assert tree is not None and tree.as_json() == program()
    assert set(msgspec.json.schema(GraphProgram)["$defs"]) >= {"CypherOp", "ApiOp", "ConditionalOp"}


@pytest.mark.clause("PROG-4", "PROG-89", "PROG-90", "PROG-91", "PROG-31")
def test_size_is_known_from_the_tree() -> None:
    tree = parse_valid(
        program(OK, when_step({"test": "empty"}, OK, OK, OK, **{"else": [OK]}), api("/vocabulary/status")),
        Bounds(),
    )
    assert (operation_count(tree.statements), nesting_depth(tree.statements)) == (5, 1)
    assert len(list(statements_in(tree.statements))) == 7
    assert rules(tree.as_json(), operations=4) == ["V006"]
    assert rules(program(when_step({"test": "empty"}, when_step({"test": "empty"}))), depth=1) == ["V007"]


@pytest.mark.clause("PROG-12", "PROG-156", "PROG-157")
def test_the_seeds_programs_are_valid_and_validation_is_quick() -> None:
    quick = fixture("prog_quick_example")["program"]
    assert validate(quick).valid and validate(COMPLETE).valid
    assert validate(fixture("prog_storage_record")["record"]["definition"]).valid
    began = time.process_time()
    for _ in range(200):
        validate(COMPLETE)
    assert (time.process_time() - began) / 200 < 0.005


# ── the syntax tree ──────────────────────────────────────────────────────────


@pytest.mark.clause(
    *("PROG-13", "PROG-14", "PROG-15", "PROG-16", "PROG-17", "PROG-19", "PROG-20", "PROG-21", "PROG-22", "PROG-23"),
    *("PROG-28", "PROG-30", "PROG-39", "PROG-45", "PROG-46"),
)
def test_the_tree_has_the_seeds_fields_and_json() -> None:
    whole = program(
        {
            **cypher("MATCH (n) RETURN n", limit=5),
            "label": "All",
            "block": {"blockType": "search", "params": {"a": [1]}},
        },
        {**api("/search/concepts", query="x"), "op": "!"},
        when_step({"test": "count_gte", "value": 2}, OK, **{"else": []}),
        when_step({"test": "has_ontology", "ontology": "o"}, OK),
        when_step({"test": "has_relationship", "type": "T"}, OK),
        metadata={"name": "n", "description": "d", "author": "agent", "created": "2026-02-05T12:00:00Z"},
        params=[{"name": "p", "type": "number", "default": 1.5}, {"name": "q", "type": "string"}],
    )
    tree, issues = decode(whole)
    assert tree is not None and issues == []
    assert tree.as_json() == whole
    assert list(tree.as_json()) == ["version", "metadata", "params", "statements"]
    kinds = [type(statement.operation) for statement in tree.statements]
    assert kinds == [CypherOp, ApiOp, ConditionalOp, ConditionalOp, ConditionalOp]
    assert [block.value for block in BlockType] == [row["blockType"] for row in fixture("prog_block_mapping")["blocks"]]
    without = copy.deepcopy(whole)
    del without["statements"][0]["block"]
    assert operation_count(tree.statements) == operation_count(parse_valid(without, Bounds()).statements)
    assert decode(program({**OK, "label": None, "block": None}))[0] == decode(program())[0]
    for broken in (
        {"metadata": None},
        {"metadata": {"author": "robot"}},
        {"metadata": {"created": "yesterday"}},
        {"version": True},
        {"version": 1.5},
        {"statements": [{**OK, "block": {"blockType": "dance", "params": {}}}]},
        {"statements": [{**OK, "block": {"blockType": "search"}}]},
        {"statements": [cypher("MATCH (n) RETURN n", limit=True)]},
    ):
        assert "V000" in rules({**program(), **broken}), broken


@pytest.mark.clause("PROG-162")
def test_the_published_schema_is_the_seeds() -> None:
    assert fixture("prog_json_schema") == JSON_SCHEMA


@pytest.mark.clause("PROG-28")
def test_params_of_an_api_operation_may_be_left_out_only_where_that_is_allowed() -> None:
    raw = program({"op": "+", "operation": {"type": "api", "endpoint": "/vocabulary/status"}})
    assert rules(raw) == ["V000"]
    lenient = validate(raw, Bounds(lenient_api_params=True))
    assert lenient.valid and [issue.rule_id for issue in lenient.warnings] == ["V000"]


@pytest.mark.clause("PROG-126")
def test_explorations_become_programs() -> None:
    for case in fixture("prog_migration")["cases"]:
        assert is_exploration(case["before"]) and not is_exploration(case["after"])
        assert from_exploration(case["before"]) == case["after"]
    old = {"name": "Old", "statements": [{"op": "-", "cypher": "MATCH (n) RETURN n", "label": "gone"}]}
    assert from_exploration(old)["statements"] == [{**cypher("MATCH (n) RETURN n", "-"), "label": "gone"}]
    with pytest.raises(UgsError):
        from_exploration(program())


@pytest.mark.clause("PROG-96", "PROG-97", "PROG-98", "PROG-99", "PROG-100", "PROG-101", "PROG-102")
def test_the_allowlist_is_the_seeds() -> None:
    expected = fixture("prog_endpoint_allowlist")["endpoints"]
    assert {
        path: {"required": dict(one.required), "optional": dict(one.optional), "description": one.description}
        for path, one in ENDPOINTS.items()
    } == expected
    for wrong in ("/Search/concepts", "/search/concepts/", "/search/concepts?x=1", "/search/../concepts/batch"):
        assert rules(program(api(wrong))) == ["V020"]


# ── operators and conditions ─────────────────────────────────────────────────


@pytest.mark.clause(
    *("PROG-7", "PROG-8", "PROG-9", "PROG-10", "PROG-11", "PROG-48", "PROG-49", "PROG-50", "PROG-51", "PROG-52"),
    *("PROG-53", "PROG-54", "PROG-55", "PROG-56", "PROG-57", "PROG-58", "PROG-59", "PROG-60", "PROG-61", "PROG-62"),
    *("PROG-63", "PROG-64", "PROG-65", "PROG-66", "PROG-67", "PROG-68", "PROG-69"),
)
@pytest.mark.parametrize("case", fixture("prog_operator_cases")["cases"], ids=lambda case: case["name"])
def test_the_seeds_operator_cases(case: dict[str, Any]) -> None:
    w = graph(case["w"])
    if case.get("aborted"):
        with pytest.raises(AssertionFailed):
            apply(Operator(case["op"]), w, graph(case["r"]))
    else:
        apply(Operator(case["op"]), w, graph(case["r"]))
    assert w.as_json() == graph(case["after"]).as_json()


@pytest.mark.clause("PROG-32", "PROG-33", "PROG-34", "PROG-35", "PROG-36", "PROG-37", "PROG-38")
@pytest.mark.parametrize("case", fixture("prog_condition_cases")["cases"], ids=lambda case: str(case["condition"]))
def test_the_seeds_conditions(case: dict[str, Any]) -> None:
    w = graph(case["w"])
    condition = msgspec.convert(case["condition"], AnyCondition)
    assert holds(condition, w) is case["expect"]
    assert w == graph(case["w"])


def links(*triples: tuple[int, str, int]) -> list[list[str]]:
    return [[f"n{source}", type, f"n{target}"] for source, type, target in triples]


def result(*numbers: int, arcs: Any = ()) -> WorkingGraph:
    return graph({"nodes": [{"concept_id": f"n{number}", "label": ""} for number in numbers], "links": list(arcs)})


@pytest.mark.clause("PROG-158", "PROG-159", "PROG-160", "PROG-161", "PROG-105")
def test_the_seeds_trace() -> None:
    """Results of the seed's sizes, on which the table's arithmetic must come out."""
    star, chain = [(0, "T", n) for n in range(1, 12)], [(n, "U", n + 1) for n in range(1, 8)]
    results = [
        result(*range(12), arcs=links(*star, *chain)),
        result(*range(9, 17)),
        result(8, 9, 10, 16),
        result(*range(7), 14, 15, arcs=links(*star[:6], *chain[:2])),
    ]
    w = WorkingGraph()
    for step, found in zip(fixture("prog_execution_trace")["steps"], results, strict=True):
        assert size(w) == step["before"]
        assert size(found) == step["r"]
        apply(Operator(step["op"]), w, found)
        assert size(w) == step["after"]


def size(w: WorkingGraph) -> dict[str, int]:
    return {"nodes": len(w.nodes), "links": len(w.links)}


# ── running, with results written down beforehand ────────────────────────────


class Script:
    """Gives the results of a case one after another."""

    def __init__(self, results: list[Any]) -> None:
        self.results = iter(results)

    async def __call__(self, operation: object, w: WorkingGraph, values: Mapping[str, Any]) -> WorkingGraph:
        found = next(self.results)
        if "error" in found:
            raise UgsError(found["error"])
        return graph(found)


async def run_scripted(raw: Any, results: list[Any], w: WorkingGraph | None = None) -> ProgramResult:
    return await run_program(Script(results), PreparedProgram(parse_valid(raw, Bounds())), time.monotonic() + 10, w)


# ── text and blocks ──────────────────────────────────────────────────────────


@pytest.mark.clause(
    *("PROG-2", "PROG-127", "PROG-128", "PROG-129", "PROG-130", "PROG-131", "PROG-132", "PROG-133", "PROG-134"),
    *("PROG-135", "PROG-136", "PROG-137", "PROG-138", "PROG-139", "PROG-140", "PROG-141"),
)
@pytest.mark.parametrize("case", fixture("prog_dsl_cases")["cases"], ids=lambda case: case["name"])
def test_the_seeds_texts(case: dict[str, Any]) -> None:
    assert parse_text(case["dsl"]).program == case["program"]
    again = parse_text(print_text(parse_valid(case["program"], Bounds())))
    assert (again.program, again.warnings) == (case["program"], [])


TEXTS = """-- Name: Everything at once
-- Description: All that the grammar has
-- Steps: 3

-- @param low: number = 2
@param who: string = "a \\"b\\""

-- a comment that goes
-- Step 1: Find, with a label
-- @block search query="x;y" limit=3 exact=true tags=["a", "b"] word=bare
MATCH (c) // with a note;
  WHERE c.label = 'a; -- b }'
  -- a whole line of it
  AND c.n >= $low
  RETURN c
  LIMIT 7;
- MATCH (a)-[r]->(b)
  WHERE a.x = $who RETURN b, {k: [1, 2]} AS m;

& @api /search/concepts {"query": "a;b}", "limit": 3,
   "ontology": "o"};
! IF has_ontology 'it\\'s' THEN { + IF count_lte 3 THEN { ? MATCH (a) RETURN a; }; } ELSE {
  -- Step 9: inside
  + MATCH (b) RETURN b ORDER BY b.x LIMIT $low;
  - MATCH (x) WHERE EXISTS { (x)-->(y) } RETURN x
};
+ MATCH (no) RETURN no

+ MATCH (end) RETURN end
"""


@pytest.mark.clause(
    *("PROG-128", "PROG-129", "PROG-130", "PROG-131", "PROG-132", "PROG-133", "PROG-134", "PROG-136", "PROG-137"),
    *("PROG-138", "PROG-139", "PROG-140", "PROG-141", "PROG-142"),
)
def test_a_text_with_everything() -> None:
    found = parse_text(TEXTS)
    tree = parse_valid(found.program, Bounds())
    statements = found.program["statements"]
    assert found.program["metadata"] == {"name": "Everything at once", "description": "All that the grammar has"}
    assert [one["default"] for one in found.program["params"]] == [2, 'a "b"']
    assert statements[0] == {
        **cypher("MATCH (c) WHERE c.label = 'a; -- b }' AND c.n >= $low RETURN c", limit=7),
        "label": "Find, with a label",
        "block": {
            "blockType": "search",
            "params": {"query": "x;y", "limit": 3, "exact": True, "tags": ["a", "b"], "word": "bare"},
        },
    }
    assert [one["op"] for one in statements] == ["+", "-", "&", "!", "+", "+"]
    assert statements[2]["operation"]["params"] == {"query": "a;b}", "limit": 3, "ontology": "o"}
    branch = statements[3]["operation"]
    assert branch["condition"] == {"test": "has_ontology", "ontology": "it's"}
    assert branch["then"][0]["operation"]["then"][0]["op"] == "?"
    assert branch["else"][0]["label"] == "inside" and branch["else"][0]["operation"]["query"].endswith("LIMIT $low")
    assert len(found.warnings) == 3
    assert parse_text(print_text(tree)).program == found.program
    assert parse_program(print_text(tree)) == tree
    assert "comment" not in print_text(tree)


@pytest.mark.clause("PROG-2", "PROG-141", "PROG-157")
def test_the_complete_example_in_both_forms() -> None:
    assert parse_text(DSL).program == COMPLETE
    assert parse_text(print_text(parse_valid(COMPLETE, Bounds()))).program == COMPLETE


@pytest.mark.clause("PROG-128", "PROG-129")
def test_mistakes_in_a_text_have_a_place() -> None:
    for text, line, column in [
        ("+ MATCH (a)\n  RETURN 'open", 2, 10),
        ("+ @api /x [1];", 1, 10),
        ('+ @api /x {"a": };', 1, 17),
        ("? IF maybe THEN { + MATCH (a) RETURN a; };", 1, 6),
        ("? IF empty { + MATCH (a) RETURN a; };", 1, 12),
        ("? IF empty THEN { + MATCH (a) RETURN a;", 1, 40),
        ("+ MATCH (a) RETURN a;\n}", 2, 1),
        ("-- only a comment", 1, 18),
        ("@param x = 1\n+ MATCH (a) RETURN a;", 1, 1),
        ("-- @block search x\n+ MATCH (a) RETURN a;", 1, 18),
        ("? IF empty THEN {" * 60, 1, 853),
    ]:
        with pytest.raises(ProgramTextError) as wrong:
            parse_text(text)
        assert (wrong.value.details["line"], wrong.value.details["column"]) == (line, column), (text, wrong.value)


BLOCKS: dict[str, dict[str, Any]] = {
    "search": {"query": "it's \\ a", "limit": 2},
    "selectConcept": {"conceptId": "c1"},
    "neighborhood": {"depth": 2, "direction": "outgoing", "relationshipTypes": ["A", "b c"]},
    "pathTo": {"targetType": "search", "targetQuery": "z", "maxHops": 9},
    "filterOntology": {"ontologies": ["o", "p"]},
    "filterEdge": {"relationshipTypes": ["S"]},
    "filterNode": {"nodeLabels": ["X"], "minConfidence": 0.5},
    "not": {"excludePattern": "bad", "excludeProperty": "ontology"},
    "vectorSearch": {"query": "$who", "similarity": 0.4, "limit": 5},
    "sourceSearch": {"query": "q", "ontology": "o"},
    "epistemicFilter": {"includeStatuses": ["active"]},
    "enrich": {},
}
SHAPES = {
    "search": "CONTAINS",
    "selectConcept": "c.concept_id = 'c1'",
    "neighborhood": "(c)-[r:A|`b c`*1..2]->(n)",
    "pathTo": "path = (a)-[*..6]-(b)",
    "filterOntology": "c.ontology IN ['o', 'p']",
    "filterEdge": "-[r:S]-",
    "filterNode": "c.confidence >= 0.5",
    "not": "WHERE",
}


@pytest.mark.clause(
    *("PROG-46", "PROG-143", "PROG-144", "PROG-145", "PROG-146", "PROG-147", "PROG-148", "PROG-149", "PROG-152"),
    *("PROG-154", "PROG-155"),
)
@pytest.mark.parametrize("row", fixture("prog_block_mapping")["blocks"], ids=lambda row: row["blockType"])
def test_every_block_becomes_what_the_seed_says(row: dict[str, Any]) -> None:
    kind = row["blockType"]
    if kind not in BLOCKS:
        return
    blocks = [{"blockType": kind, **({"params": BLOCKS[kind]} if BLOCKS[kind] else {})}]
    made = compile_blocks(blocks)
    (statement,) = made.as_json()["statements"]
    assert (statement["op"], statement["operation"]["type"]) == (row["op"], row["operation"])
    assert statement["operation"].get("endpoint") == row.get("endpoint")
    assert SHAPES.get(kind, "") in statement["operation"].get("query", "")
    assert validate(made.as_json()).valid
    assert blocks_of(made) == blocks
    assert parse_program(print_text(made)) == made


@pytest.mark.clause("PROG-150", "PROG-151", "PROG-153")
def test_joined_and_limited_blocks() -> None:
    one, two = ({"blockType": "search", "params": {"query": text}} for text in ("a", "b"))
    three = {"blockType": "filterEdge", "params": {"relationshipTypes": ["S"]}}
    limit = {"blockType": "limit", "params": {"count": 4}}
    joined = [
        {"blockType": "or", "branches": [[one, three], [two, limit]]},
        {"blockType": "and", "branches": [[one, three], [{"blockType": "or", "branches": [[one], [two]]}]]},
        {"blockType": "vectorSearch", "params": {"query": "q"}},
        limit,
    ]
    made = compile_blocks(joined)
    assert [one.op.value for one in made.statements] == ["+", "+", "+", "+", "&", "&", "&", "+"]
    limits = [one.operation.limit for one in made.statements if isinstance(one.operation, CypherOp)]
    assert limits == [None, None, 4, None, None, None, None]
    assert (
        isinstance(made.statements[-1].operation, ApiOp) and made.statements[-1].operation.params_or_empty["limit"] == 4
    )
    assert blocks_of(made) == joined
    assert blocks_of(parse_program(print_text(made))) == joined


@pytest.mark.clause("PROG-22", "PROG-45")
def test_blocks_that_lack_something_are_refused() -> None:
    for kind, params in [
        ("search", {"query": " "}),
        ("selectConcept", {}),
        ("neighborhood", {"depth": 9}),
        ("neighborhood", {"direction": "up"}),
        ("filterOntology", {"ontologies": []}),
        ("filterEdge", {"relationshipTypes": ["a`b"]}),
        ("filterNode", {}),
        ("limit", {"count": 1}),
        ("epistemicFilter", {"includeStatuses": ["a", "b"]}),
        ("and", {}),
        ("dance", {}),
    ]:
        with pytest.raises(BlockInvalid):
            compile_blocks([{"blockType": kind, "params": params}])
    with pytest.raises(BlockInvalid, match="no block"):
        blocks_of(parse_valid(program(), Bounds()))
    other = compile_blocks([{"blockType": "search", "params": {"query": "a"}}]).as_json()
    other["statements"][0]["operation"]["query"] = "MATCH (n) RETURN n"
    with pytest.raises(BlockInvalid, match="no longer"):
        blocks_of(parse_valid(other, Bounds()))
