"""Changes that are one command: asked of the kernel straight away, and answered as their resolvers would answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from schema import build_schema
from schema.context import RequestContext
from schema.direct import DIRECT
from schema.operations import Operations
from ugs import System
from ugs.connect import storage_for
from ugs.errors import NodeExists
from ugs.identity import LOCAL
from ugs.writer import Outcome

OPERATIONS = Operations(build_schema())
INPUTS = {
    "addNode": '{id: "a", type: "t"}',
    "updateNode": '{id: "a", properties: {x: 1}}',
    "addEdge": '{id: "e", from: "a", to: "a"}',
    "updateEdge": '{id: "e", weight: 2}',
}


@pytest.fixture
async def system() -> AsyncIterator[System]:
    async with System(storage_for("memory:")) as system:
        yield system


def begun(system: System, name: str, given: str, shown: str) -> Any:
    text = f"mutation {{ {name}(input: {given}) {{ {shown} }} }}"
    short = OPERATIONS.short(OPERATIONS.prepare(text), None, None)
    assert short is not None
    return OPERATIONS.begin(short, system, LOCAL.principal, lambda body: b"sealed " + body)


async def test_every_direct_change_needs_no_resolver(system: System) -> None:
    assert INPUTS.keys() == DIRECT.keys()
    for name, given in INPUTS.items():
        assert await begun(
            system, name, given, "event { type }"
        ) == b'sealed {"data":{"%b":{"event":{"type":"%b"}}}}' % (
            name.encode(),
            name.replace("add", "").replace("update", "").encode() + (b"Added" if "add" in name else b"Updated"),
        )


async def test_changes_that_are_more_than_a_command_have_to_be_run(system: System) -> None:
    assert begun(system, "deleteNode", '{id: "a"}', "deletedId") is None
    assert begun(system, "upsertNode", '{id: "a"}', "node { id }") is None
    assert begun(system, "addNode", '{id: "a", properties: 3}', "node { id }") is None, "it says itself what is wrong"
    async with system.session() as session:
        assert (await session.head()).position == 0


async def test_a_change_that_was_made_before_is_looked_up(system: System) -> None:
    given = '{id: "a", type: "t", idempotencyKey: "k"}'
    assert isinstance(await begun(system, "addNode", given, "node { id }"), bytes)
    again = await begun(system, "addNode", given, "node { id type }")
    assert isinstance(again, Outcome)
    assert again.repeated
    short = OPERATIONS.short(
        OPERATIONS.prepare(f"mutation {{ addNode(input: {given}) {{ node {{ type }} }} }}"), None, None
    )
    change: Any = short.compiled if short is not None else None
    assert short is not None
    found = await change.rest(RequestContext(system), short.variables, again)
    assert found == b'{"data":{"addNode":{"node":{"type":"t"}}}}'


async def test_a_refusal_is_an_error_of_what_was_asked(system: System) -> None:
    await begun(system, "addNode", '{id: "a"}', "node { id }")
    with pytest.raises(NodeExists):
        await begun(system, "addNode", '{id: "a"}', "node { id }")
