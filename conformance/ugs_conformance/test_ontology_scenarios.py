"""Seed 004: its six scenarios and its examples, step by step."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.clock import iso
from ugs.errors import UgsError
from ugs_conformance.support.memory_kit import Tools
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture

SCENARIOS = fixture("ont_scenarios")["scenarios"]


@pytest.fixture
def tools(world: StoreUnderTest) -> Tools:
    return Tools(world)


async def follow(tools: Tools, step: dict[str, Any]) -> None:
    """Do one step of a scenario and compare."""
    if "check" in step:
        return await check(tools, step)
    if "expect_error" in step:
        before = await tools.world.everything()
        with pytest.raises(UgsError) as refused:
            await tools.call(step["tool"], step["args"])
        assert refused.value.code == step["expect_error"]["code"]
        assert refused.value.message == step["expect_error"].get("message", refused.value.message)
        assert await tools.world.everything() == before
        return None
    compare(tools, step, await tools.call(step["tool"], step["args"]))


def compare(tools: Tools, step: dict[str, Any], answer: Any) -> None:
    if "bind" in step:
        tools.names[step["bind"]] = answer
    if isinstance(step.get("expect"), dict):
        assert answer.items() >= step["expect"].items()
    elif "expect" in step:
        assert answer == tools.real(step["expect"])
    if "expect_set" in step:
        assert sorted(answer) == sorted(tools.real(step["expect_set"]))
    if "expect_count" in step:
        assert len(answer) == step["expect_count"]


async def check(tools: Tools, step: dict[str, Any]) -> None:
    """Checks of the registry and of restarts; those of files are the file projection's own tests."""
    if step["check"] == "registry":
        assert await tools.registered() == (step["nodes"], step["connections"])
    elif step["check"] == "restart":
        await tools.restart()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: f"scenario {scenario['n']}")
@clause("ONT-174", "ONT-175", "ONT-176", "ONT-177", "ONT-178", "ONT-179", "ONT-180", "ONT-198")
async def test_a_scenario(tools: Tools, scenario: dict[str, Any]) -> None:
    await tools.given(scenario["given"])
    for step in (*scenario["steps"], *scenario["then"]):
        await follow(tools, step)


@clause("ONT-51", "ONT-80", "ONT-82", "ONT-91", "ONT-96")
async def test_the_examples_of_the_tools(tools: Tools) -> None:
    calls = {tool["name"]: tool for tool in fixture("ont_tools")["tools"]}
    await tools.call("create_ontology", calls["create_ontology"]["example_args"])
    memory = tools.memory
    project = await tools.call("create_node", calls["create_node"]["example"]["args"])
    assert await memory.get_node_content(project) == calls["create_node"]["example"]["args"]["content"]
    phone = {"status": "next", "context": "phone"}
    actions = [await memory.create_node("Action", "", "markdown", properties=phone) for _ in range(2)]
    other = await memory.create_node("Action", "", "markdown", properties={"status": "next"})
    assert sorted(await memory.query_nodes("Action", {"status": "next"})) == sorted([*actions, other])
    assert await memory.query_nodes("Project") == [project]
    assert sorted(await memory.query_nodes("Action", phone)) == sorted(actions)
    next_ones = [await memory.create_connection("NextAction", project, action) for action in actions]
    assert await memory.query_connections(project, type="NextAction") == next_ones
    assert await memory.query_connections(to_node_id=actions[0]) == next_ones[:1]
    for example in calls["validate_connection"]["examples"]:
        assert await memory.validate_connection(*example["args"]) is example["valid"]
    await tools.call("add_node_type", calls["add_node_type"]["example_args"])
    assert (await memory.get_ontology()).node_types[-1] == "Document"


@clause("ONT-52", "ONT-104")
async def test_times_are_iso_8601(tools: Tools) -> None:
    memory = await tools.gtd()
    id = await memory.create_node("Project", "", "markdown")
    now = iso(tools.world.clock.moment)
    assert now == "2026-01-21T18:34:14.093Z"
    assert await memory.get_node(id) == {
        "id": id,
        "type": "Project",
        "created": now,
        "modified": now,
        "properties": {},
        "content_format": "markdown",
    }
