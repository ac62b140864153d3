"""Changing facts: every mutation is one command, all or nothing."""

from __future__ import annotations

import strawberry

from schema.changing import Key
from schema.context import Info
from schema.events import Event, shown_event
from schema.facts_inputs import (
    AddFactInput,
    ConfigurePredicateInput,
    ConflictResolution,
    IngestInput,
    RegisterPredicateInput,
    UpsertEntityInput,
    ingested,
    kernel_note,
    kernel_ref,
)
from schema.facts_lots import lot_for, own_id
from schema.facts_types import Entity, Fact, Note, shown_entity, shown_fact, shown_note
from schema.facts_words import Predicate, shown_predicate, value_of
from schema.scalars import Instant, Uuid
from schema.warnings import Warning, shown_warnings
from ugs.facts.api import Facts, PredicateResult


@strawberry.type(description="What came of an assertion")
class FactPayload:
    fact: Fact = strawberry.field(description="The fact, new or known")
    created: bool = strawberry.field(description="Whether it is new; otherwise it got more evidence")
    evidence_added: int = strawberry.field(description="How many notes count for it that did not before")
    superseded: list[Fact] = strawberry.field(description="Facts whose place it took")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type(description="An entity that was made or changed")
class EntityPayload:
    entity: Entity = strawberry.field(description="The entity")
    created: bool = strawberry.field(description="Whether it is new")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type(description="A predicate that was registered or changed")
class PredicatePayload:
    predicate: Predicate = strawberry.field(description="The predicate")
    created: bool = strawberry.field(description="Whether it is new")
    conflicts: list[Fact] = strawberry.field(description="Open facts that exclude each other, by subject, oldest first")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type(description="A note that was kept")
class NotePayload:
    note: Note = strawberry.field(description="The note")


@strawberry.type(description="What came of an ingestion")
class IngestPayload:
    notes: list[Note] = strawberry.field(description="The notes that are new")
    facts: list[Fact] = strawberry.field(description="The facts they state, new or known")
    created: int = strawberry.field(description="How many of the facts are new")
    events: list[Event] = strawberry.field(description="What happened, in order")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type(description="Two entities that became one")
class MergePayload:
    entity: Entity = strawberry.field(description="The entity that stays")
    merged_id: strawberry.ID = strawberry.field(description="The id that leads to it from now on")
    events: list[Event] = strawberry.field(description="What happened, in order")


def facts_of(info: Info) -> Facts:
    return Facts(info.context.system, info.context.principal)


@strawberry.type
class FactsMutation:
    @strawberry.mutation(description="Know an entity by a name; whitespace and case make no difference")
    async def upsert_entity(self, info: Info, input: UpsertEntityInput) -> EntityPayload:
        entity, created = await facts_of(info).upsert_told(
            input.name,
            input.kind,
            input.aliases or (),
            input.node_id,
            tenant=input.tenant_id,
            project=input.project_id,
            key=input.idempotency_key,
        )
        return EntityPayload(
            entity=shown_entity(entity, await lot_for(info)),
            created=created,
            client_mutation_id=input.client_mutation_id,
        )

    @strawberry.mutation(description="Know an entity by another name, too")
    async def add_entity_alias(
        self, info: Info, entity_id: strawberry.ID, alias: str, idempotency_key: Key = None
    ) -> EntityPayload:
        entity = await facts_of(info).add_entity_alias(own_id(entity_id, "entity"), alias, idempotency_key)
        return EntityPayload(entity=shown_entity(entity, await lot_for(info)), created=False, client_mutation_id=None)

    @strawberry.mutation(description="Forget an entity; ENTITY_IN_USE when facts refer to it, unless forced")
    async def delete_entity(
        self, info: Info, entity_id: strawberry.ID, force: bool = False, idempotency_key: Key = None
    ) -> bool:
        await facts_of(info).delete_entity(own_id(entity_id, "entity"), force, idempotency_key)
        return True

    @strawberry.mutation(description="Make one entity part of another; look at mergePreview first")
    async def merge_entities(
        self, info: Info, keep_id: strawberry.ID, merge_id: strawberry.ID, idempotency_key: Key = None
    ) -> MergePayload:
        facts = facts_of(info)
        keep, merge = own_id(keep_id, "entity"), own_id(merge_id, "entity")
        done = await facts.merge_entities(keep, merge, idempotency_key)
        entity = await facts.find_entity(keep)
        return MergePayload(
            entity=shown_entity(entity, await lot_for(info)),
            merged_id=strawberry.ID(f"entity/{merge}"),
            events=[shown_event(event) for event in done.events],
        )

    @strawberry.mutation(description="Know a predicate at a level; one that is known there stays as it is")
    async def register_predicate(self, info: Info, input: RegisterPredicateInput) -> PredicatePayload:
        done = await facts_of(info).register_predicate(
            input.alias,
            value_of(input.level) or "",
            value_of(input.status) or "",
            value_of(input.cardinality) or "",
            tenant=input.tenant_id,
            project=input.project_id,
            key=input.idempotency_key,
        )
        return await predicate_payload(info, done, input.client_mutation_id)

    @strawberry.mutation(description="Change a predicate's status, cardinality, name or aliases")
    async def configure_predicate(self, info: Info, input: ConfigurePredicateInput) -> PredicatePayload:
        done = await facts_of(info).configure_predicate(
            own_id(input.id, "predicate"),
            key=input.idempotency_key,
            status=value_of(input.status),
            cardinality=value_of(input.cardinality),
            canonical=input.canonical,
            add_aliases=input.add_aliases or (),
            expected_status=value_of(input.expected_status),
            expected_cardinality=value_of(input.expected_cardinality),
            keep_latest=input.resolve_conflicts is ConflictResolution.KEEP_LATEST,
        )
        return await predicate_payload(info, done, input.client_mutation_id)

    @strawberry.mutation(description="Forget a predicate that no fact refers to")
    async def delete_predicate(self, info: Info, id: strawberry.ID, idempotency_key: Key = None) -> bool:
        await facts_of(info).delete_predicate(own_id(id, "predicate"), idempotency_key)
        return True

    @strawberry.mutation(description="Keep a note, so that facts can be traced to it")
    async def add_note(
        self,
        info: Info,
        text: str,
        source: str | None = None,
        scope: str | None = None,
        tenant_id: str | None = None,
        project_id: str | None = None,
        agent_id: str | None = None,
        id: Uuid | None = None,
        idempotency_key: Key = None,
    ) -> NotePayload:
        note = await facts_of(info).add_note(
            text,
            source,
            scope=scope or "project_shared",
            id=id,
            tenant=tenant_id,
            project=project_id,
            agent=agent_id,
            key=idempotency_key,
        )
        return NotePayload(note=shown_note(note, await lot_for(info)))

    @strawberry.mutation(description="Forget a note with its evidence; the facts stay")
    async def delete_note(self, info: Info, note_id: strawberry.ID, idempotency_key: Key = None) -> bool:
        await facts_of(info).delete_note(own_id(note_id, "note"), idempotency_key)
        return True

    @strawberry.mutation(description="Assert a fact; one that is known gets the notes as more evidence")
    async def add_fact(self, info: Info, input: AddFactInput) -> FactPayload:
        done = await facts_of(info).add_fact(
            kernel_ref(input.subject),
            input.predicate,
            input.object_value,
            object=None if input.object_entity is None else kernel_ref(input.object_entity),
            notes=[kernel_note(note) for note in input.notes],
            scope=input.scope,
            valid_from=input.valid_from,
            valid_to=input.valid_to,
            tenant=input.tenant_id,
            project=input.project_id,
            agent=input.agent_id,
            key=input.idempotency_key,
        )
        lot = await lot_for(info)
        return FactPayload(
            fact=shown_fact(done.fact, lot),
            created=done.created,
            evidence_added=done.evidence_added,
            superseded=[shown_fact(fact, lot) for fact in done.superseded],
            warnings=shown_warnings(done.warnings),
            client_mutation_id=input.client_mutation_id,
        )

    @strawberry.mutation(description="End a fact at an instant, now unless told")
    async def invalidate_fact(
        self,
        info: Info,
        fact_id: strawberry.ID,
        valid_to: Instant | None = None,
        reason: str | None = None,
        idempotency_key: Key = None,
    ) -> FactPayload:
        fact = await facts_of(info).invalidate_fact(own_id(fact_id, "fact"), valid_to, reason, idempotency_key)
        shown = shown_fact(fact, await lot_for(info))
        return FactPayload(
            fact=shown, created=False, evidence_added=0, superseded=[], warnings=[], client_mutation_id=None
        )

    @strawberry.mutation(description="Forget a fact with its evidence, as if it had never been said")
    async def delete_fact(self, info: Info, fact_id: strawberry.ID, idempotency_key: Key = None) -> bool:
        await facts_of(info).delete_fact(own_id(fact_id, "fact"), idempotency_key)
        return True

    @strawberry.mutation(description="Keep notes with the entities and relations read out of them, all or none")
    async def ingest(self, info: Info, input: IngestInput) -> IngestPayload:
        done = await facts_of(info).ingest(
            *(ingested(note) for note in input.notes),
            scope=input.scope,
            supported=input.require_support,
            tenant=input.tenant_id,
            project=input.project_id,
            agent=input.agent_id,
            key=input.idempotency_key,
        )
        lot = await lot_for(info)
        return IngestPayload(
            notes=[shown_note(note, lot) for note in done.notes],
            facts=[shown_fact(fact, lot) for fact in done.facts],
            created=done.created,
            events=[shown_event(event) for event in done.events],
            warnings=shown_warnings(done.warnings),
            client_mutation_id=input.client_mutation_id,
        )


async def predicate_payload(info: Info, done: PredicateResult, mutation_id: str | None) -> PredicatePayload:
    lot = await lot_for(info)
    return PredicatePayload(
        predicate=shown_predicate(done.predicate, lot),
        created=done.created,
        conflicts=[shown_fact(fact, lot) for fact in done.conflicts],
        client_mutation_id=mutation_id,
    )
