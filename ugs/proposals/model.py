"""The table of proposed facts. A proposal names its subject and object by their names: entities come with approval."""

from __future__ import annotations

from msgspec import Struct

from ugs.facts.temporal.instants import Instant
from ugs.tables import Field, Format, Index, Kind, Table

PENDING, APPROVED, REJECTED = "pending", "approved", "rejected"
STATES = (PENDING, APPROVED, REJECTED)


class Proposal(Struct, frozen=True, gc=False):
    """A fact that a note states, and that nobody has approved yet."""

    proposal_id: str
    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    proposer: str
    """The account that proposed it, which may not decide about it."""
    note_id: str
    subject: str
    predicate: str
    object_entity: str | None
    object_value: str | None
    valid_from: Instant | None
    valid_to: Instant | None
    state: str
    decided_by: str | None
    reason: str | None
    fact_id: str | None
    """The fact that it became; of a pending one the fact that an undo took away."""
    created_at: Instant
    updated_at: Instant


PROPOSALS = Table(
    "fact_proposals",
    Proposal,
    [
        Field("proposal_id", format=Format.UUID),
        Field("tenant_id"),
        Field("project_id"),
        Field("agent_id"),
        Field("scope"),
        Field("proposer"),
        Field("note_id", format=Format.UUID),
        Field("subject"),
        Field("predicate"),
        Field("object_entity", nullable=True),
        Field("object_value", nullable=True),
        Field("valid_from", Kind.INTEGER, nullable=True, format=Format.INSTANT),
        Field("valid_to", Kind.INTEGER, nullable=True, format=Format.INSTANT),
        Field("state"),
        Field("decided_by", nullable=True),
        Field("reason", nullable=True),
        Field("fact_id", nullable=True, format=Format.UUID),
        Field("created_at", Kind.INTEGER, format=Format.INSTANT),
        Field("updated_at", Kind.INTEGER, format=Format.INSTANT),
    ],
    key=["proposal_id"],
    indexes=[Index(("state", "created_at", "proposal_id")), Index(("note_id",))],
    added_later=True,
)
TABLES = (PROPOSALS,)
