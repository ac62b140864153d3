"""Texts that are kept: what is asked for stays, what is not goes, and answers are the same either way."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.graph.api import Graph
from ugs.system import System
from ugs_backends.memory.query import response_renderer
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

HOPS = (
    "query($id: ID!) { graphNode(id: $id) { id outgoing(first: 5) { nodes { id toNode { id properties "
    "outgoing(first: 5) { nodes { toNode { id type properties } } } } } } } }"
)
LIST = "{ graphNodes(first: 20) { nodes { id properties outgoing { nodes { id } } } } }"


async def filled(system: System) -> None:
    graph = Graph(system)
    for number in range(30):
        await graph.add_node(f"n{number}", "t", {"text": "x" * 50})
    for number in range(90):
        await graph.add_edge(None, f"n{number % 30}", f"n{number * 7 % 30}", "to")


async def answers(system: System, operations: OperationExecutor) -> list[Any]:
    context = RequestContext(system)
    found = [
        await operations.answer(operations.prepare(HOPS), context, {"id": f"n{number}"})
        for number in (*range(30), 3, 3, 4)
    ]
    return [*found, await operations.answer(operations.prepare(LIST), context)]


async def answered(operations: OperationExecutor) -> tuple[list[Any], list[Any]]:
    """The answers of a store, and those after a change."""
    async with System.at_url("memory:") as system:
        await filled(system)
        before = await answers(system, operations)
        assert await answers(system, operations) == before
        await Graph(system).update("n3", properties={"text": "changed"})
        return before, await answers(system, operations)


async def test_little_room_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    operations, aged = OperationExecutor(build_schema()), list[int]()
    plenty, age = await answered(operations), response_renderer.Renderer._age
    monkeypatch.setattr(response_renderer.Renderer, "_age", lambda renderer: (aged.append(1), age(renderer)))
    for room in (1, 500, 3_000):
        monkeypatch.setattr(response_renderer, "MAX_BYTES", room)
        assert await answered(operations) == plenty and aged
        aged.clear()


def test_what_is_asked_for_again_outlives_the_rest() -> None:
    texts = response_renderer.TextCache()
    texts.fresh |= {"hot": b"1", "cold": b"2"}
    texts.age()
    texts.fresh["hot"] = texts.aged.pop("hot")
    texts.age()
    assert (texts.aged, texts.fresh) == ({"hot": b"1"}, {})
    texts.clear()
    assert not texts.aged


async def test_a_page_is_kept_when_it_has_come_again_and_until_something_changes() -> None:
    operations = OperationExecutor(build_schema())
    many = "query($n: Int) { graphNodes(first: $n) { nodes { id } } }"

    async def asked(size: int | bool) -> Any:
        return await operations.answer(operations.prepare(many), RequestContext(system), {"n": size})

    async with System.at_url("memory:") as system:
        await filled(system)
        kept = system.storage._read_session.renderer._kept  # type: ignore[attr-defined]
        lengths = []
        for size in (5, 5, 5, 1, 7):
            await asked(size)
            (prepared,) = kept.values()
            lengths.append(sum(bool(text) for _, text in prepared.pages.values()))
        assert lengths == [0, 1, 1, 1, 1]
        await Graph(system).add_node("a")
        assert b'"a"' in await asked(5) and b'"n0"' in await asked(5)
