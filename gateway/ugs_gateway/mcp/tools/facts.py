"""Tools of the profile `extended` for facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.errors import InvalidFact
from ugs.facts.model import ENTITIES, Entity, Fact
from ugs.facts.normalization import display_name, validate_note, validate_value
from ugs.facts.reader import SHARED
from ugs.facts.temporal.instants import datetime_of, instant_of, instant_text
from ugs.log.at import At
from ugs.ontology.api import Memory
from ugs.reads.cursors import decode_cursor, encode_cursor
from ugs_gateway.mcp import inputs, outputs
from ugs_gateway.mcp.tools.base import ADDS, READS, Json, MemoryTool, retry_key_of

ORDER = "active fact"
MAX_ACTIVE = 200
Subject = Annotated[str, Meta(description="The name of whom or what the fact is about")]
Moment = Annotated[str, Meta(description="A time such as 2026-01-31T12:00:00Z; now when left out")]
Scope = Annotated[str, Meta(description="Who the fact is for, such as project_shared or agent_private")]


class AddFact(inputs.Arguments, frozen=True):
    subject: Subject
    predicate: Annotated[str, Meta(description="What is said about it, such as lives in")]
    note: Annotated[str, Meta(description="The words it is known from: nothing is believed without evidence")]
    value: Annotated[str, Meta(description="The value; give this or object")] | None = None
    object: Annotated[str, Meta(description="The name of another subject; give this or value")] | None = None
    valid_from: Moment | None = None
    valid_to: Annotated[str, Meta(description="When it ends; open when left out")] | None = None
    scope: Scope = SHARED


class ActiveFacts(inputs.Arguments, frozen=True):
    subject: Subject
    as_of: Moment | None = None
    scope: Scope = SHARED
    known_at: Annotated[str, Meta(description="What was recorded by then; now when left out")] | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_ACTIVE)] = 100
    cursor: Annotated[str, Meta(description="next_cursor of the page before")] | None = None


async def add_fact(memory: Memory, arguments: AddFact) -> Json:
    facts = Facts(memory.system, memory.principal)
    check_fact(arguments)
    done = await facts.add_fact(
        arguments.subject,
        arguments.predicate,
        arguments.value,
        object=arguments.object,
        notes=[NoteRef(text=arguments.note)],
        scope=arguments.scope,
        valid_from=None if arguments.valid_from is None else instant_of(arguments.valid_from, "valid_from"),
        valid_to=None if arguments.valid_to is None else instant_of(arguments.valid_to, "valid_to"),
        key=retry_key_of(memory),
    )
    [fact] = await facts_to_json(facts, [done.fact])
    return {"fact": fact, "created": done.created, "superseded": [old.fact_id for old in done.superseded]}


async def active_facts(memory: Memory, arguments: ActiveFacts) -> Json:
    facts = Facts(memory.system, memory.principal)
    display_name(arguments.subject, "subject")
    as_of = None if arguments.as_of is None else instant_of(arguments.as_of, "as_of")
    known_at = None if arguments.known_at is None else instant_of(arguments.known_at, "known_at")
    at = None if known_at is None else At.time(datetime_of(known_at))
    rows = await facts.active_facts(arguments.subject, arguments.scope, as_of, at=at)
    start = 0
    if arguments.cursor is not None:
        (last,) = decode_cursor(arguments.cursor, ORDER, 1)
        start = next((place + 1 for place, row in enumerate(rows) if row.fact_id == last), len(rows))
    shown = rows[start : start + arguments.limit]
    more = {"next_cursor": encode_cursor(ORDER, (shown[-1].fact_id,))} if start + arguments.limit < len(rows) else {}
    return {"facts": await facts_to_json(facts, shown), **more}


def check_fact(arguments: AddFact) -> None:
    """Refuse arguments that cannot form a fact, naming the tool's own arguments."""
    if (arguments.value is None) == (arguments.object is None):
        raise InvalidFact("give either value or object: a fact says exactly one thing", field="value")
    display_name(arguments.subject, "subject")
    validate_note(arguments.note, "note")
    if arguments.value is not None:
        validate_value(arguments.value, "value")
    if arguments.object is not None:
        display_name(arguments.object, "object")


async def facts_to_json(facts: Facts, rows: Iterable[Fact]) -> list[Json]:
    """Facts as JSON for a model: names instead of ids."""
    found = list(rows)
    ids = {id for fact in found for id in (fact.subject_entity_id, fact.object_entity_id) if id}
    async with facts.known() as session:
        entities: list[Entity] = await session.find_many(ENTITIES, sorted(ids)) if ids else []
    names = {entity.entity_id: entity.canonical for entity in entities}
    return [_to_json(fact, names) for fact in found]


def _to_json(fact: Fact, names: dict[str, str]) -> Json:
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

FACT_TOOLS = (
    MemoryTool(
        "add_fact",
        "Add a fact",
        "State what holds, and when. Only a single-valued predicate (see predicates) lets a newer value end an older.",
        AddFact,
        outputs.record({"fact": FACT, "created": outputs.FLAG, "superseded": outputs.TEXTS}),
        ADDS,
        add_fact,
        keeps_key=True,
    ),
    MemoryTool(
        "active_facts",
        "Ask for facts",
        "What holds about a subject, now or at a time.",
        ActiveFacts,
        outputs.record({"facts": {"type": "array", "items": FACT}}, {"next_cursor": outputs.TEXT}),
        READS,
        active_facts,
    ),
)
