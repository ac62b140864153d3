"""Seeds 000 and 004: parts and words of content are found wherever they stand, whatever index a store keeps."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ugs.graph.api import Graph
from ugs.graph.content import NewContent
from ugs.graph.text import search
from ugs.graph.text.tokenizer import (
    CONTENT_WEIGHT,
    MAX_CONTENT_WORDS,
    MAX_INDEXED_CONTENT_CHARS,
    PROPERTY_WEIGHT,
    rarity,
    relevance,
)
from ugs.identity import Scope
from ugs.log.at import At
from ugs.ontology.api import Memory
from ugs_conformance.support.memory_kit import Tools
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, ids

LETTERS = "aaAbB\"'%_\\ \n\r\tßẞéÉİıſK\u0345日本\ufb03\ufffd\ufffe\uffff\ue000\U0001f600\U00010400"
COUNT = 60


def text(chance: Random, longest: int = 30) -> str:
    return "".join(chance.choices(LETTERS, k=chance.randrange(longest)))


def random_needles(texts: dict[str, str], chance: Random) -> list[str]:
    """Parts of what is there, in capitals or not, and others."""
    search_all = ["", "a", "aa", "aaa", "%_\\", "ffi"]
    for said in list(texts.values())[::3]:
        start = chance.randrange(10)
        part = said[start : start + chance.randrange(1, 8)]
        search_all += [part, part.swapcase(), text(chance, 5), said + "a"]
    return search_all


async def compare(memory: Memory, texts: dict[str, str], chance: Random) -> None:
    """Every search against what Python finds in the same texts, oldest first."""
    for part in random_needles(texts, chance):
        wanted = [id for id, said in texts.items() if part.casefold() in said.casefold()]
        assert await memory.search_content(part) == wanted, part
        assert await memory.search_content(part, limit=2) == wanted[:2], part
        actions = [id for id in wanted if int(id[1:]) % 2]
        assert await memory.search_content(part, "Action") == actions, part


@clause("ONT-86", "ONT-87", "ONT-88", "ONT-89")
async def test_parts_of_content_are_found_as_they_stand(world: StoreUnderTest) -> None:
    chance, graph, tools = Random(86), Graph(world.system), Tools(world)
    texts = {f"n{n:03}": text(chance) for n in range(COUNT)}
    nodes = [
        {"id": id, "type": "Action" if int(id[1:]) % 2 else "Project", "content": said} for id, said in texts.items()
    ]
    picture = {"id": "picture", "content": {"body": "YWFh", "format": "png", "encoding": "base64"}}
    await graph.import_graph({"nodes": [*nodes, picture, {"id": "silent"}]})
    await compare(tools.memory, texts, chance)
    for id in list(texts)[::5]:
        texts[id] = text(chance)
        await graph.update(id, content=NewContent(texts[id], "text"))
    for id in list(texts)[1::7]:
        del texts[id]
        await graph.delete(id)
    await compare(tools.memory, texts, chance)
    await compare(await tools.restart(), texts, chance)


# ── words ────────────────────────────────────────────────────────────────────

PICTURE = {"body": "cGVhcg==", "format": "png", "encoding": "base64"}


@clause("UGS-115", "UGS-216")
async def test_nodes_are_found_by_the_words_of_what_they_say(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    nodes = [
        {"id": "both", "properties": {"x": "quince"}, "content": "The Pear-Tree of Zu\u0308rich"},
        {"id": "own", "properties": {"x": "pear"}},
        {"id": "said", "content": {"body": "pear, PEAR!", "format": "text", "encoding": "utf-8"}},
        {"id": "picture", "content": PICTURE},
        {"id": "silent"},
    ]
    await graph.import_graph(
        {"nodes": nodes, "edges": [{"id": "e", "from": "own", "to": "both", "content": "pear plum"}]}
    )
    hits = await graph.search("pear")
    assert ids(hits) == ["own", "both", "said"]
    rare = rarity(5, 3)
    assert [hit.score for hit in hits] == pytest.approx([rare, rare / 2, rare / 2], rel=1e-12)
    assert ids(await graph.search("QUINCE pear")) == ["both"]  # one word in a property, the other in the content
    assert ids(await graph.search("pear-tree z\u00fcrich")) == ids(await graph.search("tree-pear")) == ["both"]
    assert ids(await graph.search("pear", limit=1, after=(hits[0].score, "own"))) == ["both"]
    assert "said" in ids(await graph.hybrid("pear"))  # nothing of the node itself is like it
    for never in ("plum", "pea", "cGVhcg", "pear silent"):
        assert await graph.search(never) == [], never


@clause("UGS-115", "UGS-11", "UGS-77")
async def test_words_of_content_follow_it_through_time(world: StoreUnderTest) -> None:
    graph, tools = Graph(world.system), Tools(world)
    await graph.add_node("a", "task", content=NewContent("apple walnut"))
    await graph.add_node("b", content=NewContent("apple"))
    position = (await world.events())[-1].position
    await graph.update("a", content=NewContent("walnut hazel"))
    await graph.delete("b")

    async def search_all(graph: Graph) -> list[list[str]]:
        return [ids(await graph.search(word)) for word in ("apple", "walnut", "hazel")]

    assert await search_all(graph) == [[], ["a"], ["a"]]
    past = At(position=position)
    assert ids(await graph.search("apple", at=past)) == ["a", "b"]
    assert ids(await graph.search("apple", type="task", at=past)) == ["a"]
    assert ids(await graph.search("hazel", at=past)) == []
    await tools.restart()
    assert await search_all(Graph(world.system)) == [[], ["a"], ["a"]]
    await Graph(world.system).update("a", content=None)
    assert await search_all(Graph(world.system)) == [[], [], []]


@clause("UGS-115", "UGS-216")
async def test_only_the_beginning_of_a_long_content_is_cut_into_words(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    long = "first " + "x " * (MAX_INDEXED_CONTENT_CHARS // 2 - 8) + "halved" * 2 + " last"  # cut after "halvedhalv"
    many = " ".join(f"w{number}" for number in range(MAX_CONTENT_WORDS + 1))
    await graph.import_graph({"nodes": [{"id": "long", "content": long}, {"id": "many", "content": many}]})
    assert ids(await graph.search("first x")) == ["long"]
    assert ids(await graph.search(f"w0 w{MAX_CONTENT_WORDS - 1}")) == ["many"]
    for beyond in ("halvedhalved", "halvedhalv", "last", f"w{MAX_CONTENT_WORDS}"):
        assert await graph.search(beyond) == [], beyond


@pytest.mark.parametrize("few", [search.ID_LIST_THRESHOLD, 3])
@clause("UGS-115", "UGS-216")
async def test_few_or_many_contents_make_no_difference(
    world: StoreUnderTest, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ID_LIST_THRESHOLD", few)
    chance, graph = Random(42), Graph(world.system)
    words = ["ant", "bee", "cat", "dog", "eel"]
    told = {f"n{n:02}": [" ".join(chance.sample(words, chance.randrange(4))) for _ in range(2)] for n in range(40)}
    nodes = [{"id": id, "properties": {"x": own}, "content": said} for id, (own, said) in told.items()]
    await graph.import_graph({"nodes": nodes})
    weights = {id: weights_of(own, said) for id, (own, said) in told.items()}
    for query in (["ant"], ["bee", "cat"], ["ant", "dog", "eel"], words):
        rarities = {word: rarity(len(told), sum(word in have for have in weights.values())) for word in query}
        scores = {id: relevance(have, rarities) for id, have in weights.items() if have.keys() >= set(query)}
        hits = await graph.search(" ".join(query))
        assert ids(hits) == sorted(scores, key=lambda id: (-scores[id], id)), query
        assert {hit.node.id: hit.score for hit in hits} == scores, query


@clause("UGS-115", "UGS-216", "UGS-230")
async def test_pages_of_hits_put_together_are_all_hits(world: StoreUnderTest) -> None:
    """Also where many weigh the same, in the node, in what it says or in both, and whatever else is asked of them."""
    chance, graph = Random(7), Graph(world.system)
    words = ["ant", "bee", "cat"]
    for number in range(60):
        told = [" ".join(chance.sample(words, chance.randrange(4))) for _ in range(3)]
        node = {
            "id": f"{chance.choice(['', 'user:'])}n{number:02}",
            "type": chance.choice(["ant", "b"]),
            "data": told[0],
        }
        await graph.import_graph({"nodes": [{**node, "properties": {"x": told[1]}, "content": told[2] or None}]})
    narrowed: list[Any] = [{}, {"type": "ant"}, {"scope": Scope.USER}, {"type": "b", "scope": Scope.DEFAULT}]
    for query in ("ant", "bee cat", "cat ant bee", "ant-bee"):
        for more in narrowed:
            everything = await graph.search(query, **more)
            assert len(everything) == await graph.count_found(query, **more)
            hits: list[search.Hit] = []
            while page := await graph.search(query, limit=4, after=_last_of(hits), **more):
                hits += page
            assert hits == everything, (query, more)
    assert await graph.count_found("ant wasp") == await graph.count_found("") == 0


@clause("UGS-115", "UGS-216")
async def test_a_query_may_have_many_words(world: StoreUnderTest) -> None:
    graph = Graph(world.system)
    words = [f"word{number}" for number in range(search.MAX_WORDS)]
    said = " ".join(words[20:])
    for number in range(3):
        node = {"id": f"n{number}", "properties": {"x": words[: 25 - number]}, "content": said}
        await graph.import_graph({"nodes": [node]})
    for count in (4, 5, 9, 20, len(words)):
        hits = await graph.search(" ".join(words[:count]))
        assert ids(hits) == ["n0", "n1", "n2"], count
        assert [hit.score for hit in hits] == sorted([hit.score for hit in hits], reverse=True)
    assert hits[0].score - hits[1].score == hits[1].score - hits[2].score == rarity(3, 3)
    assert await graph.search(" ".join([*words[:9], "nobody"])) == []


def _last_of(hits: list[search.Hit]) -> search.Place | None:
    return (hits[-1].score, hits[-1].node.id) if hits else None


def weights_of(own: str, said: str) -> dict[str, float]:
    """Each word with what its places weigh together."""
    places = [(own.split(), PROPERTY_WEIGHT), (said.split(), CONTENT_WEIGHT)]
    return {word: sum(weight for words, weight in places if word in words) for word in (own + " " + said).split()}
