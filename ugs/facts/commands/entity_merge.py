"""Merging of two entities: planned first (for a preview), then executed atomically.

Facts move to the entity that is kept. Where both have an equal fact, one stays with the evidence of both. The id and
the name of the merged entity resolve to the one that is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from ugs.events import Draft
from ugs.facts.access import AccessScope, agent_key
from ugs.facts.commands.entities import alias_drafts, facts_touching
from ugs.facts.errors import InvalidFact
from ugs.facts.events import build_draft, to_payload
from ugs.facts.model import (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_DISTINCTIONS,
    ENTITY_MERGES,
    ENTITY_NODES,
    EVIDENCE,
    FACTS,
    PREDICATES,
    SUPERSESSIONS,
    Entity,
    EntityAlias,
    EntityDistinction,
    EntityMerge,
    Evidence,
    Fact,
)
from ugs.facts.normalization import Space, new_id
from ugs.facts.resolution import RowReader, get_entity
from ugs.facts.temporal.instants import start_of
from ugs.facts.temporal.timeline import key_of, refresh_overrides, unlink_drafts
from ugs.feature import Command, Decider, Decision
from ugs.reads.filters import eq, in_
from ugs.storage import EventQuery, Session
from ugs.unit_of_work import UnitOfWork


class MergeEntities(Command, frozen=True):
    """Merge one entity into another."""

    keep_id: str
    merge_id: str
    space: Space | None = None


class KeepApart(Command, frozen=True):
    """Record that two entities are not the same, so that they are not suggested as duplicates again."""

    entity_id: str
    other_id: str
    space: Space | None = None


class MergePlan(Struct, frozen=True):
    """The effect of a merge."""

    keep: Entity
    merge: Entity
    moved: list[Fact]
    """The moved facts, in their state after the merge."""
    folded: list[tuple[Fact, Fact]]
    """Facts that would duplicate another one, with that one, which gets their evidence."""
    conflicts: list[list[Fact]]
    """Groups of open facts of a single-valued predicate that would hold at the same time."""
    aliases: list[str]

    def seen_by(self, viewer: AccessScope) -> MergePlan:
        """The plan restricted to facts that a reader may see."""
        return MergePlan(
            self.keep,
            self.merge,
            [fact for fact in self.moved if viewer.sees(fact)],
            [pair for pair in self.folded if all(map(viewer.sees, pair))],
            [group for group in self.conflicts if all(map(viewer.sees, group))],
            self.aliases,
        )


async def plan_merge(reader: RowReader, keep_id: str, merge_id: str, space: Space | None) -> MergePlan:
    """Compute the effect of a merge without executing it."""
    keep, merge = await get_entity(reader, keep_id, space), await get_entity(reader, merge_id, space)
    if keep.entity_id == merge.entity_id:
        raise InvalidFact("both ids mean the same entity already", field="mergeId")
    if (keep.tenant_id, keep.project_id) != (merge.tenant_id, merge.project_id):
        raise InvalidFact("entities of different tenants or projects cannot be merged", field="mergeId")
    theirs: list[Fact] = await reader.fetch(FACTS, facts_touching(merge.entity_id))
    ours: list[Fact] = await reader.fetch(FACTS, facts_touching(keep.entity_id))
    moved, folded = _split_duplicates(
        [_rewrite_fact(fact, merge, keep) for fact in theirs], ours, {f.fact_id for f in theirs}
    )
    known: list[EntityAlias] = await reader.fetch(ENTITY_ALIASES, eq("entity_id", merge.entity_id))
    aliases = [merge.canonical, *(alias.alias for alias in known)]
    gone = {fact.fact_id for fact, _ in folded}
    after = {fact.fact_id: fact for fact in (*ours, *moved) if fact.fact_id not in gone}
    return MergePlan(keep, merge, moved, folded, await _conflicts(reader, list(after.values())), aliases)


def _rewrite_fact(fact: Fact, merge: Entity, keep: Entity) -> Fact:
    def end(id: str | None) -> str | None:
        return keep.entity_id if id == merge.entity_id else id

    return msgspec.structs.replace(
        fact, subject_entity_id=end(fact.subject_entity_id), object_entity_id=end(fact.object_entity_id)
    )


def _content_identity(fact: Fact) -> tuple[object, ...]:
    """The identity of a fact for duplicate detection: its content, and its window unless it is open."""
    return (
        fact.scope,
        agent_key(fact.scope, fact.agent_id),
        fact.subject_entity_id,
        fact.predicate_id,
        fact.object_entity_id,
        fact.object_value,
        None if fact.valid_to is None else (fact.valid_from, fact.valid_to),
    )


def _split_duplicates(
    moved: list[Fact], ours: list[Fact], moving: set[str]
) -> tuple[list[Fact], list[tuple[Fact, Fact]]]:
    staying = {_content_identity(fact): fact for fact in ours if fact.fact_id not in moving}
    kept, folded = [], []
    for fact in moved:
        twin = staying.setdefault(_content_identity(fact), fact)
        if twin is fact:
            kept.append(fact)
        else:
            folded.append((fact, twin))
    return kept, folded


async def _conflicts(reader: RowReader, facts: list[Fact]) -> list[list[Fact]]:
    open_facts = [fact for fact in facts if fact.valid_to is None]
    ids = sorted({fact.predicate_id for fact in open_facts if fact.predicate_id})
    rows = await reader.fetch(PREDICATES, in_("predicate_id", ids)) if ids else []
    single = {row.predicate_id for row in rows if row.supersedes}
    groups: dict[tuple[object, ...], list[Fact]] = {}
    for fact in open_facts:
        if fact.predicate_id in single:
            matter = (fact.scope, agent_key(fact.scope, fact.agent_id), fact.subject_entity_id, fact.predicate_id)
            groups.setdefault(matter, []).append(fact)
    return [group for group in groups.values() if len(group) > 1]


async def merge_entities(command: MergeEntities, uow: UnitOfWork) -> Decision:
    """Decide the merge: facts first, then names, then the deletion of the merged entity."""
    plan = await plan_merge(uow, command.keep_id, command.merge_id, command.space)
    now = start_of(uow.now)
    for fact, twin in plan.folded:
        await uow.stage(await _fold(uow, fact, twin))
    await uow.stage(_move(fact, now) for fact in plan.moved)
    await _refresh_timelines(uow, plan.moved)
    for alias in plan.aliases:
        await uow.stage(await alias_drafts(uow, plan.keep, alias))
    await uow.stage(await _inherit_node_link(uow, plan))
    merged = plan.merge
    row = EntityMerge(
        merged.entity_id, plan.keep.entity_id, merged.tenant_id, merged.project_id, merged.canonical_norm, now
    )
    return Decision([build_draft(ENTITY_MERGES, row)])


async def _inherit_node_link(uow: UnitOfWork, plan: MergePlan) -> list[Draft]:
    """The kept entity takes over the merged one's graph node, unless it has its own."""
    theirs = await uow.find(ENTITY_NODES, plan.merge.entity_id)
    if theirs is None or await uow.find(ENTITY_NODES, plan.keep.entity_id) is not None:
        return []
    return [build_draft(ENTITIES, plan.keep, node_id=theirs.node_id)]


async def _refresh_timelines(uow: UnitOfWork, moved: list[Fact]) -> None:
    """Update the overrides of the single-valued keys that got facts from both entities."""
    for where in dict.fromkeys(key_of(fact) for fact in moved):
        rows = await uow.fetch(FACTS, where)
        predicate = await uow.find(PREDICATES, rows[0].predicate_id or "")
        if predicate is not None and predicate.supersedes:
            await refresh_overrides(uow, rows)


def _move(fact: Fact, now: int) -> Draft:
    data = {
        "fact_id": fact.fact_id,
        "subject_entity_id": fact.subject_entity_id,
        "object_entity_id": fact.object_entity_id,
        "updated_at": now,
    }
    return Draft("FactMoved", fact.fact_id, to_payload(data))


async def _fold(uow: UnitOfWork, fact: Fact, twin: Fact) -> list[Draft]:
    """Move the evidence of a fact to its duplicate, then delete the fact."""
    known = {row.note_id for row in await uow.fetch(EVIDENCE, eq("fact_id", twin.fact_id))}
    notes = [row.note_id for row in await uow.fetch(EVIDENCE, eq("fact_id", fact.fact_id))]
    links = await uow.fetch(SUPERSESSIONS, eq("to_fact_id", fact.fact_id))
    rows = [Evidence(new_id(), twin.fact_id, id, start_of(uow.now)) for id in notes if id not in known]
    return [
        *(build_draft(EVIDENCE, row) for row in rows),
        *unlink_drafts(sorted({link.from_fact_id for link in links}), fact.fact_id),
        Draft("FactDeleted", fact.fact_id, {"fact_id": fact.fact_id}),
    ]


async def keep_apart(command: KeepApart, uow: UnitOfWork) -> Decision:
    """Decide that two entities are not the same; nothing happens if that is known."""
    one, other = [await get_entity(uow, id, command.space) for id in (command.entity_id, command.other_id)]
    if one.entity_id == other.entity_id:
        raise InvalidFact("both ids mean the same entity", field="otherId")
    if (one.tenant_id, one.project_id) != (other.tenant_id, other.project_id):
        raise InvalidFact("entities of different tenants or projects are different anyway", field="otherId")
    first, second = sorted((one.entity_id, other.entity_id))
    if await uow.find(ENTITY_DISTINCTIONS, (first, second)) is not None:
        return Decision([])
    return Decision([build_draft(ENTITY_DISTINCTIONS, EntityDistinction(first, second, start_of(uow.now)))])


async def find_merge_position(session: Session, entity_id: str) -> int | None:
    """The position of the event that merged an entity away, which an undo of its transaction reverses."""
    events = await session.events(
        EventQuery(element=entity_id, types=frozenset({"EntityMerged", "EntityRestored"}), newest=True, limit=1)
    )
    return events[0].position if events and events[0].type == "EntityMerged" else None


DECIDERS: Mapping[type[Command], Decider] = {MergeEntities: merge_entities, KeepApart: keep_apart}
