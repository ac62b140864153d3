"""From one store into another: the log is replayed there, and the digest proves that both hold the same.

`--also URL` names the other stores; with all four at hand every ordered pair is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ugs.clock import FixedClock
from ugs.errors import DigestMismatch
from ugs.facts.api import Facts
from ugs.graph.api import Graph
from ugs.graph.commands import AddEdge, AddNode, Delete
from ugs.identity import Principal, Scope
from ugs.log.replay import position_of
from ugs.system import copy
from ugs_conformance.support.api_under_test import graph_of
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.facts_kit import ALICE, Know, day
from ugs_conformance.support.harness import Harness, store_url
from ugs_conformance.support.history_strategies import ask_everything, log_lines
from ugs_conformance.support.pytest_plugin import clause, needs
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "other_given" in metafunc.fixturenames:
        others = metafunc.config.getoption("--also") or ["memory:"]
        metafunc.parametrize("other_given", others, ids=[f"to-{url.partition(':')[0]}" for url in others])


@pytest.fixture
def other(other_given: str, tmp_path: Path) -> Iterator[Harness]:
    """An empty store of another kind, or of the same kind elsewhere."""
    harness = Harness(store_url(other_given, tmp_path, None))
    run(harness.fresh())
    yield harness
    run(wipe_store(harness))


async def wipe_store(harness: Harness) -> None:
    await harness.fresh()
    await harness.close()


async def eventful(world: StoreUnderTest) -> None:
    """A graph whose log has something of everything."""
    graph = world.graph
    await graph.load_demo()
    await graph.update("alice", {"n": [1.0, {"é": "@(bob)"}], "big": 2**63 - 1}, append={"tags": "x"}, key="k1")
    world.clock.moment += 5
    await graph.batch([AddNode(id="$n", data="🚀"), AddEdge(source="$n", target="nowhere", weight=2**60)], key="k2")
    await graph.add_edge("dangling", "ghost", "alice", properties={"why": "@(alice)"}, key="k3")
    await graph.delete("bob")
    await graph.add_node("bob", "reborn")
    await graph.set_edge_counter(77)
    await Graph(world.system, Principal(user="ann")).add_node("scratch:x")
    await graph.clear_scope(Scope.SCRATCH)
    await graph.revert("alice", 1)


async def seen_of(harness: Harness) -> dict[str, Any]:
    """Everything a store shows of its graph."""
    system = await harness.system(FixedClock(NOW))
    try:
        return {
            "digest": await system.digest(),
            "log": await log_lines(Graph(system)),
            "answers": await ask_everything(Graph(system)),
            "verified": (await system.verify()).ok,
        }
    finally:
        await system.close()


@clause("UGS-11", "UGS-77", "UGS-206")
async def test_a_copy_is_the_same_in_every_respect_and_goes_on_where_it_stopped(
    world: StoreUnderTest, other: Harness
) -> None:
    await eventful(world)
    told: list[tuple[int, int]] = []
    digest = await world.system.copy_to(await other.storage(), lambda done, end: told.append((done, end)))

    assert digest == await world.system.digest()
    assert told[-1] == (len(await world.events()),) * 2
    assert await seen_of(other) == await seen_of(world.harness)

    await world.graph.add_node("more")
    await world.graph.batch([Delete(id="more"), AddNode(id="more", type="again")])
    await world.system.copy_to(await other.storage())

    assert await seen_of(other) == await seen_of(world.harness)


@clause("UGS-11", "UGS-9")
async def test_a_copy_remembers_keys_versions_and_counters(world: StoreUnderTest, other: Harness) -> None:
    await eventful(world)
    await world.system.copy_to(await other.storage())
    system = await other.system(FixedClock(NOW))
    try:
        copied = graph_of(system)
        for graph in (world.graph, copied):
            again = await graph.add_edge("dangling", "ghost", "alice", properties={"why": "@(alice)"}, key="k3")
            assert again.repeated
            changed = await graph.add_edge(None, "alice", "bob")
            assert (changed.edge.id, (await graph.get("bob")).version) == ("edge_78", 2)  # type: ignore[union-attr]
        assert await log_lines(copied) == await log_lines(world.graph)
    finally:
        await system.close()


@clause("FACT-1", "FACT-3", "UGS-11")
async def test_a_copy_keeps_facts_ids_and_timelines(world: StoreUnderTest, other: Harness) -> None:
    know = Know(world)
    await know.predicate("works_at")
    for number, value in ((1, "A"), (3, "B"), (2, "C")):
        await know.say("alice", "works_at", value, valid_from=day(number))
    ids = [(await know.facts.upsert_entity(name)).entity_id for name in ("alice", "alicia")]
    await know.facts.merge_entities(*ids)
    assert await world.system.copy_to(await other.storage()) == await world.system.digest()
    system = await other.system(FixedClock(NOW))
    try:
        copied = Facts(system, ALICE)
        assert await copied.timeline("alicia") == await know.facts.timeline("alice")
        assert await copied.find_entity(ids[1]) == await know.facts.find_entity(ids[0])
    finally:
        await system.close()


@clause("UGS-10", "UGS-128")
async def test_a_store_with_another_past_is_not_overwritten(world: StoreUnderTest, other: Harness) -> None:
    await world.graph.add_node("ours")
    system = await other.system(FixedClock(NOW))
    await Graph(system).add_node("theirs")
    await system.close()
    before = await seen_of(other)

    with pytest.raises(DigestMismatch):
        await world.system.copy_to(await other.storage())

    assert await seen_of(other) == before


@needs("durable")
@clause("UGS-11", "UGS-206")
async def test_stores_are_copied_by_their_urls(world: StoreUnderTest, other: Harness) -> None:
    await eventful(world)
    digest, events = await world.system.digest(), len(await world.events())
    await world.harness.close()
    kept = (await other.storage()).capabilities.durable
    await other.close()

    assert await copy(world.harness.url, other.url) == digest

    if kept:
        assert (await seen_of(other))["digest"] == digest
        assert await position_of(await other.storage()) == events
    await world.restart()
