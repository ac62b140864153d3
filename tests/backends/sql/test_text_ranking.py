"""Searches by words that the database answers itself, and counts that are kept while nothing happens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from ugs.graph.api import Graph
from ugs.graph.model import EDGES, NODES
from ugs.graph.text.search import search
from ugs.reads.filters import Has, eq
from ugs.reads.text_ranking import UNIT, RankedQuery, Sought
from ugs.storage import Session
from ugs.system import System
from ugs_backends.sql import SqlStorage, open_sql


@pytest.fixture
async def graph(url: str) -> AsyncIterator[Graph]:
    async with System(open_sql(url)) as system:
        yield Graph(system)


def fetched(session: Session, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is fetched from now on."""
    seen: list[object] = []
    monkeypatch.setattr(session, "fetch", lambda *given, **more: seen.append(given))
    return seen


async def test_only_the_best_are_read(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    await graph.import_graph({"nodes": [{"id": f"n{n:03}", "properties": {"x": "fox"}} for n in range(300)]})
    await graph.add_node("fox")
    async with graph.system.session() as session:
        seen = fetched(session, monkeypatch)
        hits = await search(session, "fox", limit=3)
        assert [hit.node.id for hit in hits] == ["fox", "n000", "n001"] and not seen
        assert [hit.score / hits[1].score for hit in hits] == [4, 1, 1]


async def test_native_off_leaves_it_to_the_kernel(url: str, graph: Graph) -> None:
    await graph.add_node("fox")
    async with System(open_sql(url + ("&" if "?" in url else "?") + "native=off")) as plain:
        async with plain.session() as session:
            assert await session.top_ranked(NODES, RankedQuery((Sought("fox", 1.0),))) is None
        assert await Graph(plain).search("fox") == await graph.search("fox") != []


async def test_words_beside_another_key_and_places_nobody_can_be_at_are_left_to_the_kernel(graph: Graph) -> None:
    await graph.add_node("fox")
    async with graph.system.session() as session:
        assert await session.top_ranked(NODES, RankedQuery((Sought("fox", 1.0, beside="outgoing"),))) is None
        assert await session.top_ranked(NODES, RankedQuery((Sought("fox", 1.0),), after=(9.0, "\x00"))) is None
        (found,) = await session.top_ranked(NODES, RankedQuery((Sought("fox", 3 * UNIT),))) or []
        assert (found.row.id, found.weight) == ("fox", 12 * UNIT)
        assert await session.top_ranked(NODES, RankedQuery((Sought("fox", 1.0),), eq("type", "cat"))) == []


async def counts(storage: SqlStorage) -> tuple[int, int]:
    async with storage.session() as session:
        return await session.count(NODES), await session.count(EDGES)


async def test_rows_are_counted_again_when_something_has_happened(url: str, graph: Graph) -> None:
    storage: SqlStorage = graph.system.storage  # type: ignore[assignment]
    assert await counts(storage) == (0, 0)
    await graph.add_node("a")
    assert await counts(storage) == await counts(storage) == (1, 0)
    async with System(open_sql(url)) as other:
        await Graph(other).add_edge("e", "a", "a")
        assert await counts(storage) == (1, 1)
        await Graph(other).delete("e")
    assert await counts(storage) == (1, 0)


async def test_a_kept_count_is_not_counted_again(graph: Graph) -> None:
    storage: SqlStorage = graph.system.storage  # type: ignore[assignment]
    await graph.add_node("a")
    await counts(storage)
    position, count = storage.shape.counted[NODES.name]
    storage.shape.counted[NODES.name] = position, 7
    assert (count, await counts(storage)) == (1, (7, 0))
    storage.shape.counted[NODES.name] = position - 1, 7
    assert await counts(storage) == (1, 0)


async def test_what_a_writer_counts_is_not_kept(graph: Graph) -> None:
    """Its rows may never come to be; and rows that are made anew without an event are counted anew."""
    storage: SqlStorage = graph.system.storage  # type: ignore[assignment]
    await graph.import_graph({"nodes": [{"id": "a"}, {"id": "b"}]})
    assert await counts(storage) == (2, 0)
    with suppress(ZeroDivisionError):
        async with storage.session(write=True) as session:
            await session.clear([NODES])
            assert await session.count(NODES) == 0
            raise ZeroDivisionError
    assert await counts(storage) == (2, 0)
    async with storage.session(write=True) as session:
        await session.clear([NODES])
    assert await counts(storage) == (0, 0)
    await graph.system.rebuild()
    assert await counts(storage) == (2, 0)


async def test_the_words_of_a_query_are_counted_in_one_statement(graph: Graph) -> None:
    await graph.import_graph(
        {"nodes": [{"id": f"n{n}", "properties": {"x": "red fox" if n else "red"}} for n in range(4)]}
    )
    async with graph.system.session() as session:
        wheres = [Has("red"), Has("fox"), Has("cat"), eq("id", "n0")]
        before = session.link.statements
        assert await session.count_each(NODES, wheres) == [4, 3, 0, 1]
        assert session.link.statements == before + 1
        assert await session.count_each(NODES, wheres * 20) == [4, 3, 0, 1] * 20
        assert await session.count_each(NODES, []) == []
