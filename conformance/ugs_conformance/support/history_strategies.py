"""Random histories: what many callers might ask of a graph, in which order, some of it at the same time.

A history is a list of groups. The requests of a group are sent at once, so that they share a commit; a store must
answer, refuse and remember exactly as the reference does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from ugs.clock import FixedClock
from ugs.errors import UgsError
from ugs.events import to_line
from ugs.feature import Command
from ugs.graph.api import Changed, Graph
from ugs.graph.batches import ApplyEvents, Batch, ClearScope, ImportGraph, Revert
from ugs.graph.commands import AddEdge, AddNode, Delete, SetEdgeCounter, Update
from ugs.identity import Scope
from ugs.log.at import At
from ugs.storage import EventQuery
from ugs_conformance.support.api_under_test import Faces, Inexpressible

NAMES = ["a", "b", "c", "user:a", "project:b", "scratch:c", "e1", "e2", "edge_3", "user:e"]
BAD_NAMES = ["", "no good", "1a", "team:a"]


class Request(Struct, frozen=True):
    """A command, perhaps under a key that makes it safe to send again."""

    command: Command
    key: str | None = None


class Group(Struct, frozen=True):
    """Requests that are sent together, after the clock has moved by so much."""

    requests: list[Request]
    tick: int = 0


names = st.sampled_from([*NAMES, *NAMES, *NAMES, *BAD_NAMES])
some_name = st.one_of(names, names, st.none())
kinds = st.sampled_from([None, "t", "u", "t u", "Ü"])
scalars = st.sampled_from(
    [0, 1, 1.0, -2.5, True, None, "", "x", "red apple", "@(a)", "@(b:1)", 2**63 - 1, float("nan")]
)
values = st.one_of(scalars, scalars, scalars, st.lists(scalars, max_size=2), st.dictionaries(st.just("k"), scalars))
maps = st.dictionaries(st.sampled_from(["p", "q", "a.b", "ключ"]), values, max_size=2)
weights = st.sampled_from([1, 0, 2, 0.5, -1, 2**60])
versions = st.sampled_from([None, None, None, None, 0, 1, 2, 3])

operations: st.SearchStrategy[Any] = st.one_of(
    st.builds(AddNode, id=some_name, type=kinds, properties=maps, data=values, expected_version=versions),
    st.builds(AddNode, id=names, type=kinds, properties=maps),
    st.builds(
        AddEdge,
        id=some_name,
        source=names,
        target=names,
        type=kinds,
        weight=weights,
        properties=maps,
        strict=st.booleans(),
    ),
    st.builds(AddEdge, id=some_name, source=names, target=names, weight=weights),
    st.builds(
        Update,
        id=names,
        properties=maps,
        append=maps,
        remove=st.lists(st.sampled_from(["p", "q"]), max_size=2).map(tuple),
        expected_version=versions,
    ),
    st.builds(Update, id=names, kind=st.sampled_from(["any", "node", "edge"]), type=kinds, properties=maps),
    st.builds(Update, id=names, data=values),
    st.builds(Update, id=names, weight=weights),
    st.builds(Delete, id=names, kind=st.sampled_from(["any", "any", "node", "edge"]), expected_version=versions),
)
foreign_events = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["NodeAdded", "NodeUpdated", "NodeDeleted", "EdgeDeleted"]),
        "data": st.fixed_dictionaries({"id": names}, optional={"type": kinds, "properties": maps}),
    }
)
wholes: st.SearchStrategy[Any] = st.one_of(
    st.builds(Batch, operations=st.lists(operations, max_size=5).map(tuple)),
    st.builds(ClearScope, scope=st.sampled_from(list(Scope)), force=st.booleans()),
    st.builds(Revert, id=names, version=st.integers(0, 4), expected_version=versions),
    st.builds(
        ImportGraph,
        nodes=st.lists(st.fixed_dictionaries({"id": names}, optional={"properties": maps}), max_size=3).map(tuple),
        edges=st.lists(st.fixed_dictionaries({"from": names, "to": names}), max_size=2).map(tuple),
        on_conflict=st.sampled_from(["error", "skip", "replace"]),
    ),
    st.builds(ApplyEvents, events=st.lists(foreign_events, max_size=3).map(tuple)),
    st.builds(SetEdgeCounter, value=st.integers(-1, 9)),
)
requests = st.builds(
    Request,
    st.one_of(operations, operations, operations, operations, wholes),
    st.sampled_from([None, None, None, "k1", "k2"]),
)
groups = st.builds(Group, st.lists(requests, min_size=1, max_size=5), st.sampled_from([0, 0, 1, 1000, -500]))
histories = st.lists(groups, min_size=1, max_size=4)

Answer = Any
NOT_SENT = "not sent"
"""The answer to a request that the protocol of a face cannot express."""


async def replay_history(history: list[Group], graph: Graph, clock: FixedClock) -> list[Answer]:
    """Every answer and every refusal of a history, in order."""
    answers: list[Answer] = []
    for group in history:
        clock.moment += group.tick
        if Faces.keeps_order or type(graph) is Graph:
            answers += await asyncio.gather(*(answer(graph, request) for request in group.requests))
        else:
            answers += [await answer(graph, request) for request in group.requests]
    return answers


async def answer(graph: Graph, request: Request) -> Answer:
    """What a caller gets to see."""
    return await answer_or_refusal(lambda: graph.do(request.command, request.key))


async def answer_or_refusal(ask: Callable[[], Awaitable[Any]]) -> Answer:
    """An answer in a form that can be compared, or the refusal."""
    try:
        return comparable_form(await ask())
    except UgsError as error:
        return error.as_json()
    except Inexpressible:
        return NOT_SENT


def without_unsent(history: list[Group], answers: list[Answer]) -> list[Group]:
    """The part of a history that was sent."""
    sent = iter([answer != NOT_SENT for answer in answers])
    return [Group([request for request in group.requests if next(sent)], group.tick) for group in history]


def comparable_form(value: Any) -> Any:
    """An answer without what differs between runs; events as their lines."""
    if isinstance(value, Changed):
        elements = [(element, element.as_json()) for element in value.elements]
        repeated = value.repeated and Faces.tells_repetition
        return elements, value.deleted, [to_line(event) for event in value.events], value.warnings, repeated
    return value


THIRDS = 3


async def ask_some(graph: Graph) -> list[Answer]:
    """A third of all questions; which one, the history decides, so that many histories ask them all."""
    return await answers_to(graph, (await position(graph)) % THIRDS, THIRDS)


async def ask_everything(graph: Graph) -> list[Answer]:
    """Every question of the graph, now and in the past."""
    return await answers_to(graph, 0, 1)


async def answers_to(graph: Graph, start: int, step: int) -> list[Answer]:
    """The answers to every step-th question."""
    middle = At(position=(await position(graph)) // 2)
    asks: list[Callable[[], Awaitable[Any]]] = [
        graph.export_graph,
        graph.stats,
        graph.hubs,
        graph.roots,
        graph.property_keys,
        graph.scopes,
        lambda: graph.history(100),
        lambda: graph.export_graph(at=middle),
        lambda: graph.search("red"),
        lambda: graph.search("t u"),
        lambda: graph.find_by_property("p", 1),
        lambda: graph.find_by_property("q", "x"),
        lambda: graph.list_nodes("t"),
        lambda: graph.traverse("a", 3, "both"),
        lambda: graph.path("a", "b"),
        lambda: graph.path("c", "user:a"),
        lambda: graph.neighbors("a"),
        lambda: graph.versions("a"),
        lambda: graph.resolve("@(b:1)"),
        lambda: graph.referenced_by("a"),
        lambda: graph.expand("@(a)", 2),
    ]
    return [await answer_or_refusal(ask) for ask in asks[start::step]]


async def position(graph: Graph) -> int:
    async with graph.system.session() as session:
        return (await session.head()).position


async def log_lines(graph: Graph) -> list[bytes]:
    """The log as lines of a file."""
    async with graph.system.session() as session:
        return [to_line(event) for event in await session.events(EventQuery())]
