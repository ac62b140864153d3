"""Searching by likeness and by everything at once, through GraphQL."""

from __future__ import annotations

import pytest

from tests.schema.conftest import Ask
from ugs import Graph, System

HITS = """
query($words: String!, $mode: SearchMode!, $first: Int, $after: String, $near: ID, $least: Float, $type: String, $at: At) {
  search(query: $words, mode: $mode, first: $first, after: $after, near: $near, minSimilarity: $least, type: $type, at: $at) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { score node { id } } }
  }
}"""


async def found(ask: Ask, query: str, mode: str, **options: object) -> list[str]:
    answer = await ask(HITS, words=query, mode=mode, **options)
    assert "errors" not in answer, answer
    return [edge["node"]["node"]["id"] for edge in answer["data"]["search"]["edges"]]


async def test_likeness_finds_what_words_miss(ask: Ask) -> None:
    assert await found(ask, "implementing logins", "WORDS") == []
    assert (await found(ask, "implementing logins", "VECTOR"))[0] == "task_1"
    assert (await found(ask, "implementing logins", "HYBRID"))[0] == "task_1"
    assert await found(ask, "implementing logins", "VECTOR", type="person") == []
    assert await found(ask, "implementing logins", "VECTOR", least=0.99) == []


async def test_words_and_likeness_are_fused_and_distance_orders(ask: Ask, system: System) -> None:
    graph = Graph(system)
    for id in ("a", "b", "c"):
        await graph.add_node(id, "tool", {"name": "gear wheel"})
    await graph.add_node("hub", "place", {"name": "somewhere"})
    await graph.add_edge("near_b", "b", "hub")
    assert await found(ask, "gear wheel", "HYBRID") == ["a", "b", "c"]
    assert await found(ask, "gear wheel", "HYBRID", near="hub") == ["b", "a", "c"]
    answer = await ask(HITS, words="gear wheel", mode="HYBRID")
    scores = [edge["node"]["score"] for edge in answer["data"]["search"]["edges"]]
    assert scores == pytest.approx([3 / 61, 2 / 61, 2 / 61])


async def test_pages_follow_each_other_and_the_past_stays(ask: Ask, system: System) -> None:
    graph = Graph(system)
    before = (await graph.history(1))[0].position
    for number in range(5):
        await graph.add_node(f"wheel{number}", "tool", {"name": "gear wheel"})
    page = (await ask(HITS, words="gear wheels", mode="VECTOR", first=3))["data"]["search"]
    assert page["totalCount"] == 5 and page["pageInfo"]["hasNextPage"]
    rest = await found(ask, "gear wheels", "VECTOR", after=page["pageInfo"]["endCursor"])
    assert rest == ["wheel3", "wheel4"]
    assert await found(ask, "gear wheels", "VECTOR", at={"position": before}) == []


@pytest.mark.parametrize(
    "options",
    [{"mode": "WORDS", "near": "alice"}, {"mode": "WORDS", "least": 0.5}, {"mode": "VECTOR", "least": 2.0}],
)
async def test_options_go_with_their_modes(ask: Ask, options: dict[str, object]) -> None:
    answer = await ask(HITS, words="login", **options)
    assert answer["errors"][0]["extensions"]["code"] == "E005"
