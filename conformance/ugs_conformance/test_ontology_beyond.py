"""Seed 004, what it leaves for later: transactions, ways back, likeness, settings, circles, and errors that help."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ugs.errors import UgsError
from ugs.feature_registry import CATALOG
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, Update
from ugs.graph.content import NewContent
from ugs.log.at import At
from ugs.log.replay import copy_log
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType
from ugs.ontology.errors import (
    InvalidNodeType,
    InvalidPropertyValue,
    InvalidTopology,
    MemoryNodeNotFound,
    RequiredPropertyMissing,
)
from ugs.ontology.model import Enforcement
from ugs.ontology.yaml_format import from_yaml, to_yaml
from ugs.system import System
from ugs_conformance.support.api_under_test import memory_of
from ugs_conformance.support.memory_kit import GTD_CONNECTIONS, GTD_NODES, Tools
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest

PROJECT = AddNode(id="kitchen", type="Project", properties={"status": "active"}, content=NewContent("# Kitchen"))
ACTION = AddNode(id="call", type="Action", content=NewContent("Call the plumber", "text"))
NEXT = AddEdge(id="first", source="kitchen", target="call", type="NextAction", content=NewContent("it leaks"))


@pytest.fixture
def tools(world: StoreUnderTest) -> Tools:
    return Tools(world)


async def make_strict_memory(tools: Tools) -> Memory:
    memory = await tools.gtd()
    await memory.set_enforcement(Enforcement.STRICT)
    return memory


BAD: list[tuple[Operation, type[UgsError]]] = [
    (AddEdge(source="call", target="kitchen", type="NextAction"), InvalidTopology),
    (AddNode(id="epic", type="Epic"), InvalidNodeType),
    (AddEdge(source="call", target="ann", type="WaitingFor", properties={"since": "now"}), RequiredPropertyMissing),
    (Update(id="call", type="Person"), InvalidTopology),
]


@clause("ONT-10", "ONT-11", "ONT-12", "ONT-192", "ONT-169")
async def test_several_typed_changes_happen_together_or_not_at_all(tools: Tools, world: StoreUnderTest) -> None:
    memory = await make_strict_memory(tools)
    await memory.create_node("Person", "Ann", "text")
    whole: list[Operation] = [PROJECT, ACTION, AddNode(id="ann", type="Person"), NEXT]
    for bad, error in BAD:
        async with world.refuses(error):
            await world.graph.batch([*whole, bad])
        assert await memory.query_nodes("Project") == await memory.search_content("plumber") == []
    await world.graph.batch(whole)
    assert await memory.get_connected_nodes("kitchen", "out", "NextAction") == ["call"]
    assert await memory.get_node_content("kitchen") == "# Kitchen"
    async with world.refuses(InvalidTopology):
        await world.graph.batch([Update(id="kitchen", properties={"status": "done"}), Delete(id="ann"), BAD[0][0]])
    assert (await memory.get_node("kitchen"))["properties"] == {"status": "active"}


@clause("ONT-11", "ONT-17")
async def test_no_type_means_more_than_another(tools: Tools, world: StoreUnderTest) -> None:
    """Nothing of getting things done is built in: a finished project changes nothing but itself."""
    memory = await tools.gtd()
    await world.graph.batch([PROJECT, ACTION, NEXT])
    before = await memory.get_node("call"), await memory.get_connection("first")
    position = world.system.bus.position
    await memory.update_node("kitchen", {"status": "completed"})
    assert (await memory.get_node("call"), await memory.get_connection("first")) == before
    assert world.system.bus.position == position + 1


@clause("ONT-12", "ONT-26", "ONT-192")
async def test_what_was_changed_can_be_looked_at_and_taken_back(tools: Tools, world: StoreUnderTest) -> None:
    memory = await make_strict_memory(tools)
    await world.graph.batch([PROJECT, ACTION, NEXT])
    position = world.system.bus.position
    await memory.update_node("kitchen", {"status": "done"}, "all new", "utf-8", "text")
    await memory.update_connection("first", {"p": 1}, "no reason")
    assert await memory.get_node_content("kitchen", At(position=position)) == "# Kitchen"
    assert [version.version for version in await world.graph.versions("kitchen")] == [1, 2]
    await world.graph.revert("kitchen", 1)
    await world.graph.revert("first", 1)
    node = await memory.get_node("kitchen")
    assert (node["properties"], node["content_format"]) == ({"status": "active"}, "markdown")
    assert await memory.get_node_content("kitchen") == "# Kitchen"
    assert (await memory.get_connection("first"))["properties"] == {}
    await memory.delete_node("kitchen")
    await world.graph.revert("kitchen", 1)
    assert await memory.search_content("kitchen") == ["kitchen"]
    assert (await world.system.verify()).ok


@clause("ONT-192", "ONT-15")
async def test_a_memory_is_saved_and_brought_back_elsewhere(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    await world.graph.batch([PROJECT, ACTION, NEXT])
    exported, yaml = await world.graph.export_graph(), to_yaml(await memory.get_ontology())
    async with System.at_url("memory:") as elsewhere:
        other = memory_of(elsewhere)
        document = from_yaml(yaml)
        await other.create_ontology(document.node_types, document.connection_types)
        assert (await other.get_ontology()).as_json() == (await memory.get_ontology()).as_json()
        await type(world.graph)(elsewhere).import_graph(exported)
        assert await other.get_connected_nodes("kitchen", "out") == ["call"]
        assert await other.get_node_content("call") == "Call the plumber"
    async with System.at_url("memory:") as elsewhere:
        await copy_log(world.storage, elsewhere.storage, CATALOG)
        assert await elsewhere.digest() == await world.system.digest()


@clause("ONT-11", "ONT-192")
async def test_every_question_is_answered_from_the_state_of_that_moment(tools: Tools, world: StoreUnderTest) -> None:
    """Whatever is kept to answer faster, no answer is older than the last change."""
    memory = await tools.gtd()
    await world.graph.batch([PROJECT, ACTION, NEXT])

    async def search_ids() -> list[Any]:
        return [
            await memory.query_nodes("Action", {"status": "next"}),
            await memory.query_connections("kitchen"),
            await memory.get_connected_nodes("kitchen", "out"),
            await memory.search_content("PLUMB"),
            await memory.get_node_content("call"),
        ]

    assert await search_ids() == await search_ids() == [[], ["first"], ["call"], ["call"], "Call the plumber"]
    await memory.update_node("call", {"status": "next"}, "Write to her", "utf-8")
    assert await search_ids() == [["call"], ["first"], ["call"], [], "Write to her"]
    await memory.delete_connection("first")
    assert await search_ids() == [["call"], [], [], [], "Write to her"]


@clause("ONT-11")
async def test_typed_nodes_are_found_by_likeness(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    tap = await memory.create_node("Action", "", "text", properties={"title": "repair the leaking kitchen tap"})
    await memory.create_node("Action", "", "text", properties={"title": "book a flight to Lisbon"})
    assert await memory.query_nodes(properties={"title": "leaking tap repairs"}) == []
    assert [hit.node.id for hit in await world.graph.similar("leaking tap repairs", limit=1)] == [tap]


@clause("ONT-11", "ONT-12")
async def test_settings_are_no_part_of_the_memory(tools: Tools, world: StoreUnderTest) -> None:
    """Preferences and settings are nodes, and stay so when the ontology is strict."""
    memory, graph = await make_strict_memory(tools), world.graph
    await graph.add_node("_user_prefs", properties={"actor": "human"})
    await graph.add_node("_system_config", properties={"max_content_bytes": 10})
    await graph.update("_system_config", {"max_content_bytes": 20})
    await memory.create_node("Project", "0123456789ab", "text")
    async with world.refuses(InvalidNodeType):
        await graph.add_node("_others", properties={"actor": "human"})
    await memory.set_enforcement(Enforcement.WARN)
    assert (await graph.update("_user_prefs", {"actor": "agent"})).warnings == []


@clause("ONT-12", "ONT-173")
async def test_a_circle_cannot_be_closed_from_two_sides_at_once(tools: Tools) -> None:
    memory = tools.memory
    await memory.create_ontology(["Action"], [ConnectionType("DependsOn", ("Action",), ("Action",), acyclic=True)])
    ring = [await memory.create_node("Action", "", "text") for _ in range(6)]
    pairs = list(zip(ring, ring[1:] + ring[:1], strict=True))
    done = await asyncio.gather(
        *(memory.create_connection("DependsOn", source, target) for source, target in pairs), return_exceptions=True
    )
    assert [type(one) for one in done if not isinstance(one, str)] == [InvalidTopology]
    assert len(await memory.query_connections(type="DependsOn")) == 5


@clause("ONT-12", "ONT-126", "ONT-196", "ONT-197")
async def test_a_refusal_says_what_would_have_been_right(tools: Tools, world: StoreUnderTest) -> None:
    memory = await tools.gtd()
    await world.graph.batch([PROJECT, ACTION])

    async def refusal_of(error: type[UgsError], call: Any) -> dict[str, object]:
        async with world.unchanged():
            with pytest.raises(error) as found:
                await call
        return dict(found.value.details)

    details = await refusal_of(InvalidNodeType, memory.create_node("Epic", "", "text"))
    assert details == {"type": "Epic", "valid": GTD_NODES}
    details = await refusal_of(InvalidTopology, memory.create_connection("NextAction", "call", "kitchen"))
    assert (details["valid_sources"], details["valid_targets"]) == (["Project"], ["Action"])
    ann = await memory.create_node("Person", "Ann", "text")
    details = await refusal_of(RequiredPropertyMissing, memory.create_connection("WaitingFor", "call", ann))
    assert details["missing"] == list(GTD_CONNECTIONS[2].required_properties)
    details = await refusal_of(MemoryNodeNotFound, memory.get_node("nobody"))
    assert details == {"node_id": "nobody"}
    details = await refusal_of(InvalidPropertyValue, memory.update_node("call", {"tags": ["a"]}))
    assert details["property"] == "tags"
