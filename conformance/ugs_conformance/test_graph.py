"""Adding, changing and removing nodes and edges (seed 000, sections 4.2 to 4.4, 6.1, 6.2, 8)."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.errors import EdgeExists, EdgeNotFound, EndpointMissing, InvalidSyntax, NodeExists, NodeNotFound
from ugs.graph.api import Graph
from ugs.graph.model import Edge, Node
from ugs.identity import Principal, Scope
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest, fixture, ids, load

SCALE = 300


@clause("UGS-85", "UGS-195")
async def test_adding_a_node_answers_with_the_node_as_it_is_stored(graph: Graph) -> None:
    added = await graph.add_node("alice", "person", {"name": "Alice"}, data={"cv": ["x"]})

    assert added == Node("alice", "person", '{"name":"Alice"}', '{"cv":["x"]}', NOW, NOW, 1)  # type: ignore[arg-type]
    assert await graph.get("alice") == added


@clause("UGS-95", "UGS-196", "UGS-97", "UGS-198")
async def test_adding_an_edge_answers_with_the_edge_as_it_is_stored(graph: Graph) -> None:
    changed = await graph.add_edge("e1", "a", "b", "knows", 2.5, {"since": 1999})

    assert changed.edge == Edge("e1", "a", "b", "knows", 2.5, '{"since":1999}', NOW, NOW, 1, 1)  # type: ignore[arg-type]
    assert await graph.get("e1") == changed.edge


@clause("UGS-87", "UGS-197")
async def test_getting_an_unknown_id_gives_nothing(graph: Graph) -> None:
    assert await graph.get("nobody") is None
    assert await graph.get("not an id") is None


@clause("UGS-179")
async def test_the_minimal_fixture(graph: Graph) -> None:
    await load(graph, "ugs_minimal")

    stats = await graph.stats()
    expected = fixture("ugs_minimal")["expected"]

    assert (stats.nodes, stats.edges) == (expected["node_count"], expected["edge_count"])
    assert ids(await graph.list_nodes("test")) == ["a"]
    assert {node.type for node in await graph.list_nodes()} == set(expected["types"])


@clause("UGS-183", "UGS-112", "UGS-185")
async def test_the_demo_fixture_loads_with_its_counts_and_default_weights(graph: Graph) -> None:
    changed = await graph.load_demo()

    assert (len(changed.elements), changed.warnings) == (15, [])
    exported = await graph.export_graph()
    expected = fixture("ugs_demo")
    assert (len(exported["nodes"]), len(exported["edges"])) == (8, 7)
    assert sorted({node["type"] for node in exported["nodes"]}) == expected["expected"]["types"]
    assert [edge["weight"] for edge in exported["edges"]] == [1] * 7
    by_id = {node["id"]: node for node in exported["nodes"]}
    assert {id: node["properties"] for id, node in by_id.items()} == {
        node["id"]: node["properties"] for node in expected["nodes"]
    }


@clause("UGS-86", "UGS-124", "UGS-23", "UGS-235", "UGS-66", "UGS-78")
async def test_a_node_id_is_given_once(world: StoreUnderTest) -> None:
    await world.graph.add_node("alice", "person", {"v": 1})

    async with world.refuses(NodeExists, id="alice"):
        await world.graph.add_node("alice", "other", {"v": 2})


@clause("UGS-96", "UGS-125", "UGS-237", "UGS-66", "UGS-81")
async def test_an_edge_id_is_given_once(world: StoreUnderTest) -> None:
    await world.graph.add_edge("e1", "a", "b")

    async with world.refuses(EdgeExists, id="e1"):
        await world.graph.add_edge("e1", "c", "d")


@clause("UGS-23", "UGS-7")
async def test_nodes_and_edges_share_one_namespace(world: StoreUnderTest) -> None:
    await world.graph.add_node("n")
    await world.graph.add_edge("e", "n", "n")

    async with world.refuses(EdgeExists, id="e"):
        await world.graph.add_node("e")
    async with world.refuses(NodeExists, id="n"):
        await world.graph.add_edge("n", "n", "n")


@clause("UGS-89", "UGS-201", "UGS-79", "UGS-25", "UGS-26", "UGS-61")
async def test_an_update_merges_properties_and_moves_modified_only(world: StoreUnderTest) -> None:
    await world.graph.add_node("n", "t", {"kept": 1, "changed": "old"}, data=[1])
    world.clock.moment = NOW + 500

    changed = await world.graph.update("n", {"changed": "new", "added": None})

    assert changed.node.as_json() == {
        "id": "n",
        "type": "t",
        "properties": {"kept": 1, "changed": "new", "added": None},
        "data": [1],
        "created": NOW,
        "modified": NOW + 500,
    }
    assert await world.graph.get("n") == changed.node
    assert changed.node.version == 2


@clause("UGS-93", "UGS-94", "UGS-89")
@pytest.mark.parametrize(
    ("before", "append", "remove", "after"),
    [
        ({"tags": ["a", "b"]}, {"tags": "c"}, (), {"tags": ["a", "b", "c"]}),
        ({}, {"tags": "a"}, (), {"tags": ["a"]}),
        ({"tags": "a"}, {"tags": "b"}, (), {"tags": ["a", "b"]}),
        ({"tags": None}, {"tags": [1]}, (), {"tags": [None, [1]]}),
        ({"tags": ["a"], "x": "1"}, {}, ("tags",), {"x": "1"}),
        ({"x": 1}, {}, ("unknown",), {"x": 1}),
    ],
)
async def test_an_update_appends_to_lists_and_removes_keys(
    graph: Graph, before: dict[str, Any], append: dict[str, Any], remove: tuple[str, ...], after: dict[str, Any]
) -> None:
    await graph.add_node("n", "t", before)

    await graph.update("n", append=append, remove=remove)

    node = await graph.get("n")
    assert node is not None and node.properties == after


@clause("UGS-89", "UGS-131", "UGS-24")
async def test_type_and_data_can_be_replaced_by_anything_even_by_nothing(graph: Graph) -> None:
    await graph.add_node("n", "t", {"v": 1}, data={"a": 1})

    await graph.update("n", type=None, data=None)
    bare = await graph.get("n")
    await graph.update("n", {"v": "a text where a number was"}, type="u", data=[2])
    other = await graph.get("n")

    assert isinstance(bare, Node) and isinstance(other, Node)
    assert (bare.type, bare.data, bare.properties) == (None, None, {"v": 1})
    assert (other.type, other.data, other.properties) == ("u", [2], {"v": "a text where a number was"})


@clause("UGS-71", "UGS-63", "UGS-30")
async def test_an_edge_can_be_updated_and_keeps_its_ends_and_created(world: StoreUnderTest) -> None:
    await world.graph.add_edge("e", "a", "b", "t", 1, {"p": 1, "q": 2})
    world.clock.moment = NOW + 9

    changed = await world.graph.update("e", {"p": [1]}, remove=["q"], type="u", weight=0.5)

    assert changed.edge.as_json() == {
        "id": "e",
        "from": "a",
        "to": "b",
        "type": "u",
        "weight": 0.5,
        "properties": {"p": [1]},
        "created": NOW,
    }
    assert (changed.edge.modified, changed.edge.version, changed.edge.seq) == (NOW + 9, 2, 1)
    assert await world.graph.get("e") == changed.edge


@clause("UGS-9", "UGS-79")
async def test_an_update_that_changes_nothing_writes_nothing(world: StoreUnderTest) -> None:
    await world.graph.add_node("n", "t", {"v": 1})
    before = await world.everything()

    changed = await world.graph.update("n", remove=["unknown"])

    assert changed.events == []
    assert await world.everything() == before


@clause("UGS-89", "UGS-71")
async def test_nodes_have_no_weight_and_edges_no_data(world: StoreUnderTest) -> None:
    await world.graph.add_node("n")
    await world.graph.add_edge("e", "n", "n")

    async with world.refuses(InvalidSyntax):
        await world.graph.update("n", weight=2)
    async with world.refuses(InvalidSyntax):
        await world.graph.update("e", data={})


@clause("UGS-88", "UGS-199", "UGS-200", "UGS-80", "UGS-132", "UGS-133", "UGS-64")
async def test_deleting_a_node_takes_its_edges_along_and_keeps_its_neighbours(graph: Graph) -> None:
    await graph.load_demo()
    expected = fixture("ugs_demo_derived")["delete_cascade"]

    changed = await graph.delete(expected["delete"])

    assert changed.deleted == [*expected["removed_edges"], "bob"]
    assert [event.type for event in changed.events] == ["EdgeDeleted"] * 3 + ["NodeDeleted"]
    exported = await graph.export_graph()
    assert [edge["id"] for edge in exported["edges"]] == expected["remaining_edges"]
    assert len(exported["nodes"]) == expected["remaining_nodes"]
    assert not [edge for edge in exported["edges"] if "bob" in (edge["from"], edge["to"])]
    assert await graph.get("bob") is None
    assert await graph.neighbors("alice") == [await graph.get("task_1")]


@clause("UGS-132", "UGS-88")
async def test_a_loop_and_parallel_edges_end_once_each_in_the_order_they_began(graph: Graph) -> None:
    await graph.add_node("a")
    await graph.add_node("b")
    for id, source, target in [("z", "a", "a"), ("y", "a", "b"), ("x", "a", "b"), ("w", "b", "a")]:
        await graph.add_edge(id, source, target)

    changed = await graph.delete("a")

    assert changed.deleted == ["z", "y", "x", "w", "a"]
    assert (await graph.stats()).edges == 0


@clause("UGS-98", "UGS-82", "UGS-63")
async def test_deleting_an_edge_leaves_its_nodes(graph: Graph) -> None:
    await graph.load_demo()

    changed = await graph.delete("e1")

    assert (changed.deleted, [event.type for event in changed.events]) == (["e1"], ["EdgeDeleted"])
    assert await graph.get("e1") is None
    assert (await graph.stats()).as_json() == {"nodes": 8, "edges": 6, "types": 3, "properties": 5}
    assert ids(await graph.neighbors("alice")) == ["bob"]


@clause("UGS-236", "UGS-238", "UGS-79", "UGS-80", "UGS-82")
async def test_what_is_not_there_cannot_be_changed_or_deleted(world: StoreUnderTest) -> None:
    await world.graph.add_node("n")
    for act in (world.graph.update("x", {"v": 1}), world.graph.delete("x"), world.graph.delete("x", "node")):
        async with world.refuses(NodeNotFound, id="x"):
            await act
    for act in (world.graph.update("n", {"v": 1}, kind="edge"), world.graph.delete("n", "edge")):
        async with world.refuses(EdgeNotFound, id="n"):
            await act


@clause("UGS-62", "UGS-61", "UGS-25")
async def test_a_deleted_node_id_can_live_again_with_times_and_properties_of_its_own(world: StoreUnderTest) -> None:
    await world.graph.add_node("n", "t", {"old": 1})
    await world.graph.delete("n")
    world.clock.moment = NOW + 7

    again = await world.graph.add_node("n", "u", {"new": 2})

    assert again.as_json() == {
        "id": "n",
        "type": "u",
        "properties": {"new": 2},
        "data": None,
        "created": NOW + 7,
        "modified": NOW + 7,
    }
    assert again.version == 2
    assert await world.graph.get("n") == again


@clause("UGS-63", "UGS-81")
async def test_a_deleted_edge_id_can_be_given_again(graph: Graph) -> None:
    await graph.add_edge("e", "a", "b")
    await graph.delete("e")

    changed = await graph.add_edge("e", "b", "c", weight=3)

    assert (changed.edge.source, changed.edge.target, changed.edge.weight, changed.edge.version) == ("b", "c", 3, 2)


@clause("UGS-129", "UGS-81", "UGS-64")
async def test_an_edge_without_its_nodes_is_created_with_a_warning_for_each(graph: Graph) -> None:
    await graph.add_node("here")

    changed = await graph.add_edge("e", "here", "there")
    both = await graph.add_edge("f", "nowhere", "there")
    loop = await graph.add_edge("g", "nowhere", "nowhere")

    assert [(w.code, w.id) for w in changed.warnings] == [("W001", "there")]
    assert [(w.code, w.id) for w in both.warnings] == [("W001", "nowhere"), ("W001", "there")]
    assert [w.id for w in loop.warnings] == ["nowhere"]
    assert (await graph.stats()).edges == 3
    assert await graph.get("there") is None


@clause("UGS-129")
async def test_a_dangling_edge_joins_its_nodes_when_they_appear(graph: Graph) -> None:
    await graph.add_edge("e", "a", "b")
    assert (await graph.stats()).as_json() == {"nodes": 0, "edges": 1, "types": 0, "properties": 0}

    await graph.add_node("b", "late", {"v": 1})
    await graph.add_node("a", "later")

    assert ids(await graph.neighbors("a")) == ["b"]
    assert await graph.get("b") == (await graph.list_nodes("late"))[0]
    await graph.delete("a")
    assert await graph.get("e") is None
    assert ids(await graph.list_nodes()) == ["b"]


@clause("UGS-129", "UGS-64")
async def test_a_strict_edge_needs_both_nodes(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")

    async with world.refuses(EndpointMissing, missing=["b"]):
        await world.graph.add_edge("e", "a", "b", strict=True)


@clause("UGS-131")
async def test_types_are_never_enforced(graph: Graph) -> None:
    await graph.add_node("a", "person", {"age": 40})
    await graph.add_node("b", "person", {"age": "forty", "extra": [None]})
    await graph.add_edge("e", "a", "b", "person")

    assert ids(await graph.list_nodes("person")) == ["a", "b"]


@clause("UGS-40", "UGS-95")
async def test_ids_that_are_not_given_are_generated_and_never_reused(graph: Graph) -> None:
    first = await graph.add_edge(None, "a", "b")
    await graph.add_edge("edge_2", "a", "b")
    second = await graph.add_edge(None, "a", "b")
    await graph.delete("edge_3")
    third = await graph.add_edge(None, "a", "b")
    node = await graph.add_node(None)

    assert [first.edge.id, second.edge.id, third.edge.id, node.id] == ["edge_1", "edge_3", "edge_4", "node_1"]


@clause("UGS-40")
async def test_the_counter_of_generated_ids_only_rises(graph: Graph) -> None:
    await graph.set_edge_counter(41)
    await graph.set_edge_counter(7)

    changed = await graph.add_edge(None, "a", "b")

    assert changed.edge.id == "edge_42"


@clause("UGS-76", "UGS-3")
async def test_events_name_who_asked_and_the_local_user_goes_without_saying(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")
    await Graph(world.system, Principal(user="ann")).add_node("b")

    assert [event.by for event in await world.events()] == [None, "ann"]


@clause("UGS-134", "UGS-137")
async def test_hundreds_of_nodes_and_edges_come_and_go(graph: Graph) -> None:
    nodes = [{"id": f"n{i}", "type": f"t{i % 7}", "properties": {"i": i}} for i in range(SCALE)]
    edges = [{"id": f"e{i}", "from": f"n{i}", "to": f"n{(i * 7 + 1) % SCALE}"} for i in range(SCALE)]
    await graph.import_graph({"nodes": nodes, "edges": edges})

    assert (await graph.stats()).as_json() == {"nodes": SCALE, "edges": SCALE, "types": 7, "properties": 1}
    assert ids(await graph.list_nodes("t3")) == sorted(f"n{i}" for i in range(SCALE) if i % 7 == 3)
    assert ids(await graph.find_by_property("i", 250)) == ["n250"]
    await graph.clear_scope(Scope.DEFAULT, force=True)
    assert (await graph.stats()).as_json() == {"nodes": 0, "edges": 0, "types": 0, "properties": 0}
