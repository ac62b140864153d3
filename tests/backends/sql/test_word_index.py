"""Words beside rows: they follow their rows, rare ones are found first, and stores that kept them otherwise go on."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import msgspec
import pytest

from ugs.graph.api import Graph
from ugs.graph.content import NewContent
from ugs.graph.model import NODES, Node
from ugs.graph.text.tokenizer import node_words
from ugs.reads.filters import Has, all_of, eq
from ugs.reads.plan import Page
from ugs.reads.text_ranking import RankedQuery, Sought
from ugs.system import System
from ugs.tables import Table
from ugs.values import JsonText
from ugs_backends.sql import SqlStorage, open_sql
from ugs_backends.sql.compiler import access_path
from ugs_backends.sql.postgresql.dialect import PostgresqlDialect
from ugs_backends.sql.postgresql.word_index import CACHED_WEIGHTS_THRESHOLD, WordArrays


@pytest.fixture
async def graph(url: str) -> AsyncIterator[Graph]:
    async with System(open_sql(url)) as system:
        yield Graph(system)


async def words_stored(graph: Graph, id: str) -> list[str]:
    """The words under which a node is found, out of those that it ever had."""
    async with graph.system.session() as session:
        return [word for word in EVERY if await session.fetch(NODES, all_of(Has(word), eq("id", id)))]


EVERY = [f"w{number:03}" for number in range(3 * CACHED_WEIGHTS_THRESHOLD)]


async def test_words_follow_a_row_that_has_many_then_few_then_none(graph: Graph) -> None:
    await graph.add_node("a")
    for count in (3, 2 * CACHED_WEIGHTS_THRESHOLD + 5, 3 * CACHED_WEIGHTS_THRESHOLD, CACHED_WEIGHTS_THRESHOLD, 1, 0, 7):
        some = random.Random(count).sample(EVERY, count)
        await graph.update("a", {"said": " ".join(some)})
        assert await words_stored(graph, "a") == sorted(some)
    await graph.delete("a")
    assert await words_stored(graph, "a") == []


async def test_a_row_may_lose_its_last_word_and_find_new_ones(graph: Graph) -> None:
    await graph.add_node("a")
    await graph.add_edge("e", "a", "a", "knows", properties={"see": "@(a)"})
    mentions = [[element.id for element in await graph.referenced_by("a")]]
    for see in ("nobody", "@(a)", "nothing"):
        await graph.update("e", {"see": see})
        mentions.append([element.id for element in await graph.referenced_by("a")])
    assert mentions == [["e"], [], ["e"], []]


async def test_every_word_has_its_weight_however_many_there_are(graph: Graph) -> None:
    said = {"said": " ".join(EVERY)}
    await graph.add_node(EVERY[-1], EVERY[-2], said)
    async with graph.system.session() as session:
        weights = node_words(EVERY[-1], EVERY[-2], msgspec.json.encode(said).decode(), None)
        for word in (EVERY[0], EVERY[CACHED_WEIGHTS_THRESHOLD], EVERY[-2], EVERY[-1]):
            (found,) = await session.top_ranked(NODES, RankedQuery((Sought(word, 1.0),))) or []
            assert found.weight == weights[word]


async def statements_of(storage: SqlStorage, where: Has, limit: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is sent to find the first rows that meet a condition."""
    async with storage.session() as session:
        sent: list[str] = []
        rows = session.link.rows
        monkeypatch.setattr(session.link, "rows", lambda text, values=(): (sent.append(text), rows(text, values))[1])
        assert len(await session.fetch(NODES, where, page=Page(limit))) == limit
        return [*sent]


async def test_the_rows_of_a_rare_word_are_found_first_and_those_of_a_common_one_on_a_walk(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_path, "MAX_GATHERED_ROWS", 0)
    storage = open_sql(url)
    async with System(storage) as system:
        nodes = [{"id": f"n{n}", "properties": {"x": "common rare" if n < 2 else "common"}} for n in range(9)]
        await Graph(system).import_graph({"nodes": nodes})
        rare = await statements_of(storage, Has("rare"), 2, monkeypatch)
        common = await statements_of(storage, Has("common"), 2, monkeypatch)
    if storage.dialect.words.come_in_order:
        assert len(rare) == len(common) == 1
    else:
        assert "= ANY(ARRAY(" in rare[-1] and "= ANY(ARRAY(" not in common[-1]


async def test_the_first_rows_of_any_words_are_those_of_all_rows(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_path, "MAX_GATHERED_ROWS", 1)
    chance = random.Random(5)
    words = ["ant", "bee", "cat", "dog"]
    nodes = [{"id": f"n{n:02}", "properties": {"x": " ".join(chance.sample(words, n % 4))}} for n in range(30)]
    await graph.import_graph({"nodes": [*nodes, {"id": "only", "properties": {"x": "eel cat"}}]})
    async with graph.system.session() as session:
        for asked in (["ant"], ["eel"], ["cat", "eel"], ["bee", "dog"], ["nobody"], ["a\x00"], words):
            where = all_of(*(Has(word) for word in asked))
            every = [row.id for row in await session.fetch(NODES, where)]
            assert every == [node.id for node in await _having(graph, asked)]
            for limit in (1, 3, 40):
                assert [row.id for row in await session.fetch(NODES, where, page=Page(limit))] == every[:limit]


async def _having(graph: Graph, words: list[str]) -> list[Node]:
    async with graph.system.session() as session:
        return [node for node in await session.fetch(NODES) if {*words} <= {*(NODES.words or dict)(node)}]


# ── stores of an older program ───────────────────────────────────────────────


async def make_old(storage: SqlStorage) -> None:
    """Words as a row each, and a record that says so."""
    async with storage.session(write=True) as session:
        for table in storage.shape.catalog:
            if table.words is None:
                continue
            name, [key] = table.name, [table.field(field).stored_as for field in table.key]
            await session.link.run(
                f'CREATE TABLE {name}__words (word text COLLATE "C", {key} text COLLATE "C", weight float8 NOT NULL, '
                f"PRIMARY KEY (word, {key}))",
                f"INSERT INTO {name}__words SELECT word, {key}::text, weights[least(place, cardinality(weights))] "
                f"FROM {name}__terms, unnest(words) WITH ORDINALITY AS w(word, place)",
                f"DROP TABLE {name}__terms",
            )
        await session.link.run(
            "UPDATE ugs_meta SET value = '1' WHERE key = 'layout'",
            "UPDATE ugs_meta SET value = replace(value, '__terms', '__words') WHERE key = 'catalog'",
        )


QUERIES = ["w000", "fox", "hen", "hen fox", EVERY[-1], f"{EVERY[0]} {EVERY[-1]}"]


async def test_words_of_an_older_store_are_packed_when_it_is_opened(url: str) -> None:
    storage = open_sql(url)
    if not isinstance(storage.dialect.words, WordArrays):
        pytest.skip("elsewhere they are kept as ever")
    async with System(storage) as system:
        graph = Graph(system)
        await graph.add_node("long", None, {"said": " ".join(EVERY)})
        await graph.add_node("short", None, {"said": "w000 fox"}, content=NewContent("hen and fox"))
        await graph.add_node("hen", None, {"eats": "@(short)"})
        before = [await graph.search(query) for query in QUERIES], await graph.referenced_by("short")
        await make_old(storage)
    async with System(open_sql(url)) as system:
        graph = Graph(system)
        assert ([await graph.search(query) for query in QUERIES], await graph.referenced_by("short")) == before
        assert all(before[0]) and before[1]
        await graph.update("long", {"said": "w001"})
        await graph.delete("short")
        assert await words_stored(graph, "long") == ["w001"] and await graph.search("fox") == []
        async with system.session() as session:
            names = {name for (name,) in await session.link.rows(storage.dialect.table_names())}
        assert {"nodes__terms", "edges__terms"} < names and not any(name.endswith("__words") for name in names)


def test_a_word_that_cannot_be_sent_is_told() -> None:
    row = Node("a", None, JsonText("{}"), None, 0, 0, 1)
    table = Table("nodes", Node, NODES.fields, ["id"], words=lambda _: {"a\x1db": 1.0})
    side = WordArrays().build_writer(PostgresqlDialect(), table)
    with pytest.raises(ValueError, match="control character"):
        side.bulks([(None, row)])
    assert [bulk.columns for bulk in side.bulks([])] == [[], []]
