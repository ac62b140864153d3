"""Native answers are the same as the defaults of the port, only faster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.backends.neo4j.kit import KEYS, edge, insert, node, plans, questions, states
from ugs.changes import TableWrites
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES
from ugs.graph.text.content_bodies import CONTENT_BODIES, ContentBody
from ugs.reads.filters import Compare, Linked, Op, eq
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.storage import Session
from ugs_backends.neo4j import open_neo4j
from ugs_backends.neo4j.storage import Neo4jStorage

pytestmark = pytest.mark.asyncio(loop_scope="session")
RANDOMLY = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
QUESTIONS = 10


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def plain(opened: Neo4jStorage, url: str) -> AsyncIterator[Neo4jStorage]:
    """The same database with native paths off."""
    storage = open_neo4j(f"{url}&native=off")
    await storage.open(CATALOG)
    yield storage
    await storage.close()


@given(data=st.data())
@RANDOMLY
async def test_any_plan_has_the_same_answer_natively(
    storage: Neo4jStorage, plain: Neo4jStorage, data: st.DataObject
) -> None:
    state = data.draw(states())
    await storage.wipe()
    await insert(storage, *state[NODES], *state[EDGES])
    async with storage.session() as native, plain.session() as by_levels:
        for _ in range(QUESTIONS):
            plan = data.draw(plans(data.draw(st.sampled_from([NODES, EDGES])), state))
            assert await native.read(plan) == await by_levels.read(plan), plan


@given(data=st.data())
@RANDOMLY
async def test_counts_and_look_ups_are_the_same_natively(
    storage: Neo4jStorage, plain: Neo4jStorage, data: st.DataObject
) -> None:
    state = data.draw(states())
    await storage.wipe()
    await insert(storage, *state[NODES], *state[EDGES])
    async with storage.session() as native, plain.session() as default:
        for _ in range(QUESTIONS):
            table, where, _, _ = data.draw(questions(state))
            by = data.draw(st.sampled_from(table.names))
            assert await native.count(table, where) == await default.count(table, where), where
            assert await native.group(table, by, where) == await default.group(table, by, where), (by, where)
        await _assert_same_look_ups(native, default)


async def _assert_same_look_ups(native: Session, default: Session) -> None:
    for table in (NODES, EDGES):
        assert await native.keys(table, "properties_text") == await default.keys(table, "properties_text")
        for key in ("a", "e1", "nobody", "\U0001f600", 1, None):
            assert await native.find(table, key) == await default.find(table, key)
        assert await native.find_many(table, ["b", "a", "a", "x"]) == await default.find_many(
            table, ["b", "a", "a", "x"]
        )


async def test_a_plan_is_one_statement(storage: Neo4jStorage) -> None:
    await insert(
        storage, node("a"), node("b"), node("c"), *(edge(f"e{at}", "a", "bc"[at % 2], seq=at) for at in range(6))
    )
    target = Nested("target_node", Read(NODES))
    edges = Read(EDGES, order=(Order("seq"),), page=Page(limit=2), total=True).nested(to=target)
    plan = Read(NODES, eq("type", "task"), total=True).nested(out=Nested("outgoing", edges))

    async with storage.session() as session:
        calls = count_calls(session)
        answer = await session.read(plan)

    assert calls == ["one"]
    assert answer.total == 3
    out = answer.items[0].nest["out"]
    assert [row.id for row in out.rows] == ["e0", "e1"] and out.more and out.total == 6
    assert [item.nest["to"].rows[0].id for item in out] == ["b", "c"]


async def test_a_page_of_related_rows_reads_no_more_than_it_shows(storage: Neo4jStorage) -> None:
    await insert(storage, node("a"), node("b"), *(edge(f"e{at:02}", "a", "b", seq=at) for at in range(60)))
    target = Nested("target_node", Read(NODES))
    edges = Read(EDGES, order=(Order("seq"),), page=Page(limit=2)).nested(to=target)
    plan = Read(NODES, eq("id", "a")).nested(out=Nested("outgoing", edges))

    statement = storage._active_statements.plans.statement(plan)

    assert statement is not None
    async with storage._active_connection._open_session("READ") as session:
        result = await session.run(f"PROFILE {statement.text}", statement.parameters)  # type: ignore[arg-type]
        await result.values()
        assert max(rows_in((await result.consume()).profile)) == 3  # the page, and one more that tells there is more


async def test_lists_by_parts_of_content_look_where_the_index_is(
    storage: Neo4jStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = [ContentBody(f"n{at}", "nodes", f"Part {at}.", f"part {at}.") for at in range(30)]
    await insert(storage, *(node(body.id) for body in bodies))
    async with storage.session(write=True) as session:
        await session.append([], {CONTENT_BODIES: TableWrites(inserts=bodies)})
    plan = Read(NODES, Linked("content_body", Compare("folded", Op.CONTAINS, "part 7.")), page=Page(limit=5))
    sent: list[str] = []
    ask = storage._active_connection.run_read

    async def noted(text: str, **parameters: Any) -> Any:
        sent.append(text)
        return await ask(text, **parameters)

    monkeypatch.setattr(storage._answering, "_ask", noted)

    assert [row.id for row in (await storage.read(plan)).rows] == ["n7"]
    assert len(sent) == 1 and "EXISTS" not in sent[0] and ".id IN " in sent[0]


def rows_in(profile: Any) -> list[int]:
    """How many rows came out of each operator."""
    below = [rows for child in profile.get("children", ()) for rows in rows_in(child)]
    return [profile["args"].get("Rows", 0), *below]


def count_calls(session: Session) -> list[str]:
    """A list that grows with each statement the session sends."""
    calls: list[str] = []
    run = session._calls.run  # type: ignore[attr-defined]

    async def counted(text: str, **parameters: object) -> object:
        calls.append("one")
        return await run(text, **parameters)

    session._calls.run = counted  # type: ignore[attr-defined]
    return calls


async def test_hostile_keys_are_counted(storage: Neo4jStorage) -> None:
    await insert(
        storage, node("a", properties=dict.fromkeys(KEYS, None)), node("b", properties=dict.fromkeys(KEYS, "x"))
    )

    async with storage.session() as session:
        assert await session.keys(NODES, "properties_text") == dict.fromkeys(KEYS, 2)
