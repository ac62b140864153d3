"""Logs in the seed's own form of four keys: versions count as ours do, and event counters go on behind the greatest."""

import asyncio
import json
from pathlib import Path

import pytest

from ugs.graph.api import Graph
from ugs.system import System
from ugs.values import from_text
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

FAR = 4_102_444_800_000


def line(id: str, timestamp: int, type: str, /, **data: object) -> str:
    return json.dumps({"id": id, "timestamp": timestamp, "type": type, "data": data}) + "\n"


def written(folder: Path, *lines: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "events.wal").write_text("".join(lines))
    return f"file:{folder}"


TWO = (
    line("evt_1000_1", 1000, "NodeAdded", id="x", type="test", properties={"v": 1}),
    line("evt_1001_2", 1001, "NodeUpdated", id="x", properties={"v": 2}),
)


async def test_versions_of_a_foreign_log_count_as_ours(tmp_path: Path) -> None:
    async with System.at_url(written(tmp_path, *TWO)) as system:
        graph = Graph(system)
        assert [state.version for state in await graph.versions("x")] == [1, 2]
        await graph.update("x", {"v": 3})
        assert [state.version for state in await graph.versions("x")] == [1, 2, 3]
        for version in (1, 2, 3):
            found = (await graph.resolve(f"@(x:{version})")).value
            assert found["properties"] == {"v": version}
        await graph.delete("x")
        await graph.add_node("x")
        assert [state.version for state in await graph.versions("x")] == [1, 2, 3, 3, 4]
        assert (await system.verify()).ok


@pytest.mark.parametrize("reopened", [False, True])
async def test_the_event_counter_goes_on_behind_the_greatest(tmp_path: Path, reopened: bool) -> None:
    first = (
        line(f"evt_{FAR - 1}_9", FAR - 1, "NodeAdded", id="a"),
        line(f"evt_{FAR}_7", FAR, "NodeAdded", id="x"),
        line("other-form", FAR, "NodeAdded", id="y"),
    )
    url = written(tmp_path, *first)
    ids = []
    for number in range(9):
        if number == 0 or reopened:
            system = System.at_url(url)
            await system.open()
        await Graph(system).add_node(f"n{number}")
        ids += [event.id for event in await Graph(system).history(1)]
        if reopened:
            await system.close()
    if reopened:
        await system.open()
    assert ids == [f"evt_{FAR}_{number}" for number in range(10, 19)]
    assert (await system.verify()).ok
    await system.close()


async def test_many_new_nodes_at_once_count_on_as_well(tmp_path: Path) -> None:
    async with System.at_url(written(tmp_path, line(f"evt_{FAR}_7", FAR, "NodeAdded", id="x"))) as system:
        graph = Graph(system)
        await asyncio.gather(*(graph.add_node(f"n{number}") for number in range(40)))
        counters = [int(event.id.rpartition("_")[2]) for event in await graph.history(41)]
        assert counters == list(range(7, 48)) and (await system.verify()).ok


async def test_a_repaired_end_counts_on_as_well(tmp_path: Path) -> None:
    url = written(tmp_path, line(f"evt_{FAR}_7", FAR, "NodeAdded", id="x"), '{"id":"evt_41024')
    async with System.at_url(url) as system:
        await Graph(system).add_node("y")
        ids = [event.id for event in await Graph(system).history(3)]
        assert ids == [f"evt_{FAR}_{number}" for number in (7, 8, 9)]
        assert (await system.verify()).ok


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (("evt_1000_1", 1000), "event 2 has the id of event 1"),
        (("evt_1000_0", 1000), "event 2 has an id that does not follow"),
        (("evt_999_7", 999), "event 2 has an id that does not follow"),
    ],
)
async def test_verify_finds_doubled_and_falling_ids(tmp_path: Path, second: tuple[str, int], told: str) -> None:
    url = written(tmp_path, TWO[0], line(*second, "NodeAdded", id="y"))
    async with System.at_url(url) as system:
        found = await system.verify()
        assert not found.ok and found.stored == found.replayed
        assert [problem.startswith(told) for problem in found.problems] == [True]


async def test_verify_finds_doubled_ids_of_another_form(tmp_path: Path) -> None:
    url = written(tmp_path, *(line(id, 1, "NodeAdded", id=f"n{n}") for n, id in enumerate(("a", "b", "a"))))
    async with System.at_url(url) as system:
        assert (await system.verify()).problems == ("event 3 has the id of event 1: a",)


async def test_graphql_tells_the_versions_of_a_foreign_log(tmp_path: Path) -> None:
    async with System.at_url(written(tmp_path, *TWO)) as system:
        operations = OperationExecutor(build_schema())
        asked = operations.prepare('{ versions(id: "x") { version value } history { version eventId } }')
        found = await operations.answer(asked, RequestContext(system), {})
        told = from_text(found) if isinstance(found, bytes) else {"data": found.data, "errors": found.errors}
        assert isinstance(told, dict) and not told.get("errors")
        states = told["data"]["versions"]
        assert [(state["version"], state["value"]["properties"]) for state in states] == [(1, {"v": 1}), (2, {"v": 2})]
