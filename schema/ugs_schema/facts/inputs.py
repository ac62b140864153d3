"""Mutation inputs of facts, and their translation to commands."""

from __future__ import annotations

from enum import Enum

import strawberry

from ugs.facts.commands import ingestion
from ugs.facts.commands.facts import NoteRef
from ugs.facts.errors import InvalidFact
from ugs.facts.resolution import EntityRef as KernelRef
from ugs.facts.temporal.instants import instant_of
from ugs_schema.facts.vocabulary import Cardinality, PredicateLevel, PredicateStatus
from ugs_schema.graph.inputs import MUTATION_ID_DESCRIPTION, RETRY_DESCRIPTION
from ugs_schema.scalars import Instant, Uuid

TENANT = "The tenant; your own unless told"
PROJECT = "The project; your own unless told"
AGENT = "The agent; your own unless told"


@strawberry.enum(description="What happens to open facts that exclude each other")
class ConflictResolution(Enum):
    NONE = strawberry.enum_value("none", description="They are listed and left alone")
    KEEP_LATEST = strawberry.enum_value("keep_latest", description="All but the latest end where the next one begins")


@strawberry.input(description="An entity by its id, or by a name or alias")
class EntityRef:
    id: strawberry.ID | None = strawberry.field(default=None, description="Its id")
    name: str | None = strawberry.field(default=None, description="Its name or an alias")
    kind: str | None = strawberry.field(default=None, description="What kind of thing it is, when it is new")


@strawberry.input(description="A note that is kept already, by its id, or a new one")
class NoteInput:
    id: Uuid | None = strawberry.field(default=None, description="Its id")
    text: str | None = strawberry.field(default=None, description="What was said, for a new note")
    source: str | None = strawberry.field(default=None, description="Where a new note comes from")


@strawberry.input(description="A fact to assert, with the notes that say so")
class AddFactInput:
    scope: str = strawberry.field(description="Whom it is meant for, such as project_shared or agent_private")
    subject: EntityRef = strawberry.field(description="What it is about; a new name makes a new entity")
    predicate: str = strawberry.field(description="What it says; an unknown predicate registers itself")
    notes: list[NoteInput] = strawberry.field(description="At least one note that says so")
    object_entity: EntityRef | None = strawberry.field(default=None, description="The other entity, or")
    object_value: str | None = strawberry.field(default=None, description="the value: exactly one of both")
    valid_from: Instant | None = strawberry.field(default=None, description="Since when; now unless told")
    valid_to: Instant | None = strawberry.field(default=None, description="Until when; open unless told")
    tenant_id: str | None = strawberry.field(default=None, description=TENANT)
    project_id: str | None = strawberry.field(default=None, description=PROJECT)
    agent_id: str | None = strawberry.field(default=None, description=AGENT)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="An entity to know")
class UpsertEntityInput:
    name: str = strawberry.field(description="Its name; case and spaces make no difference")
    kind: str | None = strawberry.field(default=None, description="What kind of thing it is; kept when left out")
    aliases: list[str] | None = strawberry.field(default=None, description="Other names to know it by, too")
    node_id: strawberry.ID | None = strawberry.field(default=None, description="The graph node it points at")
    tenant_id: str | None = strawberry.field(default=None, description=TENANT)
    project_id: str | None = strawberry.field(default=None, description=PROJECT)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="A predicate to know")
class RegisterPredicateInput:
    alias: str = strawberry.field(description="Its name and first alias")
    level: PredicateLevel = strawberry.field(
        default=PredicateLevel.TENANT_PROJECT, description="Where it is understood"
    )
    status: PredicateStatus = strawberry.field(default=PredicateStatus.PENDING, description="How far it is trusted")
    cardinality: Cardinality = strawberry.field(default=Cardinality.MULTI, description="How many values at a time")
    tenant_id: str | None = strawberry.field(default=None, description=TENANT)
    project_id: str | None = strawberry.field(default=None, description=PROJECT)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.input(description="New settings of a predicate; what is left out stays as it is")
class ConfigurePredicateInput:
    id: strawberry.ID | None = strawberry.field(default=None, description="Which predicate, by its id")
    predicate: str | None = strawberry.field(
        default=None, description="Which predicate, by a name that means it in the project"
    )
    tenant_id: str | None = strawberry.field(default=None, description=TENANT)
    project_id: str | None = strawberry.field(default=None, description=PROJECT)
    status: PredicateStatus | None = strawberry.field(default=None, description="From pending to active to deprecated")
    cardinality: Cardinality | None = strawberry.field(default=None, description="How many values at a time")
    canonical: str | None = strawberry.field(default=None, description="Another name; the old one stays an alias")
    add_aliases: list[str] | None = strawberry.field(default=None, description="More ways to say it")
    expected_status: PredicateStatus | None = strawberry.field(
        default=None, description="Refuse with PREDICATE_CONFLICT unless it has this status"
    )
    expected_cardinality: Cardinality | None = strawberry.field(
        default=None, description="Refuse with PREDICATE_CONFLICT unless it has this cardinality"
    )
    resolve_conflicts: ConflictResolution = strawberry.field(
        default=ConflictResolution.NONE, description="What happens to open facts that exclude each other"
    )
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


@strawberry.enum(description="How a fact is corrected")
class CorrectionAction(Enum):
    END = strawberry.enum_value("end", description="It is true no more")
    REPLACE = strawberry.enum_value("replace", description="Something else is true instead, from a time on")
    RETRACT = strawberry.enum_value("retract", description="It was never true")


@strawberry.input(description="The correction of a fact")
class CorrectFactInput:
    fact_id: strawberry.ID = strawberry.field(description="The fact")
    action: CorrectionAction = strawberry.field(description="How it is corrected")
    reason: str = strawberry.field(description="Why; kept as the evidence of a replacement")
    object_entity: EntityRef | None = strawberry.field(default=None, description="For REPLACE: the other entity")
    object_value: str | None = strawberry.field(default=None, description="For REPLACE: the value")
    at: Instant | None = strawberry.field(
        default=None, description="When it ended, or the replacement begins; now when left out"
    )
    reopen: bool = strawberry.field(
        default=True, description="For RETRACT: whether the facts that it had ended hold again"
    )
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)


@strawberry.input(description="An entity that a note names")
class MentionInput:
    canonical: str = strawberry.field(description="Its name")
    kind: str | None = strawberry.field(default=None, description="What kind of thing it is")
    aliases: list[str] | None = strawberry.field(default=None, description="Other names, at most 16")


@strawberry.input(description="What a relation says of its subject: exactly one of both")
class RelationObjectInput:
    entity: str | None = strawberry.field(default=None, description="The name of another entity")
    value: str | None = strawberry.field(default=None, description="A value")


@strawberry.input(description="A relation that a note states")
class RelationInput:
    subject: str = strawberry.field(description="The name of the subject")
    predicate: str = strawberry.field(description="What is said of it")
    object: RelationObjectInput = strawberry.field(description="The other entity or the value")
    valid_from: Instant | None = strawberry.field(default=None, description="Since when; now unless told")
    valid_to: Instant | None = strawberry.field(default=None, description="Until when; open unless told")


@strawberry.input(description="What was read out of a note")
class StructuredInput:
    entities: list[MentionInput] | None = strawberry.field(default=None, description="Entities it names, at most 32")
    relations: list[RelationInput] | None = strawberry.field(
        default=None, description="Relations it states, at most 64"
    )


@strawberry.input(description="A note with what was read out of it")
class NoteToIngestInput:
    text: str = strawberry.field(description="What was said")
    source: str | None = strawberry.field(default=None, description="Where it comes from")
    id: Uuid | None = strawberry.field(default=None, description="Its id; generated when left out")
    quotes: list[str] | None = strawberry.field(
        default=None, description="Quotes that support what the note leaves out"
    )
    structured: StructuredInput | None = strawberry.field(default=None, description="Entities and relations")


@strawberry.enum(description="What becomes of the facts that notes state")
class Trust(Enum):
    BELIEVE = strawberry.enum_value("believe", description="They are facts at once")
    PROPOSE = strawberry.enum_value("propose", description="They are proposals, which somebody else has to approve")


@strawberry.input(description="Notes to ingest, all or none")
class IngestInput:
    scope: str = strawberry.field(description="Whom notes and facts are meant for")
    notes: list[NoteToIngestInput] = strawberry.field(description="Between 1 and 100 notes")
    trust: Trust = strawberry.field(
        default=Trust.BELIEVE, description="Whether somebody else has to approve what the notes state"
    )
    require_support: bool = strawberry.field(
        default=True, description="Refuse names and predicates that occur neither in the note nor in a quote"
    )
    skip_known: bool = strawberry.field(
        default=False,
        description="Leave out notes with the text, source and scope of one that was ingested so before, "
        "and all that they state",
    )
    tenant_id: str | None = strawberry.field(default=None, description=TENANT)
    project_id: str | None = strawberry.field(default=None, description=PROJECT)
    agent_id: str | None = strawberry.field(default=None, description=AGENT)
    idempotency_key: str | None = strawberry.field(default=None, description=RETRY_DESCRIPTION)
    client_mutation_id: str | None = strawberry.field(default=None, description=MUTATION_ID_DESCRIPTION)


def to_kernel_ref(input: EntityRef) -> KernelRef:
    """Translate a reference to an entity, by id or by name."""
    if (input.id is None) == (input.name is None):
        raise InvalidFact("an entity is named by its id or by its name, and not by both", field="entity")
    id = None if input.id is None else input.id.removeprefix("entity/")
    return KernelRef(id, input.name, input.kind)


def to_kernel_note(input: NoteInput) -> NoteRef:
    return NoteRef(input.id, input.text, input.source)


def to_note_to_ingest(input: NoteToIngestInput) -> ingestion.NoteToIngest:
    """Translate a note to ingest."""
    structured = input.structured or StructuredInput()
    return ingestion.NoteToIngest(
        text=input.text,
        source=input.source,
        note_id=input.id,
        quotes=tuple(input.quotes or ()),
        entities=tuple(
            ingestion.Mention(one.canonical, one.kind, tuple(one.aliases or ())) for one in structured.entities or ()
        ),
        relations=tuple(_to_stated(one) for one in structured.relations or ()),
    )


def _to_stated(input: RelationInput) -> ingestion.Stated:
    return ingestion.Stated(
        input.subject,
        input.predicate,
        ingestion.Object(input.object.entity, input.object.value),
        None if input.valid_from is None else instant_of(input.valid_from, "validFrom"),
        None if input.valid_to is None else instant_of(input.valid_to, "validTo"),
    )
