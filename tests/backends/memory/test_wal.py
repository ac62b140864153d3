"""The log in a file answers like the log in memory, wherever it is cut and however it is asked."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.backends.memory.kit import (
    NODE_IDS,
    Unsynced,
    add_node,
    histories,
    log_of,
    opened,
    settled,
    stamped,
    update_node,
    write,
)
from ugs.errors import Conflict, WALCorrupt
from ugs.events import to_line
from ugs.storage import EventQuery

queries = st.builds(
    EventQuery,
    after=st.integers(0, 30),
    until=st.one_of(st.none(), st.integers(0, 40)),
    limit=st.one_of(st.none(), st.integers(0, 5)),
    element=st.sampled_from([None, None, *NODE_IDS[:3], "e1"]),
    types=st.sampled_from([None, frozenset({"NodeAdded"}), frozenset({"NodeDeleted", "EdgeAdded"})]),
    newest=st.booleans(),
    elements=st.sampled_from([None, None, frozenset(), frozenset({NODE_IDS[0], "e1"}), frozenset(NODE_IDS[:3])]),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories, histories, st.lists(queries, min_size=5, max_size=10))
def test_a_log_in_a_file_answers_like_one_in_memory(first: Any, second: Any, asked: list[EventQuery]) -> None:
    async def check(folder: Path) -> None:
        memory = await opened("memory:")
        for history in (first, second):
            file = await opened(f"file:{folder}", Unsynced())
            for drafts in history:
                await write(memory, *drafts)
                await write(file, *drafts)
                async with memory.session() as here, file.session() as there:
                    assert await here.events(asked[0]) == await there.events(asked[0])
            async with memory.session() as here, file.session() as there:
                for query in asked:
                    assert await here.events(query) == await there.events(query), query
            await file.close()
            # A torn write in the middle of the log must not move anything behind it.
            with (folder / "events.wal").open("ab") as wal:
                wal.write(b'{"id":"evt_1')
            repaired = await opened(f"file:{folder}", Unsynced())
            events = await log_of(repaired)
            async with memory.session(write=True) as session:
                await session.append(events[memory.log.head.position :], {})
            await repaired.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


async def test_any_part_of_a_long_log_is_read_without_the_rest(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}", Unsynced())
    for start in range(0, 1000, 50):
        await write(storage, *(add_node(f"n{number}") for number in range(start, start + 50)))
    for version in range(2, 5):
        await write(storage, update_node("n500", version, p=version))
    await storage.snapshot()
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert again.replayed == 0
    async with again.session() as session:
        middle = await session.events(EventQuery(after=400, until=700))
        assert [event.position for event in middle] == list(range(401, 701))
        newest = await session.events(EventQuery(limit=3, newest=True, types=frozenset({"NodeAdded"})))
        assert [event.element for event in newest] == ["n999", "n998", "n997"]
        history = await session.events(EventQuery(element="n500"))
        assert [event.version for event in history] == [1, 2, 3, 4]
        await write(again, update_node("n500", 5, p=5))
        assert len(await session.events(EventQuery(element="n500"))) == 5
    assert b"".join(to_line(event) + b"\n" for event in await log_of(again)) == (tmp_path / "events.wal").read_bytes()
    await again.close()


async def test_events_that_do_not_continue_the_log_are_refused(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}")
    events = await write(storage, add_node("a"))
    async with storage.session(write=True) as session:
        with pytest.raises(Conflict):
            await session.append(events, {})
        unsealed = stamped(await session.head(), [add_node("b")])
        unsealed = [type(event)(**{**_fields(event), "crc": None}) for event in unsealed]
        with pytest.raises(WALCorrupt):
            await session.append(unsealed, {})
    await storage.close()


def _fields(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__struct_fields__}


async def test_unsealed_events_copied_from_elsewhere_come_back_as_they_were(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}")
    async with storage.session(write=True) as session:
        events = stamped(await session.head(), [add_node("a"), add_node("b")])
        events = [type(event)(**{**_fields(event), "crc": None, "extra": '{"host":"x"}'}) for event in events]
        await session.append(events, settled(storage, events))
    assert await log_of(storage) == events
    await write(storage, add_node("c"))
    await storage.close()
    again = await opened(f"file:{tmp_path}")
    assert (await log_of(again))[:2] == events and len(await log_of(again)) == 3
    await again.close()


async def test_damage_in_an_old_part_of_the_log_shows_when_it_is_read(tmp_path: Path) -> None:
    storage = await opened(f"file:{tmp_path}")
    await write(storage, *(add_node(f"n{number}") for number in range(300)))
    await storage.snapshot()
    await storage.close()
    path = tmp_path / "events.wal"
    path.write_bytes(path.read_bytes().replace(b'"n150"', b'"n151"', 1))
    again = await opened(f"file:{tmp_path}")
    async with again.session() as session:
        with pytest.raises(WALCorrupt) as damaged:
            await session.events(EventQuery())
    data = path.read_bytes()
    place = data.rindex(b"\n", 0, data.index(b'"n151"')) + 1
    assert damaged.value.details == {"file": str(path), "line": 151, "offset": place}
    assert f"events.wal line 151 (byte {place}) is damaged" in str(damaged.value)
    await again.close()
