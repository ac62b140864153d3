"""Cache of admitted request bodies, keyed by the bytes before their variables.

Frontends send the same documents again and again. The parsed document, its admission and the compiled operation are
stored once; a later body with the same bytes before and after its variables means the same request, so only its
variables are parsed. Every other body is parsed as a whole.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ugs.errors import UgsError
from ugs.support.bounded_cache import BoundedCache
from ugs.values import is_plain, is_plain_text
from ugs_gateway.graphql.admission import AdmittedOperation
from ugs_gateway.graphql.request import MAX_REQUEST_DEPTH, GraphQLRequest, RequestRejected, from_body, is_deeper
from ugs_schema.compiler.executor import FixedCostOperation

VARIABLES_KEY = b'"variables":'
"""Inside a JSON string the quotes would be escaped, so the first match is a key."""
MAX_BYTES = 16_384
"""The longest body that is cached."""
MAX_ENTRIES, MAX_CACHE_BYTES = 1_000, 16 << 20

_decode_variables = msgspec.json.Decoder(dict[str, Any]).decode


class CachedRequest(Struct):
    """A cached request: the bytes around its variables, and what they mean."""

    before: bytes
    after: bytes
    request: GraphQLRequest
    """The parsed request without variables."""
    admitted: AdmittedOperation
    """The admission of the last caller."""
    operation: FixedCostOperation
    """The compiled operation; its cost does not depend on variables."""

    def variables_in(self, body: bytes, max_depth: int) -> dict[str, Any] | None:
        """The variables of a body with this prefix; None if its suffix differs or its variables need the full parser's
        checks."""
        if not body.endswith(self.after):
            return None
        raw = body[len(self.before) : len(body) - len(self.after)]
        try:
            found = _decode_variables(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None
        if not is_plain_text(raw, min(max_depth, MAX_REQUEST_DEPTH) - 1) and not _is_plain(found, max_depth):
            return None
        return found


def _is_plain(found: dict[str, Any], max_depth: int) -> bool:
    return is_plain(found, MAX_REQUEST_DEPTH - 1) and not (
        max_depth < MAX_REQUEST_DEPTH and is_deeper(found, max_depth - 1)
    )


class RequestCache:
    """Bounded cache of requests by the prefix of their body."""

    def __init__(self) -> None:
        self._known: BoundedCache[bytes, CachedRequest] = BoundedCache(MAX_ENTRIES, MAX_CACHE_BYTES)

    def find(self, body: bytes) -> CachedRequest | None:
        """The cached request with the prefix of this body."""
        place = body.find(VARIABLES_KEY)
        return None if place < 0 else self._known.get(body[: place + len(VARIABLES_KEY)])

    def put(
        self, body: bytes, graphql_request: GraphQLRequest, admitted: AdmittedOperation, operation: FixedCostOperation
    ) -> None:
        """Cache a request, if its variables can be separated from the rest of its body."""
        around = split_at_variables(body, graphql_request) if len(body) <= MAX_BYTES and VARIABLES_KEY in body else None
        if around is None:
            return
        before, after = around
        known = CachedRequest(
            before, after, GraphQLRequest(graphql_request.query, None, graphql_request.operation), admitted, operation
        )
        self._known.put(before, known, 2_048 + 4 * len(body))


class _Framed(Struct):
    variables: Raw = Raw()


_decode_framed = msgspec.json.Decoder(_Framed).decode


def split_at_variables(body: bytes, graphql_request: GraphQLRequest) -> tuple[bytes, bytes] | None:
    """The bytes before and after the variables of a body; None where the split is not certain."""
    variables = bytes(_decode_framed(body).variables)
    start = body.find(VARIABLES_KEY) + len(VARIABLES_KEY)
    end = body.find(variables, start) + len(variables)
    before, after = body[:start], body[end:]
    if not variables or body[start:end].strip() != variables:
        return None
    try:
        # With null for its variables the body must still parse to the same request; that rejects nested or duplicate
        # keys.
        same = from_body(before + b"null" + after)
    except (RequestRejected, UgsError):
        return None
    return (before, after) if same == msgspec.structs.replace(graphql_request, variables=None) else None
