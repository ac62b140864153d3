"""Programs as text and as JSON: each says exactly what the other says, whatever their queries look like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ugs.cypher import tck
from ugs.cypher.errors import CypherError
from ugs.cypher.parser import parse
from ugs.programs.ast import CypherOp, GraphProgram, Operator, Statement
from ugs.programs.text import parse_text, print_text
from ugs.programs.text.queries import split_limit

AWKWARD = [
    "MATCH (a)\n\nRETURN a",
    "MATCH (a)\n   \nWHERE a.x = 1\n \t \nRETURN a",
    "MATCH (a)\n-- (b)\nRETURN a",
    "MATCH (a) -- (b) RETURN a",
    "MATCH (a)\n+ MATCH (b) RETURN b",
    "MATCH (a) // a note\nRETURN a",
    "MATCH (a) /* a\n\nnote */ RETURN a",
    "MATCH (a) WHERE a.x = 'one\n\ntwo;  three -- four' RETURN a",
    "  MATCH (a)  RETURN   a  ",
    "MATCH (a) RETURN a;",
    "MATCH (a)\r\nRETURN a",
    "MATCH (a) RETURN a\nLIMIT 5",
    "MATCH (a) RETURN a LIMIT $n",
    "MATCH (a) WHERE a.x = '}' RETURN {k: a}",
    "RETURN '\"', `a b`",
    "IF a",
    "@api /x {}",
    "MATCH (a) RETURN 'open",
    "}",
]


def program(query: str, limit: int | None = None) -> GraphProgram:
    return GraphProgram(1, [Statement(Operator.UNION, CypherOp(query, limit), "a step")])


def read_back(query: str, limit: int | None = None) -> dict[str, Any]:
    found: dict[str, Any] = parse_text(print_text(program(query, limit))).program["statements"][0]["operation"]
    return found


@pytest.mark.parametrize("limit", [None, 7])
@pytest.mark.parametrize("query", AWKWARD)
def test_awkward_queries_survive(query: str, limit: int | None) -> None:
    check(query, limit)


def check(query: str, limit: int | None = None) -> None:
    """The query comes back character by character; a number behind LIMIT at its end may come back as the limit."""
    found = read_back(query, limit)
    own, number = split_limit(query)
    if number is not None and found["query"] == own:
        assert found.get("limit") == number
    else:
        assert (found["query"], found.get("limit")) == (query, limit)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from([*" \n;{}()-+'\"`/*", "--", "//", "MATCH ", "(a)", "RETURN a", "\n\n", "LIMIT 5", "@api", "é"]),
        min_size=1,
    )
)
def test_any_text_survives(pieces: list[str]) -> None:
    check("".join(pieces))


@pytest.mark.skipif(not tck.DATA.exists(), reason="The TCK data is not here: set UGS_TCK_DATA")
def test_every_query_of_the_tck_survives() -> None:
    for query in dict.fromkeys(record["query"] for record in tck.records()):
        check(query)
        try:
            tree = parse(query).query
        except CypherError:
            continue
        found = read_back(query)
        limit = "" if found.get("limit") is None else f" LIMIT {found['limit']}"
        assert parse(found["query"] + limit).query == tree, query


def test_a_query_in_a_branch_survives() -> None:
    text = '? IF empty THEN {\n  + @cypher "MATCH (a)\\n\\nRETURN a" LIMIT 5;\n  - MATCH (b) RETURN b;\n};\n'
    read = parse_text(text)
    assert read.warnings == []
    then = read.program["statements"][0]["operation"]["then"]
    assert [one["operation"]["query"] for one in then] == ["MATCH (a)\n\nRETURN a", "MATCH (b) RETURN b"]
    assert then[0]["operation"]["limit"] == 5
