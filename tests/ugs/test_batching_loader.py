"""Reads of one shape, and questions that are asked together."""

from __future__ import annotations

import asyncio

import pytest

from ugs.errors import Unavailable
from ugs.feature_registry import CATALOG
from ugs.graph.model import NODES
from ugs.reads.batching_loader import BatchingLoader
from ugs.reads.filters import Linked, eq
from ugs.reads.plan import Nested, Page, Read
from ugs.reads.plan_parameters import PlanParameters


def shape(read: Read) -> tuple[object, ...]:
    varying = PlanParameters(lambda kind, value: True)
    assert varying.read(read) is not None
    return tuple(varying.shape)


def test_reads_that_differ_in_values_only_have_one_shape() -> None:
    one, other = PlanParameters(lambda kind, value: True), PlanParameters(lambda kind, value: True)
    assert one.read(Read(NODES, eq("id", "a"))) == other.read(Read(NODES, eq("id", "b")))
    assert (one.shape, one.values, other.values) == (other.shape, ["a"], ["b"])


def test_conditions_on_related_rows_have_a_shape_where_their_tables_are_known() -> None:
    def read(type: str, relation: str = "outgoing") -> Read:
        return Read(NODES, Linked(relation, eq("type", type) & Linked("target_node", eq("type", "far"))))

    def shape_of(read: Read) -> tuple[object, ...]:
        varying = PlanParameters(lambda kind, value: True, CATALOG.tables)
        assert varying.read(read) is not None and varying.values[-1] == "far"
        return tuple(varying.shape)

    assert PlanParameters(lambda kind, value: True).read(read("a")) is None
    assert shape_of(read("a")) == shape_of(read("b")) != shape_of(read("a", "incoming"))
    inside = Read(NODES, Linked("outgoing", eq("type", "a")) & Linked("incoming", eq("type", "far")))
    assert shape_of(inside) != shape_of(read("a"))


@pytest.mark.parametrize(
    "other",
    [
        Read(NODES, page=Page(10, backward=True)),
        Read(NODES, page=Page(11)),
        Read(NODES, page=Page(10, after=("a",))),
        Read(NODES, page=Page(10), total=True),
        Read(NODES, eq("type", "t"), page=Page(10)),
        Read(NODES, page=Page(10), nest={"x": Nested("outgoing", Read(NODES))}),
    ],
)
def test_reads_that_differ_in_more_have_other_shapes(other: Read) -> None:
    assert shape(other) != shape(Read(NODES, page=Page(10)))


async def test_those_who_wait_share_the_next_call() -> None:
    calls: list[list[int]] = []

    async def one(value: int) -> int:
        calls.append([value])
        await asyncio.sleep(0.01)
        return value * 2

    async def many(values: list[int]) -> list[int]:
        calls.append(values)
        await asyncio.sleep(0.01)
        return [value * 2 for value in values]

    sharing = BatchingLoader(one, many, together=8)
    assert await asyncio.gather(*(sharing.ask(value) for value in range(20))) == [value * 2 for value in range(20)]
    assert sorted(value for call in calls for value in call) == list(range(20))
    assert len(calls) <= 4 and max(map(len, calls)) == 8
    assert await sharing.ask(7) == 14 and calls[-1] == [7]


async def test_when_a_shared_call_fails_each_fails_alone() -> None:
    async def one(value: int) -> int:
        if value == 3:
            raise Unavailable("three")
        return value

    async def many(values: list[int]) -> list[int]:
        raise RuntimeError("together it does not work")

    sharing = BatchingLoader(one, many)
    answers = await asyncio.gather(*(sharing.ask(value) for value in range(5)), return_exceptions=True)
    assert [answer for answer in answers if isinstance(answer, int)] == [0, 1, 2, 4]
    assert isinstance(answers[3], Unavailable)


async def test_as_many_calls_are_under_way_as_allowed_and_each_takes_no_more_than_it_may() -> None:
    under_way, most, sizes = 0, 0, []

    async def many(values: list[int]) -> list[int]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        sizes.append(len(values))
        await asyncio.sleep(0.01)
        under_way -= 1
        return values

    async def one(value: int) -> int:
        return (await many([value]))[0]

    sharing = BatchingLoader(one, many, together=4, calls=3)
    assert await asyncio.gather(*map(sharing.ask, range(20))) == list(range(20))
    assert most == 3 and max(sizes) == 4


class Slow:
    """Answers with the value itself, when it is let."""

    def __init__(self) -> None:
        self.go, self.calls = asyncio.Event(), list[list[int]]()
        self.sharing = BatchingLoader(self.one, self.many, calls=1)

    async def one(self, value: int) -> int:
        return (await self.many([value]))[0]

    async def many(self, values: list[int]) -> list[int]:
        self.calls.append(values)
        await self.go.wait()
        return values


async def test_who_comes_alone_is_asked_for_without_a_task() -> None:
    slow = Slow()
    slow.go.set()
    tasks = len(asyncio.all_tasks())
    assert await slow.sharing.ask(1) == 1 and await slow.sharing.ask(2) == 2
    assert slow.calls == [[1], [2]] and len(asyncio.all_tasks()) == tasks


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
async def test_nobody_waits_for_somebody_who_has_left(turns: int) -> None:
    slow = Slow()
    leaving = asyncio.create_task(slow.sharing.ask(1))
    for _ in range(turns):
        await asyncio.sleep(0)
    staying = [asyncio.create_task(slow.sharing.ask(value)) for value in (2, 3)]
    leaving.cancel()
    await asyncio.sleep(0)
    slow.go.set()
    assert await asyncio.wait_for(asyncio.gather(*staying), 1) == [2, 3]
    assert await asyncio.wait_for(slow.sharing.ask(4), 1) == 4 and slow.calls[-1] == [4]
    assert leaving.cancelled()


async def test_who_comes_alone_hears_of_a_failure_and_others_go_on() -> None:
    async def one(value: int) -> int:
        if value == 1:
            raise Unavailable("one")
        return value

    async def many(values: list[int]) -> list[int]:
        return values

    sharing = BatchingLoader(one, many, calls=1)
    with pytest.raises(Unavailable):
        await sharing.ask(1)
    assert await sharing.ask(2) == 2
