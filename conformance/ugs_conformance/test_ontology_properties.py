"""Seed 004 and beyond it: property definitions, which an ontology may have and need not."""

from __future__ import annotations

import pytest

from ugs.log.at import At
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType, TypeProperties
from ugs.ontology.errors import (
    InvalidArgument,
    InvalidConnectionType,
    InvalidNodeType,
    InvalidPropertyValue,
    RequiredPropertyMissing,
)
from ugs.ontology.json_schema import from_json_schema, to_json_schema
from ugs.ontology.model import Enforcement
from ugs.ontology.properties import Owner, PropertyDefinition, PropertyKind
from ugs_conformance.support.memory_kit import Tools
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest

STATUS = PropertyDefinition("status", PropertyKind.STRING, True, ("active", "done"), None, "active")
CODE = PropertyDefinition("code", PropertyKind.STRING, pattern="^[A-Z]{2}[0-9]+$", description="As on the door")
HOURS = PropertyDefinition("hours", PropertyKind.NUMBER, True)
SINCE = PropertyDefinition("since", PropertyKind.INTEGER, True)
PROPERTIES = [
    TypeProperties(Owner.NODE, "Project", (STATUS, CODE)),
    TypeProperties(Owner.NODE, "Action", (HOURS,)),
    TypeProperties(Owner.CONNECTION, "NextAction", (SINCE,)),
]


async def define_memory(tools: Tools) -> Memory:
    types = [ConnectionType("NextAction", ("Project",), ("Action",), ("why",))]
    await tools.memory.create_ontology(["Project", "Action", "Free"], types, properties=PROPERTIES)
    return tools.memory


@pytest.fixture
def tools(world: StoreUnderTest) -> Tools:
    return Tools(world)


@clause("ONT-3", "ONT-38", "ONT-72")
async def test_the_typed_doors_keep_to_the_definitions(tools: Tools, world: StoreUnderTest) -> None:
    memory = await define_memory(tools)
    project = await memory.create_node("Project", "", "text")
    assert (await memory.get_node(project))["properties"] == {"status": "active"}
    action = await memory.create_node("Action", "", "text", properties={"hours": 1, "other": "free"})
    async with world.refuses(RequiredPropertyMissing, missing=["hours"]):
        await memory.create_node("Action", "", "text")
    for bad in ({"status": "lost"}, {"code": "12"}, {"status": 1}):
        async with world.refuses(InvalidPropertyValue):
            await memory.create_node("Project", "", "text", properties=bad)
        async with world.refuses(InvalidPropertyValue):
            await memory.update_node(project, bad)
    await memory.update_node(project, {"code": "AB12", "status": "done", "more": True})
    async with world.refuses(RequiredPropertyMissing, missing=["why"]):
        await memory.create_connection("NextAction", project, action, {"since": 1})
    async with world.refuses(RequiredPropertyMissing, missing=["since"]):
        await memory.create_connection("NextAction", project, action, {"why": "so"})
    async with world.refuses(InvalidPropertyValue):
        await memory.create_connection("NextAction", project, action, {"why": "so", "since": True})
    edge = await memory.create_connection("NextAction", project, action, {"why": "so", "since": 5})
    async with world.refuses(InvalidPropertyValue):
        await memory.update_connection(edge, {"since": "later"})
    await memory.create_node("Free", "", "text", properties={"status": 7})


@clause("ONT-97", "ONT-99", "ONT-160", "ONT-161", "ONT-187")
async def test_definitions_only_grow_and_outlive_everything(tools: Tools, world: StoreUnderTest) -> None:
    memory = await define_memory(tools)
    before = (await memory.get_ontology()).properties
    assert before == tuple(PROPERTIES)
    await memory.add_properties(Owner.NODE, "Free", [PropertyDefinition("n", PropertyKind.INTEGER, default=3)])
    await memory.add_node_type("Late", properties=[HOURS])
    await memory.add_connection_type(ConnectionType("Near", ("Late",), ("Late",)), properties=[SINCE])
    async with world.refuses(InvalidArgument):
        await memory.add_properties(Owner.NODE, "Free", [PropertyDefinition("n", PropertyKind.STRING)])
    async with world.refuses(InvalidArgument):
        await memory.add_properties(Owner.NODE, "Free", [PropertyDefinition("m", PropertyKind.STRING, required=True)])
    async with world.refuses(InvalidNodeType):
        await memory.add_properties(Owner.NODE, "Nobody", [HOURS])
    async with world.refuses(InvalidConnectionType):
        await memory.add_properties(Owner.CONNECTION, "Project", [HOURS])
    free = await memory.create_node("Free", "", "text")
    assert (await memory.get_node(free))["properties"] == {"n": 3}
    memory = await tools.restart()
    after = await memory.get_ontology()
    assert [(one.type, [each.name for each in one.definitions]) for one in after.properties[3:]] == [
        ("Free", ["n"]),
        ("Late", ["hours"]),
        ("Near", ["since"]),
    ]
    assert (await memory.get_ontology(At(position=1))).properties == before
    again = from_json_schema(to_json_schema(after))
    assert sorted(one.type for one in again.properties) == sorted(one.type for one in after.properties)
    assert (await world.system.verify()).ok


@clause("ONT-12")
async def test_the_plain_graph_keeps_to_them_when_told(tools: Tools, world: StoreUnderTest) -> None:
    memory, graph = await define_memory(tools), world.graph
    await graph.add_node("p0", "Project", {"status": "lost"})
    await memory.set_enforcement(Enforcement.WARN)
    warned = await graph.update("p0", {"x": 1})
    assert [warning.code for warning in warned.warnings] == ["W011"]
    await memory.set_enforcement(Enforcement.STRICT)
    async with world.refuses(RequiredPropertyMissing):
        await graph.add_node("p1", "Project")
    async with world.refuses(InvalidPropertyValue):
        await graph.add_node("p1", "Project", {"status": "lost"})
    await graph.add_node("p1", "Project", {"status": "done"})
    async with world.refuses(RequiredPropertyMissing):
        await graph.update("p1", remove=["status"])
