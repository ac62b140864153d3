"""Corrections of facts and of entities in a store that this process has opened."""

from __future__ import annotations

from ugs.facts.api import Facts
from ugs.facts.errors import EntityNotFound
from ugs.facts.model import Entity
from ugs.facts.resolution import EntityRef
from ugs.feature import CommandWarning
from ugs.system import System
from ugs_gateway.cli.clients import Correction, Record
from ugs_gateway.cli.clients.local_facts import describe_facts


async def correct_fact(system: System, given: Correction) -> tuple[Record, list[CommandWarning]]:
    """The effect of a correction."""
    facts = Facts(system)
    done = await facts.correct_fact(
        given.fact,
        given.action,
        given.reason,
        given.value,
        object=None if given.object is None else EntityRef(name=given.object),
        moment=given.when,
        reopen=given.reopen,
    )
    rows = [*filter(None, (done.fact, done.before)), *done.reopened]
    told = {record["id"]: record for record in await describe_facts(facts, rows)}
    fact, before = (None if row is None else told[row.fact_id] for row in (done.fact, done.before))
    return {"fact": fact, "before": before, "reopened": [told[row.fact_id] for row in done.reopened]}, done.warnings


def to_record(entity: Entity) -> Record:
    """An entity as a record."""
    return {"id": entity.entity_id, "name": entity.canonical}


async def find_entity(system: System, name: str) -> Record | None:
    """The entity with a name or an alias."""
    found = await Facts(system).entity(name)
    return None if found is None else to_record(found)


async def list_duplicates(system: System) -> list[Record]:
    """Pairs of entities that may be the same, most certain first."""
    found = await Facts(system).suggest_duplicates()
    return [{"first": to_record(one.first), "second": to_record(one.second), "reason": one.reason} for one in found]


async def merge_entities(system: System, keep: str, other: str, preview: bool) -> Record:
    """The entity that stays, or what a merge would do."""
    facts = Facts(system)
    if preview:
        plan = await facts.preview_merge(keep, other)
        conflicts = sum(map(len, plan.conflicts))
        counts = {"moved": len(plan.moved), "folded": len(plan.folded), "conflicts": conflicts}
        return {**to_record(plan.keep), **counts, "aliases": plan.aliases}
    await facts.merge_entities(keep, other)
    return await read_entity(facts, keep)


async def unmerge_entity(system: System, id: str) -> Record:
    """The entity that is itself again."""
    facts = Facts(system)
    await facts.unmerge_entity(id)
    return await read_entity(facts, id)


async def read_entity(facts: Facts, id: str) -> Record:
    found = await facts.find_entity(id)
    if found is None:  # deleted since
        raise EntityNotFound(id)
    return to_record(found)
