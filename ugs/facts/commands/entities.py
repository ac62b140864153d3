"""Commands about entities: upsert by normalised name, aliases, renaming, deletion."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ugs.events import Draft
from ugs.facts.access import AccessScope
from ugs.facts.errors import EntityInUse, EntityNameTaken
from ugs.facts.events import build_draft, new_draft
from ugs.facts.model import ENTITIES, ENTITY_ALIASES, ENTITY_MERGES, ENTITY_NODES, FACTS, Entity, EntityAlias
from ugs.facts.normalization import Space, display_name, new_id, normalize_name, validate_space
from ugs.facts.resolution import EntityRef, find_by_name, find_ref, get_entity
from ugs.facts.temporal.instants import Instant, start_of
from ugs.facts.temporal.timeline import delete_facts
from ugs.feature import Command, Decider, Decision
from ugs.identity import check_identifier
from ugs.reads.filters import Where, all_of, any_of, eq
from ugs.unit_of_work import UnitOfWork


class UpsertEntity(Command, frozen=True):
    """Create or update the entity with this name; names compare without regard to whitespace and case."""

    tenant_id: str
    project_id: str
    name: str
    kind: str | None = None
    aliases: tuple[str, ...] = ()
    node_id: str | None = None


class AddEntityAlias(Command, frozen=True):
    """Add an alias to an entity."""

    entity_id: str
    alias: str
    space: Space | None = None


class RenameEntity(Command, frozen=True):
    """Rename an entity; the former name becomes an alias."""

    entity_id: str
    name: str
    space: Space | None = None


class DeleteEntity(Command, frozen=True):
    """Delete an entity; refused if facts refer to it, unless forced."""

    entity_id: str
    force: bool = False
    space: Space | None = None
    agent: str | None = None


async def upsert_entity(command: UpsertEntity, uow: UnitOfWork) -> Decision:
    """Decide an upsert: a new entity, another spelling as an alias, or no event."""
    space = validate_space(command.tenant_id, command.project_id)
    if command.node_id is not None:
        check_identifier(command.node_id, "nodeId")
    entity = await ensure_entity(uow, space, command.name, command.kind, command.node_id)
    for alias in command.aliases:
        await uow.stage(await alias_drafts(uow, entity, alias))
    return Decision([])


async def ensure_entity(
    uow: UnitOfWork, space: Space, name: str, kind: str | None = None, node_id: str | None = None
) -> Entity:
    """The entity with this name, staged as new or updated if necessary."""
    found = await find_by_name(uow, space, display_name(name))
    return await update_entity(uow, space, found, name, kind, node_id)


async def update_entity(
    uow: UnitOfWork, space: Space, found: Entity | None, name: str, kind: str | None, node_id: str | None = None
) -> Entity:
    """Stage the changes of the entity found for a name, or a new entity if none was found."""
    canonical = display_name(name)
    kind = None if kind is None else display_name(kind, "kind")
    if found is None:
        entity = _new_entity(space, canonical, kind, start_of(uow.now))
        uow.cache_absent(ENTITIES, entity.entity_id)
    else:
        entity = found if kind in (None, found.kind) else _updated(found, uow, kind=kind)
        await _keep_spelling(uow, entity, canonical)
    link = await _new_link(uow, entity, node_id)
    if entity is not found or link:
        await uow.stage([build_draft(ENTITIES, entity if entity is not found else _updated(entity, uow), **link)])
    return entity


def _new_entity(space: Space, canonical: str, kind: str | None, now: Instant) -> Entity:
    return Entity(new_id(), space.tenant, space.project, canonical, normalize_name(canonical), kind, now, now)


def _updated(entity: Entity, uow: UnitOfWork, **changes: str) -> Entity:
    return msgspec.structs.replace(entity, updated_at=start_of(uow.now), **changes)


async def _keep_spelling(uow: UnitOfWork, entity: Entity, spelling: str) -> None:
    """Keep the first spelling as the name, and the first different spelling as an alias."""
    if spelling == entity.canonical or normalize_name(spelling) != entity.canonical_norm:
        return
    named = all_of(eq("entity_id", entity.entity_id), eq("alias_norm", entity.canonical_norm))
    if not await uow.fetch(ENTITY_ALIASES, named):
        await uow.stage(await alias_drafts(uow, entity, spelling))


async def rename_entity(command: RenameEntity, uow: UnitOfWork) -> Decision:
    """Decide a new name of an entity; raises `EntityNameTaken` if another entity of the project has it."""
    entity = await get_entity(uow, command.entity_id, command.space)
    name = display_name(command.name)
    if name == entity.canonical:
        return Decision([])
    taken = await find_by_name(uow, Space(entity.tenant_id, entity.project_id), name)
    if taken is not None and taken.entity_id != entity.entity_id:
        raise EntityNameTaken(name, taken.entity_id)
    await uow.stage(await alias_drafts(uow, entity, entity.canonical))
    renamed = _updated(entity, uow, canonical=name, canonical_norm=normalize_name(name))
    return Decision([build_draft(ENTITIES, renamed)])


async def _new_link(uow: UnitOfWork, entity: Entity, node_id: str | None) -> dict[str, str]:
    if node_id is None:
        return {}
    link = await uow.find(ENTITY_NODES, entity.entity_id)
    return {} if link is not None and link.node_id == node_id else {"node_id": node_id}


async def ensure_ref(uow: UnitOfWork, space: Space, ref: EntityRef) -> Entity:
    """Resolve a reference; an unknown name creates an entity, an unknown id is an error."""
    found = await find_ref(uow, space, ref)
    if ref.id is not None:
        return found or await get_entity(uow, ref.id, space)
    if found is not None and normalize_name(ref.name or "") != found.canonical_norm:
        return found
    return await update_entity(uow, space, found, ref.name or "", ref.kind)


async def alias_drafts(uow: UnitOfWork, entity: Entity, alias: str) -> list[Draft]:
    """The event for a new alias or a new spelling of one; none if it is known."""
    text = display_name(alias, "alias")
    norm = normalize_name(text)
    named = all_of(eq("entity_id", entity.entity_id), eq("alias_norm", norm))
    found = await uow.fetch(ENTITY_ALIASES, named)
    if found and found[0].alias == text:
        return []
    if found:
        return [build_draft(ENTITY_ALIASES, msgspec.structs.replace(found[0], alias=text))]
    row = EntityAlias(new_id(), entity.entity_id, text, norm, start_of(uow.now))
    return [new_draft(uow, ENTITY_ALIASES, row)]


async def add_entity_alias(command: AddEntityAlias, uow: UnitOfWork) -> Decision:
    """Decide an additional alias of an entity."""
    entity = await get_entity(uow, command.entity_id, command.space)
    return Decision(await alias_drafts(uow, entity, command.alias))


def facts_touching(entity_id: str) -> Where:
    """The condition for facts with the entity as subject or object."""
    return any_of(eq("subject_entity_id", entity_id), eq("object_entity_id", entity_id))


async def delete_entity(command: DeleteEntity, uow: UnitOfWork) -> Decision:
    """Decide the deletion of an entity, with its facts if forced."""
    entity = await get_entity(uow, command.entity_id, command.space)
    facts = await uow.fetch(FACTS, facts_touching(entity.entity_id))
    visible = list(filter(AccessScope(command.space, command.agent).sees, facts))
    if facts and not command.force:
        raise EntityInUse(entity.entity_id, len(visible))
    if len(visible) < len(facts):  # private facts of another agent, not the caller's to delete
        raise EntityInUse(entity.entity_id, 0)
    await delete_facts(uow, facts)
    merged = [row.entity_id for row in await uow.fetch(ENTITY_MERGES, eq("into_entity_id", entity.entity_id))]
    await uow.stage(Draft("EntityMergeEnded", id, {"entity_id": id}) for id in sorted(merged))
    return Decision([Draft("EntityDeleted", entity.entity_id, {"entity_id": entity.entity_id})])


DECIDERS: Mapping[type[Command], Decider] = {
    UpsertEntity: upsert_entity,
    AddEntityAlias: add_entity_alias,
    RenameEntity: rename_entity,
    DeleteEntity: delete_entity,
}
