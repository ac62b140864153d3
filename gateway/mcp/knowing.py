"""Further tools of the profile `extended` about facts: what is believed, since when, and on what evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from gateway.mcp import inputs, outputs
from gateway.mcp.tool import ADDS, READS, Json, MemoryTool
from ugs.facts.api import Facts
from ugs.facts.asking import SHARED
from ugs.facts.asserting import NoteRef
from ugs.facts.instants import instant_text
from ugs.facts.model import ENTITIES, Entity, Fact
from ugs.ontology.api import Memory

Subject = Annotated[str, Meta(description="The name of whom or what the fact is about")]
Moment = Annotated[str, Meta(description="A time such as 2026-01-31T12:00:00Z; now when left out")]
Scope = Annotated[str, Meta(description="Who the fact is for, such as project_shared or agent_private")]


class AddFact(inputs.Arguments, frozen=True):
    subject: Subject
    predicate: Annotated[str, Meta(description="What is said about it, such as lives in")]
    value: Annotated[str, Meta(description="The value; give this or object")] | None = None
    object: Annotated[str, Meta(description="The name of another subject; give this or value")] | None = None
    note: Annotated[str, Meta(description="The words it is known from")] | None = None
    valid_from: Moment | None = None
    valid_to: Annotated[str, Meta(description="When it ends; open when left out")] | None = None
    scope: Scope = SHARED


class ActiveFacts(inputs.Arguments, frozen=True):
    subject: Subject
    as_of: Moment | None = None
    scope: Scope = SHARED


async def add_fact(memory: Memory, given: AddFact) -> Json:
    facts = Facts(memory.system, memory.principal)
    notes = [] if given.note is None else [NoteRef(text=given.note)]
    done = await facts.add_fact(
        given.subject,
        given.predicate,
        given.value,
        object=given.object,
        notes=notes,
        scope=given.scope,
        valid_from=given.valid_from,
        valid_to=given.valid_to,
    )
    [fact] = await told(facts, [done.fact])
    return {"fact": fact, "created": done.created, "superseded": [old.fact_id for old in done.superseded]}


async def active_facts(memory: Memory, given: ActiveFacts) -> Json:
    facts = Facts(memory.system, memory.principal)
    return {"facts": await told(facts, await facts.active_facts(given.subject, given.scope, given.as_of))}


async def told(facts: Facts, rows: Iterable[Fact]) -> list[Json]:
    """Facts as a model reads them: names instead of ids."""
    found = list(rows)
    ids = {id for fact in found for id in (fact.subject_entity_id, fact.object_entity_id) if id}
    async with facts.known() as session:
        entities: list[Entity] = await session.find_many(ENTITIES, sorted(ids)) if ids else []
    names = {entity.entity_id: entity.canonical for entity in entities}
    return [_told(fact, names) for fact in found]


def _told(fact: Fact, names: dict[str, str]) -> Json:
    object = fact.object_value if fact.object_entity_id is None else names.get(fact.object_entity_id)
    ends = {} if fact.valid_to is None else {"valid_to": instant_text(fact.valid_to)}
    return {
        "fact_id": fact.fact_id,
        "subject": names.get(fact.subject_entity_id, ""),
        "predicate": fact.predicate,
        "object": object or "",
        "valid_from": instant_text(fact.valid_from),
        **ends,
        "scope": fact.scope,
    }


FACT = outputs.record(
    {name: outputs.TEXT for name in ("fact_id", "subject", "predicate", "object", "valid_from", "scope")},
    {"valid_to": outputs.TEXT},
)

KNOWING = (
    MemoryTool(
        "add_fact",
        "Add a fact",
        "State what holds about a subject, from when and until when. A newer value ends an older one.",
        AddFact,
        outputs.record({"fact": FACT, "created": outputs.FLAG, "superseded": outputs.TEXTS}),
        ADDS,
        add_fact,
    ),
    MemoryTool(
        "active_facts",
        "Ask for facts",
        "What holds about a subject, now or at a time.",
        ActiveFacts,
        outputs.record({"facts": {"type": "array", "items": FACT}}),
        READS,
        active_facts,
    ),
)
