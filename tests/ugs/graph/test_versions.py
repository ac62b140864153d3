"""What must change for an element to be again what it was."""

import pytest

from ugs.graph.api import Graph
from ugs.graph.versions import changed_properties
from ugs.system import System


@pytest.mark.parametrize(("have", "want"), [(1, True), (1, 1.0), (0, False), ([1], [True]), ({"a": 1}, {"a": 1.0})])
def test_values_that_python_takes_for_the_same_are_changes(have: object, want: object) -> None:
    assert changed_properties({"x": have}, {"x": want}) == ({"x": want}, [])
    assert changed_properties({"x": want, "y": 1}, {"x": want}) == ({}, ["y"])


async def test_a_revert_brings_the_kind_of_value_back() -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.add_node("n", properties={"flag": True})
        await graph.update("n", {"flag": 1})
        await graph.revert("n", 1)
        node = await graph.get("n")
        assert node is not None and node.properties["flag"] is True and node.version == 3
