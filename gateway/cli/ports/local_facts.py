"""Facts in a store that this process has opened: what is known about a subject, and notes that say more."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.cli.ports import Record
from ugs.facts.api import Facts
from ugs.facts.instants import instant_text
from ugs.facts.lines import note_of
from ugs.facts.model import ENTITIES, Entity, Fact
from ugs.feature import Warned
from ugs.moments import At
from ugs.system import System


async def fact_records(system: System, subject: str, at: At | None) -> list[Record]:
    """All facts about a subject in the order they began."""
    facts = Facts(system)
    rows = await facts.timeline(subject, at)
    ids = {row.subject_entity_id for row in rows} | {row.object_entity_id for row in rows if row.object_entity_id}
    async with facts.known(at) as session:
        found: list[Entity] = await session.find_many(ENTITIES, sorted(ids))
    names = {entity.entity_id: entity.canonical for entity in found}
    return [_record(row, names) for row in rows]


async def ingested(
    system: System, notes: Sequence[Record], scope: str, supported: bool, key: str | None
) -> tuple[Record, list[Warned]]:
    """Keep notes; how many there were, how many facts they say, and how many of these are new."""
    done = await Facts(system).ingest(*map(note_of, notes), scope=scope, supported=supported, key=key)
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
