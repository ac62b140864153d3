"""Resolution of references: entities by id, name or alias; predicates by alias, nearest scope first.

Works on a unit of work, for commands, and on a session, for queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from ugs.facts.errors import EntityAmbiguous, EntityNotFound, FactNotFound, InvalidFact, NoteNotFound, PredicateNotFound
from ugs.facts.model import (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_MERGES,
    FACTS,
    NOTES,
    PREDICATE_ALIASES,
    PREDICATES,
    Entity,
    Fact,
    Note,
    Predicate,
    PredicateAlias,
)
from ugs.facts.normalization import Space, display_name, is_uuid, normalize_name, scope_keys
from ugs.reads.filters import Where, all_of, eq, in_
from ugs.storage import Session
from ugs.tables import Row, Table


class RowReader(Protocol):
    """The methods of a unit of work or a session that look-ups need."""

    async def find(self, table: Table, key: Any) -> Row | None: ...

    async def fetch(self, table: Table, where: Where = ...) -> list[Row]: ...


class EntityRef(Struct, frozen=True):
    """A reference to an entity by id, or by name (then it may be created, with a kind)."""

    id: str | None = None
    name: str | None = None
    kind: str | None = None


def in_space(space: Space | None) -> Where:
    """The condition for rows of a tenant and project; all rows if `space` is None."""
    return all_of() if space is None else all_of(eq("tenant_id", space.tenant), eq("project_id", space.project))


def belongs(row: Any, space: Space | None) -> bool:
    return space is None or (row.tenant_id, row.project_id) == (space.tenant, space.project)


async def find_entity(reader: RowReader, id: str, space: Space | None) -> Entity | None:
    """The entity with this id, or the one it was merged into; None if it is outside the space."""
    if not is_uuid(id):
        return None
    seen: set[str] = set()
    entity: Entity | None = await reader.find(ENTITIES, id)
    while entity is None and id not in seen:
        seen.add(id)
        merge = await reader.find(ENTITY_MERGES, id)
        if merge is None:
            return None
        id = merge.into_entity_id
        entity = await reader.find(ENTITIES, id)
    return entity if entity is not None and belongs(entity, space) else None


async def get_entity(reader: RowReader, id: str, space: Space | None) -> Entity:
    entity = await find_entity(reader, id, space)
    if entity is None:
        raise EntityNotFound(id)
    return entity


def is_named(space: Space, norm: str) -> Where:
    """The condition for entities, or merged entities, with this normalised name."""
    return all_of(eq("canonical_norm", norm), in_space(space))


def is_aliased(norm: str) -> Where:
    """The condition for aliases with this normalised name, in any project."""
    return eq("alias_norm", norm)


def match_predicate_alias(space: Space, norm: str) -> Where:
    """The condition for predicate aliases with this normalised name that are available in a project."""
    return all_of(eq("alias_norm", norm), in_("scope_key", scope_keys(space)))


async def find_entities(session: Session, ids: Iterable[str], space: Space | None) -> dict[str, Entity]:
    """As `find_entity`, for many ids, in batches: one look-up for all, and two more for each level of merges."""
    leads = {id: id for id in ids if is_uuid(id)}
    found: dict[str, Entity] = {}
    seen: set[str] = set()
    while wanted := sorted(set(leads.values()) - found.keys() - seen):
        seen.update(wanted)
        found |= {row.entity_id: row for row in await session.find_many(ENTITIES, wanted)}
        gone = [id for id in wanted if id not in found]
        merges = await session.find_many(ENTITY_MERGES, gone) if gone else []
        into = {merge.entity_id: merge.into_entity_id for merge in merges}
        leads = {id: into.get(lead, lead) for id, lead in leads.items()}
    return {id: found[lead] for id, lead in leads.items() if lead in found and belongs(found[lead], space)}


async def find_by_name(reader: RowReader, space: Space, name: str) -> Entity | None:
    """The entity with this name, or the one that an entity with this name was merged into."""
    named = is_named(space, normalize_name(name))
    found = await reader.fetch(ENTITIES, named)
    if found:
        entity: Entity = found[0]
        return entity
    for merge in await reader.fetch(ENTITY_MERGES, named):
        return await find_entity(reader, merge.into_entity_id, space)
    return None


async def find_by_surface(reader: RowReader, space: Space, surface: str) -> Entity | None:
    """The entity for a text: by name first, then by alias; raises `EntityAmbiguous` if several have the alias."""
    display_name(surface, "name")
    found = await find_by_name(reader, space, surface)
    if found is not None:
        return found
    aliases = await reader.fetch(ENTITY_ALIASES, is_aliased(normalize_name(surface)))
    entities = [await reader.find(ENTITIES, id) for id in dict.fromkeys(alias.entity_id for alias in aliases)]
    mine = [entity for entity in entities if entity is not None and belongs(entity, space)]
    if len(mine) > 1:
        raise EntityAmbiguous(surface, sorted(entity.entity_id for entity in mine))
    return mine[0] if mine else None


async def find_ref(reader: RowReader, space: Space, ref: EntityRef) -> Entity | None:
    """Resolve a reference to an entity, or None."""
    if (ref.id is None) == (ref.name is None):
        raise InvalidFact("an entity is named by its id or by its name, and not by both")
    if ref.id is not None:
        return await find_entity(reader, ref.id, space)
    return await find_by_surface(reader, space, ref.name or "")


async def get_ref(reader: RowReader, space: Space, ref: EntityRef) -> Entity:
    entity = await find_ref(reader, space, ref)
    if entity is None:
        raise EntityNotFound(ref.id or ref.name or "")
    return entity


async def find_predicate(reader: RowReader, space: Space, alias: str) -> Predicate | None:
    """The predicate with an alias, nearest scope first: tenant and project, project of all tenants, global."""
    display_name(alias, "predicate")
    keys = scope_keys(space)
    found: list[PredicateAlias] = await reader.fetch(
        PREDICATE_ALIASES, match_predicate_alias(space, normalize_name(alias))
    )
    for alias_row in sorted(found, key=lambda row: keys.index(row.scope_key)):
        predicate: Predicate | None = await reader.find(PREDICATES, alias_row.predicate_id)
        if predicate is not None:
            return predicate
    return None


async def get_predicate(reader: RowReader, id: str, space: Space | None) -> Predicate:
    """The predicate with this id; raises `PredicateNotFound` also if it is not visible in the space."""
    predicate: Predicate | None = await reader.find(PREDICATES, id) if is_uuid(id) else None
    if predicate is None or not is_visible_in(predicate, space):
        raise PredicateNotFound(id)
    return predicate


def is_visible_in(predicate: Predicate, space: Space | None) -> bool:
    """Whether the predicate is visible in the space."""
    return space is None or predicate.scope_key in scope_keys(space)


async def get_fact(reader: RowReader, id: str, space: Space | None) -> Fact:
    fact: Fact | None = await reader.find(FACTS, id) if is_uuid(id) else None
    if fact is None or not belongs(fact, space):
        raise FactNotFound(id)
    return fact


async def get_note(reader: RowReader, id: str, space: Space | None) -> Note:
    note: Note | None = await reader.find(NOTES, id) if is_uuid(id) else None
    if note is None or not belongs(note, space):
        raise NoteNotFound(id)
    return note


async def get_all(reader: RowReader, table: Table, key: str, ids: Sequence[str]) -> dict[str, Any]:
    """Records by id, in one fetch."""
    rows = await reader.fetch(table, in_(key, sorted(set(ids)))) if ids else []
    return {getattr(row, key): row for row in rows}
