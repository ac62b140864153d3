"""The rows and tables of temporal facts, with the seed's names.

Instants are integers in microseconds (`ugs.facts.temporal.instants`). The seed's `graph_*` tables have exactly the
seed's columns; what the seed has no column for (graph nodes of entities, merges, reasons, overrides) is in separate
tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ugs.facts.access import PRIVATE
from ugs.facts.search_terms import index_weights
from ugs.facts.temporal.instants import Instant
from ugs.reads.filters import Compare, Op, all_of, any_of, eq
from ugs.tables import Check, Field, Format, Index, Kind, Reference, Relation, Table, Unique

SINGLE, MULTI = "single", "multi"
PENDING, ACTIVE, DEPRECATED = "pending", "active", "deprecated"


class Entity(Struct, frozen=True, gc=False):
    """A person or thing that facts are about."""

    entity_id: str
    tenant_id: str
    project_id: str
    canonical: str
    canonical_norm: str
    kind: str | None
    created_at: Instant
    updated_at: Instant


class EntityAlias(Struct, frozen=True, gc=False):
    """Another name of an entity."""

    alias_id: str
    entity_id: str
    alias: str
    alias_norm: str
    created_at: Instant


class EntityNode(Struct, frozen=True, gc=False):
    """The graph node that an entity is linked to."""

    entity_id: str
    node_id: str


class EntityMerge(Struct, frozen=True, gc=False):
    """An entity that was merged into another, to which its id and name now resolve."""

    entity_id: str
    into_entity_id: str
    tenant_id: str
    project_id: str
    canonical_norm: str
    created_at: Instant


class EntityDistinction(Struct, frozen=True, gc=False):
    """Two entities that are known not to be the same; kept with the one whose id comes first."""

    entity_id: str
    other_id: str
    created_at: Instant


class Predicate(Struct, frozen=True, gc=False):
    """A predicate of the controlled vocabulary."""

    predicate_id: str
    scope_key: str
    tenant_id: str | None
    project_id: str | None
    canonical: str
    canonical_norm: str
    cardinality: str
    status: str
    created_at: Instant
    updated_at: Instant

    @property
    def supersedes(self) -> bool:
        """Whether a newer fact ends older ones (active and single-valued)."""
        return self.status == ACTIVE and self.cardinality == SINGLE


class PredicateAlias(Struct, frozen=True, gc=False):
    """A name of a predicate; predicates are looked up by alias only."""

    alias_id: str
    predicate_id: str
    scope_key: str
    alias: str
    alias_norm: str
    created_at: Instant


class Note(Struct, frozen=True, gc=False):
    """A source text from which facts were extracted."""

    note_id: str
    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    text: str
    source: str | None
    created_at: Instant


class Fact(Struct, frozen=True, gc=False):
    """One statement about an entity, true from `valid_from` until `valid_to`."""

    fact_id: str
    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    subject_entity_id: str
    predicate: str
    predicate_id: str | None
    object_entity_id: str | None
    object_value: str | None
    valid_from: Instant
    valid_to: Instant | None
    created_at: Instant
    updated_at: Instant

    def holds_at(self, moment: Instant) -> bool:
        return self.valid_from <= moment and (self.valid_to is None or self.valid_to > moment)

    def state_at(self, moment: Instant) -> str:
        """`current`, `historical` or `future`, relative to an instant."""
        if self.valid_from > moment:
            return "future"
        return "current" if self.holds_at(moment) else "historical"


class Evidence(Struct, frozen=True, gc=False):
    """The link between a fact and a note that states it."""

    evidence_id: str
    fact_id: str
    note_id: str
    created_at: Instant


class Supersession(Struct, frozen=True, gc=False):
    """The link from a fact that ended to its successor, with the note that caused it."""

    supersession_id: str
    tenant_id: str
    project_id: str
    from_fact_id: str
    to_fact_id: str
    note_id: str
    effective_at: Instant
    created_at: Instant


class Invalidation(Struct, frozen=True, gc=False):
    """The reason why a fact was ended explicitly."""

    fact_id: str
    reason: str
    valid_to: Instant
    created_at: Instant


class Override(Struct, frozen=True, gc=False):
    """A span of a fact's window in which a later fact of the same key holds instead."""

    fact_id: str
    valid_from: Instant
    valid_to: Instant | None


def words_of_entity(entity: Entity) -> Mapping[str, float]:
    return index_weights(entity.canonical)


def words_of_alias(alias: EntityAlias) -> Mapping[str, float]:
    return index_weights(alias.alias)


def words_of_note(note: Note) -> Mapping[str, float]:
    return index_weights(note.text)


def words_of_fact(fact: Fact) -> Mapping[str, float]:
    """The words of the value; those of subject and object are in the entities, those of the predicate in its names."""
    return index_weights(fact.object_value)


def _instant_field(name: str, nullable: bool = False) -> Field:
    return Field(name, Kind.INTEGER, nullable=nullable, format=Format.INSTANT)


def _time_of_change(name: str) -> Field:
    """When a record was created or last changed."""
    return Field(name, Kind.INTEGER, format=Format.INSTANT, defaults_to_now=True)


def _id_field(name: str, nullable: bool = False) -> Field:
    return Field(name, nullable=nullable, format=Format.UUID)


ENTITIES = Table(
    "graph_entities",
    Entity,
    [
        _id_field("entity_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("canonical"),
        Field("canonical_norm"),
        Field("kind", nullable=True),
        _time_of_change("created_at"),
        _time_of_change("updated_at"),
    ],
    key=["entity_id"],
    unique=[Unique("graph_entities_name", ("tenant_id", "project_id", "canonical_norm"))],
    indexes=[Index(("canonical_norm",))],
    relations=[
        Relation("aliases", "graph_entity_aliases", "entity_id", "entity_id"),
        Relation("facts", "graph_facts", "entity_id", "subject_entity_id"),
        Relation("facts_about", "graph_facts", "entity_id", "object_entity_id"),
        Relation("node_link", "graph_entity_nodes", "entity_id", "entity_id", many=False),
    ],
    words=words_of_entity,
)

ENTITY_ALIASES = Table(
    "graph_entity_aliases",
    EntityAlias,
    [_id_field("alias_id"), _id_field("entity_id"), Field("alias"), Field("alias_norm"), _time_of_change("created_at")],
    key=["alias_id"],
    unique=[Unique("graph_entity_aliases_name", ("entity_id", "alias_norm"))],
    references=[Reference("entity_id", "graph_entities", cascade=True)],
    indexes=[Index(("alias_norm",))],
    relations=[Relation("entity", "graph_entities", "entity_id", "entity_id", many=False)],
    words=words_of_alias,
)

ENTITY_NODES = Table(
    "graph_entity_nodes",
    EntityNode,
    [_id_field("entity_id"), Field("node_id")],
    key=["entity_id"],
    indexes=[Index(("node_id",))],
    relations=[Relation("node", "nodes", "node_id", "id", many=False)],
)

ENTITY_MERGES = Table(
    "graph_entity_merges",
    EntityMerge,
    [
        _id_field("entity_id"),
        _id_field("into_entity_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("canonical_norm"),
        _time_of_change("created_at"),
    ],
    key=["entity_id"],
    indexes=[Index(("into_entity_id",)), Index(("canonical_norm",))],
)

ENTITY_DISTINCTIONS = Table(
    "graph_entity_distinctions",
    EntityDistinction,
    [_id_field("entity_id"), _id_field("other_id"), _time_of_change("created_at")],
    key=["entity_id", "other_id"],
    indexes=[Index(("other_id",))],
    added_later=True,
)

PREDICATES = Table(
    "graph_predicates",
    Predicate,
    [
        _id_field("predicate_id"),
        Field("scope_key"),
        Field("tenant_id", nullable=True),
        Field("project_id", nullable=True),
        Field("canonical"),
        Field("canonical_norm"),
        Field("cardinality"),
        Field("status"),
        _time_of_change("created_at"),
        _time_of_change("updated_at"),
    ],
    key=["predicate_id"],
    unique=[Unique("graph_predicates_name", ("scope_key", "canonical_norm"))],
    indexes=[Index(("tenant_id", "project_id", "status"))],
    checks=[
        Check("graph_predicates_cardinality", any_of(*(eq("cardinality", value) for value in (SINGLE, MULTI)))),
        Check("graph_predicates_status", any_of(*(eq("status", value) for value in (PENDING, ACTIVE, DEPRECATED)))),
    ],
    relations=[Relation("aliases", "graph_predicate_aliases", "predicate_id", "predicate_id")],
)

PREDICATE_ALIASES = Table(
    "graph_predicate_aliases",
    PredicateAlias,
    [
        _id_field("alias_id"),
        _id_field("predicate_id"),
        Field("scope_key"),
        Field("alias"),
        Field("alias_norm"),
        _time_of_change("created_at"),
    ],
    key=["alias_id"],
    unique=[Unique("graph_predicate_aliases_name", ("scope_key", "alias_norm"))],
    references=[Reference("predicate_id", "graph_predicates", cascade=True)],
    indexes=[Index(("alias_norm",)), Index(("predicate_id",))],
)

NOTES = Table(
    "memory_notes",
    Note,
    [
        _id_field("note_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("agent_id"),
        Field("scope"),
        Field("text"),
        Field("source", nullable=True),
        _time_of_change("created_at"),
    ],
    key=["note_id"],
    indexes=[Index(("tenant_id", "project_id", "created_at"))],
    relations=[Relation("evidence", "graph_fact_evidence", "note_id", "note_id")],
    words=words_of_note,
)

OPEN = eq("valid_to", None)
"""The condition for facts without an end."""
SAME_FACT = ("tenant_id", "project_id", "scope", "subject_entity_id", "predicate_id")


def _unique_open_fact(name: str, object: str) -> list[Unique]:
    """At most one open fact with the same content; private facts of different agents are different facts."""
    when = all_of(OPEN, Compare(object, Op.EXISTS))
    return [
        Unique(f"graph_facts_open_{name}", (*SAME_FACT, object), all_of(when, Compare("scope", Op.NE, PRIVATE))),
        Unique(
            f"graph_facts_open_private_{name}", (*SAME_FACT, "agent_id", object), all_of(when, eq("scope", PRIVATE))
        ),
    ]


FACTS = Table(
    "graph_facts",
    Fact,
    [
        _id_field("fact_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("agent_id"),
        Field("scope"),
        _id_field("subject_entity_id"),
        Field("predicate"),
        _id_field("predicate_id", nullable=True),
        _id_field("object_entity_id", nullable=True),
        Field("object_value", nullable=True),
        _instant_field("valid_from"),
        _instant_field("valid_to", nullable=True),
        _time_of_change("created_at"),
        _time_of_change("updated_at"),
    ],
    key=["fact_id"],
    unique=[*_unique_open_fact("entity", "object_entity_id"), *_unique_open_fact("value", "object_value")],
    indexes=[
        Index(("tenant_id", "project_id", "subject_entity_id", "predicate_id")),
        Index(("tenant_id", "project_id", "valid_to")),
        Index(("tenant_id", "project_id", "object_entity_id"), where=Compare("object_entity_id", Op.EXISTS)),
        # Access paths that the seed's indexes do not cover: by one end, newest first, and by predicate.
        Index(("subject_entity_id", "valid_from", "fact_id")),
        Index(("object_entity_id", "valid_from", "fact_id")),
        Index(("predicate_id",)),
    ],
    checks=[
        Check(
            "graph_facts_one_object",
            any_of(
                all_of(eq("object_entity_id", None), Compare("object_value", Op.EXISTS)),
                all_of(Compare("object_entity_id", Op.EXISTS), eq("object_value", None)),
            ),
        ),
        Check("graph_facts_window", ascending=("valid_from", "valid_to")),
    ],
    references=[
        Reference("subject_entity_id", "graph_entities"),
        Reference("predicate_id", "graph_predicates"),
        Reference("object_entity_id", "graph_entities"),
    ],
    relations=[
        Relation("subject", "graph_entities", "subject_entity_id", "entity_id", many=False),
        Relation("object_entity", "graph_entities", "object_entity_id", "entity_id", many=False),
        Relation("predicate_ref", "graph_predicates", "predicate_id", "predicate_id", many=False),
        Relation("evidence", "graph_fact_evidence", "fact_id", "fact_id"),
        Relation("superseded_by", "graph_fact_supersessions", "fact_id", "from_fact_id"),
        Relation("supersedes", "graph_fact_supersessions", "fact_id", "to_fact_id"),
        Relation("invalidation", "graph_fact_invalidations", "fact_id", "fact_id", many=False),
        Relation("overrides", "graph_fact_overrides", "fact_id", "fact_id"),
    ],
    words=words_of_fact,
)

EVIDENCE = Table(
    "graph_fact_evidence",
    Evidence,
    [_id_field("evidence_id"), _id_field("fact_id"), _id_field("note_id"), _time_of_change("created_at")],
    key=["evidence_id"],
    unique=[Unique("graph_fact_evidence_once", ("fact_id", "note_id"))],
    references=[
        Reference("fact_id", "graph_facts", cascade=True),
        Reference("note_id", "memory_notes", cascade=True),
    ],
    indexes=[Index(("note_id",)), Index(("fact_id",))],
    relations=[
        Relation("fact", "graph_facts", "fact_id", "fact_id", many=False),
        Relation("note", "memory_notes", "note_id", "note_id", many=False),
    ],
)

SUPERSESSIONS = Table(
    "graph_fact_supersessions",
    Supersession,
    [
        _id_field("supersession_id"),
        Field("tenant_id"),
        Field("project_id"),
        _id_field("from_fact_id"),
        _id_field("to_fact_id"),
        _id_field("note_id"),
        _instant_field("effective_at"),
        _time_of_change("created_at"),
    ],
    key=["supersession_id"],
    unique=[Unique("graph_fact_supersessions_once", ("from_fact_id", "to_fact_id", "note_id"))],
    references=[
        Reference("from_fact_id", "graph_facts", cascade=True),
        Reference("to_fact_id", "graph_facts", cascade=True),
        Reference("note_id", "memory_notes", cascade=True),
    ],
    indexes=[Index(("from_fact_id",)), Index(("to_fact_id",)), Index(("note_id",))],
    relations=[
        Relation("from_fact", "graph_facts", "from_fact_id", "fact_id", many=False),
        Relation("to_fact", "graph_facts", "to_fact_id", "fact_id", many=False),
        Relation("note", "memory_notes", "note_id", "note_id", many=False),
    ],
)

INVALIDATIONS = Table(
    "graph_fact_invalidations",
    Invalidation,
    [_id_field("fact_id"), Field("reason"), _instant_field("valid_to"), _time_of_change("created_at")],
    key=["fact_id"],
)

OVERRIDES = Table(
    "graph_fact_overrides",
    Override,
    [_id_field("fact_id"), _instant_field("valid_from"), _instant_field("valid_to", nullable=True)],
    key=["fact_id", "valid_from"],
    added_later=True,
)

TABLES = (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_NODES,
    ENTITY_MERGES,
    ENTITY_DISTINCTIONS,
    PREDICATES,
    PREDICATE_ALIASES,
    NOTES,
    FACTS,
    EVIDENCE,
    SUPERSESSIONS,
    INVALIDATIONS,
    OVERRIDES,
)
