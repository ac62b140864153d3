"""What is acknowledged stays: restarts, snapshots and recovery (seed 000, sections 4.1 and 10).

Tests of the seed's file layout run on stores that have it; a database keeps the same log in its own way.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from ugs.catalog import Catalog
from ugs.clock import FixedClock
from ugs.connect import storage_for
from ugs.errors import NodeExists, StorageIOError, StoreLocked, UgsError
from ugs.events import from_line
from ugs.feature_registry import CATALOG
from ugs.graph.api import Graph
from ugs.graph.model import Node
from ugs.identity import Scope
from ugs.storage import EventQuery, Session, Storage
from ugs.system import State, System
from ugs_conformance.support.harness import Harness, Lent, with_option
from ugs_conformance.support.pytest_plugin import clause, needs
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest, fixture, ids

RECOVERY = fixture("ugs_recovery_cases")["cases"]


class Folder:
    """A data folder of one's own, for stores that keep the seed's files."""

    def __init__(self, url: str, path: Path) -> None:
        self.url, self.path = url, path
        self.wal, self.snapshot = path / "events.wal", path / "snapshot.json"

    def system(self, **options: object) -> System:
        url = self.url
        for name, value in options.items():
            url = with_option(url, name, str(value))
        return System(storage_for(url), FixedClock(NOW))

    def lines(self) -> list[bytes]:
        return self.wal.read_bytes().splitlines()


@pytest.fixture
def folder(world: StoreUnderTest, harness: Harness, tmp_path: Path) -> Folder:
    """A fresh folder, named by the URL under test with another path in it."""
    kept: Path = world.storage.folder  # type: ignore[attr-defined]
    return Folder(harness.url.replace(str(kept), str(tmp_path)), tmp_path)


async def read_everything(graph: Graph) -> tuple[object, ...]:
    """Everything that can be asked of a small graph."""
    return (
        await graph.export_graph(),
        await graph.stats(),
        await graph.history(1000),
        ids(await graph.search("johnson")),
        ids(await graph.find_by_property("status", "pending")),
        ids(await graph.hubs()),
        [(state.version, state.element) for state in await graph.versions("alice")],
        await graph.scopes(),
    )


@needs("durable")
@clause("UGS-207", "UGS-148", "UGS-11", "UGS-152")
async def test_state_log_and_indexes_survive_a_restart(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    await world.graph.update("alice", {"n": [1, {"x": "@(bob)"}]}, data={"d": 1.5})
    await world.graph.add_node("user:u")
    await world.graph.delete("charlie")
    before, everything = await read_everything(world.graph), await world.everything()

    after = await world.restart()

    assert await read_everything(after) == before
    assert await world.everything() == everything
    assert (await world.system.verify()).ok


@needs("durable")
@clause("UGS-207", "UGS-126", "UGS-74", "UGS-127", "UGS-40")
async def test_counters_versions_and_time_go_on_after_a_restart(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")
    await world.graph.update("a", {"v": 1})
    await world.graph.add_edge(None, "a", "a")
    await world.graph.delete("a")
    world.clock.moment = NOW - 10_000
    graph = await world.restart()

    node = await graph.add_node("a")
    changed = await graph.add_edge(None, "a", "a")

    assert (node.version, node.created, changed.edge.id) == (3, NOW, "edge_2")
    assert [event.id for event in changed.events] == [f"evt_{NOW}_7"]


@needs("durable")
@clause("UGS-207", "UGS-148")
async def test_what_was_answered_is_there_without_a_farewell(world: StoreUnderTest) -> None:
    await world.graph.add_node("n1", "task")
    await world.graph.add_node("n2", "task")
    await world.harness.restart()  # the system above never heard of it

    graph = await world.restart()

    assert ids(await graph.list_nodes("task")) == ["n1", "n2"]


@clause("UGS-111", "UGS-208", "UGS-51", "UGS-52", "UGS-154")
async def test_a_snapshot_tells_what_it_holds_and_changes_nothing(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    before = await world.everything()

    taken = await world.system.snapshot()

    assert (taken.timestamp, taken.event_count, taken.last_event_id) == (NOW, 15, f"evt_{NOW}_15")
    assert taken.stats.as_json() == {"nodes": 8, "edges": 7, "types": 3, "properties": 5}
    assert await world.everything() == before


@needs("durable")
@clause("UGS-209", "UGS-150", "UGS-151", "UGS-208", "UGS-207")
async def test_a_snapshot_and_the_events_behind_it_come_back(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    await world.system.snapshot()
    await world.graph.delete("bob")
    await world.graph.add_node("later", "t", {"x": "smith"})
    before, everything = await read_everything(world.graph), await world.everything()

    graph = await world.restart()

    assert await read_everything(graph) == before
    assert await world.everything() == everything
    assert ids(await graph.search("smith")) == ["later"]


@needs("durable")
@clause("UGS-1", "UGS-3")
async def test_the_graph_outlives_the_process_and_is_what_its_events_say(world: StoreUnderTest) -> None:
    await world.graph.load_demo()
    await world.graph.update("alice", {"deep": [1, {"x": None}]}, data={"y": 1.5})
    await world.graph.delete("bob")
    before, digest, lines = await read_everything(world.graph), await world.system.digest(), await world.lines()

    graph = await world.restart()

    assert (await read_everything(graph), await world.lines()) == (before, lines)
    await world.system.rebuild()
    assert (await read_everything(graph), await world.system.digest()) == (before, digest)


class Refusing(Lent):
    """A store whose log takes nothing while it is told so."""

    full = False

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        if write and self.full:
            raise StorageIOError("The disk is full")
        return super().session(write=write)


@clause("UGS-65", "UGS-66")
async def test_nothing_is_applied_that_was_not_valid_or_not_logged(world: StoreUnderTest) -> None:
    """Validate, log, apply, index, answer: a step that fails leaves those behind it undone."""
    store = Refusing(await world.harness.storage())
    async with System(store, world.clock, world.harness.catalog) as system:
        graph = Graph(system)
        await graph.add_node("a", "t", {"word": "first"})
        digest = await system.digest()
        for full in (False, True):
            store.full = full
            with pytest.raises(NodeExists if not full else StorageIOError):
                await graph.add_node("a" if not full else "b", "t", {"word": "second"})
            assert await system.digest() == digest and len(await graph.history()) == 1
            assert await graph.search("second") == [] == await graph.find_by_property("word", "second")
        store.full = False
        answered = await graph.add_node("b", "t", {"word": "second"})
        assert sorted(event.element or "" for event in await graph.history()) == ["a", "b"]
        assert await graph.get("b") == answered
        assert ids(await graph.search("second")) == ids(await graph.find_by_property("word", "second")) == ["b"]


class Watched(Lent):
    """A store that notes in which state its system is whenever it is called."""

    state = State.INITIALIZING

    def __init__(self, store: Storage) -> None:
        super().__init__(store)
        self.system: System
        self.seen: list[tuple[str, State]] = []

    async def open(self, catalog: Catalog) -> None:
        self.seen.append(("open", self.system.state))

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        if write:
            self.seen.append(("write", self.system.state))
        return super().session(write=write)

    async def snapshot(self) -> dict[str, Any] | None:
        self.seen.append(("snapshot", self.system.state))
        return await super().snapshot()

    async def close(self) -> None:
        self.seen.append(("close", self.system.state))


COUNTED_BY_THE_KERNEL = ("write", State.SNAPSHOTTING)
"""A store without snapshots of its own is counted in a session."""


@clause("UGS-53", "UGS-58", "UGS-59", "UGS-60", "UGS-57")
async def test_the_system_goes_through_the_states_of_the_seed(world: StoreUnderTest) -> None:
    store = Watched(await world.harness.storage())
    system = store.system = System(store, world.clock, world.harness.catalog)
    between = [system.state]

    await system.open()
    between.append(system.state)
    await Graph(system).add_node("a")
    await asyncio.sleep(0)
    between.append(system.state)
    taken = await system.snapshot()
    between.append(system.state)
    await system.close()
    between.append(system.state)

    assert (taken.event_count, taken.stats.nodes) == (1, 1)
    assert [seen for seen in store.seen if seen != COUNTED_BY_THE_KERNEL] == [
        ("open", State.INITIALIZING),
        ("write", State.PROCESSING),
        ("snapshot", State.SNAPSHOTTING),
        ("close", State.SHUTTING_DOWN),
    ]
    assert between == [State.UNINITIALIZED, State.READY, State.READY, State.READY, State.UNINITIALIZED]


@needs("files")
@clause("UGS-54", "UGS-55", "UGS-56", "UGS-57", "UGS-150")
async def test_opening_a_folder_goes_the_way_of_the_seed(folder: Folder) -> None:
    async def states() -> list[str]:
        async with folder.system() as system:
            gone_through: list[str] = [*system.storage.states]  # type: ignore[attr-defined]
            await Graph(system).add_node(None)
            if len(folder.lines()) == 2:
                await system.snapshot()
        return gone_through

    assert await states() == ["Initializing", "Empty", "Ready"]
    assert await states() == ["Initializing", "Empty", "ReplayingWAL", "Ready"]
    assert await states() == ["Initializing", "LoadingSnapshot", "ReplayingWAL", "Ready"]


@needs("files")
@clause("UGS-83", "UGS-84", "UGS-147", "UGS-4", "UGS-46")
async def test_the_log_is_a_file_of_one_json_event_per_line(folder: Folder) -> None:
    async with folder.system() as system:
        await Graph(system).add_node("alice", "person", {"name": "Zoë"})
        await Graph(system).delete("alice")
        async with system.session() as session:
            logged = await session.events(EventQuery())

    assert folder.wal.read_bytes().endswith(b"\n")
    assert [list(json.loads(line))[:4] for line in folder.lines()] == [["id", "timestamp", "type", "data"]] * 2
    assert "Zoë" in folder.wal.read_text(encoding="utf-8")
    read = [from_line(line, n, CATALOG.rules.element_of) for n, line in enumerate(folder.lines(), 1)]
    assert read == logged


@needs("files")
@clause("UGS-10", "UGS-73", "UGS-128", "UGS-205")
async def test_the_log_file_only_grows(folder: Folder) -> None:
    prefix = b""
    for start in range(3):
        async with folder.system() as system:
            graph = Graph(system)
            await graph.add_node(f"n{start}")
            await graph.update(f"n{start}", {"v": 1})
            await system.snapshot()
            await graph.clear_scope(Scope.DEFAULT, force=True)
        now = folder.wal.read_bytes()
        assert now.startswith(prefix) and len(now) > len(prefix)
        prefix = now


@needs("files")
@clause("UGS-51", "UGS-52", "UGS-154", "UGS-147", "UGS-208")
async def test_the_snapshot_file_has_the_seeds_fields(folder: Folder) -> None:
    async with folder.system() as system:
        await Graph(system).load_demo()
        exported = await Graph(system).export_graph()
        await system.snapshot()

    document = json.loads(folder.snapshot.read_text(encoding="utf-8"))

    assert list(document)[:5] == ["timestamp", "eventCount", "nodes", "edges", "stats"]
    assert (document["timestamp"], document["eventCount"]) == (NOW, 15)
    assert document["stats"] == {"nodes": 8, "edges": 7, "types": 3, "properties": 5}
    keys = list(exported["nodes"][0])
    assert [{key: node[key] for key in keys} for node in by_id(document["nodes"])] == exported["nodes"]
    keys = list(exported["edges"][0])
    assert [{key: edge[key] for key in keys} for edge in by_id(document["edges"])] == exported["edges"]


def by_id(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: str(item["id"]))


@needs("files")
@clause("UGS-59", "UGS-149", "UGS-65")
async def test_a_snapshot_is_written_when_the_count_passes_a_multiple(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with folder.system(snapshot_every=10) as system:
        graph = Graph(system)
        store: Any = system.storage
        entered: list[str] = []
        enter = store.enter

        def note(state: str) -> None:
            entered.append(state)
            enter(state)

        monkeypatch.setattr(store, "enter", note)
        for n in range(9):
            await graph.add_node(f"n{n}")
        assert await stays_without_snapshot(folder) and entered == []
        await graph.add_node("n9")
        assert await wait_for_snapshot(folder, 10)
        for _ in range(600):  # the file is in its place a moment before the state changes
            if len(entered) == 2:
                break
            await asyncio.sleep(0.05)
        assert entered == ["Snapshotting", "Ready"]
        await graph.import_graph({"nodes": [{"id": f"m{n}"} for n in range(17)]})
        assert await wait_for_snapshot(folder, 27)


async def wait_for_snapshot(folder: Folder, events: int) -> bool:
    """Whether a snapshot of so many events comes; it is written beside the service, so it may take its time."""
    for _ in range(600):
        if folder.snapshot.exists() and json.loads(folder.snapshot.read_text("utf-8"))["eventCount"] == events:
            return True
        await asyncio.sleep(0.05)
    return False


async def stays_without_snapshot(folder: Folder) -> bool:
    """Whether none comes in the time one usually takes."""
    await asyncio.sleep(0.1)
    return not folder.snapshot.exists()


@needs("files")
@clause("UGS-153", "UGS-149")
async def test_the_interval_is_a_thousand_events(folder: Folder) -> None:
    async with folder.system() as system:
        graph = Graph(system)
        await graph.import_graph({"nodes": [{"id": f"n{n}"} for n in range(999)]})
        assert await stays_without_snapshot(folder)
        await graph.add_node("last")
        assert await wait_for_snapshot(folder, 1000)


@needs("files")
@clause("UGS-155", "UGS-210")
async def test_a_snapshot_cut_off_while_it_was_written_does_no_harm(folder: Folder) -> None:
    async with folder.system() as system:
        await Graph(system).add_node("a")
        await system.snapshot()
        good = folder.snapshot.read_bytes()
        await Graph(system).add_node("b")
    for half in ("snapshot.json.tmp", "snapshot.tmp", ".snapshot.json.tmp"):
        (folder.path / half).write_bytes(good[: len(good) // 2])

    async with folder.system() as system:
        assert ids(await Graph(system).list_nodes()) == ["a", "b"]
        await system.snapshot()
        assert (await system.verify()).ok
    assert json.loads(folder.snapshot.read_text("utf-8"))["eventCount"] == 2


@needs("files")
@clause("UGS-209", "UGS-150", "UGS-151", "UGS-208")
async def test_replay_starts_behind_the_snapshot(folder: Folder) -> None:
    async with folder.system(snapshot_every=0) as system:
        graph = Graph(system)
        await graph.import_graph({"nodes": [{"id": f"n{n}", "type": "t"} for n in range(20)]})
        await system.snapshot()
        await graph.delete("n3")
        digest = await system.digest()
    from_snapshot = await digest_of(folder)
    folder.snapshot.unlink()
    for extra in folder.path.glob("snapshot.json.*"):
        extra.unlink()

    assert from_snapshot == digest == await digest_of(folder)


async def digest_of(folder: Folder) -> str:
    async with folder.system() as system:
        assert (await system.verify()).ok
        return await system.digest()


def write_case(folder: Folder, case: dict[str, Any]) -> bytes:
    """Write the files of a recovery case; answers the log as it was written."""
    log: str = "".join(f"{line}\n" for line in case["wal"]) + case.get("wal_raw_tail", "")
    folder.wal.write_bytes(log.encode())
    snapshot = case.get("snapshot_raw") or json.dumps(case["snapshot"])
    if snapshot != "null":
        folder.snapshot.write_bytes(snapshot.encode())
    return log.encode()


@pytest.mark.parametrize(
    "case", [c for c in RECOVERY if "error" not in c["expect"]], ids=lambda case: str(case["name"])
)
@needs("files")
@clause("UGS-150", "UGS-151", "UGS-152", "UGS-209", "UGS-242", "UGS-80", "UGS-62", "UGS-187", "UGS-128")
async def test_recovery(folder: Folder, case: dict[str, Any]) -> None:
    log, expect = write_case(folder, case), case["expect"]

    async with folder.system() as system:
        graph = Graph(system)
        exported = await graph.export_graph()
        assert [node["id"] for node in exported["nodes"]] == expect["nodes"]
        assert [edge["id"] for edge in exported["edges"]] == expect["edges"]
        if "warning" in expect:
            assert any(expect["warning"] in warning for warning in system.storage.warnings)
        if "type_of_a" in expect:
            node = await graph.get("a")
            assert isinstance(node, Node)
            assert (node.type, node.created, node.version) == (
                expect["type_of_a"],
                expect["created_of_a"],
                expect["version_of_a"],
            )
        await graph.add_node("appended")
    assert folder.wal.read_bytes().startswith(log)
    async with folder.system() as system:
        assert ids(await Graph(system).list_nodes()) == sorted([*expect["nodes"], "appended"])
        assert (await system.verify()).ok


@pytest.mark.parametrize("case", [c for c in RECOVERY if "error" in c["expect"]], ids=lambda case: str(case["name"]))
@needs("files")
@clause("UGS-242", "UGS-243")
async def test_recovery_is_refused_where_it_would_guess(folder: Folder, case: dict[str, Any]) -> None:
    log = write_case(folder, case)
    options = {"strict_recovery": "on"} if case.get("strict") else {}
    system = folder.system(**options)

    with pytest.raises(UgsError) as refused:
        await system.open()

    assert refused.value.code == case["expect"]["error"]
    assert folder.wal.read_bytes() == log


@needs("files")
@clause("UGS-243", "UGS-10")
async def test_a_changed_event_is_found_and_its_place_named(folder: Folder) -> None:
    async with folder.system() as system:
        for n in range(5):
            await Graph(system).add_node(f"n{n}", "t")
    log = folder.wal.read_bytes()
    damaged = log.replace(b'"id":"n2","modified"', b'"id":"n9","modified"')
    assert damaged != log
    folder.wal.write_bytes(damaged)

    with pytest.raises(UgsError) as refused:
        await folder.system().open()

    assert refused.value.code == "E009"
    assert refused.value.details["line"] == 3
    assert refused.value.details["offset"] == log.index(log.splitlines()[2])


@needs("files")
@clause("UGS-241", "UGS-127")
async def test_a_folder_is_open_once_at_a_time(folder: Folder) -> None:
    async with folder.system() as system:
        await Graph(system).add_node("a")
        with pytest.raises(StoreLocked) as refused:
            await folder.system().open()
        assert refused.value.code == "STORE_LOCKED"
        await Graph(system).add_node("b")
    async with folder.system() as again:
        assert ids(await Graph(again).list_nodes()) == ["a", "b"]


@needs("files")
@clause("UGS-241")
async def test_a_folder_that_cannot_be_is_told_in_words(folder: Folder) -> None:
    (folder.path / "occupied").write_text("not a folder")
    blocked = Folder(folder.url.replace(str(folder.path), f"{folder.path}/occupied"), folder.path)

    with pytest.raises(StorageIOError) as refused:
        await blocked.system().open()

    assert refused.value.code == "E007"
    assert "occupied" in str(refused.value)
