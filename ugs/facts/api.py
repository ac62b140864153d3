"""Temporal facts in Python: every operation of seed 001 as one awaitable call, on behalf of one principal.

What the principal may not see does not exist, and what it may not write is refused, before anything reaches the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ugs.events import Event
from ugs.facts.asking import SHARED, Asking, Moment, ref
from ugs.facts.asserting import ALREADY_KNOWN, AddFact, DeleteFact, InvalidateFact, NoteRef
from ugs.facts.entities import AddEntityAlias, DeleteEntity, UpsertEntity
from ugs.facts.errors import EntityNotFound, NoteNotFound
from ugs.facts.ingesting import Ingest, NoteToIngest
from ugs.facts.instants import instant_of
from ugs.facts.merging import MergeEntities
from ugs.facts.model import FACTS, OPEN, PREDICATE_ALIASES, SINGLE, Entity, Fact, Note, Predicate
from ugs.facts.names import Space, checked_space, normalize_name
from ugs.facts.notes import AddNote, DeleteNote
from ugs.facts.predicates import (
    TENANT_PROJECT,
    ConfigurePredicate,
    DeletePredicate,
    RegisterPredicate,
    conflicting,
    key_of_level,
)
from ugs.facts.resolving import (
    EntityRef,
    find_by_name,
    get_entity,
    get_fact,
    get_note,
    get_predicate,
)
from ugs.facts.viewing import may_configure, may_write
from ugs.feature import Command, Warned
from ugs.identity import Context
from ugs.reads.where import all_of, eq
from ugs.storage import Session

if TYPE_CHECKING:
    from ugs.writer import Outcome


class FactResult(Struct, frozen=True):
    """What came of an assertion."""

    fact: Fact
    created: bool
    evidence_added: int
    superseded: list[Fact]
    warnings: list[Warned]
    events: list[Event]


class PredicateResult(Struct, frozen=True):
    """A predicate after a change, and the open facts that now exclude each other."""

    predicate: Predicate
    created: bool
    conflicts: list[Fact]


class Ingested(Struct, frozen=True):
    """What came of an ingestion."""

    notes: list[Note]
    facts: list[Fact]
    created: int
    events: list[Event]
    warnings: list[Warned]


def refs(notes: Iterable[str | NoteRef]) -> tuple[NoteRef, ...]:
    """Notes given as ids or as references."""
    return tuple(note if isinstance(note, NoteRef) else NoteRef(id=note) for note in notes)


class Facts(Asking):
    """Entities, predicates, notes and facts of one system, on behalf of one principal."""

    def writing(self, tenant: str | None, project: str | None, agent: str | None = None) -> Space:
        """The project to write to, if the principal may."""
        space = self.space(tenant, project)
        may_write(self.principal, space, agent)
        return checked_space(space.tenant, space.project)

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
        """Know an entity by a name; whitespace and case make no difference."""
        return (await self.upsert_told(name, kind, aliases, node_id, tenant=tenant, project=project, key=key))[0]

    async def upsert_told(
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
        """The same, and whether the entity is new."""
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
            # Somebody has deleted it since.
            raise EntityNotFound(name)
        return found, await self.was_created(found.entity_id, done.events)

    async def add_entity_alias(self, entity_id: str, alias: str, key: str | None = None) -> Entity:
        await self.do(AddEntityAlias(entity_id=entity_id, alias=alias, space=self.viewer.space), key)
        async with self.known() as session:
            return await get_entity(session, entity_id, self.viewer.space)

    async def delete_entity(self, entity_id: str, force: bool = False, key: str | None = None) -> Outcome:
        return await self.do(DeleteEntity(entity_id=entity_id, force=force, space=self.viewer.space), key)

    async def merge_entities(self, keep_id: str, merge_id: str, key: str | None = None) -> Outcome:
        return await self.do(MergeEntities(keep_id=keep_id, merge_id=merge_id, space=self.viewer.space), key)

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
        self, predicate_id: str, *, key: str | None = None, **changes: Any
    ) -> PredicateResult:
        """Change status, cardinality, name or aliases; `keep_latest` also ends all but the latest open fact."""
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
        return await self.do(DeletePredicate(predicate_id=predicate_id, space=self.viewer.space), key)

    async def resolve_or_register_predicate(
        self, alias: str, *, tenant: str | None = None, project: str | None = None
    ) -> Predicate:
        """The predicate an alias means here; an unknown one is registered as pending and multi-valued."""
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
        """Refuse notes that the principal may not see."""
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
        known = [warning.id for warning in done.warnings if warning.code == ALREADY_KNOWN]
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

    async def delete_fact(self, fact_id: str, key: str | None = None) -> Outcome:
        await self.find_fact(fact_id)
        return await self.do(DeleteFact(fact_id=fact_id, space=self.viewer.space), key)

    async def ingest(
        self,
        *notes: NoteToIngest,
        scope: str = SHARED,
        supported: bool = True,
        tenant: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        key: str | None = None,
    ) -> Ingested:
        """Keep notes together with what was read out of them, all or nothing."""
        space = self.writing(tenant, project, agent)
        command = Ingest(
            tenant_id=space.tenant,
            project_id=space.project,
            agent_id=agent or self.principal.agent,
            scope=scope,
            notes=notes,
            supported=supported,
        )
        return await self._ingested(await self.do(command, key))

    async def _ingested(self, done: Outcome) -> Ingested:
        def about(*types: str) -> list[str]:
            return list(dict.fromkeys(event.element or "" for event in done.events if event.type in types))

        known = [warning.id for warning in done.warnings if warning.code == ALREADY_KNOWN and warning.id]
        ids = list(dict.fromkeys([*about("FactAdded", "EvidenceAdded"), *known]))
        async with self.known() as session:
            facts = {row.fact_id: row for row in await session.find_many(FACTS, sorted(ids))} if ids else {}
            notes = [await get_note(session, id, None) for id in about("NoteAdded")]
        rows = [facts[id] for id in ids if id in facts]
        return Ingested(notes, rows, len(about("FactAdded")), done.events, done.warnings)
