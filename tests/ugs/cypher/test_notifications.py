"""Notifications: remarks with their place, which never change an answer."""

from __future__ import annotations

import pytest

from ugs.cypher import api as cypher_api
from ugs.cypher import prepare
from ugs.graph.commands import AddNode
from ugs.system import System

CASES = [
    ("CYPHER 5 runtime=slotted MATCH (n) RETURN n", [("OPTION_IGNORED", 1, 1)]),
    ("MATCH (n:A)\nUSING INDEX n:A(x)\nWHERE n.x = 1 RETURN n", [("HINT_IGNORED", 2, 1)]),
    ("MATCH (n) CALL { WITH n RETURN 1 AS x } RETURN x", [("DEPRECATED", 1, 16)]),
    ("MATCH (a), (b) RETURN count(*)", [("CARTESIAN_PRODUCT", 1, 1)]),
    ("MATCH (a)-->(b), (b)-->(c), (d) RETURN 1", [("CARTESIAN_PRODUCT", 1, 1)]),
    ("MATCH (p) WHERE p.id = 'a' RETURN p.id", [("ID_PROPERTY", 1, 17)]),
    ("MATCH (a)-->(b), (b)-->(c) RETURN a", []),
    ("MATCH (a), (b) WHERE a.x = b.x RETURN a", []),
    ("WITH {id: 1} AS p RETURN p.id", []),
    ("MATCH (n) RETURN id(n)", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_remark_names_its_place(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert [(one.code, one.line, one.column) for one in prepare(text).notifications] == expected


async def test_a_result_carries_its_remarks() -> None:
    async with System.at_url("memory:") as system:
        await system.execute(AddNode(id="a", properties={"x": 1}))
        for mode in ("", "EXPLAIN ", "PROFILE "):
            found = await cypher_api.ask(system, f"{mode}MATCH (p) RETURN p.id AS id")
            assert [one.code for one in found.notifications] == ["ID_PROPERTY"]
