"""Facts through GraphQL: from the first note to why something is believed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.schema.conftest import Ask
from tests.schema.test_subscriptions import first_of
from ugs import System
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.model import ENTITIES
from ugs.identity import Principal
from ugs.storage import Session
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext
from ugs_schema.facts.loaders import FactsLoader

FACT = "fact { id factId predicate objectValue validFrom validTo }"
ADD = (
    """mutation($subject: String!, $predicate: String!, $value: String, $object: EntityRef, $from: DateTime, $to: DateTime,
          $note: String = "said", $key: String) {
  addFact(input: {scope: "project_shared", subject: {name: $subject}, predicate: $predicate, objectValue: $value,
    objectEntity: $object, validFrom: $from, validTo: $to, notes: [{text: $note}], idempotencyKey: $key, clientMutationId: "c"}) {
    %s created evidenceAdded superseded { objectValue validTo } warnings { code } clientMutationId } }"""
    % FACT
)


async def add(ask: Ask, subject: str, predicate: str, **more: Any) -> dict[str, Any]:
    answer = await ask(ADD, subject=subject, predicate=predicate, **more)
    assert "errors" not in answer, answer
    return answer["data"]["addFact"]  # type: ignore[no-any-return]


async def single(ask: Ask, alias: str) -> str:
    done = await ask(
        "mutation($a: String!) { registerPredicate(input: {alias: $a, status: ACTIVE, cardinality: SINGLE}) "
        "{ created predicate { id status level scopeKey aliases { alias } } } }",
        a=alias,
    )
    found = done["data"]["registerPredicate"]
    assert found["created"] and found["predicate"]["level"] == "TENANT_PROJECT"
    return found["predicate"]["id"]  # type: ignore[no-any-return]


async def test_from_the_first_note_to_why(ask: Ask) -> None:
    await single(ask, "works at")
    first = await add(ask, "Alice", "works at", value="Initech", **{"from": "2026-01-01T00:00:00Z"})
    second = await add(ask, "alice", "Works At", value="Globex", note="she moved", **{"from": "2026-01-05T00:00:00Z"})
    assert (first["created"], first["evidenceAdded"], first["clientMutationId"]) == (True, 1, "c")
    assert second["superseded"] == [{"objectValue": "Initech", "validTo": "2026-01-05T00:00:00.000Z"}]

    why = await ask(
        """query($id: ID!) { whyFact(factId: $id) { notes { text facts { objectValue } } events { type }
             replaced { fact { objectValue } } replacedBy { fact { objectValue } supersession { note { text } effectiveAt } } } }""",
        id=first["fact"]["id"],
    )
    assert why["data"]["whyFact"] == {
        "notes": [{"text": "said", "facts": [{"objectValue": "Initech"}]}],
        "events": [{"type": name} for name in ("FactAdded", "EvidenceAdded", "FactInvalidated", "FactSuperseded")],
        "replaced": [],
        "replacedBy": [
            {
                "fact": {"objectValue": "Globex"},
                "supersession": {"note": {"text": "she moved"}, "effectiveAt": "2026-01-05T00:00:00.000Z"},
            }
        ],
    }


async def test_two_clocks_in_one_query(ask: Ask, system: System) -> None:
    await single(ask, "works at")
    await add(ask, "Alice", "works at", value="Initech", **{"from": "2026-01-01T00:00:00Z"})
    position = (await Facts(system).why((await Facts(system).timeline("Alice"))[0].fact_id)).events[-1].position
    await add(ask, "Alice", "works at", value="Globex", **{"from": "2026-01-05T00:00:00Z"})
    found = await ask(
        """query($at: Position!) {
             now: activeFacts(scope: "project_shared", subject: {name: "Alice"}) { objectValue }
             then: activeFacts(scope: "project_shared", subject: {name: "Alice"}, asOf: "2026-01-03T00:00:00Z") { objectValue }
             known: activeFacts(scope: "project_shared", subject: {name: "Alice"}, asOf: "2026-01-06T00:00:00Z", at: {position: $at}) { objectValue }
             all: factTimeline(subject: {name: "Alice"}) { objectValue state active(at: "2026-01-02T00:00:00Z") } }""",
        at=position,
    )
    assert found["data"] == {
        "now": [{"objectValue": "Globex"}],
        "then": [{"objectValue": "Initech"}],
        "known": [{"objectValue": "Initech"}],
        "all": [
            {"objectValue": "Initech", "state": "HISTORICAL", "active": True},
            {"objectValue": "Globex", "state": "CURRENT", "active": False},
        ],
    }


async def test_entities_point_at_the_graph_and_lead_to_their_facts(ask: Ask) -> None:
    done = await ask(
        """mutation { upsertEntity(input: {name: " Alice  Doe", kind: "person", aliases: ["Al"], nodeId: "alice", clientMutationId: "m"})
             { created clientMutationId entity { id canonical canonicalNorm kind aliases { alias } node { id label } } } }"""
    )
    payload = done["data"]["upsertEntity"]
    assert payload["created"] and payload["clientMutationId"] == "m"
    entity = payload["entity"]
    assert entity["node"] == {"id": "alice", "label": "Alice Johnson"}
    assert (entity["canonical"], entity["canonicalNorm"], entity["aliases"]) == (
        "Alice Doe",
        "alice doe",
        [{"alias": "Al"}],
    )
    again = await ask('mutation { upsertEntity(input: {name: "ALICE DOE"}) { created entity { id kind } } }')
    assert again["data"]["upsertEntity"] == {"created": False, "entity": {"id": entity["id"], "kind": "person"}}
    alias = await ask(
        'mutation($id: ID!) { addEntityAlias(entityId: $id, alias: "Ally") { entity { aliases { alias } } } }',
        id=entity["id"],
    )
    assert [one["alias"] for one in alias["data"]["addEntityAlias"]["entity"]["aliases"]] == ["Al", "ALICE DOE", "Ally"]
    for value in ("a", "b", "c"):
        await add(ask, "Al", "likes", value=value)
    await add(ask, "Bob", "knows", object={"id": entity["id"]})
    found = await ask(
        """{ entity(name: "ally") { facts(first: 2) { totalCount nodes { objectValue evidenceCount subject { canonical } } pageInfo { hasNextPage endCursor } }
               factsAbout { nodes { subject { canonical } objectEntity { canonical } predicateRef { status } } } }
             entities(search: "ali", nodeId: "alice") { totalCount edges { cursor node { canonical } } } }"""
    )
    facts = found["data"]["entity"]["facts"]
    assert (facts["totalCount"], len(facts["nodes"]), facts["pageInfo"]["hasNextPage"]) == (3, 2, True)
    assert facts["nodes"][0] == {"objectValue": "c", "evidenceCount": 1, "subject": {"canonical": "Alice Doe"}}
    about = found["data"]["entity"]["factsAbout"]["nodes"]
    assert about == [
        {
            "subject": {"canonical": "Bob"},
            "objectEntity": {"canonical": "Alice Doe"},
            "predicateRef": {"status": "PENDING"},
        }
    ]
    assert found["data"]["entities"]["totalCount"] == 1
    rest = await ask(
        '{ entity(name: "ally") { facts(first: 2, after: "%s") { nodes { objectValue } pageInfo { hasNextPage hasPreviousPage } } } }'
        % facts["pageInfo"]["endCursor"]
    )
    assert rest["data"]["entity"]["facts"] == {
        "nodes": [{"objectValue": "a"}],
        "pageInfo": {"hasNextPage": False, "hasPreviousPage": True},
    }


INGEST = """mutation($key: String, $predicate: String = "mentors") { ingest(input: {scope: "project_shared", idempotencyKey: $key, notes: [
  {text: "Alice mentors Bob", source: "mail", structured: {entities: [{canonical: "Alice", kind: "person", aliases: ["Al"]}],
   relations: [{subject: "Alice", predicate: $predicate, object: {entity: "Bob"}}, {subject: "Bob", predicate: "mentors", object: {value: "Alice"}}]}}]})
  { created notes { text source } facts { predicate objectEntity { canonical } } events { type } } }"""


async def test_a_note_is_ingested_whole_or_not_at_all(ask: Ask, system: System) -> None:
    done = await ask(INGEST, key="k")
    again = await ask(INGEST, key="k")
    assert done == again
    assert done["data"]["ingest"]["created"] == 2
    assert done["data"]["ingest"]["facts"][0] == {"predicate": "mentors", "objectEntity": {"canonical": "Bob"}}
    before = await system.digest()
    refused = await ask(INGEST, predicate="hates")
    assert refused["errors"][0]["extensions"]["code"] == "REJECT_STRUCTURED_INVALID"
    assert refused["errors"][0]["extensions"]["details"]["path"] == "structured.relations[0].predicate"
    assert await system.digest() == before


async def test_predicates_are_configured_and_conflicts_shown(ask: Ask) -> None:
    for value in ("Initech", "Globex"):
        await add(
            ask, "Alice", "works at", value=value, **{"from": "2026-01-0%dT00:00:00Z" % (1 if value < "H" else 2)}
        )
    found = await ask(
        '{ resolvePredicate(alias: "WORKS at") { id status cardinality tenantId } predicates(status: PENDING) { canonical } }'
    )
    predicate = found["data"]["resolvePredicate"]
    assert (predicate["status"], predicate["cardinality"], predicate["tenantId"]) == ("PENDING", "MULTI", "default")
    configure = """mutation($id: ID!, $resolve: ConflictResolution = NONE) { configurePredicate(input: {id: $id, status: ACTIVE, cardinality: SINGLE,
      addAliases: ["employed by"], resolveConflicts: $resolve}) { conflicts { objectValue } predicate { aliases { alias } } } }"""
    listed = await ask(configure, id=predicate["id"])
    assert {one["objectValue"] for one in listed["data"]["configurePredicate"]["conflicts"]} == {"Initech", "Globex"}
    resolved = await ask(configure, id=predicate["id"], resolve="KEEP_LATEST")
    assert resolved["data"]["configurePredicate"]["conflicts"] == []
    stale = await ask(
        "mutation($id: ID!) { configurePredicate(input: {id: $id, status: DEPRECATED, expectedStatus: PENDING}) { created } }",
        id=predicate["id"],
    )
    assert stale["errors"][0]["extensions"]["code"] == "PREDICATE_CONFLICT"


async def test_a_report_and_a_neighbourhood(ask: Ask) -> None:
    await single(ask, "works at")
    await add(ask, "Alice", "works at", value="Initech", **{"from": "2026-01-01T00:00:00Z"})
    await add(ask, "Alice", "works at", value="Globex", **{"from": "2026-01-05T00:00:00Z"})
    knows = await add(ask, "Alice", "knows", object={"name": "Bob"}, **{"from": "2026-01-02T00:00:00Z"})
    found = await ask(
        """{ factReport(subject: {name: "alice"}, asOf: "2026-01-06T00:00:00Z") { truncated counts { current historical sourced inferred superseded evidence }
              topics facts { state markers fact { predicate } } links { to } } }"""
    )
    report = found["data"]["factReport"]
    assert report["counts"] == {
        "current": 2,
        "historical": 1,
        "sourced": 3,
        "inferred": 1,
        "superseded": 1,
        "evidence": 3,
    }
    assert [one["state"] for one in report["facts"]] == ["HISTORICAL", "CURRENT", "CURRENT"]
    assert len(report["topics"]) == 4 and len(report["links"]) == 3
    entity = await ask('{ entity(name: "Alice") { id } }')
    steps = await ask(
        "query($id: ID!) { entityNeighborhood(entityId: $id, depth: 2) { depth entity { canonical } via { factId } } }",
        id=entity["data"]["entity"]["id"],
    )
    assert steps["data"]["entityNeighborhood"] == [
        {"depth": 0, "entity": {"canonical": "Alice"}, "via": None},
        {"depth": 1, "entity": {"canonical": "Bob"}, "via": {"factId": knows["fact"]["factId"]}},
    ]


async def test_entities_are_merged_after_a_look(ask: Ask) -> None:
    for name in ("Alice Doe", "Doe Alice"):
        await add(ask, name, "knows", object={"name": "Bob"})
    pair = await ask("{ duplicateEntities { first { id canonical } second { id canonical } reason } }")
    (found,) = pair["data"]["duplicateEntities"]
    assert found["reason"] == "normal form"
    ids = {"keep": found["first"]["id"], "merge": found["second"]["id"]}
    preview = await ask(
        "query($keep: ID!, $merge: ID!) { mergePreview(keepId: $keep, mergeId: $merge) { folded { into { factId } } aliases conflicts { id } moved { id } } }",
        **ids,
    )
    assert len(preview["data"]["mergePreview"]["folded"]) == 1
    merged = await ask(
        "mutation($keep: ID!, $merge: ID!) { mergeEntities(keepId: $keep, mergeId: $merge) { mergedId entity { id facts { totalCount nodes { evidenceCount } } } } }",
        **ids,
    )
    assert merged["data"]["mergeEntities"] == {
        "mergedId": ids["merge"],
        "entity": {"id": ids["keep"], "facts": {"totalCount": 1, "nodes": [{"evidenceCount": 2}]}},
    }
    both = await ask("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=list(ids.values()))
    assert both["data"]["nodes"] == [{"id": ids["keep"]}] * 2


async def test_things_have_global_ids_and_can_be_ended_and_deleted(ask: Ask) -> None:
    note = await ask('mutation { addNote(text: "said so", source: "mail") { note { id noteId scope agentId } } }')
    id = note["data"]["addNote"]["note"]["id"]
    done = await ask(
        """mutation($n: UUID!) { addFact(input: {scope: "s", subject: {name: "Alice"}, predicate: "is", objectValue: "tall", notes: [{id: $n}]})
             { fact { id evidence { note { id text } } predicateRef { id } subject { id } } } }""",
        n=id.removeprefix("note/"),
    )
    fact = done["data"]["addFact"]["fact"]
    assert fact["evidence"] == [{"note": {"id": id, "text": "said so"}}]
    asked = [
        fact["id"],
        fact["subject"]["id"],
        fact["predicateRef"]["id"],
        id,
        "fact/nope",
        "entity/nope",
        "note/nope",
        "predicate/nope",
    ]
    found = await ask("query($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }", ids=asked)
    assert [one and one["__typename"] for one in found["data"]["nodes"]] == [
        "Fact",
        "Entity",
        "Predicate",
        "Note",
        None,
        None,
        None,
        None,
    ]
    ended = await ask(
        'mutation($id: ID!) { invalidateFact(factId: $id, reason: "measured") { fact { active invalidationReason } } }',
        id=fact["id"],
    )
    assert ended["data"]["invalidateFact"]["fact"] == {"active": False, "invalidationReason": "measured"}
    listed = await ask(
        '{ facts(subject: {name: "Alice"}, includeInactive: true) { totalCount } none: facts(subject: {name: "Zed"}) { totalCount } }'
    )
    assert listed["data"] == {"facts": {"totalCount": 1}, "none": {"totalCount": 0}}
    gone = await ask(
        "mutation($f: ID!, $n: ID!, $e: ID!, $p: ID!) { deleteNote(noteId: $n) deleteFact(factId: $f) deleteEntity(entityId: $e) deletePredicate(id: $p) }",
        f=fact["id"], n=id, e=fact["subject"]["id"], p=fact["predicateRef"]["id"],
    )  # fmt: skip
    assert set(gone["data"].values()) == {True}


@pytest.mark.parametrize(
    ("mutation", "code"),
    [
        (
            'addFact(input: {scope: "s", subject: {name: "A"}, predicate: "p", objectValue: "v", notes: []}) { created }',
            "EVIDENCE_REQUIRED",
        ),
        (
            'addFact(input: {scope: "s", subject: {name: "A"}, predicate: "p", notes: [{text: "x"}]}) { created }',
            "INVALID_FACT",
        ),
        (
            'addFact(input: {scope: "s", subject: {}, predicate: "p", objectValue: "v", notes: [{text: "x"}]}) { created }',
            "INVALID_FACT",
        ),
        (
            'addFact(input: {scope: "s", subject: {name: " "}, predicate: "p", objectValue: "v", notes: [{text: "x"}]}) { created }',
            "INVALID_FACT",
        ),
        (
            'addFact(input: {scope: "s", subject: {name: "A"}, predicate: "p", objectValue: "v", notes: [{text: "x"}], '
            'validFrom: "2026-01-02T00:00:00Z", validTo: "2026-01-02T00:00:00Z"}) { created }',
            "INVALID_FACT",
        ),
        ('addNote(tenantId: "a:b", text: "x") { note { id } }', "INVALID_FACT"),
        ('upsertEntity(input: {name: "%s"}) { created }' % ("x" * 3000), "INVALID_FACT"),
        ('invalidateFact(factId: "fact/nope") { created }', "FACT_NOT_FOUND"),
        ('deleteNote(noteId: "nope")', "NOTE_NOT_FOUND"),
        ('deleteEntity(entityId: "nope")', "ENTITY_NOT_FOUND"),
        ('configurePredicate(input: {id: "nope", status: ACTIVE}) { created }', "PREDICATE_NOT_FOUND"),
    ],
)
async def test_refused_changes_change_nothing(ask: Ask, system: System, mutation: str, code: str) -> None:
    before = await system.digest()
    answer = await ask(f"mutation {{ {mutation} }}")
    assert answer["errors"][0]["extensions"]["code"] == code
    assert await system.digest() == before


async def test_facts_are_watched_as_they_change(system: System) -> None:
    facts = Facts(system)
    await facts.register_predicate("works at", status="active", cardinality="single")
    subscription = 'subscription { factsChanged(subject: {name: "Alice"}) { objectValue validTo evidenceCount } }'
    waiting = asyncio.create_task(first_of(system, subscription, 4))
    await asyncio.sleep(0.05)
    note = (await facts.add_note("x")).note_id
    await facts.add_fact("Alice", "works at", "Initech", notes=[note], valid_from="2026-01-01T00:00:00Z")
    await facts.add_fact("Bob", "works at", "Initech", notes=[note])
    await facts.add_fact("Alice", "works at", "Globex", notes=[note], valid_from="2026-01-05T00:00:00Z")
    more = (await facts.add_note("y")).note_id
    await facts.add_fact("Alice", "works at", "Globex", notes=[more])
    found = await waiting
    assert [(one["objectValue"], one["validTo"]) for one in found] == [
        ("Initech", None),
        ("Globex", None),
        ("Initech", "2026-01-05T00:00:00.000Z"),
        ("Globex", None),
    ]


async def test_another_tenant_sees_nothing(operations: OperationExecutor, system: System, ask: Ask) -> None:
    fact = (await add(ask, "Alice", "is", value="tall"))["fact"]
    eve = RequestContext(system, Principal("eve", frozenset(), "other", "default", "eve"))
    query = '{ node(id: "%s") { id } facts(tenantId: "default", subject: {name: "Alice"}) { totalCount nodes { id } } entities(tenantId: "default") { totalCount } }'
    found = await operations.execute(operations.prepare(query % fact["id"]), eve)
    assert found.errors is None
    assert found.data == {"node": None, "facts": {"totalCount": 0, "nodes": []}, "entities": {"totalCount": 0}}
    refused = await operations.execute(
        operations.prepare('mutation { upsertEntity(input: {name: "M", tenantId: "default"}) { created } }'), eve
    )
    assert refused.errors and "may write for other:default" in refused.errors[0].message


async def test_the_number_of_reads_does_not_grow_with_the_number_of_facts(
    ask: Ask, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    async with system.session() as session:
        real: type[Session] = type(session)
    for name in ("fetch", "find_many", "group", "count"):
        original = getattr(real, name)

        async def counted(self: Any, *args: Any, _original: Any = original, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            return await _original(self, *args, **named)

        monkeypatch.setattr(real, name, counted)
    counts = []
    for n in range(2):
        for m in range(1 + 5 * n):
            await add(ask, f"S{n}{m}", "knows", object={"name": f"O{n}{m}"})
        calls = 0
        await ask(
            "{ facts { nodes { subject { canonical aliases { alias } } objectEntity { canonical facts { totalCount nodes { id } } } evidence { note { text } } evidenceCount supersedes { id: supersessionId } } } }"
        )
        counts.append(calls)
    assert counts[0] == counts[1] <= 12


async def test_a_database_answers_like_memory(operations: OperationExecutor, tmp_path: Path) -> None:
    """The same story told to two stores gives the same answers, ids apart."""
    answers = []
    for url in ("memory:", f"sqlite:///{tmp_path}/facts.db"):
        async with System.at_url(url) as system:
            facts = Facts(system)
            await facts.register_predicate("works at", status="active", cardinality="single")
            for day, firm in ((1, "Initech"), (5, "Globex"), (3, "Hooli")):
                note = NoteRef(text=f"works at {firm}")
                await facts.add_fact("Alice", "works at", firm, valid_from=f"2026-01-0{day}T00:00:00Z", notes=[note])
            await facts.add_fact("Alice", "knows", object="Bob", notes=[NoteRef(text="x")], valid_from=0)
            found = await operations.execute(operations.prepare(STORY), RequestContext(system))
            assert found.errors is None
            answers.append(found.data)
    assert answers[0] == answers[1]
    assert [one["objectValue"] for one in answers[0]["factTimeline"]] == [None, "Initech", "Hooli", "Globex"]


STORY = """{ factTimeline(subject: {name: "ALICE"}) { objectValue validFrom validTo state objectEntity { canonical } evidence { note { text } }
  supersededBy { toFact { objectValue } } supersedes { fromFact { objectValue } note { text } } }
  entities(first: 1) { totalCount nodes { canonical facts(first: 1) { totalCount nodes { predicate } } } pageInfo { hasNextPage } }
  factReport(subject: {name: "Alice"}, asOf: "2026-01-04T00:00:00Z") { counts { current historical future ambiguous } facts { state markers } } }"""


async def test_an_entity_is_renamed_and_a_predicate_configured_by_name(ask: Ask) -> None:
    made = await ask('mutation { upsertEntity(input: {name: "Zoë"}) { entity { entityId } } }')
    id = made["data"]["upsertEntity"]["entity"]["entityId"]
    renamed = await ask(
        'mutation($id: ID!) { renameEntity(entityId: $id, name: "Zoe B.") { entity { canonical aliases { alias } } } }',
        id=id,
    )
    assert renamed["data"]["renameEntity"]["entity"] == {"canonical": "Zoe B.", "aliases": [{"alias": "Zoë"}]}
    await ask('mutation { registerPredicate(input: {alias: "lives in"}) { created } }')
    configured = await ask(
        'mutation { configurePredicate(input: {predicate: "Lives  in", status: ACTIVE, cardinality: SINGLE}) '
        "{ predicate { status cardinality } } }"
    )
    assert configured["data"]["configurePredicate"]["predicate"] == {"status": "ACTIVE", "cardinality": "SINGLE"}
    refused = await ask('mutation { configurePredicate(input: {predicate: "eats", status: ACTIVE}) { created } }')
    assert refused["errors"][0]["extensions"]["code"] == "PREDICATE_NOT_FOUND"


async def test_a_resolver_that_is_cancelled_leaves_the_row_to_the_others(system: System) -> None:
    entity = await Facts(system).upsert_entity("Alice")
    loader = FactsLoader(RequestContext(system), None, 0)
    cancelled, waiting = [asyncio.create_task(loader.find_one(ENTITIES, entity.entity_id)) for _ in range(2)]
    await asyncio.sleep(0)
    cancelled.cancel()

    assert (await waiting).entity_id == entity.entity_id
