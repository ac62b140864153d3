"""Every field and operator of the filters, each telling apart what meets it from what does not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schema.conftest import Ask
from ugs.clock import FixedClock
from ugs.graph.api import Graph
from ugs.system import System

START = 1_700_000_000_000
NODES = "query($f: NodeFilter) { graphNodes(filter: $f) { nodes { id } } }"


@pytest.fixture
async def system() -> Any:
    clock = FixedClock(START)
    async with System.at_url("memory:", clock) as system:
        graph = Graph(system)
        for number, name in enumerate(("ab", "bc", "cd")):
            clock.moment = START + number * 1000
            await graph.add_node(name, "t", {"n": number, "s": name})
        clock.moment = START + 5000
        await graph.update("ab", {"changed": True})
        yield system


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({"createdAfter": START + 1000}, ["cd"]),
        ({"createdAfter": START + 999}, ["bc", "cd"]),
        ({"createdBefore": START + 1000}, ["ab"]),
        ({"createdBefore": START + 1001}, ["ab", "bc"]),
        ({"modifiedAfter": START + 4999}, ["ab"]),
        ({"modifiedAfter": START + 5000}, []),
        ({"properties": [{"key": "n", "op": "LTE", "value": 1}]}, ["ab", "bc"]),
        ({"properties": [{"key": "n", "op": "LT", "value": 1}]}, ["ab"]),
        ({"properties": [{"key": "n", "op": "GTE", "value": 1}]}, ["bc", "cd"]),
        ({"properties": [{"key": "n", "op": "GT", "value": 1}]}, ["cd"]),
        ({"properties": [{"key": "s", "op": "ENDS_WITH", "value": "c"}]}, ["bc"]),
        ({"properties": [{"key": "s", "op": "STARTS_WITH", "value": "c"}]}, ["cd"]),
        ({"properties": [{"key": "s", "op": "CONTAINS", "value": "b"}]}, ["ab", "bc"]),
        ({"properties": [{"key": "n", "op": "IN", "value": [0, 2]}]}, ["ab", "cd"]),
        ({"properties": [{"key": "changed", "op": "EXISTS"}]}, ["ab"]),
        ({"properties": [{"key": "changed", "op": "EXISTS", "value": False}]}, ["bc", "cd"]),
    ],
    ids=str,
)
async def test_filters_choose_nodes(ask: Ask, filter: dict[str, Any], found: list[str]) -> None:
    answer = await ask(NODES, f=filter)

    assert [node["id"] for node in answer["data"]["graphNodes"]["nodes"]] == found
