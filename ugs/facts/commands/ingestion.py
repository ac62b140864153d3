"""Ingestion: notes with the entities and relations extracted from them, in one atomic command.

Invalid input is rejected with the path of the part at fault. By default names and predicates must occur in the note or
in one of its quotes, so that no fact is recorded without support in the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Protocol
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from ugs.errors import UgsError
from ugs.facts.access import agent_key
from ugs.facts.commands.entities import alias_drafts, ensure_entity
from ugs.facts.commands.facts import AddFact, NoteRef, assert_fact
from ugs.facts.commands.notes import AddNote, ensure_note
from ugs.facts.commands.predicates import (
    ConfigurePredicate,
    RegisterPredicate,
    configure_predicate,
    register_predicate,
)
from ugs.facts.errors import StructuredInvalid
from ugs.facts.model import ACTIVE, DEPRECATED, NOTES, SINGLE, Note
from ugs.facts.normalization import MAX_NAME, Space, normalize_name, validate_space
from ugs.facts.resolution import EntityRef, find_predicate
from ugs.facts.temporal.instants import Instant
from ugs.feature import Command, CommandWarning, Decider, Decision
from ugs.unit_of_work import UnitOfWork
from ugs.values import to_text

MAX_NOTES = 100
MAX_ENTITIES = 32
MAX_RELATIONS = 64
MAX_ALIASES = 16


class Mention(Struct, frozen=True):
    """An entity mentioned in a note."""

    canonical: str
    kind: str | None = None
    aliases: tuple[str, ...] = ()


class Object(Struct, frozen=True):
    """The object of a relation: exactly one of entity and value."""

    entity: str | None = None
    value: str | None = None


class Stated(Struct, frozen=True):
    """A relation stated in a note."""

    subject: str
    predicate: str
    object: Object
    valid_from: Instant | None = None
    valid_to: Instant | None = None


class NoteToIngest(Struct, frozen=True):
    """A note with the entities and relations extracted from it."""

    text: str
    source: str | None = None
    note_id: str | None = None
    quotes: tuple[str, ...] = ()
    entities: tuple[Mention, ...] = ()
    relations: tuple[Stated, ...] = ()


class Ingest(Command, frozen=True):
    """Add notes with their entities and facts."""

    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    notes: tuple[NoteToIngest, ...]
    supported: bool = True
    """Reject names and predicates that occur neither in the note nor in a quote."""
    single: tuple[str, ...] = ()
    """Predicates to make active and single-valued first; unknown ones are registered."""
    skip_known: bool = False
    """Leave out each note without an id that was ingested so before, with all that it states."""


async def ingest(command: Ingest, uow: UnitOfWork) -> Decision:
    """Decide all notes in order, each seeing the changes of the ones before."""
    space = validate_space(command.tenant_id, command.project_id)
    if not 1 <= len(command.notes) <= MAX_NOTES:
        raise StructuredInvalid("notes", f"between 1 and {MAX_NOTES} notes at once")
    for name in command.single:
        await _make_single(uow, space, name)
    warnings: list[CommandWarning] = []
    position = 0
    for index, given in enumerate(command.notes):
        prefix = f"notes[{index}]." if len(command.notes) > 1 else ""
        check_sizes(given, f"{prefix}structured")
        if command.supported:
            check_support(given, f"{prefix}structured")
        if command.skip_known and given.note_id is None:
            given = replace(given, note_id=content_id(command, given))
            if await uow.find(NOTES, given.note_id or "") is not None:
                continue
        note = await keep_note(uow, command, given, f"{prefix}text")
        await _prefetch_entities(uow, space, given, f"{prefix}structured.entities")
        warnings += await _state(uow, command, note, given, f"{prefix}structured.relations", position)
        position += len(given.relations)
    return Decision([], warnings)


def content_id(command: Ingest, given: NoteToIngest) -> str:
    """An id that follows from what is ingested, for whom and from where: the same again has the same id."""
    holder = agent_key(command.scope, command.agent_id)
    said = [command.tenant_id, command.project_id, command.scope, holder, given.source, given.text]
    digest = bytearray(sha256(to_text(said).encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80  # a UUID of version 8: its bits are ours
    digest[8] = digest[8] & 0x3F | 0x80
    return str(UUID(bytes=bytes(digest)))


async def _make_single(uow: UnitOfWork, space: Space, name: str) -> None:
    found = await find_predicate(uow, space, name)
    if found is None:
        registration = RegisterPredicate(
            tenant_id=space.tenant, project_id=space.project, alias=name, status=ACTIVE, cardinality=SINGLE
        )
        await register_predicate(registration, uow)
    elif not found.supersedes:
        change = ConfigurePredicate(predicate_id=found.predicate_id, status=ACTIVE, cardinality=SINGLE)
        await configure_predicate(change, uow)


def check_sizes(given: NoteToIngest, path: str) -> None:
    """Raise `StructuredInvalid` with the path of what is too long, too many, blank or contradictory."""
    _at_most(given.entities, MAX_ENTITIES, f"{path}.entities")
    _at_most(given.relations, MAX_RELATIONS, f"{path}.relations")
    for i, entity in enumerate(given.entities):
        _text(entity.canonical, f"{path}.entities[{i}].canonical")
        _at_most(entity.aliases, MAX_ALIASES, f"{path}.entities[{i}].aliases")
        for j, alias in enumerate(entity.aliases):
            _text(alias, f"{path}.entities[{i}].aliases[{j}]")
    for i, relation in enumerate(given.relations):
        check_relation(relation, f"{path}.relations[{i}]")


def check_relation(relation: Stated, path: str) -> None:
    """Raise `StructuredInvalid` unless a relation is complete."""
    _text(relation.subject, f"{path}.subject")
    _text(relation.predicate, f"{path}.predicate")
    if (relation.object.entity is None) == (relation.object.value is None):
        raise StructuredInvalid(f"{path}.object", "exactly one of entity and value must be given")
    part = "value" if relation.object.entity is None else "entity"
    _text(relation.object.entity or relation.object.value or "", f"{path}.object.{part}")
    if relation.valid_to is not None and relation.valid_from is not None and relation.valid_to <= relation.valid_from:
        raise StructuredInvalid(f"{path}.valid_to", "must be after valid_from")


def _at_most(items: tuple[object, ...], max_items: int, path: str) -> None:
    if len(items) > max_items:
        raise StructuredInvalid(path, f"at most {max_items}, got {len(items)}", limit=max_items)


def _text(text: str, path: str) -> None:
    if not text or not text.strip():
        raise StructuredInvalid(path, "must not be blank")
    if len(text) > MAX_NAME:
        raise StructuredInvalid(path, f"at most {MAX_NAME} characters, got {len(text)}", limit=MAX_NAME)


def check_support(given: NoteToIngest, path: str) -> None:
    """Raise unless every text of a relation occurs in the note or a quote, ignoring case, spaces and underscores."""
    said = [_plain(text) for text in (given.text, *given.quotes)]
    for i, relation in enumerate(given.relations):
        here = f"{path}.relations[{i}]"
        object = relation.object
        texts = {
            f"{here}.subject": relation.subject,
            f"{here}.predicate": relation.predicate,
            f"{here}.object.{'value' if object.entity is None else 'entity'}": object.entity or object.value or "",
        }
        for place, text in texts.items():
            if not any(_plain(text) in decode_fields for decode_fields in said):
                raise StructuredInvalid(place, f"{text[:80]!r} is not supported by the note nor by a quote")


def _plain(text: str) -> str:
    return normalize_name(text.replace("_", " "))


class Noted(Protocol):
    """For whom a note is meant, and in whose name."""

    @property
    def tenant_id(self) -> str: ...
    @property
    def project_id(self) -> str: ...
    @property
    def agent_id(self) -> str: ...
    @property
    def scope(self) -> str: ...


async def keep_note(uow: UnitOfWork, command: Noted, given: NoteToIngest, path: str) -> Note:
    """The note, staged as new unless its id is known; an error names the path."""
    new = AddNote(
        tenant_id=command.tenant_id,
        project_id=command.project_id,
        agent_id=command.agent_id,
        scope=command.scope,
        text=given.text,
        source=given.source,
        note_id=given.note_id,
    )
    try:
        return await ensure_note(uow, new)
    except UgsError as error:
        error.details.setdefault("path", path)
        raise


async def _prefetch_entities(uow: UnitOfWork, space: Space, given: NoteToIngest, path: str) -> None:
    for index, mention in enumerate(given.entities):
        try:
            entity = await ensure_entity(uow, space, mention.canonical, mention.kind)
            for alias in mention.aliases:
                await uow.stage(await alias_drafts(uow, entity, alias))
        except UgsError as error:
            error.details.setdefault("path", f"{path}[{index}]")
            raise


async def _state(
    uow: UnitOfWork, command: Ingest, note: Note, given: NoteToIngest, path: str, position: int
) -> list[CommandWarning]:
    warnings: list[CommandWarning] = []
    for index, relation in enumerate(given.relations):
        try:
            await _check_predicate(uow, command, relation, f"{path}[{index}].predicate")
            asserted = await assert_fact(_fact_of(command, relation, note), uow, position + index)
        except UgsError as error:
            error.details.setdefault("path", f"{path}[{index}]")
            raise
        warnings += asserted.warnings
    return warnings


async def _check_predicate(uow: UnitOfWork, command: Ingest, relation: Stated, path: str) -> None:
    found = await find_predicate(uow, Space(command.tenant_id, command.project_id), relation.predicate)
    if found is not None and found.status == DEPRECATED:
        raise StructuredInvalid(path, f"the predicate {found.canonical!r} is deprecated")


def _fact_of(command: Ingest, relation: Stated, note: Note) -> AddFact:
    object = relation.object
    return AddFact(
        tenant_id=command.tenant_id,
        project_id=command.project_id,
        agent_id=command.agent_id,
        scope=command.scope,
        subject=EntityRef(name=relation.subject),
        predicate=relation.predicate,
        object_entity=None if object.entity is None else EntityRef(name=object.entity),
        object_value=object.value,
        valid_from=relation.valid_from,
        valid_to=relation.valid_to,
        notes=(NoteRef(id=note.note_id),),
    )


DECIDERS: Mapping[type[Command], Decider] = {Ingest: ingest}
