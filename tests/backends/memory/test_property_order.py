"""Lists in the order of a property are read from a sorted index, which follows changes and knows the past."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ugs import Graph, System
from ugs.graph.model import NODES
from ugs.log.at import At
from ugs.reads.filters import EVERYTHING, Op, Property, eq, matcher
from ugs.reads.plan import Order, Page, Read, full_order, place_of
from ugs.reads.sort_keys import FIRST, LAST, SortKey
from ugs_backends.memory.query import executor

VALUES = [None, [1], False, True, -1.5, 0, 2, 2.0, 1e300, "", "a", "b", "x" * 300, "x" * 299 + "y", "\U0001f600"]
WHERES = [EVERYTHING, eq("type", "t"), Property("properties_text", "rank", Op.EXISTS)]


def list_expected(rows: list[Any], key: SortKey, descending: bool) -> list[str]:
    """The ids in order, computed from all rows."""
    by_id = sorted(rows, key=lambda row: row.id)
    return [row.id for row in sorted(by_id, key=lambda row: key.of(row.properties_text), reverse=descending)]


async def compare(system: System, random: Random, at: At | None = None) -> None:
    """A page somewhere in a random order beside all rows, sorted."""
    key = SortKey("properties_text", "rank", random.choice([FIRST, LAST]))
    order, where = (Order(key.name, random.random() < 0.5),), random.choice(WHERES)
    table, backward = NODES.counting([key.name]), random.random() < 0.5
    everything = (await system.read(Read(NODES, page=Page(limit=1_000)), at)).rows
    expected = list_expected([row for row in everything if matcher(where)(row)], key, order[0].descending)
    assert [row.id for row in (await system.read(Read(table, where, order), at)).rows] == expected
    place, after = random.randrange(len(expected) or 1), None
    if expected and random.random() < 0.7:
        (row,) = (await system.read(Read(table, eq("id", expected[place]), order), at)).rows
        after = place_of(row, full_order(table, order))
        expected = expected[:place] if backward else expected[place + 1 :]
    page = await system.read(Read(table, where, order, Page(limit=3, after=after, backward=backward)), at)
    assert [row.id for row in page.rows] == (expected[-3:] if backward else expected[:3])


@pytest.mark.parametrize("seed", range(4))
async def test_pages_follow_changes_and_hold_in_the_past(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(executor, "SORTED_SCAN_THRESHOLD", 1)
    random, positions = Random(seed), []
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        for number in range(60):
            properties = {"rank": random.choice(VALUES)} if random.random() < 0.8 else {"other": 1}
            if number < 20 or random.random() < 0.4:
                await graph.add_node(f"n{random.randrange(10_000):04d}-{number}", random.choice(["t", "u"]), properties)
            else:
                rows = (await system.read(Read(NODES, page=Page(limit=1_000)))).rows
                victim = random.choice(rows).id
                await (graph.delete(victim) if random.random() < 0.3 else graph.update(victim, properties=properties))
            async with system.session() as session:
                positions.append((await session.head()).position)
            await compare(system, random)
            if number > 20 and number % 10 == 0:
                await compare(system, random, At(position=random.choice(positions[20:])))


async def test_no_row_is_read_twice_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    async with System.at_url("memory:") as system:
        nodes = [{"id": f"n{number}", "properties": {"rank": -number}} for number in range(1_000)]
        await Graph(system).import_graph({"nodes": nodes, "edges": []})
        order = (Order(SortKey("properties_text", "rank").name),)
        read = Read(NODES.counting([order[0].field]), order=order, page=Page(limit=5))
        assert [row.id for row in (await system.read(read)).rows] == [f"n{number}" for number in range(999, 994, -1)]
        keys = [0]
        of = SortKey.of
        monkeypatch.setattr(SortKey, "of", lambda self, text: (keys.append(1), of(self, text))[1])
        await system.read(read)
        assert sum(keys) <= 6
