"""Namespaces by id prefix (seed 000, section 12)."""

from __future__ import annotations

import pytest

from ugs.errors import InvalidSyntax
from ugs.graph.api import Graph
from ugs.identity import Scope, scope_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture, ids, load


@clause("UGS-188", "UGS-110", "UGS-6", "UGS-229")
async def test_the_scopes_fixture(graph: Graph) -> None:
    await load(graph, "ugs_scopes")

    counts = {count.scope.value: count.nodes for count in await graph.scopes()}

    assert counts == {case["scope"]: case["count"] for case in fixture("ugs_scopes")["assertions"]}


@clause("UGS-110", "UGS-6")
async def test_scopes_in_use_are_those_with_nodes_default_first(graph: Graph) -> None:
    assert await graph.scopes() == []
    await graph.add_node("scratch:a")
    await graph.add_node("plain")
    await graph.add_edge("user:e", "plain", "scratch:a")
    await graph.add_edge("scratch:e", "plain", "scratch:a")

    assert [(count.scope, count.nodes, count.edges) for count in await graph.scopes()] == [
        (Scope.DEFAULT, 1, 0),
        (Scope.SCRATCH, 1, 1),
    ]


@clause("UGS-166", "UGS-167", "UGS-168", "UGS-169", "UGS-178", "UGS-170", "UGS-227", "UGS-16")
def test_the_prefix_of_an_id_is_its_scope() -> None:
    assert scope_of("user:profile") is Scope.USER
    assert scope_of("project:task_1") is Scope.PROJECT
    assert scope_of("scratch:temp") is Scope.SCRATCH
    assert scope_of("user") is Scope.DEFAULT


@pytest.mark.parametrize(
    "id",
    ["", "user:", ":a", "team:a", "default:a", "user:1a", "1a", "a b", "a.b", "user:a:b", "-a", "a\n", "ä", "a" * 257],
)
@clause("UGS-170", "UGS-227", "UGS-239")
async def test_an_id_that_breaks_the_grammar_is_refused_everywhere(world: StoreUnderTest, id: str) -> None:
    await world.graph.add_node("n")

    acts = (
        world.graph.add_node(id),
        world.graph.add_edge(id, "n", "n"),
        world.graph.add_edge("e", id, "n"),
        world.graph.update(id, {"v": 1}),
        world.graph.delete(id),
    )
    async with world.unchanged():
        for act in acts:
            with pytest.raises(InvalidSyntax):
                await act


@clause("UGS-170", "UGS-227")
async def test_the_longest_ids_and_all_their_characters_are_kept(graph: Graph) -> None:
    names = ["a" * 256, "user:" + "b" * 251, "_", "A-_9", "scratch:_", "user:user", "a--"]
    for id in names:
        await graph.add_node(id, properties={"id": id})

    for id in names:
        node = await graph.get(id)
        assert node is not None and node.properties == {"id": id}


@clause("UGS-175", "UGS-178", "UGS-6")
async def test_scopes_are_independent_namespaces(graph: Graph) -> None:
    for id in ("alice", "user:alice", "project:alice", "scratch:alice"):
        await graph.add_node(id, properties={"me": id})

    await graph.delete("user:alice")

    assert ids(await graph.list_nodes()) == ["alice", "project:alice", "scratch:alice"]
    node = await graph.get("alice")
    assert node is not None and node.properties == {"me": "alice"}


@clause("UGS-173", "UGS-176", "UGS-228", "UGS-172", "UGS-129")
async def test_edges_cross_scopes(graph: Graph) -> None:
    await graph.add_node("user:profile", "person", {"name": "Alice"})
    await graph.add_node("project:task_1", "task", {"status": "active"})
    await graph.add_node("scratch:experiment", "test", {"value": "123"})

    changed = await graph.add_edge("e1", "project:task_1", "user:alice", "assigned_to")
    await graph.add_edge("e2", "project:task_1", "user:profile")

    assert [warning.id for warning in changed.warnings] == ["user:alice"]
    assert ids(await graph.neighbors("project:task_1")) == ["user:profile"]
    path = await graph.path("project:task_1", "user:profile")
    assert path is not None and path.weight == 1


@clause("UGS-174", "UGS-229", "UGS-230")
async def test_a_scope_lists_its_own_nodes_also_of_one_type(graph: Graph) -> None:
    await load(graph, "ugs_scopes")
    await graph.add_node("userlike", "config")
    await graph.add_node("user:b", "task")

    assert ids(await graph.list_nodes(scope=Scope.USER)) == ["user:b", "user:profile"]
    assert ids(await graph.list_nodes("task", Scope.USER)) == ["user:b"]
    assert ids(await graph.list_nodes("config")) == ["user:profile", "userlike"]
    assert ids(await graph.list_nodes(scope=Scope.PROJECT)) == ["project:task_1"]
    assert ids(await graph.list_nodes(scope=Scope.SCRATCH)) == ["scratch:temp"]
    assert ids(await graph.list_nodes(scope=Scope.DEFAULT)) == ["global_node", "userlike"]


@clause("UGS-230", "UGS-99")
async def test_an_export_can_be_one_scope(graph: Graph) -> None:
    await load(graph, "ugs_scopes")
    await graph.add_edge("user:e", "user:profile", "global_node")
    await graph.add_edge("e", "user:profile", "global_node")

    exported = await graph.export_graph(Scope.USER)

    assert [node["id"] for node in exported["nodes"]] == ["user:profile"]
    assert [edge["id"] for edge in exported["edges"]] == ["user:e"]


@clause("UGS-177", "UGS-168")
async def test_clearing_a_scope_affects_only_that_scope_and_edges_that_touch_it(graph: Graph) -> None:
    await load(graph, "ugs_scopes")
    await graph.add_edge("scratch:own", "user:profile", "global_node")
    await graph.add_edge("touches", "global_node", "scratch:temp")
    await graph.add_edge("stays", "global_node", "user:profile")

    changed = await graph.clear_scope(Scope.SCRATCH)

    assert changed.deleted == ["scratch:own", "touches", "scratch:temp"]
    assert ids(await graph.list_nodes()) == ["global_node", "project:task_1", "user:profile"]
    assert [edge["id"] for edge in (await graph.export_graph())["edges"]] == ["stays"]


@clause("UGS-177", "UGS-169")
async def test_the_default_scope_is_cleared_only_by_force(world: StoreUnderTest) -> None:
    await load(world.graph, "ugs_scopes")

    async with world.refuses(InvalidSyntax):
        await world.graph.clear_scope(Scope.DEFAULT)
    await world.graph.clear_scope(Scope.DEFAULT, force=True)

    assert ids(await world.graph.list_nodes()) == ["project:task_1", "scratch:temp", "user:profile"]
