"""Laws: what holds for every history there could be, tried on many.

Counter-examples that were found are kept as plain tests at the end.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from ugs.clock import FixedClock
from ugs.graph.api import Graph
from ugs.graph.commands import AddEdge, AddNode, Delete, Update
from ugs.system import System
from ugs_conformance.support.api_under_test import graph_of
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.history_strategies import (
    NOT_SENT,
    Group,
    Request,
    ask_everything,
    ask_some,
    histories,
    log_lines,
    replay_history,
    without_unsent,
)
from ugs_conformance.support.pytest_plugin import clause, needs
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest

History = list[Group]


async def run_history(history: History, graph: Graph, clock: FixedClock) -> dict[str, Any]:
    """All that a history leaves behind and lets be seen."""
    answers = await replay_history(history, graph, clock)
    return {
        "answers": answers,
        "log": await log_lines(graph),
        "digest": await graph.system.digest(),
        "questions": await ask_some(graph),
    }


async def same_as_the_reference(harness: Harness, history: History) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    try:
        found = await run_history(history, graph_of(system), clock)
    finally:
        await system.close()
    sent = without_unsent(history, found["answers"])
    found["answers"] = [answer for answer in found["answers"] if answer != NOT_SENT]
    async with System.at_url("memory:", reference_clock := FixedClock(NOW)) as reference:
        expected = await run_history(sent, Graph(reference), reference_clock)
    for part in expected:
        assert found[part] == expected[part], (part, history)


@clause("UGS-11", "UGS-77", "UGS-206", "UGS-215", "UGS-9", "UGS-66", "UGS-133")
def test_the_same_history_gives_the_same_answers_errors_log_and_digest_on_every_store(
    harness: Harness, histories_wanted: int
) -> None:
    @settings(max_examples=histories_wanted)
    @given(histories)
    def law(history: History) -> None:
        run(same_as_the_reference(harness, history))

    law()


@clause("UGS-11", "UGS-77", "UGS-206")
@given(histories)
async def test_replaying_the_log_gives_the_live_state(harness: Harness, history: History) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    await replay_history(history, Graph(system), clock)

    verification = await system.verify()
    await system.close()

    assert verification.ok, history


@needs("durable")
@clause("UGS-11", "UGS-207", "UGS-208", "UGS-209", "UGS-152")
@settings(max_examples=max(settings().max_examples // 3, 5))
@given(histories, histories)
async def test_a_restart_with_or_without_a_snapshot_changes_nothing(
    harness: Harness, first: History, second: History
) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    await replay_history(first, Graph(system), clock)
    await system.snapshot()
    await replay_history(second, Graph(system), clock)
    before = await system.digest(), await log_lines(Graph(system)), await ask_everything(Graph(system))
    await system.close()

    await harness.restart()
    again = await harness.system(clock)
    after = await again.digest(), await log_lines(Graph(again)), await ask_everything(Graph(again))
    verified = await again.verify()
    await again.close()

    assert after == before
    assert verified.ok


@clause("UGS-133", "UGS-64", "UGS-200")
@given(histories)
async def test_deleting_every_node_leaves_only_edges_that_never_had_one(harness: Harness, history: History) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    graph = Graph(system)
    await replay_history(history, graph, clock)
    nodes = [node.id for node in await graph.list_nodes()]
    dangling = [
        edge["id"]
        for edge in (await graph.export_graph())["edges"]
        if edge["from"] not in nodes and edge["to"] not in nodes
    ]

    await graph.batch([Delete(id=id) for id in nodes])

    exported = await graph.export_graph()
    await system.close()
    assert (exported["nodes"], [edge["id"] for edge in exported["edges"]]) == ([], dangling)


REGRESSIONS: dict[str, History] = {
    "a loop added, changed and deleted in one commit": [
        Group(
            [
                Request(AddNode(id="a")),
                Request(AddEdge(id="e1", source="a", target="a")),
                Request(Update(id="e1", weight=2)),
                Request(Delete(id="a")),
                Request(AddNode(id="a", type="t")),
            ]
        )
    ],
    "the same key twice in one commit": [Group([Request(AddNode(), "k1"), Request(AddNode(), "k1")])],
    "a warning under a key": [Group([Request(AddEdge(source="a", target="b"), "k1")])],
    "a weight that only a float can keep": [Group([Request(AddEdge(source="a", target="b", weight=2**60))])],
}


@pytest.mark.parametrize("name", REGRESSIONS)
@clause("UGS-11", "UGS-77")
async def test_histories_that_once_differed(harness: Harness, name: str) -> None:
    await same_as_the_reference(harness, REGRESSIONS[name])


@clause("UGS-11")
async def test_the_digest_tells_any_two_states_apart(world: StoreUnderTest) -> None:
    seen = {await world.system.digest()}
    for act in (
        world.graph.add_node("a"),
        world.graph.update("a", {"v": 1}),
        world.graph.update("a", {"v": 1.5}),
        world.graph.add_edge("e", "a", "a"),
        world.graph.delete("e"),
    ):
        await act
        seen.add(await world.system.digest())

    assert len(seen) == 6
