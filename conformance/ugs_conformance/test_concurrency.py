"""Many at once: one winner per version, one effect per key, one order for all (section 13 of the design)."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from ugs.clock import FixedClock
from ugs.connect import storage_for
from ugs.errors import IdempotencyConflict, InvalidJSON, InvalidSyntax, NodeExists, UgsError, VersionConflict
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode, Operation, Update
from ugs.graph.model import NODES
from ugs.identity import Principal, Scope
from ugs.system import System
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.pytest_plugin import clause, needs
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest, ids

STORM = 100


def kinds(outcomes: list[Any]) -> Counter[str]:
    """How often each error, or success, came out."""
    return Counter(type(o).__name__ if isinstance(o, BaseException) else "done" for o in outcomes)


@clause("UGS-9", "UGS-66")
async def test_of_many_who_expect_the_same_version_one_wins(world: StoreUnderTest) -> None:
    await world.graph.add_node("n", properties={"v": 0})

    outcomes = await asyncio.gather(
        *(world.graph.update("n", {"v": v}, expected_version=1) for v in range(1, 21)), return_exceptions=True
    )

    assert kinds(outcomes) == {"done": 1, "VersionConflict": 19}
    for conflict in [outcome for outcome in outcomes if isinstance(outcome, VersionConflict)]:
        element: Any = conflict.details["element"]
        assert conflict.details == {"id": "n", "expected": 1, "current": 2, "element": element}
        assert (element["version"], element["properties"]) == (2, {"v": 1})
    node = await world.graph.get("n")
    assert node is not None and (node.version, node.properties) == (2, {"v": 1})
    assert await world.types() == ["NodeAdded", "NodeUpdated"]


@clause("UGS-66", "UGS-79", "UGS-82")
async def test_an_expected_version_guards_every_kind_of_change(world: StoreUnderTest) -> None:
    await world.graph.add_node("n")
    await world.graph.add_edge("e", "n", "n")
    await world.graph.update("n", {"v": 1}, expected_version=1)
    await world.graph.update("e", {"v": 1}, expected_version=1)

    for act in (
        world.graph.update("n", {"v": 2}, expected_version=1),
        world.graph.update("e", {"v": 2}, expected_version=1),
        world.graph.delete("n", expected_version=1),
        world.graph.delete("e", expected_version=3),
        world.graph.add_node("n", expected_version=0),
    ):
        async with world.refuses(VersionConflict, current=2):
            await act
    async with world.refuses(VersionConflict, id="x", expected=1, current=None):
        await world.graph.add_node("x", expected_version=1)
    await world.graph.delete("e", expected_version=2)
    await world.graph.add_node("x", expected_version=0)


@clause("UGS-124", "UGS-23", "UGS-66")
async def test_of_many_who_add_the_same_id_one_wins(world: StoreUnderTest) -> None:
    outcomes = await asyncio.gather(
        *(world.graph.add_node("n", properties={"by": n}) for n in range(30)), return_exceptions=True
    )

    assert kinds(outcomes) == {"done": 1, "NodeExists": 29}
    node = await world.graph.get("n")
    assert node is not None and node.properties == {"by": 0}


@clause("UGS-65", "UGS-66", "UGS-126")
async def test_a_group_with_refusals_in_it_does_exactly_the_rest_in_order(world: StoreUnderTest) -> None:
    async def act(n: int) -> object:
        if n % 3 == 1:
            return await world.graph.add_node(f"n{n - 1}")
        if n % 3 == 2:
            return await world.graph.add_node(f"not an id {n}")
        return (
            await world.graph.add_edge(f"e{n}", f"n{n}", "hub") if n % 6 == 3 else await world.graph.add_node(f"n{n}")
        )

    outcomes = await asyncio.gather(*(act(n) for n in range(60)), return_exceptions=True)

    assert kinds(outcomes) == {"done": 30, "NodeExists": 10, "InvalidSyntax": 20}
    events = await world.events()
    assert [event.position for event in events] == list(range(1, 31))
    assert [event.element for event in events[:3]] == ["n0", "e3", "n3"]
    assert (await world.system.verify()).ok


@clause("UGS-126", "UGS-74", "UGS-75")
async def test_concurrent_writers_get_gapless_positions_and_rising_ids(world: StoreUnderTest) -> None:
    await asyncio.gather(*(world.graph.add_node(f"n{n}") for n in range(STORM)))

    events = await world.events()

    assert [event.position for event in events] == list(range(1, STORM + 1))
    assert [event.element for event in events] == [f"n{n}" for n in range(STORM)]
    assert len({event.id for event in events}) == STORM


@clause("UGS-3", "UGS-9")
async def test_the_same_key_and_request_give_the_same_answer_and_one_effect(world: StoreUnderTest) -> None:
    first = await world.graph.add_edge("e", "a", "b", key="k1")
    await world.graph.update("e", weight=7)

    again = await world.graph.add_edge("e", "a", "b", key="k1")

    assert (again.repeated, first.repeated) == (True, False)
    assert (again.edge, again.warnings, again.events) == (first.edge, first.warnings, first.events)
    assert [warning.id for warning in again.warnings] == ["a", "b"]
    assert await world.types() == ["EdgeAdded", "EdgeUpdated"]


@clause("UGS-66")
async def test_the_same_key_for_another_request_is_refused(world: StoreUnderTest) -> None:
    await world.graph.add_node("a", key="k")

    async with world.refuses(IdempotencyConflict, key="k"):
        await world.graph.add_node("b", key="k")
    async with world.refuses(IdempotencyConflict, key="k"):
        await world.graph.add_node("a", properties={"v": 1}, key="k")
    other = await Graph(world.system, Principal(user="ann")).add_node("b", key="k")
    assert other.id == "b"


@pytest.mark.parametrize(("key", "error"), [("", InvalidSyntax), ("k" * 201, InvalidSyntax), ("\x00", InvalidJSON)])
@clause("UGS-239", "UGS-240")
async def test_a_key_is_text_of_a_sensible_length(world: StoreUnderTest, key: str, error: type[UgsError]) -> None:
    async with world.refuses(error):
        await world.graph.add_node("a", key=key)


@clause("UGS-3", "UGS-66")
async def test_a_refused_request_does_not_use_up_its_key(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")
    async with world.refuses(NodeExists):
        await world.graph.add_node("a", properties={"v": 1}, key="k")
    await world.graph.delete("a")

    node = await world.graph.add_node("a", properties={"v": 1}, key="k")

    assert node.properties == {"v": 1}


@clause("UGS-9", "UGS-126")
async def test_a_storm_of_retries_has_one_effect(world: StoreUnderTest) -> None:
    nodes = await asyncio.gather(*(world.graph.add_node(None, "t", {"v": 1}, key="storm") for _ in range(STORM)))

    assert {node.id for node in nodes} == {"node_1"}
    assert await world.types() == ["NodeAdded"]


@clause("UGS-9")
async def test_a_batch_is_repeated_as_a_whole(world: StoreUnderTest) -> None:
    operations: list[Operation] = [AddNode(id="$a"), AddNode(id="b"), Update(id="b", properties={"to": "@($a)"})]
    first = await world.graph.batch(operations, key="batch")

    again = await world.graph.batch(operations, key="batch")

    assert again.repeated
    assert (again.events, again.elements) == (first.events, first.elements)
    assert len(await world.events()) == 3


@needs("durable")
@clause("UGS-207", "UGS-9")
async def test_keys_are_remembered_over_a_restart(world: StoreUnderTest) -> None:
    first = await world.graph.add_edge("e", "a", "b", key="k")
    graph = await world.restart()

    again = await graph.add_edge("e", "a", "b", key="k")

    assert (again.repeated, again.events, again.warnings) == (True, first.events, first.warnings)
    async with world.refuses(IdempotencyConflict, key="k"):
        await graph.add_edge("f", "a", "b", key="k")


@clause("UGS-11", "UGS-206")
async def test_readers_meanwhile_see_whole_commands_only(world: StoreUnderTest) -> None:
    graph, seen = world.graph, set()

    async def read() -> None:
        for _ in range(12):
            seen.add(await count_of(world))
            await asyncio.sleep(0)

    async def write() -> None:
        for n in range(4):
            await graph.batch([AddNode(id=f"project:n{n}_{m}") for m in range(5)])
        await graph.clear_scope(Scope.PROJECT)

    await asyncio.gather(read(), write(), read())

    assert {count % 5 for count in seen} == {0}
    assert await count_of(world) == 0


async def count_of(world: StoreUnderTest) -> int:
    async with world.system.session() as session:
        return await session.count(NODES)


@needs("concurrent_writers")
@clause("UGS-126", "UGS-74", "UGS-127", "UGS-11")
async def test_two_processes_write_to_one_log_without_gaps_or_losses(world: StoreUnderTest, harness: Harness) -> None:
    async with System(storage_for(harness.url), FixedClock(NOW - 999), harness.catalog) as second:
        ours, theirs = world.graph, Graph(second)
        outcomes = await asyncio.gather(
            *(graph.add_node(f"{name}{n}") for n in range(15) for name, graph in (("a", ours), ("b", theirs))),
            *(graph.add_node("same") for graph in (ours, theirs)),
            return_exceptions=True,
        )
        assert kinds(outcomes) == {"done": 31, "NodeExists": 1}
        assert ids(await theirs.list_nodes()) == ids(await ours.list_nodes())
        assert await second.digest() == await world.system.digest()

    events = await world.events()
    assert [event.position for event in events] == list(range(1, 32))
    assert [event.timestamp for event in events] == sorted(event.timestamp for event in events)
    assert (await world.system.verify()).ok


@needs("concurrent_writers")
@clause("UGS-9", "UGS-66")
async def test_one_winner_per_version_across_processes(world: StoreUnderTest, harness: Harness) -> None:
    await world.graph.add_node("n", properties={"v": 0})
    async with System(storage_for(harness.url), world.clock, harness.catalog) as second:
        outcomes = await asyncio.gather(
            *(g.update("n", {"v": 1}, expected_version=1) for _ in range(5) for g in (world.graph, Graph(second))),
            return_exceptions=True,
        )

    assert kinds(outcomes) == {"done": 1, "VersionConflict": 9}
    assert await world.types() == ["NodeAdded", "NodeUpdated"]
