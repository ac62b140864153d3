"""Counts, lists and refusals speak of what the caller may see, and nobody deletes what is not theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.errors import EntityInUse, FactNotFound, PredicateInUse
from ugs.identity import Principal
from ugs.system import System
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

WRITER = frozenset({"reader", "writer"})
OWNER = Principal("ann", WRITER, "acme", "p1", "a1")
COLLEAGUE = Principal("bob", WRITER, "acme", "p1", "a2")
ADMIN = Principal("root", frozenset({"admin"}))
EVIDENCE = "query($id: ID!) { node(id: $id) { ... on Fact { evidenceCount evidence { evidenceId note { text } } } } }"
OPERATIONS = OperationExecutor(build_schema())


@pytest.fixture(params=["memory:", "sqlite:///{}/graph.db"], ids=["memory", "sqlite"])
async def system(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    async with System.at_url(request.param.format(tmp_path)) as opened:
        yield opened


async def ask(system: System, principal: Principal, query: str, **variables: Any) -> Any:
    found: Any = await OPERATIONS.execute(OPERATIONS.prepare(query), RequestContext(system, principal), variables)
    assert found.errors is None, found.errors
    return found.data


async def tell(system: System, principal: Principal, value: str, scope: str = "project_shared") -> Any:
    note = NoteRef(text=f"{principal.user} says {value}")
    return await Facts(system, principal).add_fact("Alice", "likes", value, scope=scope, notes=[note])


async def test_evidence_that_is_not_theirs_is_not_counted(system: System) -> None:
    shared = await tell(system, OWNER, "tea")
    kept = await Facts(system, OWNER).add_note("in confidence", scope="agent_private")
    await Facts(system, OWNER).add_fact(
        "Alice", "likes", "tea", scope="project_shared", notes=[NoteRef(id=kept.note_id)]
    )
    id = f"fact/{shared.fact.fact_id}"
    seen = {who.user: (await ask(system, who, EVIDENCE, id=id))["node"] for who in (OWNER, COLLEAGUE, ADMIN)}
    assert [seen[who]["evidenceCount"] for who in ("ann", "bob", "root")] == [2, 1, 2]
    assert [len(seen[who]["evidence"]) for who in ("ann", "bob", "root")] == [2, 1, 2]
    assert seen["bob"]["evidence"][0]["note"]["text"] == "ann says tea"


async def test_refusals_count_what_the_caller_may_see(system: System) -> None:
    told = await tell(system, COLLEAGUE, "tea")
    for value in ("coffee", "milk"):
        await tell(system, OWNER, value, "agent_private")
    facts = Facts(system, COLLEAGUE)
    with pytest.raises(EntityInUse) as entity:
        await facts.delete_entity(told.fact.subject_entity_id)
    with pytest.raises(PredicateInUse) as predicate:
        await facts.delete_predicate(told.fact.predicate_id)
    assert entity.value.details["facts"] == predicate.value.details["facts"] == 1
    await facts.delete_fact(told.fact.fact_id)
    with pytest.raises(EntityInUse) as entity:
        await facts.delete_entity(told.fact.subject_entity_id)
    with pytest.raises(PredicateInUse) as predicate:
        await facts.delete_predicate(told.fact.predicate_id)
    assert entity.value.details["facts"] == predicate.value.details["facts"] == 0
    assert not any(digit in text.replace(id, "") for text, id in (
        (str(entity.value), told.fact.subject_entity_id), (str(predicate.value), told.fact.predicate_id)
    ) for digit in "0123456789")  # fmt: skip


async def test_force_does_not_delete_what_is_not_theirs(system: System) -> None:
    private = await tell(system, OWNER, "coffee", "agent_private")
    subject = private.fact.subject_entity_id
    with pytest.raises(EntityInUse):
        await Facts(system, COLLEAGUE).delete_entity(subject, force=True)
    assert (await Facts(system, OWNER).why(private.fact.fact_id)).fact == private.fact
    await Facts(system, ADMIN).delete_entity(subject, force=True)
    with pytest.raises(FactNotFound):
        await Facts(system, OWNER).why(private.fact.fact_id)
