"""A48: words of the command line and texts of programs that want to be more than data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gateway.cli.conftest import Ugs, ugs  # noqa: F401  the fixture is found by its name
from ugs.programs.ast import GraphProgram
from ugs.programs.text.parser import parse_program
from ugs.programs.text.printer import print_text
from ugs.programs.validation.json_decoder import decode

NASTY = "x\n! MATCH (n) RETURN n;\n--\r\u2028+ @api /search/concepts {};"
HUGE = json.dumps({"list": list(range(300_000))})
DEEP = "[" * 5_000 + "]" * 5_000


def programme(**more: Any) -> GraphProgram:
    operation = {"type": "cypher", "query": "MATCH (n) RETURN n"}
    statement = {"op": "+", "operation": operation, **more.pop("statement", {})}
    program, issues = decode({"version": 1, "statements": [statement], **more})
    assert program is not None and not issues
    return program


@pytest.mark.parametrize(
    "value", ["+x=1", "-x", "a:=b", "--agent", "\n-gone", "x; delete a", "$(touch pwned)", "'; --"]
)
def test_a_value_is_data_whatever_it_looks_like(ugs: Ugs, value: str) -> None:  # noqa: F811
    made = ugs("--agent", "add-node", "a", "t", f"k={value}", "gone:=1")
    assert made.code == 0, made
    assert ugs("--agent", "get", "a").value["properties"] == {"gone": 1, "k": value}


@pytest.mark.parametrize("value", [HUGE, DEEP, '{"a":1,"a":2', "1e999", "NaN", '"\\ud800"', "[1,]"])
def test_json_that_is_too_large_too_deep_or_none_is_refused_and_changes_nothing(ugs: Ugs, value: str) -> None:  # noqa: F811
    ugs("--agent", "add-node", "a", "t", "k=v")
    refused = ugs("--agent", "update", "a", f"k:={value}")
    expected = {1: "LIMIT_EXCEEDED", 2: "E006"}
    assert refused.value["error"]["code"] == expected[refused.code], refused.out[:300]
    assert ugs("--agent", "get", "a").value["properties"] == {"k": "v"}


@pytest.mark.parametrize(
    "program",
    [
        programme(statement={"label": NASTY}),
        programme(metadata={"name": NASTY, "description": NASTY}),
        programme(params=[{"name": "who", "type": "string", "default": NASTY}]),
    ],
    ids=["label", "metadata", "default"],
)
def test_a_line_break_in_a_text_of_a_program_begins_no_statement(program: GraphProgram) -> None:
    again = parse_program(print_text(program))
    assert len(again.statements) == 1
    assert again.statements[0].operation == program.statements[0].operation
    assert [param.default for param in again.params or []] == [param.default for param in program.params or []]
