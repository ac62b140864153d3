"""Plain new elements decided at once: the same events, rows and refusals as by the usual decisions and reducers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ugs import feature_registry
from ugs.changes import Put
from ugs.clock import FixedClock
from ugs.errors import UgsError
from ugs.feature import Command, Feature
from ugs.graph import batches
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode, Delete
from ugs.graph.content import NewContent
from ugs.graph.fast_adds import add_node
from ugs.identity import LOCAL, Context, Principal
from ugs.ontology.commands.ontologies import CreateOntology
from ugs.ontology.model import Enforcement
from ugs.system import System
from ugs.unit_of_work import UnitOfWork


class Kind(StrEnum):
    PERSON = "person"


IDS = st.sampled_from(
    ["a", "b", "c", "user:a", "node_7", "nodes", "edge_3", "edges", "", "no id", 'q"', "$t", None, 7, "x" * 257]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["@(a)", "@($t)", "\x00", "\ud800", "null", 'a"b\\', "ü\n", 2**63, -0.0, 1e300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from([None, "person", 'of "two"\nlines', "", "x" * 257, "\x00", 5, Kind.PERSON, "ü"])
PROPERTIES = st.dictionaries(st.text(max_size=3), VALUES, max_size=3) | st.sampled_from([[], None, {"": 1}, {1: 2}])
WEIGHTS = st.sampled_from([1, 1.0, 0.5, -3, 2**60, 2**53 + 1, 10**400, float("nan"), True, "1", None])
VERSIONS = st.sampled_from([None, None, None, 0, 1])
CONTENTS = st.sampled_from([None, None, None, NewContent("said")])
NODES = st.builds(
    AddNode, id=IDS, type=TYPES, properties=PROPERTIES, data=VALUES, expected_version=VERSIONS, content=CONTENTS
)
EDGES = st.builds(
    AddEdge,
    id=IDS,
    source=IDS,
    target=IDS,
    type=TYPES,
    weight=WEIGHTS,
    properties=PROPERTIES,
    strict=st.booleans(),
    expected_version=VERSIONS,
    content=CONTENTS,
)
SINGLE = NODES | EDGES | st.builds(Delete, id=st.sampled_from(["a", "b", "edges"]))
COMMANDS: Any = SINGLE | st.builds(Batch, operations=st.lists(SINGLE, max_size=4).map(tuple))


@contextmanager
def only_the_usual_way() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(feature_registry, "FAST_DECIDERS", {})
        patched.setattr(batches, "FAST_DECIDERS", {})
        patched.setattr(feature_registry, "BATCH_DECIDERS", {})
        yield


async def lived(commands: list[Command], context: Context) -> list[Any]:
    """What comes of commands that are asked for together, and what they leave behind."""
    async with System.at_url("memory:", FixedClock()) as system:
        told = await asyncio.gather(*(outcome_of(system, command, context) for command in commands))
        return [*told, await system.digest()]


async def outcome_of(system: System, command: Command, context: Context) -> Any:
    try:
        return await system.execute(command, context)
    except UgsError as error:
        return type(error), str(error), error.details


@settings(max_examples=400, deadline=None)
@given(st.lists(COMMANDS, max_size=6), st.sampled_from(["local", "ann", "O'Hara"]))
@example([AddNode(id="a"), AddNode(id="b"), AddEdge(id="x", source="a", target="b"), AddNode(id="x")], "ann")
@example([AddNode(id="a", type=Kind.PERSON), AddNode(id="b", data="null")], "local")
@example([Batch(operations=(AddNode(id="$t"), AddNode(id="b", properties={"to": "@($t)"})))], "local")
@example([AddNode(id="a"), Delete(id="a"), AddNode(id="a"), AddNode(id="node_9"), AddNode()], "local")
def test_both_ways_give_the_same(commands: list[Command], user: str) -> None:
    context = LOCAL if user == "local" else Context(Principal(user))
    quick = asyncio.run(lived(commands, context))
    with only_the_usual_way():
        usual = asyncio.run(lived(commands, context))
    assert quick == usual


PLAIN = st.builds(
    AddNode,
    id=st.text("abcdefgh_-", min_size=1, max_size=4).map("i".__add__),
    type=st.sampled_from([None, "person", 'of "two"']),
    properties=st.dictionaries(st.text("abü", min_size=1, max_size=2), VALUES, max_size=3),
    data=VALUES,
)
MANY_NODES: Any = st.lists(PLAIN | PLAIN | PLAIN | NODES, min_size=8, max_size=40)
MANY_BATCHES: Any = st.lists(
    st.builds(Batch, operations=st.lists(PLAIN, min_size=1, max_size=4).map(tuple)), min_size=8, max_size=12
)


@settings(max_examples=150, deadline=None)
@given(MANY_NODES | MANY_BATCHES, st.sampled_from(["local", "ann", "O'Hara", 'q"']))
@example([AddNode(id=f"i{number}", properties={"n": number}) for number in range(40)], "ann")
@example([Batch(operations=(AddNode(id=f"i{number}"), AddNode(id=f"j{number}"))) for number in range(20)], 'q"')
@example([AddNode(id="i", data="\x00") for _ in range(8)], "local")
@example([AddNode(id="a\nb"), *(AddNode(id=f"i{number}") for number in range(8))], "local")
def test_many_at_once_come_to_the_same_as_one_by_one(commands: list[Command], user: str) -> None:
    test_both_ways_give_the_same.hypothesis.inner_test(commands, user)  # type: ignore[attr-defined]


@settings(max_examples=100, deadline=None)
@given(st.lists(NODES | EDGES, max_size=6))
def test_the_rows_are_those_that_the_reducers_make_of_the_events(commands: list[Command]) -> None:
    async def check() -> None:
        async with System.at_url("memory:", FixedClock()) as system:
            for command in [AddNode(id="a"), AddNode(id="b"), *commands]:
                async with system.storage.session(write=True) as session:
                    uow = UnitOfWork(session, system.catalog, await session.head(), 5)
                    if not feature_registry.decide_fast(command, uow):
                        continue
                    ((name, _), row), *more = uow.changed_rows().items()
                    (event,) = uow.open_events
                    assert not more and feature_registry.reduce(event) == [Put(system.catalog[name], row)]
                await outcome_of(system, command, LOCAL)

    asyncio.run(check())


async def recorded(system: System, *commands: Command) -> int:
    """How many of these take the quick way."""
    async with system.storage.session(write=True) as session:
        uow = UnitOfWork(session, system.catalog, await session.head(), 5)
        return sum(feature_registry.decide_fast(command, uow) for command in commands)


async def test_what_is_plain_takes_the_quick_way() -> None:
    async with System.at_url("memory:") as system:
        await system.execute(AddNode(id="a"))
        plain = [AddNode(id="b", type="t", properties={"x": [1]}, data=2), AddEdge(id="e", source="a", target="b")]
        assert await recorded(system, *plain) == 2
        usual = [AddNode(), AddNode(id="a"), AddNode(id="node_1"), AddEdge(id="f", source="a", target="nobody")]
        assert await recorded(system, *usual) == 0


async def test_many_plain_nodes_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_registry, "FAST_DECIDERS", {})
    monkeypatch.setattr(batches, "FAST_DECIDERS", {})
    monkeypatch.setattr(feature_registry, "DECIDERS", {})
    nodes = [AddNode(id=f"i{number}", type="t", properties={"n": number}, data=[number]) for number in range(60)]
    async with System.at_url("memory:") as system:
        single = await asyncio.gather(*(system.execute(node) for node in nodes[:20]))
        together = [Batch(operations=tuple(nodes[start : start + 5])) for start in range(20, 60, 5)]
        batched = await asyncio.gather(*map(system.execute, together))
        assert [len(outcome.events) for outcome in (*single, *batched)] == [1] * 20 + [5] * 8
        assert [event.tx and event.tx.index for event in batched[1].events] == [0, 1, 2, 3, 4]
        assert (await system.verify()).ok


@pytest.mark.parametrize("sizes", [[1250] * 9, [3] * 8 + [0]])
async def test_batches_that_are_too_much_together_take_their_own_ways(sizes: list[int]) -> None:
    numbers = count()
    commands = [Batch(operations=tuple(AddNode(id=f"i{next(numbers)}") for _ in range(size))) for size in sizes]
    async with System.at_url("memory:") as system:
        async with system.storage.session(write=True) as session:
            uow = UnitOfWork(session, system.catalog, await session.head(), 5)
            assert feature_registry.decide_batch(commands, uow) is None
            assert feature_registry.decide_batch(commands[:8], uow) is not None
        told = await asyncio.gather(*map(system.execute, commands))
        assert [len(outcome.events) for outcome in told] == sizes


async def test_a_bug_in_looking_together_hurts_nobody_and_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stumbling(commands: Any, uow: UnitOfWork) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(feature_registry, "BATCH_DECIDERS", {AddNode: stumbling})
    async with System.at_url("memory:") as system:
        told = await asyncio.gather(*(system.execute(AddNode(id=f"i{number}")) for number in range(9)))
        assert [outcome.events[0].element for outcome in told] == [f"i{number}" for number in range(9)]
    assert "decided one by one" in caplog.text and "RuntimeError: a bug" in caplog.text


async def test_a_bug_in_a_quick_decision_hurts_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbling(command: AddNode, uow: UnitOfWork) -> bool:
        done = add_node(command, uow)
        if command.id == "b":
            raise RuntimeError("a bug")
        return done

    monkeypatch.setattr(feature_registry, "FAST_DECIDERS", {AddNode: stumbling})
    async with System.at_url("memory:") as system:
        asked = (system.execute(AddNode(id=id)) for id in "abc")
        first, second, third = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(second, RuntimeError)
        assert [outcome.events[0].position for outcome in (first, third)] == [1, 2]
        assert (await system.verify()).ok


async def test_a_review_that_does_not_say_when_it_rests_is_never_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = Feature(name="silent", tables=(), reducers={}, deciders={}, review=feature_registry.review)
    monkeypatch.setattr(feature_registry, "REVIEW_IS_NOOP", (silent.review_is_noop,))
    async with System.at_url("memory:") as system:
        assert await recorded(system, AddNode(id="a")) == 0


async def test_where_an_ontology_is_enforced_everything_takes_the_usual_way() -> None:
    async with System.at_url("memory:") as system:
        await system.execute(CreateOntology(node_types=("t",), enforcement=Enforcement.STRICT))
        assert await recorded(system, AddNode(id="a")) == 0
