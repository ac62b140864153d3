"""Answers with an account, the context of notes, and the entity behind a graph node, through GraphQL."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schema.conftest import Ask
from ugs import System
from ugs.facts.api import Facts
from ugs.identity import Principal
from ugs.storage import Session
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

ASK = """query($limit: Int, $predicate: String, $scopes: [String!], $asOf: DateTime, $at: At) {
  askFacts(subject: {name: "alice"}, limit: $limit, predicate: $predicate, scopes: $scopes, asOf: $asOf, at: $at) {
    asOf subject { canonical } predicate { canonical } scopes truncated account { queried returned limit }
    facts { noteIds fact { objectValue state } } } }"""


def day(number: int) -> str:
    return f"2026-01-{number:02}T00:00:00.000Z"


async def jobs(system: System) -> list[str]:
    """Three jobs of Alice, each from a note of its own; answers the notes."""
    facts = Facts(system)
    await facts.register_predicate("works at", status="active", cardinality="single")
    notes = []
    for number, firm in ((1, "Initech"), (5, "Globex"), (9, "Hooli")):
        notes.append((await facts.add_note(f"works at {firm}")).note_id)
        await facts.add_fact("Alice", "works at", firm, valid_from=day(number), notes=[notes[-1]])
    return notes


@pytest.mark.clause("FACT-88", "FACT-60", "FACT-35")
async def test_an_answer_says_what_was_found_and_how(ask: Ask, system: System) -> None:
    notes = await jobs(system)
    facts = Facts(system)
    await facts.add_fact("Alice", "likes", "tea", valid_from=day(2), notes=[notes[0]])
    await facts.add_fact("Alice", "likes", "jazz", valid_from=day(3), notes=[notes[0], notes[1]], scope="own")
    found = (await ask(ASK, limit=2))["data"]["askFacts"]
    assert found["subject"] == {"canonical": "Alice"} and found["predicate"] is None
    assert [one["fact"]["objectValue"] for one in found["facts"]] == ["Hooli", "jazz"]
    assert found["facts"][1]["noteIds"] == notes[:2] and found["scopes"] == ["project_shared", "own"]
    assert found["truncated"] is True and found["account"] == {"queried": 3, "returned": 2, "limit": 2}
    # as of the third: a fact that has been closed since is historical for who reads now
    then = (await ask(ASK, limit=50, predicate="WORKS  at", asOf=day(3)))["data"]["askFacts"]
    assert then["predicate"] == {"canonical": "works at"} and then["asOf"] == day(3)
    assert then["facts"] == [{"noteIds": [notes[0]], "fact": {"objectValue": "Initech", "state": "HISTORICAL"}}]
    own = (await ask(ASK, limit=50, scopes=["own", "own"]))["data"]["askFacts"]
    assert (own["scopes"], len(own["facts"]), own["truncated"]) == (["own"], 1, False)
    await facts.delete_note(notes[2])
    assert "Hooli" not in str(await ask(ASK, limit=50))
    for bad, code in (
        ({"limit": 0}, "INVALID_FACT"),
        ({"scopes": [" "]}, "INVALID_FACT"),
        ({"predicate": "x"}, "PREDICATE_NOT_FOUND"),
    ):
        assert (await ask(ASK, **{"limit": 1, **bad}))["errors"][0]["extensions"]["code"] == code


@pytest.mark.clause("FACT-63", "FACT-88")
async def test_the_context_of_a_note_comes_with_it(ask: Ask, system: System) -> None:
    notes = await jobs(system)
    await Facts(system).add_fact("Alice", "likes", "tea", valid_from=day(2), notes=[notes[0]])
    query = "query($id: ID!, $facts: Int!) { node(id: $id) { ... on Note { context(facts: $facts) { state noteIds fact { objectValue } } } } }"
    found = (await ask(query, id=f"note/{notes[0]}", facts=16))["data"]["node"]["context"]
    assert [(one["fact"]["objectValue"], one["state"]) for one in found] == [
        ("tea", "CURRENT"),
        ("Initech", "HISTORICAL"),
    ]
    assert found[0]["noteIds"] == [notes[0]]
    assert len((await ask(query, id=f"note/{notes[0]}", facts=1))["data"]["node"]["context"]) == 1
    assert (await ask(query, id=f"note/{notes[0]}", facts=0))["errors"][0]["extensions"]["code"] == "INVALID_FACT"


async def test_a_graph_node_leads_to_its_entity_and_what_is_known(
    ask: Ask, system: System, operations: OperationExecutor
) -> None:
    facts = Facts(system)
    entity = await facts.upsert_entity("Alice Smith", "person", node_id="alice")
    note = await facts.add_note("Alice Smith is tall")
    await facts.add_fact("Alice Smith", "is", "tall", notes=[note.note_id])
    await facts.upsert_entity("Another", node_id="alice")
    await facts.upsert_entity("Foreign", node_id="bob", tenant="t2")
    query = '{ graphNode(id: "alice") { entity { entityId node { id } facts { nodes { objectValue } } } } other: graphNode(id: "bob") { entity { canonical } theirs: entity(tenantId: "t2") { canonical } } past: graphNode(id: "alice", at: {position: 15}) { entity { canonical } } }'
    found = (await ask(query))["data"]
    assert found["graphNode"]["entity"] == {
        "entityId": entity.entity_id,
        "node": {"id": "alice"},
        "facts": {"nodes": [{"objectValue": "tall"}]},
    }
    assert found["other"] == {"entity": None, "theirs": {"canonical": "Foreign"}} and found["past"] == {"entity": None}
    eve = RequestContext(system, Principal("eve", frozenset(), "other", "default", "eve"))
    asked = operations.prepare(
        '{ graphNode(id: "bob") { entity { canonical } theirs: entity(tenantId: "t2") { canonical } } }'
    )
    answer = await operations.execute(asked, eve)
    assert answer.data == {"graphNode": {"entity": None, "theirs": None}}


async def test_entities_of_many_nodes_are_read_together(
    ask: Ask, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = Facts(system)
    for name in ("alice", "bob", "carol", "dave"):
        await facts.upsert_entity(name, node_id=name)
        await facts.add_fact(name, "is", "known", notes=[(await facts.add_note(f"{name} is known")).note_id])
    calls: list[str] = []
    async with system.session() as session:
        real: type[Session] = type(session)
    for name in ("fetch", "find_many"):
        original = getattr(real, name)

        async def counted(self: Any, *args: Any, _original: Any = original, _name: str = name, **named: Any) -> Any:
            calls.append(_name)
            return await _original(self, *args, **named)

        monkeypatch.setattr(real, name, counted)
    counts = []
    for first in (1, 8):
        calls.clear()
        found = await ask(
            "query($first: Int) { graphNodes(first: $first) { nodes { id entity { canonical facts(first: 2) { nodes { predicate evidence { note { text } } } } } } } }",
            first=first,
        )
        assert "errors" not in found
        counts.append(len(calls))
    assert counts[0] == counts[1]
