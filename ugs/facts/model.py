"""The records of temporal facts and the tables that hold them, under the seed's own names.

Instants are whole numbers of microseconds (`ugs.facts.instants`). The seven `graph_*` tables have exactly the seed's
columns; what the seed has no column for (graph nodes of entities, merges, reasons) stands in tables of its own.
"""

from __future__ import annotations

from msgspec import Struct

from ugs.catalog import Field, Index, Kind, Relation, Table, Unique
from ugs.facts.instants import Instant
from ugs.reads.where import Compare, Op, all_of, eq

SINGLE, MULTI = "single", "multi"
PENDING, ACTIVE, DEPRECATED = "pending", "active", "deprecated"


class Entity(Struct, frozen=True, gc=False):
    """Somebody or something that facts are about."""

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
    """The graph node an entity points at."""

    entity_id: str
    node_id: str


class EntityMerge(Struct, frozen=True, gc=False):
    """An entity that became part of another; its id and its name lead there."""

    entity_id: str
    into_entity_id: str
    tenant_id: str
    project_id: str
    canonical_norm: str
    created_at: Instant


class Predicate(Struct, frozen=True, gc=False):
    """A word of the controlled vocabulary."""

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
        """Whether a newer fact closes older ones."""
        return self.status == ACTIVE and self.cardinality == SINGLE


class PredicateAlias(Struct, frozen=True, gc=False):
    """A way of saying a predicate; predicates are found through these only."""

    alias_id: str
    predicate_id: str
    scope_key: str
    alias: str
    alias_norm: str
    created_at: Instant


class Note(Struct, frozen=True, gc=False):
    """Something that was said, and from which facts were learnt."""

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
        """`current`, `historical` or `future`, seen from an instant."""
        if self.valid_from > moment:
            return "future"
        return "current" if self.holds_at(moment) else "historical"


class Evidence(Struct, frozen=True, gc=False):
    """A note that says a fact."""

    evidence_id: str
    fact_id: str
    note_id: str
    created_at: Instant


class Supersession(Struct, frozen=True, gc=False):
    """Why a fact ended: another took its place, because of a note."""

    supersession_id: str
    tenant_id: str
    project_id: str
    from_fact_id: str
    to_fact_id: str
    note_id: str
    effective_at: Instant
    created_at: Instant


class Invalidation(Struct, frozen=True, gc=False):
    """Why a fact was ended by hand."""

    fact_id: str
    reason: str
    valid_to: Instant
    created_at: Instant


def _instant(name: str, nullable: bool = False) -> Field:
    return Field(name, Kind.INTEGER, nullable=nullable)


ENTITIES = Table(
    "graph_entities",
    Entity,
    [
        Field("entity_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("canonical"),
        Field("canonical_norm"),
        Field("kind", nullable=True),
        _instant("created_at"),
        _instant("updated_at"),
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
)

ENTITY_ALIASES = Table(
    "graph_entity_aliases",
    EntityAlias,
    [Field("alias_id"), Field("entity_id"), Field("alias"), Field("alias_norm"), _instant("created_at")],
    key=["alias_id"],
    unique=[Unique("graph_entity_aliases_name", ("entity_id", "alias_norm"))],
    indexes=[Index(("alias_norm",))],
    relations=[Relation("entity", "graph_entities", "entity_id", "entity_id", many=False)],
)

ENTITY_NODES = Table(
    "graph_entity_nodes",
    EntityNode,
    [Field("entity_id"), Field("node_id")],
    key=["entity_id"],
    indexes=[Index(("node_id",))],
    relations=[Relation("node", "nodes", "node_id", "id", many=False)],
)

ENTITY_MERGES = Table(
    "graph_entity_merges",
    EntityMerge,
    [
        Field("entity_id"),
        Field("into_entity_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("canonical_norm"),
        _instant("created_at"),
    ],
    key=["entity_id"],
    indexes=[Index(("into_entity_id",)), Index(("canonical_norm",))],
)

PREDICATES = Table(
    "graph_predicates",
    Predicate,
    [
        Field("predicate_id"),
        Field("scope_key"),
        Field("tenant_id", nullable=True),
        Field("project_id", nullable=True),
        Field("canonical"),
        Field("canonical_norm"),
        Field("cardinality"),
        Field("status"),
        _instant("created_at"),
        _instant("updated_at"),
    ],
    key=["predicate_id"],
    unique=[Unique("graph_predicates_name", ("scope_key", "canonical_norm"))],
    indexes=[Index(("tenant_id", "project_id", "status"))],
    relations=[Relation("aliases", "graph_predicate_aliases", "predicate_id", "predicate_id")],
)

PREDICATE_ALIASES = Table(
    "graph_predicate_aliases",
    PredicateAlias,
    [
        Field("alias_id"),
        Field("predicate_id"),
        Field("scope_key"),
        Field("alias"),
        Field("alias_norm"),
        _instant("created_at"),
    ],
    key=["alias_id"],
    unique=[Unique("graph_predicate_aliases_name", ("scope_key", "alias_norm"))],
    indexes=[Index(("alias_norm",)), Index(("predicate_id",))],
)

NOTES = Table(
    "memory_notes",
    Note,
    [
        Field("note_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("agent_id"),
        Field("scope"),
        Field("text"),
        Field("source", nullable=True),
        _instant("created_at"),
    ],
    key=["note_id"],
    indexes=[Index(("tenant_id", "project_id", "created_at"))],
    relations=[Relation("evidence", "graph_fact_evidence", "note_id", "note_id")],
)

OPEN = eq("valid_to", None)
"""The fact has no end yet."""
SAME_FACT = ("tenant_id", "project_id", "scope", "subject_entity_id", "predicate_id")

FACTS = Table(
    "graph_facts",
    Fact,
    [
        Field("fact_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("agent_id"),
        Field("scope"),
        Field("subject_entity_id"),
        Field("predicate"),
        Field("predicate_id", nullable=True),
        Field("object_entity_id", nullable=True),
        Field("object_value", nullable=True),
        _instant("valid_from"),
        _instant("valid_to", nullable=True),
        _instant("created_at"),
        _instant("updated_at"),
    ],
    key=["fact_id"],
    unique=[
        Unique(
            "graph_facts_open_entity",
            (*SAME_FACT, "object_entity_id"),
            when=all_of(OPEN, Compare("object_entity_id", Op.EXISTS)),
        ),
        Unique(
            "graph_facts_open_value",
            (*SAME_FACT, "object_value"),
            when=all_of(OPEN, Compare("object_value", Op.EXISTS)),
        ),
    ],
    indexes=[
        Index(("tenant_id", "project_id", "subject_entity_id", "predicate_id")),
        Index(("tenant_id", "project_id", "valid_to")),
        Index(("tenant_id", "project_id", "object_entity_id")),
        # What the seed's indexes do not lead with: reading by one end, newest first, and by predicate.
        Index(("subject_entity_id", "valid_from", "fact_id")),
        Index(("object_entity_id", "valid_from", "fact_id")),
        Index(("predicate_id",)),
    ],
    relations=[
        Relation("subject", "graph_entities", "subject_entity_id", "entity_id", many=False),
        Relation("object_entity", "graph_entities", "object_entity_id", "entity_id", many=False),
        Relation("predicate_ref", "graph_predicates", "predicate_id", "predicate_id", many=False),
        Relation("evidence", "graph_fact_evidence", "fact_id", "fact_id"),
        Relation("superseded_by", "graph_fact_supersessions", "fact_id", "from_fact_id"),
        Relation("supersedes", "graph_fact_supersessions", "fact_id", "to_fact_id"),
        Relation("invalidation", "graph_fact_invalidations", "fact_id", "fact_id", many=False),
    ],
)

EVIDENCE = Table(
    "graph_fact_evidence",
    Evidence,
    [Field("evidence_id"), Field("fact_id"), Field("note_id"), _instant("created_at")],
    key=["evidence_id"],
    unique=[Unique("graph_fact_evidence_once", ("fact_id", "note_id"))],
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
        Field("supersession_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("from_fact_id"),
        Field("to_fact_id"),
        Field("note_id"),
        _instant("effective_at"),
        _instant("created_at"),
    ],
    key=["supersession_id"],
    unique=[Unique("graph_fact_supersessions_once", ("from_fact_id", "to_fact_id", "note_id"))],
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
    [Field("fact_id"), Field("reason"), _instant("valid_to"), _instant("created_at")],
    key=["fact_id"],
)

TABLES = (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_NODES,
    ENTITY_MERGES,
    PREDICATES,
    PREDICATE_ALIASES,
    NOTES,
    FACTS,
    EVIDENCE,
    SUPERSESSIONS,
    INVALIDATIONS,
)
