"""Tools of the profile `memory`: remember, recall, correct, forget, why, changed, merge.

Few tools with short schemas, since a client shows all of them to its model with every request. They work on facts and
notes of the caller's project.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import Meta

from ugs.clock import iso
from ugs.events import Event
from ugs.extraction.api import Extractions, is_extracting
from ugs.extraction.model import WAITING
from ugs.facts.api import Facts
from ugs.facts.audience import TYPES
from ugs.facts.commands.ingestion import NoteToIngest, Object, Stated
from ugs.facts.errors import EntityNotFound, InvalidFact
from ugs.facts.model import FACTS, Entity, Fact, Note
from ugs.facts.normalization import validate_note
from ugs.facts.reader import SHARED
from ugs.facts.temporal.instants import Instant, datetime_of, instant_of, instant_text
from ugs.log.at import At
from ugs.log.log_reader import HIDDEN, LogReader
from ugs.ontology.api import Memory
from ugs.recall.api import DEFAULT_BUDGET_TOKENS, DEFAULT_FIRST, Recall
from ugs.recall.model import RecallKind
from ugs.storage import EventQuery
from ugs_gateway.mcp import inputs
from ugs_gateway.mcp.app.page import TOOL_META
from ugs_gateway.mcp.tools.base import ADDS, READS, Hints, Json, MemoryTool, retry_key_of
from ugs_gateway.mcp.tools.facts import facts_to_json

RESULT: Json = {"type": "object"}
MAX_EXCERPT_CHARS = 500
MAX_FACTS = 50
MAX_EVENTS = 200
Time = Annotated[str, Meta(description="ISO time with zone")]
CORRECTS = Hints()
FORGETS = Hints(destructive=True)


class Statement(inputs.Arguments, frozen=True):
    """What a note says, as one fact."""

    subject: str
    predicate: str
    value: str | None = None
    object: Annotated[str, Meta(description="Another subject, instead of value")] | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    single: Annotated[bool, Meta(description="One value at a time: a newer one ends the older")] | None = None


class Remember(inputs.Arguments, frozen=True):
    text: Annotated[str, Meta(description="The words themselves; kept as evidence")]
    facts: Annotated[list[Statement], Meta(max_length=MAX_FACTS, description="What the text states")] = []
    source: str | None = None
    scope: Annotated[str, Meta(description="agent_private: for you only")] = SHARED


class RecallArguments(inputs.Arguments, frozen=True):
    query: str
    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    as_of: Annotated[str, Meta(description="What was true then")] | None = None
    known_at: Annotated[str, Meta(description="What was recorded by then")] | None = None
    scopes: list[str] | None = None
    kinds: list[Literal["fact", "note", "passage", "node"]] | None = None
    limit: int = DEFAULT_FIRST


class Correct(inputs.Arguments, frozen=True):
    fact_id: str
    action: Annotated[
        Literal["end", "replace", "retract"],
        Meta(description="end: no longer true; replace: give value or object; retract: was never true"),
    ]
    reason: Annotated[str, Meta(description="Why; the evidence of a replacement")]
    value: str | None = None
    object: str | None = None
    at: Annotated[str, Meta(description="When it ended or changed; now when omitted")] | None = None
    reopen: Annotated[bool, Meta(description="After retract: what it had ended holds again")] = True


class Forget(inputs.Arguments, frozen=True):
    kind: Literal["fact", "note", "entity"]
    id: Annotated[str, Meta(description="Its id, or the name of an entity")]


class WhyArguments(inputs.Arguments, frozen=True):
    fact_id: str


class ChangedArguments(inputs.Arguments, frozen=True):
    since: Time | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS)] = 50
    cursor: Annotated[int, Meta(ge=0, description="next_cursor of the page before, instead of since")] | None = None


class Merge(inputs.Arguments, frozen=True):
    action: Literal["suggest", "preview", "merge", "undo", "distinct"]
    keep: Annotated[str, Meta(description="Name or id that stays")] | None = None
    merge: (
        Annotated[str, Meta(description="Name or id that becomes its alias; for undo the id that was merged")] | None
    ) = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


def facts_of(memory: Memory) -> Facts:
    return Facts(memory.system, memory.principal)


# ── remember ─────────────────────────────────────────────────────────────────


async def remember(memory: Memory, arguments: Remember) -> Json:
    """Store a note, with its facts in the same command."""
    facts = facts_of(memory)
    validate_note(arguments.text, "text")
    key = retry_key_of(memory)
    if not arguments.facts:
        return await remember_text(memory, arguments, key)
    relations = tuple(to_relation(one, f"facts[{number}]") for number, one in enumerate(arguments.facts))
    single = list(dict.fromkeys(one.predicate for one in arguments.facts if one.single))
    given = NoteToIngest(text=arguments.text, source=arguments.source, relations=relations)
    done = await facts.ingest(given, scope=arguments.scope, supported=False, single=single, key=key)
    new = {event.element for event in done.events if event.type == "FactAdded"}
    ended = [event.element for event in done.events if event.type == "FactSuperseded"]
    told = await facts_to_json(facts, done.facts)
    note_id = next((event.element for event in done.events if event.type == "NoteAdded"), None)
    return {
        "note_id": note_id or "",
        "facts": [{**fact, "created": fact["fact_id"] in new} for fact in told],
        "superseded": [id for id in ended if id],
        "warnings": [warning.message for warning in done.warnings],
    }


async def remember_text(memory: Memory, arguments: Remember, key: str | None) -> Json:
    """Store a note without facts; where there is an extractor, it reads the note soon."""
    if is_extracting(memory.system):
        queue = Extractions(memory.system, memory.principal)
        note = await queue.remember(arguments.text, arguments.source, scope=arguments.scope, key=key)
        return {"note_id": note.note_id, "facts": [], "extraction": WAITING}
    note = await facts_of(memory).add_note(arguments.text, arguments.source, scope=arguments.scope, key=key)
    return {"note_id": note.note_id, "facts": []}


def to_relation(one: Statement, path: str) -> Stated:
    if (one.value is None) == (one.object is None):
        raise InvalidFact(
            f"{path}.value: give either value or object: a fact says exactly one thing", field=f"{path}.value"
        )
    return Stated(
        one.subject,
        one.predicate,
        Object(entity=one.object, value=one.value),
        parse_time(one.valid_from, f"{path}.valid_from"),
        parse_time(one.valid_to, f"{path}.valid_to"),
    )


def parse_time(text: str | None, name: str) -> Instant | None:
    return None if text is None else instant_of(text, name)


# ── recall ───────────────────────────────────────────────────────────────────


async def recall(memory: Memory, arguments: RecallArguments) -> Json:
    """What answers a question, within a budget."""
    known_at = parse_time(arguments.known_at, "known_at")
    found = await Recall(memory.system, memory.principal).recall(
        arguments.query,
        arguments.budget_tokens,
        parse_time(arguments.as_of, "as_of"),
        None if known_at is None else At.time(datetime_of(known_at)),
        arguments.scopes,
        None if arguments.kinds is None else [RecallKind(kind) for kind in arguments.kinds],
        arguments.limit,
    )
    return found.as_json()


# ── correct and forget ───────────────────────────────────────────────────────


async def correct(memory: Memory, arguments: Correct) -> Json:
    """End, replace or retract a fact, with a reason."""
    facts = facts_of(memory)
    done = await facts.correct_fact(
        arguments.fact_id,
        arguments.action,
        arguments.reason,
        arguments.value,
        object=arguments.object,
        moment=arguments.at,
        reopen=arguments.reopen,
        key=retry_key_of(memory),
    )
    told: Json = {}
    if done.fact is not None:
        told["fact"] = (await facts_to_json(facts, [done.fact]))[0]
    if done.before is None:
        told["retracted"] = arguments.fact_id
        told["reopened"] = await facts_to_json(facts, done.reopened)
    else:
        told["ended"] = (await facts_to_json(facts, [done.before]))[0]
    return told


async def forget(memory: Memory, arguments: Forget) -> Json:
    """Delete a fact, a note or an entity."""
    facts = facts_of(memory)
    if arguments.kind == "fact":
        await facts.delete_fact(arguments.id)
    elif arguments.kind == "note":
        await facts.delete_note(arguments.id)
    else:
        await facts.delete_entity((await find_entity(facts, arguments.id)).entity_id, force=True)
    return {"forgotten": arguments.id}


# ── why and changed ──────────────────────────────────────────────────────────


async def why(memory: Memory, arguments: WhyArguments) -> Json:
    """The provenance of a fact."""
    facts = facts_of(memory)
    found = await facts.why(arguments.fact_id)
    fact, *others = await facts_to_json(
        facts, [found.fact, *(f for _, f in found.replaced), *(f for _, f in found.replaced_by)]
    )
    before = len(found.replaced)
    ended = found.invalidation
    return {
        "fact": fact,
        "notes": [note_to_json(note) for note in found.notes],
        "replaced": others[:before],
        "replaced_by": others[before:],
        **({} if ended is None else {"ended_because": ended.reason}),
        "events": [event_to_json(event) for event in found.events],
    }


def note_to_json(note: Note) -> Json:
    source = {} if note.source is None else {"source": note.source}
    return {
        "note_id": note.note_id,
        "text": excerpt(note.text),
        "created": instant_text(note.created_at),
        "scope": note.scope,
        **source,
    }


def excerpt(text: str) -> str:
    """The beginning of a long text, marked as such."""
    return text if len(text) <= MAX_EXCERPT_CHARS else text[: MAX_EXCERPT_CHARS - 1] + "…"


def event_to_json(event: Event) -> Json:
    return {"position": event.position, "time": iso(event.timestamp), "event": event.type, "id": event.element or ""}


async def changed(memory: Memory, arguments: ChangedArguments) -> Json:
    """Events about facts, notes and entities after a time or a position, oldest first."""
    if arguments.since is not None and arguments.cursor is not None:
        raise InvalidFact("give either since or cursor", field="since")
    since = parse_time(arguments.since, "since")
    after = arguments.cursor or 0
    if since is not None:
        # Milliseconds: events of the given one count as after it.
        after = await memory.system.moments.position_at(At(instant=since // 1_000 - 1))
    query = EventQuery(after=after, limit=arguments.limit, types=TYPES)
    page = await LogReader(memory.system, memory.principal).page(query)
    shown = [event for event in page.events if event.type != HIDDEN]
    facts = await describe_facts(facts_of(memory), shown)
    items = [{**event_to_json(event), **facts.get(event.element or "", {})} for event in shown]
    more = {"next_cursor": page.reached} if page.has_more else {}
    return {"changes": items, **more}


async def describe_facts(facts: Facts, events: Iterable[Event]) -> dict[str, Json]:
    """The present state of the facts that events are about, by id; deleted ones are left out."""
    ids = {event.element for event in events if event.element and event.type.startswith(("Fact", "Evidence"))}
    async with facts.known() as session:
        rows: list[Fact] = await session.find_many(FACTS, sorted(ids)) if ids else []
    visible = [row for row in rows if facts.viewer.sees(row)]
    return {fact["fact_id"]: {"fact": fact} for fact in await facts_to_json(facts, visible)}


# ── merge ────────────────────────────────────────────────────────────────────


async def merge(memory: Memory, arguments: Merge) -> Json:
    """Suggest duplicates, preview a merge, merge, take a merge back, or remember that two are not the same."""
    facts = facts_of(memory)
    if arguments.action == "suggest":
        found = await facts.suggest_duplicates(limit=arguments.limit)
        return {
            "suggestions": [
                {"keep": entity_to_json(one.first), "merge": entity_to_json(one.second), "reason": one.reason}
                for one in found
            ]
        }
    if arguments.action == "undo":
        return await take_back_merge(facts, arguments)
    if arguments.keep is None or arguments.merge is None:
        raise InvalidFact("keep and merge name the two entities", field="keep")
    keep = await find_entity(facts, arguments.keep)
    gone = await find_entity(facts, arguments.merge)
    if arguments.action == "distinct":
        await facts.keep_apart(keep.entity_id, gone.entity_id)
        return {"distinct": [entity_to_json(keep), entity_to_json(gone)]}
    plan = await facts.preview_merge(keep.entity_id, gone.entity_id)
    told: dict[str, Any] = {
        "keep": entity_to_json(keep),
        "merge": entity_to_json(gone),
        "moved": await facts_to_json(facts, plan.moved[:MAX_FACTS]),
        "folded": len(plan.folded),
        "conflicts": [await facts_to_json(facts, group) for group in plan.conflicts[:MAX_FACTS]],
        "merged": arguments.action == "merge",
    }
    if arguments.action == "merge":
        await facts.merge_entities(keep.entity_id, gone.entity_id)
    return told


async def take_back_merge(facts: Facts, arguments: Merge) -> Json:
    """Undo the merge of an entity."""
    if arguments.merge is None:
        raise InvalidFact("merge is the id of the entity that was merged", field="merge")
    await facts.unmerge_entity(arguments.merge)
    back = await find_entity(facts, arguments.merge)
    return {"restored": entity_to_json(back)}


async def find_entity(facts: Facts, name: str) -> Entity:
    """The entity with an id or a name."""
    found = await facts.find_entity(name) or await facts.entity(name)
    if found is None:
        raise EntityNotFound(name)
    return found


def entity_to_json(entity: Entity) -> Json:
    return {"id": entity.entity_id, "name": entity.canonical}


MEMORY_TOOLS = (
    MemoryTool(
        "remember",
        "Remember",
        "Keep a note, and the facts it states. Known facts only gain evidence. Without single, values add up.",
        Remember,
        RESULT,
        ADDS,
        remember,
        keeps_key=True,
    ),
    MemoryTool(
        "recall",
        "Recall",
        "What is known about a question: facts that hold, notes, passages, nodes. omitted: how many more.",
        RecallArguments,
        RESULT,
        READS,
        recall,
        meta=TOOL_META,
    ),
    MemoryTool(
        "correct",
        "Correct a fact",
        "End, replace or retract a fact.",
        Correct,
        RESULT,
        CORRECTS,
        correct,
        keeps_key=True,
    ),
    MemoryTool(
        "forget",
        "Forget",
        "Delete a fact, a note, or an entity with its facts. The log keeps what happened.",
        Forget,
        RESULT,
        FORGETS,
        forget,
    ),
    MemoryTool(
        "why",
        "Why it is believed",
        "The notes behind a fact, what it replaced, what replaced it, and its events.",
        WhyArguments,
        RESULT,
        READS,
        why,
    ),
    MemoryTool(
        "changed",
        "What has changed",
        "Events about facts, notes and entities since a time, oldest first.",
        ChangedArguments,
        RESULT,
        READS,
        changed,
    ),
    MemoryTool(
        "merge",
        "Merge duplicates",
        "Suggest duplicate entities, preview a merge, merge, undo a merge, or say that two are distinct.",
        Merge,
        RESULT,
        FORGETS,
        merge,
        reads=lambda arguments: arguments.action in ("suggest", "preview"),
    ),
)
