"""Facts in a store that this process has opened: reading them, and ingesting notes."""

from __future__ import annotations

from collections.abc import Sequence

from ugs.facts.api import Facts
from ugs.facts.model import ENTITIES, Entity, Fact
from ugs.facts.note_json import note_of
from ugs.facts.reports import states_at
from ugs.facts.temporal.instants import instant_of, instant_text
from ugs.feature import CommandWarning
from ugs.log.at import At
from ugs.recall.api import DEFAULT_BUDGET_TOKENS, DEFAULT_FIRST, Recall
from ugs.recall.model import RecallKind
from ugs.system import System
from ugs_gateway.cli.clients import RecallQuestion, Record


async def fact_records(system: System, subject: str, moment: str, at: At | None) -> list[Record]:
    """All facts about a subject in the order of their start; `holds` says whether one holds at an instant."""
    facts = Facts(system)
    rows = await facts.timeline(subject, at)
    async with facts.known(at) as session:
        states = await states_at(session, rows, instant_of(moment))
    return [{**record, "holds": states[record["id"]] == "current"} for record in await describe_facts(facts, rows, at)]


async def describe_facts(facts: Facts, rows: Sequence[Fact], at: At | None = None) -> list[Record]:
    """Facts as records, with the names of their entities."""
    ids = {row.subject_entity_id for row in rows} | {row.object_entity_id for row in rows if row.object_entity_id}
    async with facts.known(at) as session:
        found: list[Entity] = await session.find_many(ENTITIES, sorted(ids))
    names = {entity.entity_id: entity.canonical for entity in found}
    return [_record(row, names) for row in rows]


async def recall_record(system: System, question: RecallQuestion, at: At | None) -> Record:
    """What answers a question."""
    found = await Recall(system).recall(
        question.query,
        DEFAULT_BUDGET_TOKENS if question.budget is None else question.budget,
        question.as_of,
        at,
        question.scopes,
        None if question.kinds is None else [RecallKind(kind) for kind in question.kinds],
        DEFAULT_FIRST if question.limit is None else question.limit,
    )
    return found.as_json()


async def ingest_notes(
    system: System, notes: Sequence[Record], scope: str, supported: bool, key: str | None, skip_known: bool
) -> tuple[Record, list[CommandWarning]]:
    """Ingest notes; returns how many there were, how many facts they state, and how many of these are new."""
    done = await Facts(system).ingest(
        *map(note_of, notes), scope=scope, supported=supported, skip_known=skip_known, key=key
    )
    return {"notes": len(done.notes), "facts": len(done.facts), "created": done.created}, done.warnings


def _record(row: Fact, names: dict[str, str]) -> Record:
    about = row.object_entity_id
    return {
        "id": row.fact_id,
        "subject": names.get(row.subject_entity_id),
        "predicate": row.predicate,
        "object": row.object_value if about is None else names.get(about),
        "scope": row.scope,
        "valid_from": instant_text(row.valid_from),
        "valid_to": None if row.valid_to is None else instant_text(row.valid_to),
    }
