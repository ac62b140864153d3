"""The log position in the headers of requests and answers, for stores that read from replicas.

Every answer says which position this gateway knows of; a request that says it to another gateway is answered from a
state that has it.
"""

from __future__ import annotations

from ugs.errors import InvalidSyntax
from ugs.storage import Storage
from ugs_gateway.graphql.request import RequestRejected

MIN_POSITION_HEADER, POSITION_HEADER = "ugs-min-position", "ugs-position"
MAX_DIGITS = 18


def parse_min_position(text: str | None) -> int | None:
    """The least position that a request wants to see; None if it says nothing."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS:
        raise RequestRejected(400, InvalidSyntax(f"{MIN_POSITION_HEADER} is a position in the log, not {text[:40]!r}"))
    return int(text)


def position_headers(storage: Storage) -> dict[str, str]:
    """The header with the position that this gateway knows of; none where every read sees everything."""
    position = storage.known_position()
    return {} if position is None else {POSITION_HEADER: str(position)}
