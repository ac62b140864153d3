"""Seed 003: nodes under two identities, edges between them, and keeping both."""

from __future__ import annotations

import copy
import gc
import json
import pickle
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ugs.actors.addresses import Address, Message
from ugs.actors.api import ActorGraph, make_actor
from ugs.actors.errors import NoActor
from ugs.actors.ontology import tasks_ontology
from ugs.actors.registry import BUILT_IN, actor_types
from ugs.errors import InvalidSyntax, NodeExists, UgsError
from ugs.ontology.errors import InvalidTopology
from ugs.ontology.model import Enforcement
from ugs.system import System
from ugs_conformance.support.actors_kit import Acting, count_rows_read, includes
from ugs_conformance.support.api_under_test import actors_of, memory_of
from ugs_conformance.support.pytest_plugin import clause, needs
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture


@pytest.fixture
def acting(world: StoreUnderTest) -> Acting:
    return Acting(world)


@clause("ACT-33", "ACT-34", "ACT-35", "ACT-10", "ACT-18", "ACT-20", "ACT-53", "ACT-55", "ACT-26", "ACT-81", "ACT-58")
async def test_the_scripts_of_the_seed(acting: Acting) -> None:
    for script in fixture("act_scripts")["scripts"]:
        for step in script["steps"]:
            if script["name"] == "dump and restore" and step["do"] != "dump":
                continue  # told in full below
            told = f"{script['name']}: {step}"
            if "expect_error" in step:
                with pytest.raises(UgsError) as refused:
                    await acting.do(step)
                assert step["expect_error"] in (True, refused.value.message), told
                continue
            found = await acting.do(step)
            if "expect_ids" in step:
                assert [edge["id"] for edge in found] == step["expect_ids"], told
            elif "expect_keys" in step:
                assert list(found) == step["expect_keys"], told
            elif "expect" in step:
                assert includes(found, step["expect"]), told


@clause("ACT-1", "ACT-2", "ACT-7", "ACT-8", "ACT-9", "ACT-13", "ACT-38", "ACT-39", "ACT-56")
async def test_an_address_is_known_by_itself_alone(acting: Acting, world: StoreUnderTest) -> None:
    graph, actors = acting.graph, acting.graph.get_system()
    one, two = await acting.task("one"), await acting.task("two")
    assert await graph.get_node("one") is one and await graph.get_node("two") is two and one != two
    assert await graph.get_node("three") is None and await graph.get_node("not an id") is None
    assert one in actors and actors_of(world.system).get_system() is actors
    for forged in (Address(actors, {"id": "one", "type": "task"}, "one"), "one", None):
        said = await actors.send(forged, Message("delete"))  # type: ignore[arg-type]
        assert said["success"] is False and "not found" in said["error"]
    for store in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            store(one)
    async with System.at_url("memory:") as other:
        stranger = make_actor({"id": "x", "type": "task"}, actors_of(other).get_system())
        assert "not found" in (await actors.send(stranger, Message("get")))["error"]
        async with world.refuses(InvalidSyntax):
            await graph.register_node("x", stranger, {"type": "task"})
    async with world.refuses(InvalidSyntax):
        await graph.register_node("again", one, {"type": "task"})
    # the address leads back to its id, and both ways end with the node
    assert [(await address.send(Message("get")))["properties"]["id"] for address in (one, two)] == ["one", "two"]
    assert await graph.remove_node("one") is True
    assert await graph.get_node("one") is None and await graph.get_node("two") is two
    assert "not found" in (await one.send(Message("start")))["error"]
    new = await acting.task("one")
    assert await graph.get_node("one") is new and new != one


@clause("ACT-11", "ACT-12", "ACT-14", "ACT-23", "ACT-24", "ACT-25", "ACT-57", "ACT-76", "ACT-77", "ACT-5")
async def test_properties_are_read_without_a_message_and_agree_with_the_actor(
    acting: Acting, world: StoreUnderTest
) -> None:
    graph = acting.graph
    made = datetime(2026, 1, 21, 18, 34, 14, 93_000, tzinfo=UTC)
    address = await acting.task("task-1", createdAt=made, deliverables=["report"])
    shown = {
        "id": "task-1",
        "type": "task",
        "state": "created",
        "goal": "Do task-1",
        "createdAt": "2026-01-21T18:34:14.093Z",
        "deliverables": ["report"],
    }
    assert await graph.get_node_properties("task-1") == shown
    assert (await address.send(Message("get")))["properties"] == shown
    async with world.refuses(NodeExists, id="task-1"):
        await acting.register("task-1", "knowledge")
    async with world.refuses(InvalidSyntax):
        await graph.register_node("x", make_actor({}, graph.get_system()), {"id": "y", "type": "task"})
    await world.graph.add_node("plain", "person", {"name": "Ann"})
    assert await graph.get_node_ids() == ["plain", "task-1"]
    assert await graph.get_node_properties("plain") == {
        "id": "plain",
        "type": "person",
        "name": "Ann",
        "createdAt": "2026-01-21T18:34:14.093Z",
    }
    for id in await graph.get_node_ids():
        assert (await graph.send(id, "get"))["properties"] == await graph.get_node_properties(id)
    await graph.send("task-1", "start")
    await graph.update_node("task-1", {"goal": "Other", "id": "z", "createdAt": "never"})
    properties = await graph.get_node_properties("task-1")
    assert properties is not None and (properties["goal"], properties["state"]) == ("Other", "in_progress")
    assert properties["createdAt"] == shown["createdAt"]
    assert await graph.get_node_properties("task-2") is None


@clause("ACT-3", "ACT-18", "ACT-19", "ACT-20", "ACT-21", "ACT-22", "ACT-55", "ACT-58", "ACT-59", "ACT-78", "ACT-81")
async def test_edges_have_numbers_that_only_grow(acting: Acting) -> None:
    graph = acting.graph
    types = [kind["type"] for kind in fixture("act_types")["edge_types"]]
    made = [await graph.add_edge("a", f"b{n}", type, {"n": n}) for n, type in enumerate(types)]
    assert made[0] == {"id": "edge_1", "fromId": "a", "toId": "b0", "type": types[0], "properties": {"n": 0}}
    loop = await graph.add_edge("a", "a", "references")
    assert [edge["id"] for edge in [*made, loop]] == [f"edge_{n}" for n in range(1, len(types) + 2)]
    assert await graph.get_edges_from("a") == await graph.get_all_edges("a") == [*made, loop]
    assert await graph.get_edges_to("a") == [loop] and await graph.get_edges_to("b0") == made[:1]
    assert await graph.remove_edge("a", "a", "references") and not await graph.remove_edge("a", "a", "references")
    assert await graph.remove_edge("edge_6") and not await graph.remove_edge("edge_6")
    await graph.set_edge_counter(3)
    assert (await graph.add_edge("x", "y", "blocks"))["id"] == "edge_8"
    await graph.set_edge_counter(40)
    assert (await graph.add_edge("x", "y", "blocks"))["id"] == "edge_41"


@clause("ACT-26", "ACT-27", "ACT-28", "ACT-29", "ACT-60", "ACT-80")
async def test_an_actor_outlives_its_node(acting: Acting, world: StoreUnderTest) -> None:
    graph = acting.graph
    address = await acting.task("a", goal="Stay")
    await acting.task("b")
    for ends in (("a", "b"), ("b", "a"), ("a", "a"), ("b", "b")):
        await graph.add_edge(*ends, "references")
    assert await graph.remove_node("a") is True and await graph.remove_node("a") is False
    assert [edge["id"] for edge in (await graph.dump())["edges"]] == ["edge_4"]
    assert await graph.get_node("a") is None and await graph.get_node_properties("a") is None
    async with world.refuses(NoActor, id="a"):
        await graph.send("a", "get")
    said = await address.send({"type": "get"})
    assert said["success"] and said["properties"]["goal"] == "Stay" and said["edges"] == {"from": [], "to": []}
    assert (await address.send({"type": "query_status"}))["state"] == "created"
    async with world.unchanged():
        for type, payload in (("update", {"properties": {"x": 1}}), ("start", {}), ("delete", {})):
            assert await address.send({"type": type, "payload": payload}) == {
                "success": False,
                "error": "Node not found: a",
            }
    again = await acting.task("a", goal="New")
    assert (await address.send({"type": "get"}))["properties"]["goal"] == "Stay"
    assert (await again.send({"type": "get"}))["properties"]["goal"] == "New"
    await world.graph.delete("a")
    assert (await again.send({"type": "get"}))["success"] is True
    assert (await again.send({"type": "start"}))["error"] == "Node not found: a"


@clause("ACT-6", "ACT-30", "ACT-31", "ACT-32", "ACT-37", "ACT-82")
async def test_a_dump_comes_back_with_new_actors(acting: Acting, tmp_path: Path) -> None:
    graph = acting.graph
    await acting.task("root", createdAt="2025-01-01T00:00:00.000Z")
    await graph.send("root", "create_task", {"goal": "Write tests", "criteria": [{"criterion": "c", "threshold": 1}]})
    await graph.send("root", "start", {"context": {"priority": "high"}})
    await graph.add_edge("root", "missing-node", "depends_on", {"why": "dangling"})
    await graph.remove_edge((await graph.add_edge("root", "root", "references"))["id"])
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(await graph.dump(), indent=2), "utf-8")
    dumped = json.loads(file.read_text("utf-8"))
    assert list(dumped) == ["nodes", "edges"] and len(dumped["nodes"]) == 2
    made: list[str] = []
    async with System.at_url("memory:") as other:
        restored = actors_of(other)

        def factory(properties: dict[str, object], system: object) -> Address:
            made.append(str(properties["id"]))
            return make_actor(properties, restored.get_system())

        addresses = await restored.restore(dumped, factory)  # type: ignore[arg-type]
        assert await restored.dump() == dumped
        assert sorted(made) == sorted(addresses) == await restored.get_node_ids()
        assert await restored.get_node("root") is addresses["root"]
        assert (await restored.add_edge("root", "root", "references"))["id"] == "edge_3"
        assert (await addresses["root"].send({"type": "query_status"}))["state"] == "in_progress"
        with pytest.raises(NodeExists):
            await restored.restore(dumped)
        assert len((await restored.dump())["edges"]) == 3


@needs("durable")
@clause("ACT-31", "ACT-60", "ACT-6")
async def test_after_a_restart_actors_are_there_when_they_are_asked(acting: Acting, world: StoreUnderTest) -> None:
    address = await acting.task("t")
    await acting.graph.send("t", "start")
    await world.restart()
    graph = actors_of(world.system)
    assert (await graph.send("t", "query_status"))["state"] == "in_progress"
    fresh = await graph.get_node("t")
    assert fresh is not None and fresh is not address
    assert (await fresh.send(Message("complete")))["success"] is True
    assert (await world.graph.versions("t"))[-1].version == 3 and (await world.system.verify()).ok


@clause("ACT-49", "ACT-50", "ACT-51", "ACT-52")
async def test_nothing_costs_more_in_a_large_graph(
    acting: Acting, world: StoreUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = acting.graph

    async def cost(n: int) -> list[int]:
        """Rows read by each operation on one task among many."""
        rows = []
        await acting.task(f"task{n}")
        for call in (
            lambda: acting.task(f"more{n}"),
            lambda: graph.get_node(f"task{n}"),
            lambda: graph.get_node_properties(f"task{n}"),
            lambda: graph.add_edge(f"task{n}", f"more{n}", "depends_on"),
            lambda: graph.send(f"task{n}", "query_status"),
            lambda: graph.get_edges_from(f"task{n}"),
            lambda: graph.get_edges_to(f"more{n}"),
            lambda: graph.remove_edge(f"task{n}", f"more{n}", "depends_on"),
            lambda: graph.remove_node(f"task{n}"),
        ):
            async with count_rows_read(world, monkeypatch) as counted:
                await call()
            rows.append(counted.rows)
        return rows

    small = await cost(1)
    nodes = [{"id": f"n{n}", "type": "task"} for n in range(60)]
    edges = [{"from": f"n{n}", "to": f"n{n // 2}", "type": "spawned_by"} for n in range(60)]
    await world.graph.import_graph({"nodes": nodes, "edges": edges})
    assert await cost(2) == small
    async with count_rows_read(world, monkeypatch) as counted:
        await ActorGraph(world.system).dump()  # in Python: what a store writes as JSON by itself is not counted
    assert counted.rows == 62 + 60
    async with count_rows_read(world, monkeypatch) as counted:
        assert len(await ActorGraph(world.system).get_node_ids()) == 62
    assert counted.rows == 62
    for n in range(5):
        await graph.send(f"n{n}", "update", {"properties": {"x": n}})
    gc.collect()
    actors = graph.get_system()
    assert len(actors._mailboxes) == len(actors._locks) == len(actors._bound) == 0


@clause("ACT-40", "ACT-41", "ACT-42", "ACT-21", "ACT-43", "ACT-44", "ACT-45", "ACT-46", "ACT-47", "ACT-48", "ACT-82")
async def test_the_types_of_the_seed_as_an_ontology_for_those_who_want_it(
    acting: Acting, world: StoreUnderTest
) -> None:
    types = fixture("act_types")
    await acting.graph.add_edge("anything", "goes", "produces")
    await world.system.execute(tasks_ontology())
    ontology = await memory_of(world.system, ontology="tasks").get_ontology()
    assert list(ontology.node_types) == [kind["type"] for kind in types["node_types"]] == list(BUILT_IN)
    for kind in types["edge_types"]:
        found = next(one for one in ontology.connection_types if one.name == kind["type"])
        for end, allowed in (("from", found.from_types), ("to", found.to_types)):
            assert allowed == (ontology.node_types if kind[end] == "any" else (kind[end],))
    assert {name for name in actor_types() if name != "*"} >= set(ontology.node_types)
    await acting.task("t")
    await acting.graph.add_edge("t", "t", "produces")
    await world.system.execute(tasks_ontology("strict", Enforcement.STRICT))
    async with world.refuses(InvalidTopology):
        await acting.graph.add_edge("t", "t", "produces")
    assert (await acting.refusal_of("t", "link", {"toId": "t", "edgeType": "produces"}))["code"] == "INVALID_TOPOLOGY"
    assert (await acting.graph.send("t", "link", {"toId": "t", "edgeType": "blocks"}))["fromId"] == "t"
