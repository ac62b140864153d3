"""The Python API of temporal facts: every operation of seed 001 as one awaitable call, for one principal.

Permissions are checked here, before a command reaches the kernel: records that the principal may not see are treated as
missing, and writes outside its project are rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ugs.events import Event
from ugs.facts.access import may_configure, may_write
from ugs.facts.commands.entities import AddEntityAlias, DeleteEntity, RenameEntity, UpsertEntity
from ugs.facts.commands.entity_merge import KeepApart, MergeEntities, find_merge_position
from ugs.facts.commands.facts import ALREADY_KNOWN, EXTENDED, AddFact, CorrectFact, DeleteFact, InvalidateFact, NoteRef
from ugs.facts.commands.ingestion import Ingest, NoteToIngest
from ugs.facts.commands.notes import AddNote, DeleteNote
from ugs.facts.commands.predicates import (
    TENANT_PROJECT,
    ConfigurePredicate,
    DeletePredicate,
    RegisterPredicate,
    conflicting,
    key_of_level,
)
from ugs.facts.errors import EntityNotFound, InvalidFact, NoteNotFound, PredicateNotFound
from ugs.facts.model import FACTS, OPEN, PREDICATE_ALIASES, SINGLE, Entity, Fact, Note, Predicate
from ugs.facts.normalization import Space, is_uuid, normalize_name, validate_note, validate_space
from ugs.facts.reader import SHARED, FactsReader, Moment, ref
from ugs.facts.resolution import EntityRef, find_by_name, find_predicate, get_entity, get_fact, get_note, get_predicate
from ugs.facts.temporal.instants import instant_of
from ugs.feature import Command, CommandWarning
from ugs.graph.undo import Undo
from ugs.identity import Context
from ugs.reads.filters import all_of, eq
from ugs.storage import Session

if TYPE_CHECKING:
    from ugs.writer import Outcome


class FactResult(Struct, frozen=True):
    """The result of an assertion."""

    fact: Fact
    created: bool
    evidence_added: int
    superseded: list[Fact]
    warnings: list[CommandWarning]
    events: list[Event]


class Correction(Struct, frozen=True):
    """The result of a correction."""

    fact: Fact | None
    """The fact that took the place of the corrected one."""
    before: Fact | None
    """The corrected fact as it is now; None if it was retracted."""
    reopened: list[Fact]
    """Facts that hold again, since the one that had ended them was retracted."""
    events: list[Event]
    warnings: list[CommandWarning]


class PredicateResult(Struct, frozen=True):
    """A predicate after a change, and the open facts that now conflict."""

    predicate: Predicate
    created: bool
    conflicts: list[Fact]


class Ingested(Struct, frozen=True):
    """The result of an ingestion."""

    notes: list[Note]
    facts: list[Fact]
    created: int
    events: list[Event]
    warnings: list[CommandWarning]


def refs(notes: Iterable[str | NoteRef]) -> tuple[NoteRef, ...]:
    """Notes given as ids or as references."""
    return tuple(note if isinstance(note, NoteRef) else NoteRef(id=note) for note in notes)


class Facts(FactsReader):
    """Entities, predicates, notes and facts of one system, used by one principal."""

    def writing(self, tenant: str | None, project: str | None, agent: str | None = None) -> Space:
        """The project to write to; raises `Forbidden` if the principal may not."""
        space = self.space(tenant, project)
        may_write(self.principal, space, agent)
        return validate_space(space.tenant, space.project)

    async def do(self, command: Command, key: str | None = None) -> Outcome:
        """Execute a command; with an idempotency key a retry gives the first answer again."""
        return await self.system.execute(command, Context(self.principal, key))

    # ── entities ─────────────────────────────────────────────────────────────

    async def upsert_entity(
        self,
        name: str,
        kind: str | None = None,
        aliases: Sequence[str] = (),
        node_id: str | None = None,
        *,
        tenant: str | None = None,
        project: str | None = None,
        key: str | None = None,
    ) -> Entity:
        """Create or update the entity with a name; whitespace and case are ignored."""
        return (
            await self.upsert_entity_with_status(name, kind, aliases, node_id, tenant=tenant, project=project, key=key)
        )[0]

    async def upsert_entity_with_status(
        self,
        name: str,
        kind: str | None = None,
        aliases: Sequence[str] = (),
        node_id: str | None = None,
        *,
        tenant: str | None = None,
        project: str | None = None,
        key: str | None = None,
    ) -> tuple[Entity, bool]:
        """As `upsert_entity`, and whether the entity is new."""
        space = self.writing(tenant, project)
        done = await self.do(
            UpsertEntity(
                tenant_id=space.tenant,
                project_id=space.project,
                name=name,
                kind=kind,
                aliases=tuple(aliases),
                node_id=node_id,
            ),
            key,
        )
        async with self.known() as session:
            found = await find_by_name(session, space, name)
        if found is None:
            # Another command has deleted it since.
            raise EntityNotFound(name)
        return found, await self.was_created(found.entity_id, done.events)

    async def add_entity_alias(self, entity_id: str, alias: str, key: str | None = None) -> Entity:
        await self.do(AddEntityAlias(entity_id=entity_id, alias=alias, space=self.viewer.space), key)
        async with self.known() as session:
            return await get_entity(session, entity_id, self.viewer.space)

    async def rename_entity(self, entity_id: str, name: str, key: str | None = None) -> Entity:
        """Rename an entity; the former name becomes an alias."""
        await self.do(RenameEntity(entity_id=entity_id, name=name, space=self.viewer.space), key)
        async with self.known() as session:
            return await get_entity(session, entity_id, self.viewer.space)

    async def delete_entity(self, entity_id: str, force: bool = False, key: str | None = None) -> Outcome:
        return await self.do(
            DeleteEntity(entity_id=entity_id, force=force, space=self.viewer.space, agent=self.viewer.agent), key
        )

    async def merge_entities(self, keep_id: str, merge_id: str, key: str | None = None) -> Outcome:
        return await self.do(MergeEntities(keep_id=keep_id, merge_id=merge_id, space=self.viewer.space), key)

    async def unmerge_entity(self, entity_id: str, key: str | None = None) -> Outcome:
        """Undo the merge of an entity, by its former id: names, aliases, facts and their evidence come back.

        Raises `UndoConflict` if something else changed what the merge had moved.
        """
        async with self.known() as session:
            position = await find_merge_position(session, entity_id) if is_uuid(entity_id) else None
        if position is None:
            raise InvalidFact("the entity was not merged into another", field="entityId")
        return await self.do(Undo(transaction=position, principal=self.principal), key)

    async def keep_apart(self, entity_id: str, other_id: str, key: str | None = None) -> Outcome:
        """Record that two entities are not the same, so that they are not suggested as duplicates again."""
        return await self.do(KeepApart(entity_id=entity_id, other_id=other_id, space=self.viewer.space), key)

    # ── predicates ───────────────────────────────────────────────────────────

    async def register_predicate(
        self,
        alias: str,
        level: str = TENANT_PROJECT,
        status: str = "pending",
        cardinality: str = "multi",
        *,
        tenant: str | None = None,
        project: str | None = None,
        key: str | None = None,
    ) -> PredicateResult:
        space = self.writing(tenant, project)
        scope_key = key_of_level(level, space)[0]
        may_configure(self.principal, scope_key)
        command = RegisterPredicate(
            tenant_id=space.tenant,
            project_id=space.project,
            alias=alias,
            level=level,
            status=status,
            cardinality=cardinality,
        )
        done = await self.do(command, key)
        async with self.known() as session:
            found = await self._registered(session, done, space, alias, scope_key)
        return PredicateResult(found, bool(done.events) and not done.repeated, [])

    async def _registered(self, session: Session, done: Outcome, space: Space, alias: str, scope_key: str) -> Predicate:
        for event in done.events:
            if event.type == "PredicateRegistered":
                return await get_predicate(session, event.element or "", None)
        return await self._alias_at(session, scope_key, alias)

    async def _alias_at(self, session: Session, scope_key: str, alias: str) -> Predicate:
        where = all_of(eq("alias_norm", normalize_name(alias)), eq("scope_key", scope_key))
        row = (await session.fetch(PREDICATE_ALIASES, where))[0]
        return await get_predicate(session, row.predicate_id, None)

    async def configure_predicate(
        self,
        predicate_id: str | None = None,
        *,
        name: str | None = None,
        tenant: str | None = None,
        project: str | None = None,
        key: str | None = None,
        **changes: Any,
    ) -> PredicateResult:
        """Change status, cardinality, name or aliases; `keep_latest` also ends all but the latest open fact.

        The predicate is given by its id, or by a name that means it in a project.
        """
        if (predicate_id is None) == (name is None):
            raise InvalidFact("a predicate is named by its id or by its name, and not by both", field="predicate")
        if predicate_id is None:
            found = await self.resolve_predicate(name or "", tenant=tenant, project=project)
            if found is None:
                raise PredicateNotFound(name or "")
            predicate_id = found.predicate_id
        async with self.known() as session:
            before = await get_predicate(session, predicate_id, self.viewer.space)
        may_configure(self.principal, before.scope_key)
        if "add_aliases" in changes:
            changes["add_aliases"] = tuple(changes["add_aliases"])
        await self.do(ConfigurePredicate(predicate_id=predicate_id, space=self.viewer.space, **changes), key)
        async with self.known() as session:
            after = await get_predicate(session, predicate_id, self.viewer.space)
            return PredicateResult(after, False, await self._conflicts(session, after))

    async def _conflicts(self, session: Session, predicate: Predicate) -> list[Fact]:
        if predicate.cardinality != SINGLE:
            return []
        where = all_of(eq("predicate_id", predicate.predicate_id), OPEN, self.viewer.readable)
        return [fact for group in conflicting(await session.fetch(FACTS, where)) for fact in group]

    async def delete_predicate(self, predicate_id: str, key: str | None = None) -> Outcome:
        async with self.known() as session:
            before = await get_predicate(session, predicate_id, self.viewer.space)
        may_configure(self.principal, before.scope_key)
        return await self.do(
            DeletePredicate(predicate_id=predicate_id, space=self.viewer.space, agent=self.viewer.agent), key
        )

    async def resolve_or_register_predicate(
        self, alias: str, *, tenant: str | None = None, project: str | None = None
    ) -> Predicate:
        """The predicate with an alias in a project; an unknown one is registered as pending and multi-valued."""
        found = await self.resolve_predicate(alias, tenant=tenant, project=project)
        return found or (await self.register_predicate(alias, tenant=tenant, project=project)).predicate

    # ── notes ────────────────────────────────────────────────────────────────

    async def add_note(
        self,
        text: str,
        source: str | None = None,
        *,
        scope: str = SHARED,
        id: str | None = None,
        tenant: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        key: str | None = None,
    ) -> Note:
        space = self.writing(tenant, project, agent)
        command = AddNote(
            tenant_id=space.tenant,
            project_id=space.project,
            agent_id=agent or self.principal.agent,
            scope=scope,
            text=text,
            source=source,
            note_id=id,
        )
        done = await self.do(command, key)
        async with self.known() as session:
            return await get_note(session, done.events[0].element or "" if done.events else id or "", space)

    async def delete_note(self, note_id: str, key: str | None = None) -> Outcome:
        await self._check_notes([note_id])
        return await self.do(DeleteNote(note_id=note_id, space=self.viewer.space), key)

    async def _check_notes(self, ids: Iterable[str]) -> None:
        """Raise for notes that the principal may not see."""
        async with self.known() as session:
            for id in ids:
                if not self.viewer.sees(await get_note(session, id, self.viewer.space)):
                    raise NoteNotFound(id)

    # ── facts ────────────────────────────────────────────────────────────────

    async def add_fact(
        self,
        subject: str | EntityRef | Entity,
        predicate: str,
        value: str | None = None,
        *,
        object: str | EntityRef | Entity | None = None,
        notes: Iterable[str | NoteRef] = (),
        scope: str = SHARED,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        tenant: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> FactResult:
        """Assert a fact about a subject: a value, or another entity as its object."""
        space = self.writing(tenant, project, agent)
        given = refs(notes)
        if self.viewer.space is not None:
            await self._check_notes(note.id for note in given if note.id is not None and note.text is None)
        command = AddFact(
            tenant_id=space.tenant,
            project_id=space.project,
            agent_id=agent or self.principal.agent,
            scope=scope,
            subject=ref(subject),
            predicate=predicate,
            object_entity=None if object is None else ref(object),
            object_value=value,
            valid_from=None if valid_from is None else instant_of(valid_from, "validFrom"),
            valid_to=None if valid_to is None else instant_of(valid_to, "validTo"),
            notes=given,
            reuse=reuse,
        )
        return await self._result(await self.do(command, key))

    async def _result(self, done: Outcome) -> FactResult:
        added = [event.element for event in done.events if event.type == "FactAdded"]
        evidence = [event.element for event in done.events if event.type == "EvidenceAdded"]
        known = [warning.id for warning in done.warnings if warning.code in (ALREADY_KNOWN, EXTENDED)]
        id = (added + evidence + known)[0] or ""
        closed = [e.element or "" for e in done.events if e.type == "FactSuperseded" and e.element != id]
        async with self.known() as session:
            fact = await get_fact(session, id, None)
            rows = {row.fact_id: row for row in await session.find_many(FACTS, sorted(closed))} if closed else {}
        superseded = [rows[one] for one in closed if one in rows]
        return FactResult(fact, bool(added), len(evidence), superseded, done.warnings, done.events)

    async def invalidate_fact(
        self, fact_id: str, valid_to: Moment | None = None, reason: str | None = None, key: str | None = None
    ) -> Fact:
        end = None if valid_to is None else instant_of(valid_to, "validTo")
        space = self.viewer.space
        await self.find_fact(fact_id)
        await self.do(InvalidateFact(fact_id=fact_id, valid_to=end, reason=reason, space=space), key)
        async with self.known() as session:
            return await get_fact(session, fact_id, space)

    async def delete_fact(self, fact_id: str, key: str | None = None, *, reopen: bool = True) -> Outcome:
        """Delete a fact; those that it had ended hold again, unless `reopen` is False."""
        await self.find_fact(fact_id)
        return await self.do(DeleteFact(fact_id=fact_id, space=self.viewer.space, reopen=reopen), key)

    async def correct_fact(
        self,
        fact_id: str,
        action: str,
        reason: str,
        value: str | None = None,
        *,
        object: str | EntityRef | Entity | None = None,
        moment: Moment | None = None,
        reopen: bool = True,
        key: str | None = None,
    ) -> Correction:
        """End, replace or retract a fact with a reason, in one command."""
        command = CorrectFact(
            fact_id=fact_id,
            action=action,
            reason=validate_note(reason, "reason"),
            agent_id=self.principal.agent,
            object_entity=None if object is None else ref(object),
            object_value=value,
            moment=None if moment is None else instant_of(moment, "at"),
            reopen=reopen,
            space=self.viewer.space,
        )
        return await self._correction(fact_id, await self.do(command, key))

    async def _correction(self, fact_id: str, done: Outcome) -> Correction:
        added = [event.element or "" for event in done.events if event.type in ("FactAdded", "EvidenceAdded")]
        reopened = {event.element or "" for event in done.events if event.type == "FactReopened"}
        async with self.known() as session:
            wanted = sorted({fact_id, *added, *reopened})
            rows: dict[str, Fact] = {row.fact_id: row for row in await session.find_many(FACTS, wanted)}
        return Correction(
            next((rows[id] for id in added if id in rows), None),
            rows.get(fact_id),
            [rows[id] for id in sorted(reopened) if id in rows],
            done.events,
            done.warnings,
        )

    async def ingest(
        self,
        *notes: NoteToIngest,
        scope: str = SHARED,
        supported: bool = True,
        single: Sequence[str] = (),
        skip_known: bool = False,
        tenant: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        key: str | None = None,
    ) -> Ingested:
        """Add notes with the entities and relations extracted from them, atomically.

        The predicates `single` become active and single-valued in the same command. With `skip_known` a note with the
        text, source and scope of one that was ingested so before is left out, with all that it states.
        """
        space = self.writing(tenant, project, agent)
        if single:
            async with self.known() as session:
                known = [await find_predicate(session, space, name) for name in single]
            own_level = key_of_level(TENANT_PROJECT, space)[0]
            for scope_key in {own_level if found is None else found.scope_key for found in known}:
                may_configure(self.principal, scope_key)
        command = Ingest(
            tenant_id=space.tenant,
            project_id=space.project,
            agent_id=agent or self.principal.agent,
            scope=scope,
            notes=notes,
            supported=supported,
            single=tuple(single),
            skip_known=skip_known,
        )
        return await self._build_ingested(await self.do(command, key))

    async def _build_ingested(self, done: Outcome) -> Ingested:
        def about(*types: str) -> list[str]:
            return list(dict.fromkeys(event.element or "" for event in done.events if event.type in types))

        known = [warning.id for warning in done.warnings if warning.code in (ALREADY_KNOWN, EXTENDED) and warning.id]
        ids = list(dict.fromkeys([*about("FactAdded", "EvidenceAdded"), *known]))
        async with self.known() as session:
            facts = {row.fact_id: row for row in await session.find_many(FACTS, sorted(ids))} if ids else {}
            notes = [await get_note(session, id, None) for id in about("NoteAdded")]
        rows = [facts[id] for id in ids if id in facts]
        return Ingested(notes, rows, len(about("FactAdded")), done.events, done.warnings)
