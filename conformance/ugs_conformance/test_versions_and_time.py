"""Addresses resolved, elements at a version, and the whole graph at a past position or instant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ugs.errors import InvalidSyntax, PositionNotFound
from ugs.graph.api import Graph
from ugs.graph.model import Edge, Node
from ugs.log.at import At
from ugs_conformance.support.actors_kit import count_rows_read
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest, ids, load


@clause("UGS-32", "UGS-122", "UGS-18", "UGS-7")
async def test_an_address_leads_to_a_node_or_an_edge(graph: Graph) -> None:
    await graph.add_node("alice", "person")
    await graph.add_edge("e_123", "alice", "alice")

    node, edge = await graph.resolve("@(alice)"), await graph.resolve("@(e_123)")

    assert node.element == await graph.get("alice") and isinstance(node.element, Node)
    assert edge.element == await graph.get("e_123") and isinstance(edge.element, Edge)
    assert edge.value == edge.element.as_json()


@pytest.mark.parametrize("text", ["@(nobody)", "@(user:nobody)", "@(alice:9)", "alice", "@()", "@(foo:bar)", ""])
@clause("UGS-20", "UGS-121", "UGS-130", "UGS-8")
async def test_what_leads_nowhere_stays_what_it_was(graph: Graph, text: str) -> None:
    await graph.add_node("alice")

    resolution = await graph.resolve(text)

    assert (resolution.element, resolution.value) == (None, text)


@clause("UGS-8", "UGS-12", "UGS-182")
async def test_an_address_is_stored_symbolic_and_resolved_when_asked(graph: Graph) -> None:
    await graph.add_node("n", properties={"to": "@(later)"})
    before = await graph.resolve("@(later)")

    await graph.add_node("later", "t", {"v": 1})

    node = await graph.get("n")
    assert node is not None and node.properties == {"to": "@(later)"}
    assert before.value == "@(later)"
    after = await graph.resolve("@(later)")
    assert after.element is not None and after.element.properties == {"v": 1}


@clause("UGS-12")
async def test_storing_an_address_reads_nothing_of_what_it_names(
    world: StoreUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.graph.add_node("there", "t", {"v": 1})

    async def rows_read(id: str, *texts: str) -> int:
        async with count_rows_read(world, monkeypatch) as counted:
            await world.graph.add_node(id, properties={"one": texts[0], "deep": {"list": [*texts]}}, data=[*texts])
        return counted.rows

    plain = await rows_read("plain", "there", "nowhere", "there:1")
    assert await rows_read("named", "@(there)", "@(nowhere)", "@(there:1)") == plain
    node = await world.graph.get("named")
    assert isinstance(node, Node)
    assert node.properties["deep"] == {"list": ["@(there)", "@(nowhere)", "@(there:1)"]} == {"list": node.data}
    await world.graph.delete("there")
    assert (await world.graph.get("named")) == node


@clause("UGS-123", "UGS-17")
async def test_a_versioned_address_leads_to_that_version(world: StoreUnderTest) -> None:
    graph = world.graph
    await graph.add_node("n", "t", {"v": 1})
    world.clock.moment = NOW + 5
    await graph.update("n", {"v": 2})
    await graph.add_edge("e", "n", "n", weight=1)
    await graph.update("e", weight=2)

    first, second, third = [(await graph.resolve(f"@(n:{version})")).element for version in (1, 2, 3)]
    edge = (await graph.resolve("@(e:1)")).element

    assert isinstance(first, Node) and (first.properties, first.modified) == ({"v": 1}, NOW)
    assert isinstance(second, Node) and (second.properties, second.modified) == ({"v": 2}, NOW + 5)
    assert third is None
    assert isinstance(edge, Edge) and edge.weight == 1


@clause("UGS-123", "UGS-62")
async def test_versions_count_on_over_deletion_and_a_deleted_element_is_gone_in_all(graph: Graph) -> None:
    await graph.add_node("n", properties={"life": 1})
    await graph.delete("n")
    gone = await graph.resolve("@(n:1)")
    await graph.add_node("n", properties={"life": 2})

    assert gone.value == "@(n:1)"
    assert [state.version for state in await graph.versions("n")] == [1, 1, 2]
    assert [state.element and state.element.properties for state in await graph.versions("n")] == [
        {"life": 1},
        None,
        {"life": 2},
    ]
    first = (await graph.resolve("@(n:1)")).element
    assert first is not None and first.properties == {"life": 1}
    assert await graph.versions("nobody") == []


@clause("UGS-20", "UGS-19", "UGS-8")
async def test_values_expand_as_deep_as_asked_and_cycles_stay_addresses(graph: Graph) -> None:
    await graph.add_node("a", properties={"to": "@(b)", "list": ["@(b)", {"x": "@(nowhere)"}]})
    await graph.add_node("b", properties={"back": "@(a)"})
    value = {"start": "@(a)"}

    none = await graph.expand(value, 0)
    one = await graph.expand(value, 1)
    three = await graph.expand(value, 3)

    assert none == value
    assert one["start"]["properties"] == {"to": "@(b)", "list": ["@(b)", {"x": "@(nowhere)"}]}
    assert three["start"]["properties"]["to"]["properties"] == {"back": "@(a)"}
    assert three["start"]["properties"]["list"][0]["id"] == "b"
    assert three["start"]["properties"]["list"][1] == {"x": "@(nowhere)"}


@clause("UGS-7", "UGS-19", "UGS-18")
async def test_references_are_seen_from_both_ends(graph: Graph) -> None:
    await graph.add_node("target")
    await graph.add_node("p", properties={"a": ["@(target)", "@(target:1)"], "b": {"c": "@(nobody)"}}, data="@(e)")
    await graph.add_node("text", properties={"a": "see @(target)", "b": "target"})
    await graph.add_edge("e", "p", "target", properties={"why": "@(target)"})

    out = [(str(ref.address), ref.path, ref.target and ref.target.id) for ref in await graph.references("p")]

    assert out == [
        ("@(target)", "properties.a[0]", "target"),
        ("@(target:1)", "properties.a[1]", "target"),
        ("@(nobody)", "properties.b.c", None),
        ("@(e)", "data", "e"),
    ]
    assert ids(await graph.referenced_by("target")) == ["p", "e"]
    assert ids(await graph.referenced_by("e")) == ["p"]
    assert ids(await graph.referenced_by("nobody")) == ["p"]
    await graph.update("p", remove=["a"])
    assert ids(await graph.referenced_by("target")) == ["e"]
    assert await graph.references("nobody") == []


async def history(world: StoreUnderTest) -> None:
    """The demo at the first moment, then bob renamed, then bob gone, each a second apart."""
    await load(world.graph, "ugs_demo")
    world.clock.moment = NOW + 1000
    await world.graph.update("bob", {"name": "Robert"}, type="boss")
    world.clock.moment = NOW + 2000
    await world.graph.delete("bob")


BEFORE = At(position=15)
RENAMED = At(instant=NOW + 1500)
START = At(position=0)


@clause("UGS-11", "UGS-77")
async def test_every_read_can_be_asked_at_a_position_in_the_log(world: StoreUnderTest) -> None:
    await history(world)
    graph = world.graph

    assert ids(await graph.list_nodes("person", at=BEFORE)) == ["alice", "bob", "charlie"]
    assert ids(await graph.neighbors("bob", "incoming", at=BEFORE)) == ["alice", "charlie"]
    assert ids(await graph.search("smith", at=BEFORE)) == ["bob"]
    assert ids(await graph.find_by_property("role", "manager", at=BEFORE)) == ["bob"]
    assert ids(await graph.traverse("charlie", 2, at=BEFORE)) == ["charlie", "bob", "task_2"]
    path = await graph.path("charlie", "api_proj", at=BEFORE)
    assert path is not None and path.weight == 3
    assert (await graph.stats(at=BEFORE)).as_json() == {"nodes": 8, "edges": 7, "types": 3, "properties": 5}
    assert ids(await graph.hubs(2, at=BEFORE)) == ["bob", "task_1"]
    assert ids(await graph.roots(at=BEFORE)) == ["alice", "charlie", "task_3"]
    assert await graph.degree("bob", at=BEFORE) == (2, 1)
    assert (await graph.resolve("@(bob)", at=BEFORE)).element is not None
    assert await graph.get("bob") is None
    assert ids(await graph.neighbors("charlie")) == []


@clause("UGS-11", "UGS-77", "UGS-123")
async def test_every_read_can_be_asked_at_an_instant(world: StoreUnderTest) -> None:
    await history(world)
    graph = world.graph

    bob = await graph.get("bob", at=RENAMED)

    assert isinstance(bob, Node)
    assert (bob.type, bob.properties["name"], bob.modified, bob.version) == ("boss", "Robert", NOW + 1000, 2)
    assert ids(await graph.list_nodes("boss", at=RENAMED)) == ["bob"]
    assert await graph.get("bob", at=At(instant=NOW + 2000)) is None
    exact = await graph.get("bob", at=At(instant=NOW + 1000))
    assert exact == bob
    assert (await graph.stats(at=At(instant=NOW - 1))).nodes == 0
    assert await graph.get("bob", at=At.time(datetime.fromtimestamp((NOW + 1000) / 1000, UTC))) == bob
    assert await graph.scopes(at=At(instant=NOW - 1)) == []
    assert await graph.property_keys(at=START) == []


@clause("UGS-11", "UGS-77")
async def test_the_past_at_every_position_is_what_it_was_then(world: StoreUnderTest) -> None:
    seen = [await world.graph.export_graph()]
    steps = [
        world.graph.add_node("a", "t", {"v": 1}),
        world.graph.add_edge("e", "a", "b"),
        world.graph.add_node("b"),
        world.graph.update("a", {"v": 2}),
        world.graph.update("e", weight=0.5),
    ]
    for step in steps:
        world.clock.moment += 1
        await step
        seen.append(await world.graph.export_graph())

    assert [await world.graph.export_graph(at=At(position=n)) for n in range(6)] == seen
    assert [await world.graph.export_graph(at=At(instant=NOW + n)) for n in range(6)] == seen


@clause("UGS-11")
async def test_places_that_time_does_not_have_are_refused(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")

    for at in (At(position=2), At(position=-1)):
        async with world.refuses(PositionNotFound):
            await world.graph.get("a", at=at)
    for at in (At(), At(position=1, instant=NOW)):
        async with world.refuses(InvalidSyntax):
            await world.graph.get("a", at=at)
    assert await world.graph.get("a", at=At(instant=NOW + 10**9)) == await world.graph.get("a")
