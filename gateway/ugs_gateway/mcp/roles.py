"""Role checks of the MCP server: a reader reads, a writer also changes."""

from __future__ import annotations

from ugs.errors import Forbidden
from ugs.identity import Principal

WRITERS = frozenset({"admin", "writer"})
READERS = WRITERS | {"reader"}


def check_role(principal: Principal, what: str, reading: bool) -> None:
    """Refuse an operation that the principal's roles do not cover."""
    if not (READERS if reading else WRITERS) & principal.roles:
        raise Forbidden(f"{what} needs the role {'reader' if reading else 'writer'}")
