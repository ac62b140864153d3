"""Commands about entities: upsert by normal form, aliases, deletion."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ugs.desk import Desk
from ugs.events import Draft
from ugs.facts.errors import EntityInUse
from ugs.facts.events import draft_of, new_draft
from ugs.facts.instants import Instant, start_of
from ugs.facts.model import ENTITIES, ENTITY_ALIASES, ENTITY_NODES, FACTS, Entity, EntityAlias
from ugs.facts.names import Space, checked_space, display_name, new_id, normalize_name
from ugs.facts.resolving import EntityRef, find_by_name, find_ref, get_entity
from ugs.feature import Command, Decider, Decision
from ugs.identity import check_identifier
from ugs.reads.where import Where, all_of, any_of, eq


class UpsertEntity(Command, frozen=True):
    """Know an entity by this name; whitespace and case make no difference."""

    tenant_id: str
    project_id: str
    name: str
    kind: str | None = None
    aliases: tuple[str, ...] = ()
    node_id: str | None = None


class AddEntityAlias(Command, frozen=True):
    """Know an entity by another name, too."""

    entity_id: str
    alias: str
    space: Space | None = None


class DeleteEntity(Command, frozen=True):
    """Forget an entity; facts that refer to it forbid it, unless forced."""

    entity_id: str
    force: bool = False
    space: Space | None = None


async def upsert_entity(command: UpsertEntity, desk: Desk) -> Decision:
    """Decide what an upsert leaves: a new entity, a newer spelling, or nothing to do."""
    space = checked_space(command.tenant_id, command.project_id)
    if command.node_id is not None:
        check_identifier(command.node_id, "nodeId")
    entity = await ensure_entity(desk, space, command.name, command.kind, command.node_id)
    for alias in command.aliases:
        await desk.stage(await alias_drafts(desk, entity, alias))
    return Decision([])


async def ensure_entity(
    desk: Desk, space: Space, name: str, kind: str | None = None, node_id: str | None = None
) -> Entity:
    """The entity of this name, made or brought up to date on the desk."""
    found = await find_by_name(desk, space, display_name(name))
    return await bring_up_to_date(desk, space, found, name, kind, node_id)


async def bring_up_to_date(
    desk: Desk, space: Space, found: Entity | None, name: str, kind: str | None, node_id: str | None = None
) -> Entity:
    """The entity that was found under a name, with what is new about it, or a new one."""
    canonical = display_name(name)
    kind = None if kind is None else display_name(kind, "kind")
    entity = _new(space, canonical, kind, start_of(desk.now)) if found is None else _newer(found, canonical, kind, desk)
    if found is None:
        desk.know_absent(ENTITIES, entity.entity_id)
    link = await _new_link(desk, entity, node_id)
    if found is None or link or _differs(found, entity):
        await desk.stage([draft_of(ENTITIES, entity, **link)])
        return entity
    return found


def _new(space: Space, canonical: str, kind: str | None, now: Instant) -> Entity:
    return Entity(new_id(), space.tenant, space.project, canonical, normalize_name(canonical), kind, now, now)


def _newer(found: Entity, canonical: str, kind: str | None, desk: Desk) -> Entity:
    """The newest spelling wins; a merged name says nothing about the spelling of the entity it leads to."""
    same_name = normalize_name(canonical) == found.canonical_norm
    return msgspec.structs.replace(
        found,
        canonical=canonical if same_name else found.canonical,
        kind=kind or found.kind,
        updated_at=start_of(desk.now),
    )


def _differs(old: Entity, new: Entity) -> bool:
    return (old.canonical, old.kind) != (new.canonical, new.kind)


async def _new_link(desk: Desk, entity: Entity, node_id: str | None) -> dict[str, str]:
    if node_id is None:
        return {}
    link = await desk.find(ENTITY_NODES, entity.entity_id)
    return {} if link is not None and link.node_id == node_id else {"node_id": node_id}


async def ensure_ref(desk: Desk, space: Space, ref: EntityRef) -> Entity:
    """The entity a reference means; a new name makes a new entity, an unknown id is an error."""
    found = await find_ref(desk, space, ref)
    if ref.id is not None:
        return found or await get_entity(desk, ref.id, space)
    if found is not None and normalize_name(ref.name or "") != found.canonical_norm:
        return found
    return await bring_up_to_date(desk, space, found, ref.name or "", ref.kind)


async def alias_drafts(desk: Desk, entity: Entity, alias: str) -> list[Draft]:
    """A new alias, a newer spelling of one, or nothing when it is known already."""
    text = display_name(alias, "alias")
    norm = normalize_name(text)
    named = all_of(eq("entity_id", entity.entity_id), eq("alias_norm", norm))
    found = await desk.fetch(ENTITY_ALIASES, named)
    if found and found[0].alias == text:
        return []
    if found:
        return [draft_of(ENTITY_ALIASES, msgspec.structs.replace(found[0], alias=text))]
    row = EntityAlias(new_id(), entity.entity_id, text, norm, start_of(desk.now))
    return [new_draft(desk, ENTITY_ALIASES, row)]


async def add_entity_alias(command: AddEntityAlias, desk: Desk) -> Decision:
    """Decide about another name of an entity."""
    entity = await get_entity(desk, command.entity_id, command.space)
    return Decision(await alias_drafts(desk, entity, command.alias))


def facts_touching(entity_id: str) -> Where:
    """Facts that an entity is the subject or the object of."""
    return any_of(eq("subject_entity_id", entity_id), eq("object_entity_id", entity_id))


async def delete_entity(command: DeleteEntity, desk: Desk) -> Decision:
    """Decide whether an entity may go, and what goes with it."""
    entity = await get_entity(desk, command.entity_id, command.space)
    facts = await desk.fetch(FACTS, facts_touching(entity.entity_id))
    if facts and not command.force:
        raise EntityInUse(entity.entity_id, len(facts))
    gone = [Draft("FactDeleted", fact.fact_id, {"fact_id": fact.fact_id}) for fact in facts]
    return Decision([*gone, Draft("EntityDeleted", entity.entity_id, {"entity_id": entity.entity_id})])


DECIDERS: Mapping[type[Command], Decider] = {
    UpsertEntity: upsert_entity,
    AddEntityAlias: add_entity_alias,
    DeleteEntity: delete_entity,
}
