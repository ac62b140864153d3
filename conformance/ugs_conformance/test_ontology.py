"""Seed 004: ontologies that only grow, and what they allow."""

from __future__ import annotations

import asyncio

import pytest

from ugs.errors import LimitExceeded
from ugs.log.at import At
from ugs.ontology.commands.ontologies import AddConnectionType, CreateOntology
from ugs.ontology.definition import ConnectionType
from ugs.ontology.errors import (
    ConnectionNotFound,
    InvalidArgument,
    InvalidConnectionType,
    InvalidNodeType,
    InvalidPropertyValue,
    InvalidTopology,
    MemoryNodeNotFound,
    OntologyAlreadyExists,
    OntologyNotFound,
    RequiredPropertyMissing,
    TypeAlreadyExists,
)
from ugs.ontology.model import Enforcement
from ugs_conformance.support.api_under_test import memory_of
from ugs_conformance.support.memory_kit import GTD_CONNECTIONS, GTD_NODES, Tools
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture

DONE = {"since": "2025-10-15", "follow_up_date": "2025-11-01"}


@pytest.fixture
def tools(world: StoreUnderTest) -> Tools:
    return Tools(world)


@clause("ONT-3", "ONT-17", "ONT-93", "ONT-101", "ONT-115")
async def test_an_ontology_says_what_it_was_given(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    assert (await memory.get_ontology()).as_json() == fixture("ont_ontology")
    memory = await tools.restart()
    assert (await memory.get_ontology()).as_json() == fixture("ont_ontology")
    fitness = memory_of(world.system, ontology="fitness")
    await fitness.create_ontology(["Run"])
    assert (await fitness.get_ontology()).as_json() == {"node_types": ["Run"], "connection_types": []}
    assert [ontology.name for ontology in await memory.ontologies()] == ["default", "fitness"]


@clause("ONT-33", "ONT-94", "ONT-137")
async def test_an_ontology_is_created_once(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    async with world.refuses(OntologyAlreadyExists):
        await memory.create_ontology(["Other"])
    await memory_of(world.system, ontology="other").create_ontology(["Other"])


@clause("ONT-32", "ONT-45", "ONT-92", "ONT-98", "ONT-100", "ONT-139")
async def test_before_there_is_an_ontology(tools: Tools, world: StoreUnderTest) -> None:
    memory = tools.memory
    for call in (
        lambda: memory.create_node("Project", "", "markdown"),
        lambda: memory.create_connection("NextAction", "a", "b"),
        lambda: memory.validate_connection("NextAction", "Project", "Action"),
        lambda: memory.add_node_type("Document"),
        lambda: memory.add_connection_type(GTD_CONNECTIONS[0]),
        memory.get_ontology,
    ):
        async with world.refuses(OntologyNotFound):
            await call()
    assert await memory.query_nodes() == await memory.query_connections() == await memory.search_content("x") == []
    async with world.refuses(MemoryNodeNotFound):
        await memory.get_node("mem_x")


@clause("ONT-34", "ONT-97", "ONT-99", "ONT-138", "ONT-160", "ONT-161", "ONT-162", "ONT-187")
async def test_an_ontology_only_grows(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    await memory.add_node_type("Document")
    outcome = await memory.add_connection_type(
        ConnectionType("RelatedTo", ("Project", "Action"), ("Project", "Action", "Document", "Later"))
    )
    assert [(warning.code, warning.id) for warning in outcome.warnings] == [("W010", "Later")]
    grown = await memory.get_ontology()
    assert grown.node_types == (*GTD_NODES, "Document")
    assert grown.connection_types[:3] == tuple(GTD_CONNECTIONS)
    assert grown.connection_types[3].name == "RelatedTo"
    async with world.refuses(TypeAlreadyExists):
        await memory.add_node_type("Project")
    async with world.refuses(TypeAlreadyExists):
        await memory.add_connection_type(ConnectionType("NextAction", ("Action",), ("Action",)))
    assert (await memory.get_ontology(At(position=1))).node_types == tuple(GTD_NODES)


@clause("ONT-34", "ONT-93")
async def test_definitions_that_contradict_themselves(tools: Tools, world: StoreUnderTest) -> None:
    memory = tools.memory
    async with world.refuses(TypeAlreadyExists):
        await memory.create_ontology(["A", "A"])
    async with world.refuses(TypeAlreadyExists):
        await memory.create_ontology(["A"], [ConnectionType("x", ("A",), ("A",))] * 2)
    for name in ("", "  ", "a\x00b", "x" * 257):
        async with world.refuses(InvalidArgument):
            await memory.create_ontology([name])
    async with world.refuses(InvalidArgument):
        await memory.create_ontology(["A"], [ConnectionType("x", (), ("A",))])
    async with world.refuses(InvalidArgument):
        await memory.do(CreateOntology(name="../evil", node_types=("A",)))
    async with world.refuses(LimitExceeded):
        await memory.create_ontology([f"t{number}" for number in range(10_001)])
    async with world.refuses(OntologyNotFound):
        await memory.do(AddConnectionType(connection_type=GTD_CONNECTIONS[0], ontology="none"))


@clause("ONT-35", "ONT-44", "ONT-116", "ONT-126", "ONT-130", "ONT-131")
async def test_a_node_of_an_unknown_type(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    async with world.refuses(InvalidNodeType, type="Task"):
        await memory.create_node("Task", "", "markdown")
    with pytest.raises(InvalidNodeType, match=r"Task\. Valid types: \[Project, Action, Context, Person\]"):
        await memory.create_node("Task", "", "markdown")


@clause("ONT-36", "ONT-37", "ONT-69", "ONT-71", "ONT-117", "ONT-128", "ONT-132", "ONT-133", "ONT-168")
async def test_the_topology_is_kept(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    project, action, person = [
        await memory.create_node(type, "", "markdown") for type in ("Project", "Action", "Person")
    ]
    cases = [
        (project, person, "Cannot connect Project to Person with NextAction. Valid targets: [Action]"),
        (action, action, "Cannot connect Action to Action with NextAction. Valid sources: [Project]"),
        (
            action,
            project,
            "Cannot connect Action to Project with NextAction. Valid sources: [Project]. Valid targets: [Action]",
        ),
    ]
    for source, target, message in cases:
        async with world.refuses(InvalidTopology, type="NextAction"):
            await memory.create_connection("NextAction", source, target)
        with pytest.raises(InvalidTopology) as refused:
            await memory.create_connection("NextAction", source, target)
        assert refused.value.message == message
    async with world.refuses(InvalidConnectionType, type="Blocks"):
        await memory.create_connection("Blocks", project, action)
    assert await memory.query_connections() == []


@clause("ONT-70", "ONT-127", "ONT-130", "ONT-184", "ONT-196")
async def test_the_order_of_the_checks(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    project, person = [await memory.create_node(type, "", "markdown") for type in ("Project", "Person")]
    async with world.refuses(InvalidConnectionType):
        await memory.create_connection("Blocks", "nobody", "nothing")
    async with world.refuses(MemoryNodeNotFound, node_id="nobody"):
        await memory.create_connection("WaitingFor", "nobody", "nothing")
    async with world.refuses(MemoryNodeNotFound, node_id="nothing"):
        await memory.create_connection("WaitingFor", project, "nothing")
    async with world.refuses(InvalidTopology):
        await memory.create_connection("WaitingFor", person, person, {"since": None})
    async with world.refuses(RequiredPropertyMissing):
        await memory.create_connection("WaitingFor", project, person, {"since": []})
    async with world.refuses(InvalidPropertyValue):
        await memory.create_connection("WaitingFor", project, person, {**DONE, "x": []})
    made = [await memory.create_connection("WaitingFor", project, person, DONE) for _ in range(2)]
    assert made[0] != made[1]
    world.clock.moment += 1_000
    async with world.refuses(InvalidPropertyValue):
        await memory.update_connection(made[0], {"since": None})
    await memory.update_connection(made[0], {"since": "today"})
    for id, later in zip(made, (True, False), strict=True):
        found = await memory.get_connection(id)
        assert (found["created"] < found["modified"]) is later and DONE.keys() <= found["properties"].keys()


@clause("ONT-38", "ONT-72", "ONT-134", "ONT-135", "ONT-136")
async def test_required_properties(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    action, person = [await memory.create_node(type, "", "markdown") for type in ("Action", "Person")]
    async with world.refuses(RequiredPropertyMissing, missing=["since", "follow_up_date"]):
        await memory.create_connection("WaitingFor", action, person)
    with pytest.raises(RequiredPropertyMissing) as refused:
        await memory.create_connection("WaitingFor", action, person, {"since": "2025-10-15"})
    wanted = "Connection type WaitingFor requires properties: [since, follow_up_date]. Missing: [follow_up_date]"
    assert refused.value.message == wanted
    id = await memory.create_connection("WaitingFor", action, person, {**DONE, "extra": 1})
    assert (await memory.get_connection(id))["properties"] == {**DONE, "extra": 1}


@clause("ONT-90", "ONT-118")
async def test_validating_without_connecting(tools: Tools) -> None:
    memory = await tools.gtd()
    assert await memory.validate_connection("NextAction", "Project", "Action") is True
    assert await memory.validate_connection("NextAction", "Action", "Project") is False
    assert await memory.validate_connection("NextAction", "Project", "Person") is False
    for unknown in (("Blocks", "Project", "Action"), ("NextAction", "Epic", "Action"), ("NextAction", "Project", "x")):
        assert await memory.validate_connection(*unknown) is False
    await memory.add_connection_type(ConnectionType("About", ("Project",), ("Later",)))
    assert await memory.validate_connection("About", "Project", "Later") is False
    await memory.add_node_type("Later")
    assert await memory.validate_connection("About", "Project", "Later") is True


@clause("ONT-12", "ONT-37")
async def test_circles_can_be_forbidden(tools: Tools, world: StoreUnderTest) -> None:
    memory = tools.memory
    depends = ConnectionType("DependsOn", ("Action",), ("Action",), acyclic=True)
    await memory.create_ontology(["Action"], [depends, ConnectionType("Near", ("Action",), ("Action",))])
    first, second, third = [await memory.create_node("Action", "", "markdown") for _ in range(3)]
    await memory.create_connection("DependsOn", first, second)
    await memory.create_connection("DependsOn", second, third)
    for source, target in ((third, first), (second, first), (first, first)):
        async with world.refuses(InvalidTopology):
            await memory.create_connection("DependsOn", source, target)
        await memory.create_connection("Near", source, target)
    await memory.create_connection("DependsOn", first, third)


@clause("ONT-12", "ONT-35")
async def test_the_plain_graph_obeys_when_told(tools: Tools, world: StoreUnderTest) -> None:
    memory, graph = await tools.gtd(), world.graph
    await graph.add_node("free", "Whatever")
    await memory.set_enforcement(Enforcement.WARN)
    await graph.add_node("task", "Task")
    changed = await graph.add_edge("e1", "task", "free", "blocks")
    assert "W011" in [warning.code for warning in changed.warnings]
    await memory.set_enforcement(Enforcement.STRICT)
    assert (await memory.get_ontology()).enforcement is Enforcement.STRICT
    async with world.refuses(InvalidNodeType):
        await graph.add_node("other", "Task")
    async with world.refuses(InvalidNodeType):
        await graph.add_node("untyped")
    await graph.add_node("p", "Project")
    await graph.add_node("a", "Action")
    await graph.add_edge("e2", "p", "a", "NextAction")
    async with world.refuses(InvalidTopology):
        await graph.add_edge("e3", "a", "p", "NextAction")
    async with world.refuses(InvalidTopology):
        await graph.update("a", type="Person")
    async with world.refuses(InvalidNodeType):
        await graph.import_graph({"nodes": [{"id": "q", "type": "Project"}, {"id": "r", "type": "Task"}]})
    await graph.delete("free")
    await memory.set_enforcement(Enforcement.OFF)
    await graph.add_node("other", "Task")


@clause("ONT-12", "ONT-17")
async def test_one_of_several_ontologies_is_enough(tools: Tools, world: StoreUnderTest) -> None:
    await (await tools.gtd()).set_enforcement(Enforcement.STRICT)
    fitness = memory_of(world.system, ontology="fitness")
    await fitness.create_ontology(["Run"], enforcement=Enforcement.STRICT)
    await world.graph.add_node("r", "Run")
    await world.graph.add_node("p", "Project")
    async with world.refuses(InvalidNodeType):
        await world.graph.add_node("s", "Swim")
    async with world.refuses(InvalidNodeType):
        await fitness.create_node("Project", "", "markdown")


@clause("ONT-12")
async def test_of_many_at_once_those_that_fit_are_taken(tools: Tools, world: StoreUnderTest) -> None:
    """Many commands of one type that wait together may be decided together, but not past an ontology."""
    await (await tools.gtd()).set_enforcement(Enforcement.STRICT)
    types = ["Project" if number % 5 else "Swim" for number in range(60)]
    adding = (world.graph.add_node(f"n{number}", type) for number, type in enumerate(types))
    found = await asyncio.gather(*adding, return_exceptions=True)
    assert [isinstance(one, InvalidNodeType) for one in found] == [type == "Swim" for type in types]
    assert not [one for one in found if isinstance(one, Exception) and not isinstance(one, InvalidNodeType)]
    assert (await world.graph.stats()).nodes >= 48


@clause(
    "ONT-39", "ONT-40", "ONT-53", "ONT-63", "ONT-66", "ONT-75", "ONT-86", "ONT-123", "ONT-124", "ONT-125", "ONT-129"
)
async def test_what_is_not_there(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    for id in ("mem_nobody", "", "a\x00b", "\ud800", "é"):
        for call in (
            lambda id=id: memory.get_node(id),
            lambda id=id: memory.get_node_content(id),
            lambda id=id: memory.update_node(id, {"a": 1}),
            lambda id=id: memory.delete_node(id),
            lambda id=id: memory.get_connected_nodes(id, "both"),
        ):
            async with world.refuses(MemoryNodeNotFound):
                await call()
        for call in (
            lambda id=id: memory.get_connection(id),
            lambda id=id: memory.update_connection(id, {"a": 1}),
            lambda id=id: memory.delete_connection(id),
        ):
            async with world.refuses(ConnectionNotFound):
                await call()
    with pytest.raises(MemoryNodeNotFound, match="Node not found: mem_nobody"):
        await memory.get_node("mem_nobody")
