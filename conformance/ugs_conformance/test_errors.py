"""Every refusal has its code, says what is wrong, and leaves nothing behind (seed 000, appendix B)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from ugs import errors
from ugs.errors import InvalidJSON, InvalidSyntax, LimitExceeded, UgsError, UnknownStore
from ugs.system import System
from ugs.values import MAX_DATA_BYTES, parse_json
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture

CODES = fixture("ugs_errors")["codes"]
CLASSES: dict[str, type[UgsError]] = {
    "E001": errors.NodeExists,
    "E002": errors.NodeNotFound,
    "E003": errors.EdgeExists,
    "E004": errors.EdgeNotFound,
    "E005": errors.InvalidSyntax,
    "E006": errors.InvalidJSON,
    "E007": errors.StorageIOError,
    "E008": errors.SnapshotCorrupt,
    "E009": errors.WALCorrupt,
}


def deep(levels: int) -> Any:
    """Lists in lists."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


ENORMOUS = 10**5000


def repr_of(value: object) -> str:
    return "enormous" if value is ENORMOUS else repr(value)


IMPOSSIBLE: dict[str, Any] = {
    "not a number": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "too great": 2**63,
    "too small": -(2**63) - 1,
    "enormous": ENORMOUS,
    "NUL": "a\x00b",
    "lone surrogate": "a\ud800b",
    "NUL in a key": {"a\x00": 1},
    "surrogate in a key": {"\udfff": 1},
    "empty key": {"": 1},
    "key that is a number": {1: 1},
    "long key": {"k" * 257: 1},
    "deep": deep(40),
    "deeper than the stack": deep(500),
    "a set": {1, 2},
    "bytes": b"abc",
    "an object": object(),
}


@pytest.mark.parametrize("case", CODES, ids=lambda case: str(case["code"]))
@clause(
    "UGS-235", "UGS-236", "UGS-237", "UGS-238", "UGS-239", "UGS-240", "UGS-241", "UGS-242", "UGS-243"
)  # the seed's table
def test_codes_and_sentences_are_the_seeds(case: dict[str, str]) -> None:
    error = CLASSES[case["code"]]

    assert (error.code, error.summary) == (case["code"], case["description"])
    assert error.__name__.endswith(case["name"])


@pytest.mark.parametrize("name", IMPOSSIBLE)
@clause("UGS-240", "UGS-31", "UGS-66", "UGS-91")
async def test_values_that_a_store_could_not_keep_exactly_are_refused(world: StoreUnderTest, name: str) -> None:
    value = IMPOSSIBLE[name]
    await world.graph.add_node("n", properties={"list": []})
    await world.graph.add_edge("e", "n", "n")

    graph = world.graph
    acts: tuple[Callable[[], Awaitable[object]], ...] = (
        partial(graph.add_node, "x", properties={"v": value}),
        partial(graph.add_node, "x", data=value),
        partial(graph.add_node, "x", properties={"v": value}, key="k"),
        partial(graph.add_edge, "x", "n", "n", properties={"v": [value]}),
        partial(graph.update, "n", {"v": value}),
        partial(graph.update, "n", append={"list": value}),
        partial(graph.update, "n", data={"v": value}),
        partial(graph.update, "e", {"v": value}),
    )
    async with world.unchanged():
        for act in acts:
            with pytest.raises(InvalidJSON):
                await act()


@pytest.mark.parametrize("key", ["", "k" * 257, "a\x00", "\ud800"])
@clause("UGS-240", "UGS-66")
async def test_property_keys_that_no_store_keeps_are_refused(world: StoreUnderTest, key: str) -> None:
    await world.graph.add_node("n")

    async with world.refuses(InvalidJSON):
        await world.graph.add_node("x", properties={key: 1})
    async with world.refuses(InvalidJSON):
        await world.graph.update("n", {key: 1})
    async with world.refuses(InvalidJSON):
        await world.graph.find_by_property(key, 1)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), "2", None, True, 2**64 + 1, [1], ENORMOUS], ids=repr_of)
@clause("UGS-239", "UGS-29", "UGS-66")
async def test_weights_that_are_no_exact_numbers_are_refused(world: StoreUnderTest, weight: Any) -> None:
    await world.graph.add_edge("e", "a", "b")

    async with world.unchanged():
        for act in (world.graph.add_edge("f", "a", "b", weight=weight), world.graph.update("e", weight=weight)):
            with pytest.raises(InvalidSyntax):
                await act


@pytest.mark.parametrize("kind", ["", "t" * 257, 7, ["t"], True])
@clause("UGS-239", "UGS-24", "UGS-66")
async def test_types_that_are_no_names_are_refused(world: StoreUnderTest, kind: Any) -> None:
    await world.graph.add_node("n")

    async with world.unchanged():
        for act in (world.graph.add_node("x", kind), world.graph.update("n", type=kind)):
            with pytest.raises(InvalidSyntax):
                await act


@clause("UGS-240", "UGS-66")
async def test_a_type_keeps_any_text_but_not_what_no_store_keeps(world: StoreUnderTest) -> None:
    await world.graph.add_node("n", "Größe `x` \\u0060 'y' \"z\" {a: 1} -- 🚀")

    node = await world.graph.get("n")
    assert node is not None and node.type == "Größe `x` \\u0060 'y' \"z\" {a: 1} -- 🚀"
    async with world.refuses(InvalidJSON):
        await world.graph.add_node("x", "a\x00b")


@clause("UGS-66")
async def test_more_than_the_limits_is_refused(world: StoreUnderTest) -> None:
    await world.graph.add_node("n", properties={f"k{i}": i for i in range(999)})

    async with world.refuses(LimitExceeded):
        await world.graph.add_node("x", properties={f"k{i}": i for i in range(1001)})
    async with world.refuses(LimitExceeded):
        await world.graph.update("n", {"one": 1, "two": 2})
    async with world.refuses(LimitExceeded):
        await world.graph.add_node("x", properties={"v": "x" * (1 << 20)})
    async with world.refuses(LimitExceeded):
        await world.graph.add_node("x", data="x" * MAX_DATA_BYTES)


@clause("UGS-31", "UGS-193")
async def test_what_lies_within_the_limits_is_kept(world: StoreUnderTest) -> None:
    text, nested = "ü" * 300_000, deep(31)
    await world.graph.add_node("n", properties={"text": text, "nested": nested}, key="also with a key")

    node = await world.graph.get("n")

    assert node is not None and node.properties == {"text": text, "nested": nested}


@pytest.mark.parametrize("text", ["{oops", "", "[1,]", "nul", '"\\ud800"', "NaN", "1e999", "[" * 5000, b"\xff"])
@clause("UGS-91", "UGS-240")
def test_broken_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidJSON) as refused:
        parse_json(text)
    assert refused.value.code == "E006"


@pytest.mark.parametrize("url", ["nosuch://x", "nosuch:", "", "just/a/path"])
@clause("UGS-241")
def test_an_unknown_store_is_told_in_words(url: str) -> None:
    with pytest.raises(UnknownStore) as refused:
        System.at_url(url)
    assert "memory:" in str(refused.value)


@clause("UGS-235", "UGS-66")
async def test_an_error_is_the_same_object_at_every_door(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")
    with pytest.raises(UgsError) as refused:
        await world.graph.add_node("a")

    assert refused.value.as_json() == {
        "code": "E001",
        "name": "NodeExists",
        "message": "Node with ID already exists: a. Choose another id or update the node.",
        "details": {"id": "a"},
        "retryable": False,
    }


@clause("UGS-58", "UGS-66")
async def test_the_system_goes_on_after_every_refusal(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")
    for _ in range(3):
        async with world.refuses(errors.NodeExists):
            await world.graph.add_node("a")

    await world.graph.add_node("b")

    assert await world.types() == ["NodeAdded", "NodeAdded"]
