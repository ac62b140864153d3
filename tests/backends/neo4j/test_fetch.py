"""Whatever is asked, the answer is the one of the kernel's reference functions."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.backends.neo4j.kit import (
    EDGE_IDS,
    IDS,
    edge,
    expected,
    insert,
    node,
    questions,
    rows,
    states,
)
from ugs.graph.model import EDGES, NODES
from ugs.reads.filters import Has, Op, Property, eq, in_
from ugs.reads.plan import Order, Page
from ugs_backends.neo4j.storage import Neo4jStorage

pytestmark = pytest.mark.asyncio(loop_scope="session")
QUESTIONS = 25


@given(data=st.data())
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
async def test_any_question_has_the_answer_of_the_reference(storage: Neo4jStorage, data: st.DataObject) -> None:
    state = data.draw(states())
    await storage.wipe()
    await insert(storage, *state[NODES], *state[EDGES])
    async with storage.session() as session:
        for _ in range(QUESTIONS):
            table, where, order, page = data.draw(questions(state))
            answer = await session.fetch(table, where, order, page)
            assert answer == expected(state, table, where, order, page), (table, where, order, page)


async def test_texts_sort_by_code_point_also_beyond_the_basic_plane(storage: Neo4jStorage) -> None:
    types = ["\ud7ff", "\ue000", "\uffff", "\uffff\uffff", "\U00010000", "\U0001f600", "\U0001f600a", "\U0010ffff"]
    await insert(storage, *(node(f"n{at}", type) for at, type in enumerate(types)))

    async with storage.session() as session:
        found = await session.fetch(NODES, order=[Order("type")])

    assert [row.type for row in found] == types


async def test_many_keys_at_once(storage: Neo4jStorage) -> None:
    await insert(storage, *(node(f"n{at:04}") for at in range(3_000)))

    found = await rows(storage, NODES, in_("id", [f"n{at:04}" for at in range(0, 20_000, 2)]))

    assert [row.id for row in found] == [f"n{at:04}" for at in range(0, 3_000, 2)]


async def test_the_first_edges_of_each_source_in_order(storage: Neo4jStorage) -> None:
    edges = [edge(f"e{at}", "ab"[at % 2], "c", seq=10 - at) for at in range(6)]
    await insert(storage, *edges)

    async with storage.session() as session:
        found = await session.fetch(EDGES, in_("source", ["a", "b"]), [Order("seq")], Page(limit=2, per="source"))

    assert [row.id for row in found] == ["e5", "e4", "e3", "e2"]


async def test_words_are_found_in_the_writing_transaction_itself(storage: Neo4jStorage) -> None:
    from ugs.changes import TableWrites

    async with storage.session(write=True) as session:
        await session.append(
            [], {NODES: TableWrites(inserts=[node("a", None, {"title": "Write docs", "see": "@(b)"})])}
        )
        assert [row.id for row in await session.fetch(NODES, Has("docs"))] == ["a"]
        assert [row.id for row in await session.fetch(NODES, Has("@(b)"))] == ["a"]
        assert await session.fetch(NODES, Has("doc")) == []


@pytest.mark.parametrize(
    "word", ["=", "#", "*", "a*", "a OR b", '" OR "', "_terms:a", "\\", "a~", "[a TO z]", "+", "!a", ""]
)
async def test_words_are_never_query_syntax(storage: Neo4jStorage, word: str) -> None:
    await insert(storage, node("a"), node("b"))

    assert await rows(storage, NODES, Has(word)) == []


async def test_a_word_of_any_length_can_be_kept(storage: Neo4jStorage) -> None:
    from ugs_backends.neo4j.indexes.fulltext_terms import to_word_term

    assert len(to_word_term("x" * 40_000)) < 100
    assert to_word_term("x" * 40_000) != to_word_term("x" * 40_001)


@pytest.mark.parametrize("key", ["plain", "id", "_x", "ba`ck", "\\u0060", "\U0001f600", '"', "a b"])
async def test_properties_are_found_by_any_key(storage: Neo4jStorage, key: str) -> None:
    await insert(storage, node("a", properties={key: "yes"}), node("b", properties={key: "no"}), node("c"))

    assert [row.id for row in await rows(storage, NODES, Property("properties_text", key, Op.EQ, "yes"))] == ["a"]
    assert [row.id for row in await rows(storage, NODES, Property("properties_text", key, Op.NE, "yes"))] == ["b", "c"]
    assert [row.id for row in await rows(storage, NODES, Property("properties_text", key, Op.EXISTS))] == ["a", "b"]


async def test_a_list_of_everything_is_empty_in_an_empty_store(storage: Neo4jStorage) -> None:
    assert await rows(storage, NODES) == [] and await rows(storage, EDGES, eq("source", IDS[0])) == []
    assert await rows(storage, EDGES, in_("id", EDGE_IDS)) == []
