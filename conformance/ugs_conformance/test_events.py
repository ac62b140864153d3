"""Every change is an event, and events alone make the state (seed 000, sections 1.3, 5 and 8.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from ugs.changes import TableWrites
from ugs.errors import InvalidSyntax
from ugs.events import GENESIS_CRC, encode_without_crc, line_crc
from ugs.feature_registry import REDUCERS
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode, Delete
from ugs.graph.model import NODES
from ugs.identity import Scope
from ugs.storage import EventQuery
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest, fixture, ids, load

Act = Callable[[Graph], Awaitable[object]]

MUTATIONS: dict[str, tuple[Act, list[str]]] = {
    "add node": (lambda graph: graph.add_node("new"), ["NodeAdded"]),
    "add edge": (lambda graph: graph.add_edge("newer", "alice", "bob"), ["EdgeAdded"]),
    "update node": (lambda graph: graph.update("alice", {"v": 1}), ["NodeUpdated"]),
    "update edge": (lambda graph: graph.update("e1", weight=2), ["EdgeUpdated"]),
    "delete edge": (lambda graph: graph.delete("e1"), ["EdgeDeleted"]),
    "delete node": (lambda graph: graph.delete("charlie"), ["EdgeDeleted", "NodeDeleted"]),
    "batch": (lambda graph: graph.batch([AddNode(id="x"), Delete(id="x")]), ["NodeAdded", "NodeDeleted"]),
    "clear scope": (lambda graph: graph.clear_scope(Scope.SCRATCH), ["NodeDeleted"]),
    "counter": (lambda graph: graph.set_edge_counter(9), ["EdgeCounterSet"]),
}


@pytest.mark.parametrize("name", MUTATIONS)
@clause("UGS-3", "UGS-9", "UGS-202", "UGS-65", "UGS-67", "UGS-70", "UGS-58")
async def test_every_mutation_emits_its_events(world: StoreUnderTest, name: str) -> None:
    await world.graph.load_demo()
    await world.graph.add_node("scratch:x")
    before = len(await world.events())
    act, expected = MUTATIONS[name]

    await act(world.graph)

    assert (await world.types())[before:] == expected


@clause("UGS-67", "UGS-68", "UGS-69", "UGS-70", "UGS-71", "UGS-72", "UGS-76")
async def test_payloads_are_the_seeds(world: StoreUnderTest) -> None:
    graph, now = world.graph, world.clock.moment
    await graph.add_node("n", "t", {"a": 1}, data=[1])
    await graph.add_edge("e", "n", "n", "x", 2, {"b": 2})
    await graph.update("n", {"a": 2, "c": 3}, remove=["gone"], append={"l": 1})
    await graph.update("n", type="u", data=None, remove=["c"])
    await graph.update("e", {"b": 3}, weight=5)
    await graph.delete("e")
    await graph.delete("n")

    times = {"created": now, "modified": now}
    assert [event.payload for event in await world.events()] == [
        {"id": "n", "type": "t", "properties": {"a": 1}, "data": [1], **times},
        {"id": "e", "from": "n", "to": "n", "type": "x", "weight": 2, "properties": {"b": 2}, **times},
        {"id": "n", "properties": {"a": 2, "c": 3, "l": [1]}},
        {"id": "n", "type": "u", "data": None, "removed": ["c"]},
        {"id": "e", "properties": {"b": 3}, "weight": 5},
        {"id": "e"},
        {"id": "n"},
    ]


@clause("UGS-49", "UGS-46")
async def test_events_have_one_of_the_defined_types(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    await world.graph.delete("alice")

    assert set(await world.types()) <= set(REDUCERS)
    async with world.refuses(InvalidSyntax):
        await world.graph.apply_events([{"type": "NodePainted", "data": {"id": "bob"}}])


@clause("UGS-10", "UGS-73", "UGS-128", "UGS-205")
async def test_later_operations_leave_earlier_events_byte_for_byte_as_they_were(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    before = await world.lines()
    for act, _ in MUTATIONS.values():
        await act(world.graph)

    after = await world.lines()

    assert after[: len(before)] == before
    assert len(after) == len(before) + 10


@clause("UGS-74", "UGS-75", "UGS-126", "UGS-203", "UGS-204", "UGS-47")
async def test_ids_and_timestamps_rise_together(world: StoreUnderTest) -> None:
    for step in range(12):
        world.clock.moment = NOW + step // 3
        await world.graph.add_node(f"n{step}")

    events = await world.events()

    assert [event.position for event in events] == list(range(1, 13))
    assert [event.timestamp for event in events] == [NOW + step // 3 for step in range(12)]
    assert [event.id for event in events] == [f"evt_{NOW + step // 3}_{step + 1}" for step in range(12)]


@clause("UGS-127", "UGS-75", "UGS-74", "UGS-204", "UGS-26")
async def test_time_never_goes_back_even_when_the_clock_does(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")
    world.clock.moment = NOW - 3_600_000
    await world.graph.add_node("b")
    await world.graph.update("a", {"v": 1})
    world.clock.moment = NOW + 1

    await world.graph.add_node("c")

    assert [event.timestamp for event in await world.events()] == [NOW, NOW, NOW, NOW + 1]
    node = await world.graph.get("a")
    assert node is not None and node.modified == NOW


@clause("UGS-10", "UGS-84")
async def test_each_event_is_tied_to_the_one_before_by_its_checksum(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    await world.graph.delete("bob")
    await world.graph.add_node("keyed", key="k")
    previous = GENESIS_CRC

    for event in await world.events():
        assert event.crc == line_crc(encode_without_crc(event), previous)
        previous = event.crc

    async with world.system.session() as session:
        head = await session.head()
    assert (head.position, head.timestamp, head.crc) == (20, NOW, previous)


@clause("UGS-186", "UGS-187", "UGS-80")
async def test_the_event_replay_fixture(graph: Graph) -> None:
    script = fixture("ugs_event_replay")

    changed = await graph.apply_events(script["events"])

    exported = await graph.export_graph()
    shown = [{key: node[key] for key in ("id", "type", "properties")} for node in exported["nodes"]]
    assert shown == script["final_state"]["nodes"]
    assert exported["edges"] == script["final_state"]["edges"]
    assert [event.id for event in changed.events] == [f"evt_{NOW}_{n}" for n in range(1, 7)]


@clause("UGS-11", "UGS-77", "UGS-206", "UGS-9", "UGS-13")
async def test_replaying_all_events_gives_the_live_state(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    for act, _ in MUTATIONS.values():
        await act(world.graph)

    verification = await world.system.verify()

    assert verification.ok
    assert (verification.events, verification.stored) == (len(await world.events()), await world.system.digest())


@clause("UGS-11", "UGS-9")
async def test_verification_notices_a_row_that_no_event_explains(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    alice = await world.graph.get("alice")
    forged = {NODES: TableWrites(deletes=["alice"], before={"alice": alice})}
    async with world.storage.session(write=True) as session:
        await session.append((), forged)

    verification = await world.system.verify()

    assert not verification.ok
    assert verification.stored != verification.replayed


@clause("UGS-11", "UGS-77", "UGS-152")
async def test_rebuilding_repairs_the_tables_from_the_log(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    right = await world.everything()
    async with world.storage.session(write=True) as session:
        await session.clear([NODES])
    assert (await world.graph.stats()).nodes == 0

    await world.system.rebuild()

    assert await world.everything() == right
    assert ids(await world.graph.search("johnson")) == ["alice"]
    assert ids(await world.graph.find_by_property("role", "manager")) == ["bob"]


@clause("UGS-109")
async def test_history_shows_the_last_events_oldest_first(graph: Graph) -> None:
    assert await graph.history() == []
    for n in range(25):
        await graph.add_node(f"n{n}")

    assert [event.element for event in await graph.history(2)] == ["n23", "n24"]
    assert [event.position for event in await graph.history()] == list(range(6, 26))
    assert [event.position for event in await graph.history(0)] == []
    assert [event.position for event in await graph.history(100)] == list(range(1, 26))


@clause("UGS-109", "UGS-13")
async def test_history_of_one_element(graph: Graph) -> None:
    await graph.load_demo()
    await graph.update("alice", {"v": 1})
    await graph.delete("alice")

    assert [event.type for event in await graph.history(element="alice")] == ["NodeAdded", "NodeUpdated", "NodeDeleted"]
    assert [event.type for event in await graph.history(element="e1")] == ["EdgeAdded", "EdgeDeleted"]
    assert await graph.history(element="nobody") == []


@clause("UGS-109", "UGS-49")
async def test_the_log_is_read_in_parts_by_position_type_and_from_either_end(world: StoreUnderTest) -> None:
    await load(world.graph, "ugs_demo")
    await world.graph.delete("bob")

    async def positions(**query: object) -> list[int]:
        return [event.position for event in await world.events(EventQuery(**query))]  # type: ignore[arg-type]

    assert await positions(after=16) == [17, 18, 19]
    assert await positions(after=3, until=5) == [4, 5]
    assert await positions(limit=2) == [1, 2]
    assert await positions(limit=2, newest=True) == [19, 18]
    assert await positions(types=frozenset({"EdgeDeleted"}), newest=True) == [18, 17, 16]
    assert await positions(types=frozenset({"EdgeDeleted", "NodeDeleted"}), limit=1) == [16]
    assert await positions(element="e2") == [10, 16]
    assert await positions(element="e2", after=10) == [16]
    assert await positions(after=19) == []
