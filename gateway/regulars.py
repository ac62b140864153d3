"""Regulars: requests whose bodies are known again, all but their variables.

A frontend asks the same documents all day long. What a body says besides its variables is worked out once: the
document, whether this caller may ask it, and what answers it. The next body with the same bytes around its variables
says the same, whatever JSON stands between them. Anything else about a body is for those who read it as a whole.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway.asked import Asked, Refused, from_body, is_deeper
from gateway.reception import Admitted
from schema.operations import Quick
from ugs.errors import UgsError
from ugs.values import MAX_DEPTH, is_plain, is_plain_text

MARK = b'"variables":'
"""Inside a JSON text its quotes would be escaped, so this is where variables begin."""
MOST_KEPT, MOST_BYTES = 1_000, 16_384
"""So many are remembered, if they are not longer than that."""

_decode_variables = msgspec.json.Decoder(dict[str, Any]).decode


class Regular(Struct):
    """A request that has been admitted before."""

    before: bytes
    after: bytes
    asked: Asked
    """What it says, without variables."""
    admitted: Admitted
    """As it was admitted the last time."""
    quick: Quick
    """What answers it with any variables."""

    def variables_in(self, body: bytes, most_depth: int) -> dict[str, Any] | None:
        """The variables of a body that begins like this one; None where it goes on otherwise, or they are unusual."""
        if not body.endswith(self.after):
            return None
        raw = body[len(self.before) : len(body) - len(self.after)]
        try:
            found = _decode_variables(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None
        if not is_plain_text(raw, min(most_depth, MAX_DEPTH) - 1) and not _is_plain(found, most_depth):
            return None
        return found


def _is_plain(found: dict[str, Any], most_depth: int) -> bool:
    return is_plain(found, MAX_DEPTH - 1) and not (most_depth < MAX_DEPTH and is_deeper(found, most_depth - 1))


class Regulars:
    """Requests by how their bodies begin."""

    def __init__(self) -> None:
        self._known: dict[bytes, Regular] = {}

    def find(self, body: bytes) -> Regular | None:
        """The request that begins like this."""
        place = body.find(MARK)
        return None if place < 0 else self._known.get(body[: place + len(MARK)])

    def remember(self, body: bytes, asked: Asked, admitted: Admitted, quick: Quick) -> None:
        """Know a request again, if its variables can be told from the rest of its body."""
        around = around_variables(body, asked) if len(body) <= MOST_BYTES and MARK in body else None
        if around is None:
            return
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
        before, after = around
        self._known[before] = Regular(before, after, Asked(asked.query, None, asked.operation), admitted, quick)


class _Framed(Struct):
    variables: Raw = Raw()


_decode_framed = msgspec.json.Decoder(_Framed).decode


def around_variables(body: bytes, asked: Asked) -> tuple[bytes, bytes] | None:
    """What stands before and behind the variables of a body; None where that is not certain."""
    variables = bytes(_decode_framed(body).variables)
    start = body.find(MARK) + len(MARK)
    end = body.find(variables, start) + len(variables)
    before, after = body[:start], body[end:]
    if not variables or body[start:end].strip() != variables:
        return None
    try:
        same = from_body(before + b"null" + after)
    except (Refused, UgsError):
        return None
    return (before, after) if same == msgspec.structs.replace(asked, variables=None) else None
