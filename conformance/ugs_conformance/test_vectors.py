"""Likeness: the same rows in the same order on every store, to the last place, however it compares vectors."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from ugs.changes import TableWrites
from ugs.errors import Unavailable
from ugs.facts.api import Facts
from ugs.log.at import At
from ugs.reads.filters import EVERYTHING, NOTHING, Compare, Linked, Not, Op, Property, Where, eq, in_
from ugs.reads.plan import Page
from ugs.reads.vector_search import ALIKE, Near, Vector, nearest_of, on_sphere
from ugs.storage import Storage
from ugs.vectors import index_maintenance
from ugs.vectors.model import EMBEDDED, NODE_VECTORS, PROGRESS, Embedding
from ugs_conformance.support.api_under_test import memory_of
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest

VECTORS = NODE_VECTORS.vectors
WIDTH = 12
WORDS = ("harbour", "falcon", "ledger", "orbit", "quartz", "meadow", "engine", "violin", "glacier", "saffron")


def some_vectors(count: int, seed: int) -> list[Vector]:
    """Directions all over the place, some of them the same, some opposite."""
    chance = random.Random(seed)
    made = [on_sphere([chance.gauss(0, 1) for _ in range(WIDTH)]) for _ in range(count)]
    made[1::7] = [made[0]] * len(made[1::7])
    return [vector for vector in made if vector is not None]


SEARCHES = list(zip([some_vectors(1, 1)[0], *some_vectors(2, 2)], (-ALIKE, 1, ALIKE // 3), (200, 7, 50), strict=True))
"""A vector that some rows have, and others; the least score; how many."""


@pytest.fixture
def embeddings(world: StoreUnderTest) -> list[Embedding]:
    """Rows with vectors, some of nodes that exist."""
    rows = [Embedding(id, part, vector) for (id, part), vector in zip(places(), some_vectors(90, 1), strict=True)]
    run(store(world, rows))
    return rows


def places() -> list[tuple[str, int]]:
    return [(f"{prefix}{number}", part) for prefix in ("n", "N", "user:n") for number in range(15) for part in (0, 1)]


async def store(world: StoreUnderTest, rows: Sequence[Embedding]) -> None:
    nodes = [{"id": f"n{number}", "type": "even" if number % 2 == 0 else None, "properties": {"n": number}}
             for number in range(12)]  # fmt: skip
    await world.graph.import_graph({"nodes": nodes})
    async with world.storage.session(write=True) as session:
        await session.append((), {VECTORS: TableWrites(inserts=list(rows))})


CONDITIONS: list[Where] = [
    EVERYTHING,
    NOTHING,
    eq("part", 1),
    in_("id", ["n1", "N2", "user:n3", "nobody"]),
    Linked("row"),
    Not(Linked("row")),
    Linked("row", eq("type", "even")),
    Linked("row", Property("properties_text", "n", Op.GT, 5)) & Not(in_("id", ["n7"])),
    Compare("id", Op.STARTS, "user:"),
]


@clause()
async def test_every_store_ranks_as_the_reference_does(world: StoreUnderTest, embeddings: list[Embedding]) -> None:
    async with world.system.session() as session:
        assert await session.fetch(VECTORS) == sorted(embeddings, key=VECTORS.key_of)
        for where in CONDITIONS:
            rows = await session.fetch(VECTORS, where)
            for asked, least, limit in SEARCHES:
                near = Near("vector", asked, limit, least, where)
                assert await session.nearest(VECTORS, near) == nearest_of(rows, VECTORS, near)


@clause()
async def test_changed_and_removed_vectors_are_seen_at_once(world: StoreUnderTest, embeddings: list[Embedding]) -> None:
    rows = {VECTORS.key_of(row): row for row in embeddings}
    async with world.system.session() as session:  # whatever a store keeps for speed is there from here on
        await session.nearest(VECTORS, Near("vector", embeddings[0].vector, 1))
    fresh = some_vectors(30, 3)
    changed = [Embedding(row.id, row.part, vector) for row, vector in zip(embeddings[::4], fresh, strict=False)]
    gone = [VECTORS.key_of(row) for row in embeddings[1::4]]
    new = [Embedding("late", number, vector) for number, vector in enumerate(fresh[:3])]
    async with world.storage.session(write=True) as session:
        writes = TableWrites(inserts=list(new), updates=list(changed), deletes=gone, before=rows)
        await session.append((), {VECTORS: writes})
    left = {
        **{key: row for key, row in rows.items() if key not in gone},
        **{VECTORS.key_of(r): r for r in changed + new},
    }
    async with world.system.session() as session:
        for asked in (embeddings[0].vector, fresh[0], fresh[5]):
            near = Near("vector", asked, 40, -ALIKE)
            assert await session.nearest(VECTORS, near) == nearest_of(list(left.values()), VECTORS, near)


# ── kept in step by the log ──────────────────────────────────────────────────


def node_with_number(number: int) -> dict[str, Any]:
    chance = random.Random(number)
    return {"label": " ".join(chance.sample(WORDS, 2)), "note": " ".join(chance.choices(WORDS, k=4))}


async def agree(world: StoreUnderTest, at: At | None = None) -> None:
    """Expect the ranking that comes out when every row is embedded anew."""
    async with world.system.session_at(at) as session:
        likeness = world.system.vectors.likeness(session)
        rows = await index_maintenance.embed_rows(
            NODE_VECTORS, likeness.embedder, await session.fetch(NODE_VECTORS.table)
        )
        for vector in likeness.embedder.embed(["falcon over the harbour", "an engine of quartz"]):
            assert vector is not None
            near = Near("vector", vector, 25)
            assert await likeness.search(NODE_VECTORS, vector, 25) == nearest_of(rows, VECTORS, near)


async def behind(world: StoreUnderTest) -> list[int | None]:
    async with world.system.session() as session:
        return [
            await index_maintenance.events_behind(session, each, world.system.vectors.embedder) for each in EMBEDDED
        ]


@clause()
async def test_vectors_follow_the_log(world: StoreUnderTest) -> None:
    graph, vectors = world.graph, world.system.vectors
    await graph.import_graph({"nodes": [{"id": f"n{n}", "properties": node_with_number(n)} for n in range(120)]})
    await agree(world)  # nothing is kept yet
    await vectors.ready()
    assert await behind(world) == [0] * len(EMBEDDED)
    await agree(world)
    middle = (await world.events())[-1].position
    for number in range(6):
        await graph.update(f"n{number}", node_with_number(1000 + number))
        await graph.delete(f"n{number + 6}")
        await graph.add_node(f"m{number}", "tool", node_with_number(2000 + number))
    await agree(world)  # a few events behind
    await vectors.ready()
    assert set(await behind(world)) == {18}
    await graph.import_graph({"nodes": [{"id": f"k{n}", "properties": node_with_number(3000 + n)} for n in range(60)]})
    await vectors.ready()
    assert await behind(world) == [0] * len(EMBEDDED)
    await agree(world)
    await vectors.ready(At(position=middle))
    await agree(world, At(position=middle))
    assert (await world.system.verify()).ok
    await world.system.rebuild()
    await agree(world)


@clause()
async def test_vectors_of_another_embedder_are_made_anew(world: StoreUnderTest) -> None:
    class Backwards:
        """The default one, from the end of a text to its beginning."""

        name, dimension, related = "backwards-1", 0, 0.2

        def embed(self, texts: Sequence[str]) -> list[Vector | None]:
            return usual.embed([text[::-1] for text in texts])

    usual = world.system.vectors.embedder
    await world.graph.import_graph({"nodes": [{"id": f"n{n}", "properties": node_with_number(n)} for n in range(10)]})
    await world.system.vectors.ready()
    world.system.vectors.embedder = Backwards()
    assert set(await behind(world)) == {None}
    await agree(world)
    await world.system.vectors.ready()
    assert set(await behind(world)) == {0}
    await agree(world)


@clause()
async def test_passages_of_contents_and_notes_come_and_go(world: StoreUnderTest) -> None:
    memory, facts, vectors = memory_of(world.system), Facts(world.system), world.system.vectors
    await memory.create_ontology(["Article"], [])
    long = "\n".join(f"{word} {word}" for word in WORDS * 40)
    article = await memory.create_node("Article", long, "markdown")
    picture = await memory.create_node("Article", "AAAA", "png", "base64")
    note = await facts.add_note("a falcon above the harbour")
    await vectors.ready()

    async def parts(storage: Storage, id: str) -> int:
        async with storage.session() as session:
            rows = [await session.fetch(each.vectors, eq("id", id), page=Page(limit=50)) for each in EMBEDDED[1:3]]
            return sum(map(len, rows))

    storage = world.storage
    assert await parts(storage, article) >= 5
    assert await parts(storage, picture) == 0
    assert await parts(storage, note.note_id) == 1
    await memory.update_node(article, content="short", encoding="utf-8")
    await facts.delete_note(note.note_id)
    await world.graph.import_graph({"nodes": [{"id": f"n{n}"} for n in range(index_maintenance.CATCH_UP_THRESHOLD)]})
    await vectors.ready()
    assert await parts(storage, article) == 1
    assert await parts(storage, note.note_id) == 0


@clause()
async def test_a_search_works_where_vectors_cannot_be_kept(
    world: StoreUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.graph.import_graph({"nodes": [{"id": f"n{n}", "properties": node_with_number(n)} for n in range(10)]})

    def refuse(*, write: bool = False) -> Any:
        if write:
            raise Unavailable("no writing today")
        return session(write=write)

    session = world.storage.session
    monkeypatch.setattr(world.storage, "session", refuse)
    await world.system.vectors.ready()
    assert set(await behind(world)) == {None}
    await agree(world)


@clause()
async def test_vectors_are_neither_copied_nor_counted(world: StoreUnderTest) -> None:
    await world.graph.add_node("a", "tool", node_with_number(1))
    before = await world.system.digest()
    await world.system.vectors.ready()
    assert await world.system.digest() == before
    await world.restart()
    await agree(world)
    async with world.system.session() as session:
        markers = await session.fetch(PROGRESS)
        assert len(markers) in (0, len(EMBEDDED))  # a store of files makes them anew
