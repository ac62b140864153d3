"""Requests made of several: batches, imports, exports, the demo, going back to a version (all or nothing)."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.errors import (
    EdgeExists,
    InvalidJSON,
    InvalidSyntax,
    LimitExceeded,
    NodeExists,
    NodeNotFound,
    UgsError,
    VersionConflict,
    VersionNotFound,
)
from ugs.graph.api import Graph
from ugs.graph.commands import AddEdge, AddNode, Delete, Operation, Update
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture, ids, load


@clause("UGS-65", "UGS-3", "UGS-195", "UGS-196")
async def test_a_batch_happens_as_one(world: StoreUnderTest) -> None:
    changed = await world.graph.batch(
        [
            AddNode(id="a", type="t", properties={"v": 1}),
            AddNode(id="b"),
            AddEdge(id="e", source="a", target="b"),
            Update(id="a", properties={"v": 2}),
            Delete(id="b"),
        ]
    )

    assert [event.type for event in changed.events] == [
        "NodeAdded",
        "NodeAdded",
        "EdgeAdded",
        "NodeUpdated",
        "EdgeDeleted",
        "NodeDeleted",
    ]
    first = changed.events[0].id
    assert [(event.tx.id, event.tx.index, event.tx.size) for event in changed.events if event.tx] == [
        (first, index, 6) for index in range(6)
    ]
    assert changed.warnings == []
    assert (changed.node.properties, changed.node.version, changed.deleted) == ({"v": 2}, 2, ["b", "e"])
    assert ids(await world.graph.list_nodes()) == ["a"]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (AddNode(id="taken"), NodeExists),
        (AddEdge(id="wire", source="a", target="a"), EdgeExists),
        (Update(id="missing", properties={"v": 1}), NodeNotFound),
        (Delete(id="a", expected_version=9), VersionConflict),
        (AddNode(id="x", properties={"v": float("nan")}), InvalidJSON),
        (AddEdge(source="$later", target="a"), InvalidSyntax),
        (AddNode(id="not an id"), InvalidSyntax),
    ],
)
@clause("UGS-66", "UGS-9")
async def test_one_bad_operation_undoes_the_whole_batch_and_is_named(
    world: StoreUnderTest, bad: Operation, error: type[UgsError]
) -> None:
    for id in ("taken", "doomed"):
        await world.graph.add_node(id)
    await world.graph.add_edge("wire", "taken", "taken")
    before: list[Operation] = [AddNode(id="a"), AddEdge(source="a", target="a"), Delete(id="doomed"), Update(id="wire")]

    async with world.refuses(error, operation=4):
        await world.graph.batch([*before, bad, AddNode(id="never")])

    assert ids(await world.graph.list_nodes()) == ["doomed", "taken"]


@clause("UGS-40", "UGS-19")
async def test_temporary_ids_stand_for_generated_ones_also_inside_values(graph: Graph) -> None:
    changed = await graph.batch(
        [
            AddNode(id="$parent", type="p"),
            AddNode(id="$child", properties={"up": "@($parent)", "list": [{"deep": "@($parent)"}]}, data="@($parent)"),
            AddEdge(id="$link", source="$parent", target="$child"),
            Update(id="$link", weight=4),
            Update(id="$parent", properties={"down": "@($child)", "other": "@($unknown)"}),
        ]
    )

    parent, child, link = changed.elements
    assert (parent.id, child.id, link.id) == ("node_1", "node_2", "edge_1")
    assert child.properties == {"up": "@(node_1)", "list": [{"deep": "@(node_1)"}]}
    assert parent.properties == {"down": "@(node_2)", "other": "@($unknown)"}
    assert link.as_json() | {"created": 0} == {
        "id": "edge_1",
        "from": "node_1",
        "to": "node_2",
        "type": None,
        "weight": 4,
        "properties": {},
        "created": 0,
    }
    assert ids(await graph.referenced_by("node_1")) == ["node_2"]


@clause("UGS-66")
async def test_a_temporary_id_is_given_once(world: StoreUnderTest) -> None:
    async with world.refuses(InvalidSyntax, operation=1):
        await world.graph.batch([AddNode(id="$a"), AddNode(id="$a")])


@clause("UGS-66")
async def test_a_batch_has_a_limit(world: StoreUnderTest) -> None:
    async with world.refuses(LimitExceeded, limit=10_000):
        await world.graph.batch([AddNode()] * 10_001)


@clause("UGS-9")
async def test_an_empty_batch_does_nothing(world: StoreUnderTest) -> None:
    changed = await world.graph.batch([])

    assert (changed.events, await world.events()) == ([], [])


@clause("UGS-112", "UGS-183")
async def test_the_demo_is_loaded_once_and_by_force_around_what_exists(world: StoreUnderTest) -> None:
    await world.graph.add_node("alice", "mine", {"kept": True})

    async with world.refuses(NodeExists, id="alice"):
        await world.graph.load_demo()
    changed = await world.graph.load_demo(force=True)

    assert [(warning.code, warning.id) for warning in changed.warnings] == [("W003", "alice")]
    assert (await world.graph.stats()).nodes == 8
    alice = await world.graph.get("alice")
    assert alice is not None and alice.properties == {"kept": True}


@clause("UGS-3")
async def test_an_export_imports_into_the_same_graph(world: StoreUnderTest) -> None:
    await load(world.graph, "ugs_demo")
    await world.graph.update("alice", {"deep": {"list": [1, None, "@(bob)"]}}, data=[1.5])
    exported = await world.graph.export_graph()
    await world.harness.fresh()
    await world.graph.import_graph(exported)

    assert await world.graph.export_graph() == exported


@clause("UGS-66")
async def test_an_import_is_all_or_nothing(world: StoreUnderTest) -> None:
    await world.graph.add_node("b")
    graph: dict[str, Any] = {"nodes": [{"id": "a"}, {"id": "b"}], "edges": []}

    async with world.refuses(NodeExists, id="b"):
        await world.graph.import_graph(graph)
    async with world.refuses(InvalidSyntax):
        await world.graph.import_graph(graph, on_conflict="guess")
    async with world.refuses(InvalidSyntax):
        await world.graph.import_graph({"nodes": [{"id": "x"}], "edges": [{"from": "x"}]})
    async with world.refuses(InvalidSyntax):
        await world.graph.import_graph({"nodes": [{"type": "no id"}]})


@clause("UGS-62", "UGS-131")
async def test_an_import_can_skip_or_replace_what_is_there(graph: Graph) -> None:
    await graph.add_node("a", "old", {"v": 1})
    await graph.add_edge("e", "a", "a", weight=2)
    incoming = {"nodes": [{"id": "a", "type": "new"}, {"id": "b"}], "edges": [{"id": "e", "from": "b", "to": "a"}]}

    skipped = await graph.import_graph(incoming, on_conflict="skip")
    kept = await graph.get("a")
    await graph.import_graph(incoming, on_conflict="replace")
    replaced = await graph.export_graph()

    assert [warning.id for warning in skipped.warnings] == ["a", "e"]
    assert kept is not None and (kept.type, kept.properties) == ("old", {"v": 1})
    assert [(node["id"], node["type"], node["properties"]) for node in replaced["nodes"]] == [
        ("a", "new", {}),
        ("b", None, {}),
    ]
    assert [(edge["from"], edge["weight"]) for edge in replaced["edges"]] == [("b", 1)]


@clause("UGS-180", "UGS-181", "UGS-182", "UGS-20", "UGS-130")
async def test_the_references_fixture(graph: Graph) -> None:
    await load(graph, "ugs_references")

    for case in fixture("ugs_references")["assertions"]:
        value = (await graph.resolve(case["resolve"])).value
        expected = case["equals"]
        assert value == expected if isinstance(expected, str) else expected.items() <= value.items()
    node = await graph.get("n3")
    assert node is not None and node.properties == {"ref": "@(nonexistent)"}


@clause("UGS-123", "UGS-62")
async def test_an_element_can_go_back_to_any_version(graph: Graph) -> None:
    await graph.add_node("n", "t", {"a": 1, "b": 2}, data=[1])
    await graph.update("n", {"a": 9, "c": 3}, remove=["b"], type="u", data=None)

    back = await graph.revert("n", 1)
    again = await graph.revert("n", 1)
    forth = await graph.revert("n", 2)

    assert (back.node.type, back.node.properties, back.node.data, back.node.version) == ("t", {"a": 1, "b": 2}, [1], 3)
    assert again.events == []
    assert (forth.node.type, forth.node.properties, forth.node.data, forth.node.version) == (
        "u",
        {"a": 9, "c": 3},
        None,
        4,
    )


@clause("UGS-123", "UGS-63")
async def test_a_deleted_element_can_be_brought_back(graph: Graph) -> None:
    await graph.add_node("a", "t", {"v": 1})
    await graph.add_edge("e", "a", "a", "x", 2.5, {"p": 1})
    await graph.delete("a")

    await graph.revert("a", 1)
    edge = (await graph.revert("e", 1)).edge

    node = await graph.get("a")
    assert node is not None and (node.type, node.properties, node.version) == ("t", {"v": 1}, 2)
    assert (edge.source, edge.target, edge.type, edge.weight, edge.properties, edge.version) == (
        "a",
        "a",
        "x",
        2.5,
        {"p": 1},
        2,
    )


@clause("UGS-123")
async def test_there_is_no_way_back_to_what_never_was(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")

    for id, version in (("a", 2), ("a", 0), ("b", 1)):
        async with world.refuses(VersionNotFound, id=id, version=version):
            await world.graph.revert(id, version)


@clause("UGS-187", "UGS-66", "UGS-236")
async def test_foreign_events_are_taken_over_all_or_none(world: StoreUnderTest) -> None:
    await world.graph.add_node("a", "t")
    good = {"type": "NodeUpdated", "data": {"id": "a", "properties": {"v": 1}, "removed": ["w"], "type": "u"}}

    async with world.refuses(NodeNotFound, id="nobody"):
        await world.graph.apply_events([good, {"type": "NodeDeleted", "data": {"id": "nobody"}}])
    async with world.refuses(InvalidSyntax):
        await world.graph.apply_events([good, {"type": "NodeAdded", "data": {"type": "t"}}])
    await world.graph.apply_events([good])

    node = await world.graph.get("a")
    assert node is not None and (node.type, node.properties) == ("u", {"v": 1})
