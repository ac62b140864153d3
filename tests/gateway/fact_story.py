"""Facts in the story told through the door; ids that are made up at random are only used to ask on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Found = dict[str, Any]
FACT = "predicate objectValue objectEntity { canonical } validFrom validTo"


def day(number: int) -> str:
    return f"2026-01-{number:02}T00:00:00Z"


def added(subject: str, predicate: str, value: str, start: int, note: str = "said", **more: Any) -> dict[str, Any]:
    return {
        "in": {
            "scope": "project_shared",
            "subject": {"name": subject},
            "predicate": predicate,
            "objectValue": value,
            "validFrom": day(start),
            "notes": [{"text": note}],
            **more,
        }
    }


ADD = f"mutation ($in: AddFactInput!) {{ addFact(input: $in) {{ created evidenceAdded fact {{ {FACT} evidenceCount }} superseded {{ objectValue validTo }} warnings {{ code }} }} }}"
BARE = '{ facts(includeInactive: true, subject: {name: "Alice"}, predicate: "works at") { nodes { id factId objectValue } } }'


def fact_with(value: str) -> Callable[[Found], dict[str, Any]]:
    """The id of the fact that says so, from the answer to `BARE`."""

    def chosen(found: Found) -> dict[str, Any]:
        nodes = found["ids of facts"]["data"]["facts"]["nodes"]
        return {"id": next(node["id"] for node in nodes if node["objectValue"] == value)}

    return chosen


def entities(found: Found) -> dict[str, Any]:
    nodes = {node["canonical"]: node["id"] for node in found["ids of entities"]["data"]["entities"]["nodes"]}
    return {"keep": nodes["Alice"], "merge": nodes["Alice D."]}


FACTS: list[tuple[str, str, dict[str, Any] | Callable[[Found], dict[str, Any]]]] = [
    (
        "single",
        'mutation { registerPredicate(input: {alias: "works at", status: ACTIVE, cardinality: SINGLE}) { created predicate { canonical status cardinality level scopeKey } } }',
        {},
    ),
    ("first job", ADD, added("Alice", "works at", "Initech", 1, idempotencyKey="f1")),
    ("first job again", ADD, added("Alice", "works at", "Initech", 1, idempotencyKey="f1")),
    ("second job", ADD, added(" ALICE ", "Works  At", "Globex", 5, "she moved")),
    ("known job", ADD, added("Alice", "works at", "Globex", 6, "said again")),
    ("a job in between", ADD, added("Alice", "works at", "Hooli", 3)),
    ("at the same instant", ADD, added("Alice", "works at", "Umbrella", 5)),
    (
        "no object",
        'mutation { addFact(input: {scope: "s", subject: {name: "A"}, predicate: "p", notes: [{text: "x"}]}) { created } }',
        {},
    ),
    ("ends before it begins", ADD, added("Alice", "is", "x", 5, validTo=day(5))),
    (
        "ingested",
        'mutation { ingest(input: {scope: "project_shared", notes: [{text: "Alice mentors Bob, who likes tea", structured: {entities: [{canonical: "Bob", kind: "person", aliases: ["Bobby"]}], relations: [{subject: "Alice", predicate: "mentors", object: {entity: "Bob"}, validFrom: "2026-01-02T00:00:00Z"}, {subject: "Bob", predicate: "likes", object: {value: "tea"}, validFrom: "2026-01-02T00:00:00Z"}]}}]}) { created facts { subject { canonical kind } predicate objectValue objectEntity { canonical aliases { alias } } } } }',
        {},
    ),
    (
        "not said",
        'mutation { ingest(input: {scope: "project_shared", notes: [{text: "nothing", structured: {relations: [{subject: "Alice", predicate: "owns", object: {value: "a cat"}}]}}]}) { created } }',
        {},
    ),
    ("holds now", f'{{ activeFacts(scope: "project_shared", subject: {{name: "alice"}}) {{ {FACT} state }} }}', {}),
    (
        "held then",
        f'{{ activeFacts(scope: "project_shared", subject: {{name: "alice"}}, asOf: "2026-01-02T00:00:00Z") {{ {FACT} state }} }}',
        {},
    ),
    ("timeline", f'{{ factTimeline(subject: {{name: "alice"}}) {{ {FACT} evidence {{ note {{ text }} }} }} }}', {}),
    (
        "asked",
        '{ askFacts(subject: {name: "Alice"}, limit: 1) { truncated account { queried returned } facts { fact { objectValue predicate } } } }',
        {},
    ),
    (
        "reported",
        '{ factReport(subject: {name: "Alice"}, asOf: "2026-01-04T00:00:00Z") { counts { current historical future sourced inferred stale superseded ambiguous evidence } facts { state markers fact { objectValue } } } }',
        {},
    ),
    ("ids of facts", BARE, {}),
    (
        "why",
        "query ($id: ID!) { whyFact(factId: $id) { notes { text } replaced { fact { objectValue } supersession { note { text } } } replacedBy { fact { objectValue } } events { type } } }",
        fact_with("Hooli"),
    ),
    (
        "ended by hand",
        'mutation ($id: ID!) { invalidateFact(factId: $id, validTo: "2026-01-20T00:00:00Z", reason: "she retired") { fact { validTo invalidationReason } } }',
        fact_with("Globex"),
    ),
    ("a second Alice", ADD, added("Alice D.", "likes", "jazz", 2)),
    (
        "points at the graph",
        'mutation { upsertEntity(input: {name: "Bob", nodeId: "bob"}) { created entity { canonical node { id } } } }',
        {},
    ),
    (
        "from the graph",
        '{ graphNode(id: "bob") { entity { canonical factsAbout { nodes { predicate subject { canonical } } } facts { nodes { predicate objectValue } } } } }',
        {},
    ),
    ("ids of entities", "{ entities { nodes { id canonical } } }", {}),
    (
        "merge preview",
        "query ($keep: ID!, $merge: ID!) { mergePreview(keepId: $keep, mergeId: $merge) { moved { objectValue } folded { fact { objectValue } } aliases } }",
        entities,
    ),
    (
        "merged",
        "mutation ($keep: ID!, $merge: ID!) { mergeEntities(keepId: $keep, mergeId: $merge) { entity { canonical aliases { alias } } } }",
        entities,
    ),
    (
        "one Alice",
        '{ entity(name: "alice d.") { canonical facts(asOf: "2026-01-10T00:00:00Z") { totalCount nodes { predicate objectValue } } } }',
        {},
    ),
    ("known before", "{ facts(at: {position: 1}) { totalCount } }", {}),
    ("facts verified", "{ verify { ok } }", {}),
]
