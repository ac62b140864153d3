"""The queue of notes to extract from, one row per note."""

from __future__ import annotations

from msgspec import Struct

from ugs.reads.filters import eq
from ugs.tables import Field, Index, Kind, Table

WAITING, DONE, FAILED = "waiting", "done", "failed"


class Extraction(Struct, frozen=True, gc=False):
    """The state of one note in the queue."""

    note_id: str
    tenant_id: str
    project_id: str
    agent_id: str
    scope: str
    state: str
    attempts: int
    due_at: int
    """When the next try is due, in Unix milliseconds."""
    error: str | None = None
    """Why the last try failed."""


EXTRACTIONS = Table(
    "extractions",
    Extraction,
    [
        Field("note_id"),
        Field("tenant_id"),
        Field("project_id"),
        Field("agent_id"),
        Field("scope"),
        Field("state"),
        Field("attempts", Kind.INTEGER),
        Field("due_at", Kind.INTEGER),
        Field("error", nullable=True),
    ],
    key=["note_id"],
    indexes=[Index(("state", "due_at"), eq("state", WAITING))],
    added_later=True,
)
TABLES = (EXTRACTIONS,)
