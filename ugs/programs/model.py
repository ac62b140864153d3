"""The row and table of stored programs."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec import Struct

from ugs.tables import Field, Index, Kind, Table
from ugs.values import JsonText, from_text

DEFINITION_TYPE = "program"
COUNTER = "program"


class ProgramRow(Struct, frozen=True, gc=False):
    """A stored program: validated, hashed, and owned by a user or by the system."""

    id: int
    name: str
    description: str | None
    owner_id: str | None
    """Nobody for the system's own programs, which everybody may use."""
    definition_text: JsonText
    sha256: str
    statement_count: int
    operation_count: int
    folded: str
    """Name and description, for searching."""
    created_at: int
    updated_at: int

    @property
    def definition(self) -> dict[str, Any]:
        found: dict[str, Any] = from_text(self.definition_text)
        return found

    @property
    def is_genuine(self) -> bool:
        """Whether the definition still has the hash of the validated one."""
        return digest_of(self.definition_text) == self.sha256

    def record(self) -> dict[str, Any]:
        """The seed's storage format."""
        return {"definition_type": DEFINITION_TYPE, "definition": self.definition}


def digest_of(definition_text: str) -> str:
    """The SHA-256 of a definition's canonical JSON."""
    return sha256(definition_text.encode()).hexdigest()


PROGRAMS = Table(
    "programs",
    ProgramRow,
    [
        Field("id", Kind.INTEGER),
        Field("name"),
        Field("description", nullable=True),
        Field("owner_id", nullable=True),
        Field("definition_text", Kind.JSON, column="definition"),
        Field("sha256"),
        Field("statement_count", Kind.INTEGER),
        Field("operation_count", Kind.INTEGER),
        Field("folded"),
        Field("created_at", Kind.INTEGER),
        Field("updated_at", Kind.INTEGER),
    ],
    key=["id"],
    indexes=[Index(("owner_id", "id"))],
)

TABLES = (PROGRAMS,)
