"""Changes that are one command: asked of the kernel straight away, and answered as their resolvers would answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from ugs import System
from ugs.connect import storage_for
from ugs.errors import NodeExists
from ugs.identity import LOCAL
from ugs_schema import build_schema
from ugs_schema.compiler.command_mutations import COMMAND_MUTATIONS
from ugs_schema.compiler.executor import OperationExecutor, Submission
from ugs_schema.context import RequestContext

OPERATIONS = OperationExecutor(build_schema())
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


def submit(system: System, name: str, given: str, shown: str) -> Any:
    text = f"mutation {{ {name}(input: {given}) {{ {shown} }} }}"
    bound = OPERATIONS.bind(OPERATIONS.prepare(text), None, None)
    assert bound is not None
    return OPERATIONS.submit(bound, system, LOCAL.principal)


async def answer(submitted: Submission) -> bytes | None:
    """The rendered result; None if it needs further reads."""
    return submitted.mutation.render_outcome(submitted.input, await submitted.outcome)


async def test_every_direct_change_needs_no_resolver(system: System) -> None:
    assert INPUTS.keys() == COMMAND_MUTATIONS.keys()
    for name, given in INPUTS.items():
        assert await answer(
            submit(system, name, given, "event { type }")
        ) == b'{"data":{"%b":{"event":{"type":"%b"}}}}' % (
            name.encode(),
            name.replace("add", "").replace("update", "").encode() + (b"Added" if "add" in name else b"Updated"),
        )


async def test_changes_that_are_more_than_a_command_have_to_be_run(system: System) -> None:
    assert submit(system, "deleteNode", '{id: "a"}', "deletedId") is None
    assert submit(system, "upsertNode", '{id: "a"}', "node { id }") is None
    assert submit(system, "addNode", '{id: "a", properties: 3}', "node { id }") is None, "it says itself what is wrong"
    async with system.session() as session:
        assert (await session.head()).position == 0


async def test_a_change_that_was_made_before_is_looked_up(system: System) -> None:
    given = '{id: "a", type: "t", idempotencyKey: "k"}'
    assert await answer(submit(system, "addNode", given, "node { id }")) is not None
    again = submit(system, "addNode", given, "node { id type }")
    assert await answer(again) is None
    outcome = await again.outcome
    assert outcome.repeated
    found = await again.mutation.complete(RequestContext(system), again.input, outcome)
    assert found == b'{"data":{"addNode":{"node":{"id":"a","type":"t"}}}}'


async def test_a_refusal_is_an_error_of_what_was_asked(system: System) -> None:
    await answer(submit(system, "addNode", '{id: "a"}', "node { id }"))
    with pytest.raises(NodeExists):
        await answer(submit(system, "addNode", '{id: "a"}', "node { id }"))
