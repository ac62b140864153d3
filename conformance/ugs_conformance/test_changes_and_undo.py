"""What changed between two positions, and the reversal of events: examples and laws over random histories."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ugs.clock import FixedClock
from ugs.errors import (
    IdempotencyConflict,
    InvalidArgument,
    InvalidSyntax,
    LimitExceeded,
    PositionNotFound,
    UndoConflict,
)
from ugs.graph import changes, undo
from ugs.graph.api import Graph
from ugs.graph.changes import ChangeFilter, ChangeKind, ChangePage, ElementState
from ugs.graph.content import NewContent
from ugs.graph.model import Edge
from ugs.graph.undo import Undo
from ugs.log.at import At
from ugs.programs.api import Programs
from ugs.programs.text.parser import parse_text
from ugs.records import RecordState
from ugs.values import to_text
from ugs_conformance.support.event_loop import run_on_loop
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.history_strategies import Group, histories, replay_history
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest

Key = tuple[str, str]
MAX_EXAMPLES = max(settings().max_examples // 3, 5)
VOLATILE = ("created", "modified")
"""Fields that an undo does not restore: a new event made the element what it is."""


async def end_of(graph: Graph) -> int:
    async with graph.system.session() as session:
        return (await session.head()).position


async def exported(graph: Graph, position: int | None = None) -> dict[Key, Any]:
    """The elements of an export by kind and id."""
    told: Any = await graph.export_graph(at=None if position is None else At(position=position))
    return {(kind, record["id"]): record for kind in ("nodes", "edges") for record in told[kind]}


async def stable(graph: Graph) -> dict[Key, Any]:
    """The elements without what an undo does not restore."""
    return {
        key: {name: value for name, value in record.items() if name not in VOLATILE}
        for key, record in (await exported(graph)).items()
    }


async def all_changes(graph: Graph, start: int, end: int, first: int) -> ChangePage:
    """The changes of a range, read page by page."""
    page = await graph.changes(At(position=start), At(position=end), first=first)
    found = list(page.changes)
    while page.has_more:
        page = await graph.changes(At(position=start), At(position=end), first=first, after=page.changes[-1].cursor)
        assert page.changes
        found += page.changes
    return ChangePage(found, False, start, end)


def key_of(change: changes.ElementChange) -> Key:
    return ("edges" if isinstance(change.element, Edge) else "nodes", change.id)


@run_on_loop
@settings(max_examples=MAX_EXAMPLES)
@given(histories, st.data())
async def test_changes_are_the_difference_of_two_exports(
    harness: Harness, history: list[Group], data: st.DataObject
) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    try:
        graph = Graph(system)
        await replay_history(history, graph, clock)
        end = await end_of(graph)
        start, until = sorted((data.draw(st.integers(0, end)), data.draw(st.integers(0, end))))
        before, after = await exported(graph, start), await exported(graph, until)

        page = await all_changes(graph, start, until, data.draw(st.sampled_from([1, 3, 500])))
    finally:
        await system.close()

    told = {key_of(change): change.kind for change in page.changes}
    wanted = {
        key: ChangeKind.ADDED if key not in before else ChangeKind.REMOVED if key not in after else ChangeKind.CHANGED
        for key in before.keys() | after.keys()
        if to_text(before.get(key)) != to_text(after.get(key))
    }
    assert told == wanted, (start, until, history)
    assert len(page.changes) == len(told)
    for change in page.changes:
        for state, export in ((change.before, before), (change.after, after)):
            assert (state is None) == (key_of(change) not in export)
            assert not isinstance(state, RecordState)
            assert state is None or state.element.as_json().items() <= export[key_of(change)].items()


@run_on_loop
@settings(max_examples=MAX_EXAMPLES)
@given(histories, histories)
async def test_an_undo_restores_the_state_before_and_can_be_undone(
    harness: Harness, first: list[Group], second: list[Group]
) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    try:
        graph = Graph(system)
        await replay_history(first, graph, clock)
        start, before = await end_of(graph), await stable(graph)
        await replay_history(second, graph, clock)
        end, after = await end_of(graph), await stable(graph)

        plan = await graph.preview_undo(Undo(after=start))
        assert (await end_of(graph), await stable(graph)) == (end, after)
        undone = await graph.undo(Undo(after=start, until=end))

        assert await stable(graph) == before, (first, second)
        assert not plan.conflicts
        assert {key_of(change) for change in plan.changes} == {
            key for key in before.keys() | after.keys() if to_text(before.get(key)) != to_text(after.get(key))
        }
        assert len({event.tx and event.tx.id for event in undone.events}) <= 1
        await graph.undo(Undo(after=end))
        assert await stable(graph) == after, (first, second)

        await graph.undo(Undo(after=0))
        assert await stable(graph) == {}
        assert (await system.verify()).ok
    finally:
        await system.close()


async def make(graph: Graph) -> None:
    """Six events: two nodes, an edge, and three changes."""
    await graph.add_node("a", "person", {"age": 1}, content=NewContent("hello"))
    await graph.add_node("b", "person")
    await graph.add_edge("e", "a", "b", "knows")
    await graph.update("a", {"age": 2})
    await graph.update("a", content=NewContent("good bye"))
    await graph.delete("b")


@run_on_loop
async def test_changes_name_fields_and_states(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    await make(graph)

    page = await graph.changes(At(position=1), At(position=5))
    whole = await graph.changes(At(position=3))

    assert [(change.id, change.kind) for change in page.changes] == [
        ("a", ChangeKind.CHANGED),
        ("b", ChangeKind.ADDED),
        ("e", ChangeKind.ADDED),
    ]
    changed = page.changes[0]
    assert changed.fields == ["content", "properties"]
    assert isinstance(changed.before, ElementState) and changed.before.element.properties == {"age": 1}
    assert isinstance(changed.after, ElementState) and changed.after.content is not None
    assert changed.after.content["body"] == "good bye"
    assert {change.id: change.kind for change in whole.changes} == {
        "a": ChangeKind.CHANGED,
        "b": ChangeKind.REMOVED,
        "e": ChangeKind.REMOVED,
    }


@run_on_loop
@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (ChangeFilter(kinds=frozenset({ChangeKind.ADDED})), ["b", "e"]),
        (ChangeFilter(element="edge"), ["e"]),
        (ChangeFilter(element="node"), ["a", "b"]),
        (ChangeFilter(types=frozenset({"knows"})), ["e"]),
        (ChangeFilter(types=frozenset({None})), []),
        (ChangeFilter(ids=frozenset({"b", "nobody"})), ["b"]),
    ],
)
async def test_changes_are_filtered(world: StoreUnderTest, wanted: ChangeFilter, ids: list[str]) -> None:
    graph = Graph(world.system)
    await make(graph)

    page = await graph.changes(At(position=1), At(position=5), wanted)

    assert [change.id for change in page.changes] == ids


@run_on_loop
async def test_a_range_that_is_none_is_refused(world: StoreUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph(world.system)
    await make(graph)
    end = await end_of(graph)

    async with world.refuses(PositionNotFound, position=end + 1, end=end):
        await graph.changes(At(position=0), At(position=end + 1))
    async with world.refuses(PositionNotFound, position=-1, end=end):
        await graph.changes(At(position=-1))
    async with world.refuses(InvalidArgument, argument="from"):
        await graph.changes(At(position=3), At(position=2))
    async with world.refuses(LimitExceeded, limit=changes.MAX_PAGE_SIZE):
        await graph.changes(At(position=0), first=changes.MAX_PAGE_SIZE + 1)
    for cursor in ("", "x", "WyJjaGFuZ2UiLDFd"):
        async with world.refuses(InvalidSyntax):
            await graph.changes(At(position=0), after=cursor)
    monkeypatch.setattr(changes, "MAX_EVENTS", 2)
    async with world.refuses(LimitExceeded, limit=2):
        await graph.changes(At(position=0), At(position=3))


@run_on_loop
async def test_a_transaction_or_single_events_are_undone(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    await make(graph)  # the deletion of b is a transaction of two events
    end = await end_of(graph)

    await graph.undo(Undo(transaction=end))
    assert await graph.get("b") is not None and await graph.get("e") is not None
    await graph.undo(Undo(positions=(4, 5)))

    node = await graph.get("a")
    assert node is not None and node.properties == {"age": 1}
    exports = await exported(graph)
    assert exports["nodes", "a"]["content"] == (await exported(graph, 1))["nodes", "a"]["content"]


@run_on_loop
async def test_an_undo_is_refused_where_something_changed_since(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    await graph.add_node("a")
    await graph.update("a", {"v": 1})
    await graph.update("a", {"v": 2})

    plan = await graph.preview_undo(Undo(positions=(2,)))
    assert [(one.position, one.element) for one in plan.conflicts] == [(3, "a")]
    async with world.refuses(UndoConflict):
        await graph.undo(Undo(positions=(2,)))

    await graph.add_node("b")
    await graph.add_edge("e", "a", "b")
    plan = await graph.preview_undo(Undo(positions=(4,)))
    assert [(one.position, one.element) for one in plan.conflicts] == [(5, "e")]
    async with world.refuses(UndoConflict):
        await graph.undo(Undo(positions=(4,)))


@run_on_loop
async def test_an_event_of_another_subject_is_not_undone(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    await Programs(world.system).save(parse_text("& MATCH (n:Tool) RETURN n;").program)
    end = await end_of(graph)

    async with world.refuses(UndoConflict):
        await graph.undo(Undo(after=end - 1))


@run_on_loop
@pytest.mark.parametrize(
    "selection",
    [Undo(), Undo(after=0, positions=(1,)), Undo(positions=(1,), transaction=1), Undo(until=1, transaction=1)],
)
async def test_an_undo_takes_one_selection(world: StoreUnderTest, selection: Undo) -> None:
    graph = Graph(world.system)
    await graph.add_node("a")

    async with world.refuses(InvalidSyntax):
        await graph.undo(selection)


@run_on_loop
@pytest.mark.parametrize(
    "selection",
    [Undo(after=-1), Undo(until=9), Undo(positions=(0,)), Undo(positions=(1, 9)), Undo(transaction=0)],
)
async def test_an_undo_of_a_position_that_is_none_is_refused(world: StoreUnderTest, selection: Undo) -> None:
    graph = Graph(world.system)
    await graph.add_node("a")

    async with world.refuses(PositionNotFound, end=1):
        await graph.undo(selection)


@run_on_loop
async def test_a_selection_that_is_too_large_or_backwards_is_refused(
    world: StoreUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph(world.system)
    await make(graph)

    async with world.refuses(InvalidArgument, argument="after"):
        await graph.undo(Undo(after=3, until=2))
    monkeypatch.setattr(undo, "MAX_EVENTS", 1)
    for selection in (Undo(after=1), Undo(positions=(1, 2)), Undo(transaction=await end_of(graph))):
        async with world.refuses(LimitExceeded, limit=1):
            await graph.undo(selection)


@run_on_loop
async def test_an_undo_with_a_key_happens_once(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    await graph.add_node("a")

    first = await graph.undo(Undo(positions=(1,)), key="once")
    again = await graph.undo(Undo(positions=(1,)), key="once")

    assert [event.id for event in first.events] == [event.id for event in again.events]
    assert await end_of(graph) == 2
    async with world.refuses(IdempotencyConflict):
        await graph.undo(Undo(positions=(2,)), key="once")


@run_on_loop
async def test_an_undo_of_nothing_changes_nothing(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    await graph.add_node("a")

    assert (await graph.undo(Undo(after=1))).events == []
    assert await end_of(graph) == 1


@run_on_loop
async def test_an_undo_sees_what_its_group_has_decided(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    await asyncio.gather(graph.add_node("a"), graph.undo(Undo(positions=(1,))), graph.undo(Undo(positions=(2,))))

    assert [event.type for event in await graph.history(9)] == ["NodeAdded", "NodeDeleted", "NodeAdded"]
