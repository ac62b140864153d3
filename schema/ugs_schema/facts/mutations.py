"""Mutations of facts: each is one command, applied completely or not at all."""

from __future__ import annotations

from typing import Annotated

import strawberry

from ugs.facts.api import Facts, PredicateResult
from ugs.facts.errors import InvalidFact
from ugs_schema.context import Info
from ugs_schema.facts.inputs import (
    AddFactInput,
    ConfigurePredicateInput,
    ConflictResolution,
    CorrectFactInput,
    IngestInput,
    RegisterPredicateInput,
    Trust,
    UpsertEntityInput,
    to_kernel_note,
    to_kernel_ref,
    to_note_to_ingest,
)
from ugs_schema.facts.loaders import make_loader, strip_kind
from ugs_schema.facts.proposals import FactProposal, get_proposals
from ugs_schema.facts.types import Entity, Fact, Note, to_graphql_entity, to_graphql_fact, to_graphql_note
from ugs_schema.facts.vocabulary import Predicate, get_enum_value, to_graphql_predicate
from ugs_schema.graph.command_warnings import Warning, to_graphql_warnings
from ugs_schema.graph.events import Event, to_graphql_event
from ugs_schema.graph.mutations import Key
from ugs_schema.scalars import Instant, Uuid


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
    proposals: list[FactProposal] = strawberry.field(description="What has to be approved, if it was only proposed")
    created: int = strawberry.field(description="How many of the facts are new")
    events: list[Event] = strawberry.field(description="What happened, in order")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")
    client_mutation_id: str | None = strawberry.field(description="As it was given")


@strawberry.type(description="What came of a correction")
class CorrectionPayload:
    fact: Fact | None = strawberry.field(description="The fact that took its place")
    before: Fact | None = strawberry.field(description="The corrected fact; null if it was retracted")
    reopened: list[Fact] = strawberry.field(description="Facts that hold again, since what had ended them is gone")
    warnings: list[Warning] = strawberry.field(description="What to know although it was done")


@strawberry.type(description="Two entities that became one")
class MergePayload:
    entity: Entity = strawberry.field(description="The entity that stays")
    merged_id: strawberry.ID = strawberry.field(description="The id that leads to it from now on")
    events: list[Event] = strawberry.field(description="What happened, in order")


def get_facts(info: Info) -> Facts:
    return Facts(info.context.system, info.context.principal)


@strawberry.type
class FactsMutation:
    @strawberry.mutation(description="Know an entity by a name; whitespace and case make no difference")
    async def upsert_entity(self, info: Info, input: UpsertEntityInput) -> EntityPayload:
        entity, created = await get_facts(info).upsert_entity_with_status(
            input.name,
            input.kind,
            input.aliases or (),
            input.node_id,
            tenant=input.tenant_id,
            project=input.project_id,
            key=input.idempotency_key,
        )
        return EntityPayload(
            entity=to_graphql_entity(entity, await make_loader(info)),
            created=created,
            client_mutation_id=input.client_mutation_id,
        )

    @strawberry.mutation(description="Know an entity by another name, too")
    async def add_entity_alias(
        self, info: Info, entity_id: strawberry.ID, alias: str, idempotency_key: Key = None
    ) -> EntityPayload:
        entity = await get_facts(info).add_entity_alias(strip_kind(entity_id, "entity"), alias, idempotency_key)
        return EntityPayload(
            entity=to_graphql_entity(entity, await make_loader(info)), created=False, client_mutation_id=None
        )

    @strawberry.mutation(description="Call an entity otherwise; the former name stays an alias")
    async def rename_entity(
        self, info: Info, entity_id: strawberry.ID, name: str, idempotency_key: Key = None
    ) -> EntityPayload:
        entity = await get_facts(info).rename_entity(strip_kind(entity_id, "entity"), name, idempotency_key)
        return EntityPayload(
            entity=to_graphql_entity(entity, await make_loader(info)), created=False, client_mutation_id=None
        )

    @strawberry.mutation(description="Forget an entity; ENTITY_IN_USE when facts refer to it, unless forced")
    async def delete_entity(
        self, info: Info, entity_id: strawberry.ID, force: bool = False, idempotency_key: Key = None
    ) -> bool:
        await get_facts(info).delete_entity(strip_kind(entity_id, "entity"), force, idempotency_key)
        return True

    @strawberry.mutation(description="Make one entity part of another; look at mergePreview first")
    async def merge_entities(
        self, info: Info, keep_id: strawberry.ID, merge_id: strawberry.ID, idempotency_key: Key = None
    ) -> MergePayload:
        facts = get_facts(info)
        keep, merge = strip_kind(keep_id, "entity"), strip_kind(merge_id, "entity")
        outcome = await facts.merge_entities(keep, merge, idempotency_key)
        entity = await facts.find_entity(keep)
        return MergePayload(
            entity=to_graphql_entity(entity, await make_loader(info)),
            merged_id=strawberry.ID(f"entity/{merge}"),
            events=[to_graphql_event(event) for event in await info.context.log.show(outcome.events)],
        )

    @strawberry.mutation(description="Undo a merge: names, aliases and facts of the merged entity come back")
    async def unmerge_entity(
        self,
        info: Info,
        entity_id: Annotated[strawberry.ID, strawberry.argument(description="The id that the entity had before")],
        idempotency_key: Key = None,
    ) -> EntityPayload:
        facts, id = get_facts(info), strip_kind(entity_id, "entity")
        await facts.unmerge_entity(id, idempotency_key)
        entity = await facts.find_entity(id)
        return EntityPayload(
            entity=to_graphql_entity(entity, await make_loader(info)), created=False, client_mutation_id=None
        )

    @strawberry.mutation(description="Remember that two entities are not the same; they are not suggested again")
    async def keep_entities_apart(
        self, info: Info, entity_id: strawberry.ID, other_id: strawberry.ID, idempotency_key: Key = None
    ) -> bool:
        one, other = strip_kind(entity_id, "entity"), strip_kind(other_id, "entity")
        await get_facts(info).keep_apart(one, other, idempotency_key)
        return True

    @strawberry.mutation(description="Know a predicate at a level; one that is known there stays as it is")
    async def register_predicate(self, info: Info, input: RegisterPredicateInput) -> PredicatePayload:
        outcome = await get_facts(info).register_predicate(
            input.alias,
            get_enum_value(input.level) or "",
            get_enum_value(input.status) or "",
            get_enum_value(input.cardinality) or "",
            tenant=input.tenant_id,
            project=input.project_id,
            key=input.idempotency_key,
        )
        return await build_predicate_payload(info, outcome, input.client_mutation_id)

    @strawberry.mutation(description="Change a predicate's status, cardinality, name or aliases")
    async def configure_predicate(self, info: Info, input: ConfigurePredicateInput) -> PredicatePayload:
        outcome = await get_facts(info).configure_predicate(
            None if input.id is None else strip_kind(input.id, "predicate"),
            name=input.predicate,
            tenant=input.tenant_id,
            project=input.project_id,
            key=input.idempotency_key,
            status=get_enum_value(input.status),
            cardinality=get_enum_value(input.cardinality),
            canonical=input.canonical,
            add_aliases=input.add_aliases or (),
            expected_status=get_enum_value(input.expected_status),
            expected_cardinality=get_enum_value(input.expected_cardinality),
            keep_latest=input.resolve_conflicts is ConflictResolution.KEEP_LATEST,
        )
        return await build_predicate_payload(info, outcome, input.client_mutation_id)

    @strawberry.mutation(description="Forget a predicate that no fact refers to")
    async def delete_predicate(self, info: Info, id: strawberry.ID, idempotency_key: Key = None) -> bool:
        await get_facts(info).delete_predicate(strip_kind(id, "predicate"), idempotency_key)
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
        note = await get_facts(info).add_note(
            text,
            source,
            scope=scope or "project_shared",
            id=id,
            tenant=tenant_id,
            project=project_id,
            agent=agent_id,
            key=idempotency_key,
        )
        return NotePayload(note=to_graphql_note(note, await make_loader(info)))

    @strawberry.mutation(description="Forget a note with its evidence; the facts stay")
    async def delete_note(self, info: Info, note_id: strawberry.ID, idempotency_key: Key = None) -> bool:
        await get_facts(info).delete_note(strip_kind(note_id, "note"), idempotency_key)
        return True

    @strawberry.mutation(description="Assert a fact; one that is known gets the notes as more evidence")
    async def add_fact(self, info: Info, input: AddFactInput) -> FactPayload:
        outcome = await get_facts(info).add_fact(
            to_kernel_ref(input.subject),
            input.predicate,
            input.object_value,
            object=None if input.object_entity is None else to_kernel_ref(input.object_entity),
            notes=[to_kernel_note(note) for note in input.notes],
            scope=input.scope,
            valid_from=input.valid_from,
            valid_to=input.valid_to,
            tenant=input.tenant_id,
            project=input.project_id,
            agent=input.agent_id,
            key=input.idempotency_key,
        )
        loader = await make_loader(info)
        return FactPayload(
            fact=to_graphql_fact(outcome.fact, loader),
            created=outcome.created,
            evidence_added=outcome.evidence_added,
            superseded=[to_graphql_fact(fact, loader) for fact in outcome.superseded],
            warnings=to_graphql_warnings(outcome.warnings),
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
        fact = await get_facts(info).invalidate_fact(strip_kind(fact_id, "fact"), valid_to, reason, idempotency_key)
        shown = to_graphql_fact(fact, await make_loader(info))
        return FactPayload(
            fact=shown, created=False, evidence_added=0, superseded=[], warnings=[], client_mutation_id=None
        )

    @strawberry.mutation(description="Forget a fact with its evidence, as if it had never been said")
    async def delete_fact(
        self,
        info: Info,
        fact_id: strawberry.ID,
        idempotency_key: Key = None,
        reopen: Annotated[bool, strawberry.argument(description="Whether what it had ended holds again")] = True,
    ) -> bool:
        await get_facts(info).delete_fact(strip_kind(fact_id, "fact"), idempotency_key, reopen=reopen)
        return True

    @strawberry.mutation(description="End a fact, replace its object, or retract it as never true, with a reason")
    async def correct_fact(self, info: Info, input: CorrectFactInput) -> CorrectionPayload:
        done = await get_facts(info).correct_fact(
            strip_kind(input.fact_id, "fact"),
            get_enum_value(input.action) or "",
            input.reason,
            input.object_value,
            object=None if input.object_entity is None else to_kernel_ref(input.object_entity),
            moment=input.at,
            reopen=input.reopen,
            key=input.idempotency_key,
        )
        loader = await make_loader(info)
        return CorrectionPayload(
            fact=None if done.fact is None else to_graphql_fact(done.fact, loader),
            before=None if done.before is None else to_graphql_fact(done.before, loader),
            reopened=[to_graphql_fact(fact, loader) for fact in done.reopened],
            warnings=to_graphql_warnings(done.warnings),
        )

    @strawberry.mutation(description="Keep notes with the entities and relations read out of them, all or none")
    async def ingest(self, info: Info, input: IngestInput) -> IngestPayload:
        if input.trust is Trust.PROPOSE:
            return await propose_notes(info, input)
        outcome = await get_facts(info).ingest(
            *(to_note_to_ingest(note) for note in input.notes),
            scope=input.scope,
            supported=input.require_support,
            skip_known=input.skip_known,
            tenant=input.tenant_id,
            project=input.project_id,
            agent=input.agent_id,
            key=input.idempotency_key,
        )
        loader = await make_loader(info)
        return IngestPayload(
            notes=[to_graphql_note(note, loader) for note in outcome.notes],
            facts=[to_graphql_fact(fact, loader) for fact in outcome.facts],
            proposals=[],
            created=outcome.created,
            events=[to_graphql_event(event) for event in await info.context.log.show(outcome.events)],
            warnings=to_graphql_warnings(outcome.warnings),
            client_mutation_id=input.client_mutation_id,
        )


async def propose_notes(info: Info, input: IngestInput) -> IngestPayload:
    """Keep notes with what they state as proposals."""
    if input.skip_known:
        raise InvalidFact("skipKnown goes with facts, not with proposals", field="skipKnown")
    done = await get_proposals(info).propose(
        *(to_note_to_ingest(note) for note in input.notes),
        scope=input.scope,
        supported=input.require_support,
        tenant=input.tenant_id,
        project=input.project_id,
        agent=input.agent_id,
        key=input.idempotency_key,
    )
    loader = await make_loader(info)
    return IngestPayload(
        notes=[to_graphql_note(note, loader) for note in done.notes],
        facts=[],
        proposals=[FactProposal(row=row) for row in done.proposals],
        created=0,
        events=[to_graphql_event(event) for event in await info.context.log.show(done.events)],
        warnings=[],
        client_mutation_id=input.client_mutation_id,
    )


async def build_predicate_payload(info: Info, outcome: PredicateResult, mutation_id: str | None) -> PredicatePayload:
    loader = await make_loader(info)
    return PredicatePayload(
        predicate=to_graphql_predicate(outcome.predicate, loader),
        created=outcome.created,
        conflicts=[to_graphql_fact(fact, loader) for fact in outcome.conflicts],
        client_mutation_id=mutation_id,
    )
