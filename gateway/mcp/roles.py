"""Who may do what through this door: a reader reads, a writer also changes."""

from __future__ import annotations

from ugs.errors import Forbidden
from ugs.identity import Principal

WRITERS = frozenset({"admin", "writer"})
READERS = WRITERS | {"reader"}


def check_role(principal: Principal, what: str, reading: bool) -> None:
    """Refuse what the principal's roles do not cover."""
    if not (READERS if reading else WRITERS) & principal.roles:
        raise Forbidden(f"{what} needs the role {'reader' if reading else 'writer'}")
