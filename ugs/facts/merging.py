"""Merging two entities into one: planned, looked at, then done in one batch.

Facts move to the entity that stays. Where both said the same, one fact stays with the evidence of both. The id and the
name of the merged entity lead to the one that stays.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from ugs.desk import Desk
from ugs.events import Draft
from ugs.facts.entities import alias_drafts, facts_touching
from ugs.facts.errors import InvalidFact
from ugs.facts.events import draft_of, told
from ugs.facts.instants import start_of
from ugs.facts.model import (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_MERGES,
    ENTITY_NODES,
    EVIDENCE,
    FACTS,
    PREDICATES,
    Entity,
    EntityAlias,
    EntityMerge,
    Evidence,
    Fact,
)
from ugs.facts.names import Space, new_id
from ugs.facts.resolving import Reader, get_entity
from ugs.feature import Command, Decider, Decision
from ugs.reads.where import eq, in_


class MergeEntities(Command, frozen=True):
    """Make one entity part of another."""

    keep_id: str
    merge_id: str
    space: Space | None = None


class MergePlan(Struct, frozen=True):
    """What a merge would do."""

    keep: Entity
    merge: Entity
    moved: list[Fact]
    """Facts as they would be afterwards."""
    folded: list[tuple[Fact, Fact]]
    """Facts that would say the same as another one, with that one; their evidence goes to it."""
    conflicts: list[list[Fact]]
    """Open facts of single-valued predicates that would stand beside each other."""
    aliases: list[str]


async def plan_merge(reader: Reader, keep_id: str, merge_id: str, space: Space | None) -> MergePlan:
    """Work out a merge without doing it."""
    keep, merge = await get_entity(reader, keep_id, space), await get_entity(reader, merge_id, space)
    if keep.entity_id == merge.entity_id:
        raise InvalidFact("both ids mean the same entity already", field="mergeId")
    if (keep.tenant_id, keep.project_id) != (merge.tenant_id, merge.project_id):
        raise InvalidFact("entities of different tenants or projects cannot be merged", field="mergeId")
    theirs: list[Fact] = await reader.fetch(FACTS, facts_touching(merge.entity_id))
    ours: list[Fact] = await reader.fetch(FACTS, facts_touching(keep.entity_id))
    moved, folded = _sorted_out([_moved(fact, merge, keep) for fact in theirs], ours, {f.fact_id for f in theirs})
    known: list[EntityAlias] = await reader.fetch(ENTITY_ALIASES, eq("entity_id", merge.entity_id))
    aliases = [merge.canonical, *(alias.alias for alias in known)]
    gone = {fact.fact_id for fact, _ in folded}
    after = {fact.fact_id: fact for fact in (*ours, *moved) if fact.fact_id not in gone}
    return MergePlan(keep, merge, moved, folded, await _conflicts(reader, list(after.values())), aliases)


def _moved(fact: Fact, merge: Entity, keep: Entity) -> Fact:
    def end(id: str | None) -> str | None:
        return keep.entity_id if id == merge.entity_id else id

    return msgspec.structs.replace(
        fact, subject_entity_id=end(fact.subject_entity_id), object_entity_id=end(fact.object_entity_id)
    )


def _said(fact: Fact) -> tuple[object, ...]:
    """What a fact says, and whether it is still open: two open facts that say it are one too many."""
    return (
        fact.scope,
        fact.subject_entity_id,
        fact.predicate_id,
        fact.object_entity_id,
        fact.object_value,
        None if fact.valid_to is None else (fact.valid_from, fact.valid_to),
    )


def _sorted_out(moved: list[Fact], ours: list[Fact], moving: set[str]) -> tuple[list[Fact], list[tuple[Fact, Fact]]]:
    staying = {_said(fact): fact for fact in ours if fact.fact_id not in moving}
    kept, folded = [], []
    for fact in moved:
        twin = staying.setdefault(_said(fact), fact)
        if twin is fact:
            kept.append(fact)
        else:
            folded.append((fact, twin))
    return kept, folded


async def _conflicts(reader: Reader, facts: list[Fact]) -> list[list[Fact]]:
    open_facts = [fact for fact in facts if fact.valid_to is None]
    ids = sorted({fact.predicate_id for fact in open_facts if fact.predicate_id})
    rows = await reader.fetch(PREDICATES, in_("predicate_id", ids)) if ids else []
    single = {row.predicate_id for row in rows if row.supersedes}
    groups: dict[tuple[object, ...], list[Fact]] = {}
    for fact in open_facts:
        if fact.predicate_id in single:
            groups.setdefault((fact.scope, fact.subject_entity_id, fact.predicate_id), []).append(fact)
    return [group for group in groups.values() if len(group) > 1]


async def merge_entities(command: MergeEntities, desk: Desk) -> Decision:
    """Decide the merge: facts first, names next, then the merged entity goes."""
    plan = await plan_merge(desk, command.keep_id, command.merge_id, command.space)
    now = start_of(desk.now)
    for fact, twin in plan.folded:
        await desk.stage(await _fold(desk, fact, twin))
    await desk.stage(_move(fact, now) for fact in plan.moved)
    for alias in plan.aliases:
        await desk.stage(await alias_drafts(desk, plan.keep, alias))
    await desk.stage(await _inherited_link(desk, plan))
    merged = plan.merge
    row = EntityMerge(
        merged.entity_id, plan.keep.entity_id, merged.tenant_id, merged.project_id, merged.canonical_norm, now
    )
    return Decision([draft_of(ENTITY_MERGES, row)])


async def _inherited_link(desk: Desk, plan: MergePlan) -> list[Draft]:
    """The entity that stays points at the merged one's graph node, unless it has its own."""
    theirs = await desk.find(ENTITY_NODES, plan.merge.entity_id)
    if theirs is None or await desk.find(ENTITY_NODES, plan.keep.entity_id) is not None:
        return []
    return [draft_of(ENTITIES, plan.keep, node_id=theirs.node_id)]


def _move(fact: Fact, now: int) -> Draft:
    data = {
        "fact_id": fact.fact_id,
        "subject_entity_id": fact.subject_entity_id,
        "object_entity_id": fact.object_entity_id,
        "updated_at": now,
    }
    return Draft("FactMoved", fact.fact_id, told(data))


async def _fold(desk: Desk, fact: Fact, twin: Fact) -> list[Draft]:
    """The evidence of a fact goes to the one that says the same; then the fact goes."""
    known = {row.note_id for row in await desk.fetch(EVIDENCE, eq("fact_id", twin.fact_id))}
    notes = [row.note_id for row in await desk.fetch(EVIDENCE, eq("fact_id", fact.fact_id))]
    rows = [Evidence(new_id(), twin.fact_id, id, start_of(desk.now)) for id in notes if id not in known]
    return [*(draft_of(EVIDENCE, row) for row in rows), Draft("FactDeleted", fact.fact_id, {"fact_id": fact.fact_id})]


DECIDERS: Mapping[type[Command], Decider] = {MergeEntities: merge_entities}
