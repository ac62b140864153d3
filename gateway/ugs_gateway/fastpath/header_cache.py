"""Cache of the last request head of a connection.

Clients repeat the same head on a connection, except for the content length, and parsing headers costs more than many
answers. If the bytes are the same and stand at the beginning of a request, the earlier parse is reused and only the
length is read again.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")
MAX_HEAD_BYTES = 8_192
"""The longest head that a connection caches."""
LENGTH = re.compile(rb"\r\ncontent-length: ?([0-9]{1,11})(?=\r\n)", re.IGNORECASE)
CALLERS_ID = re.compile(rb"\r\nx-request-id: ?([^\r\n]*)(?=\r\n)", re.IGNORECASE)
END = b"\r\n\r\n"


class CachedHead(Struct, Generic[T], frozen=True):
    """A request head, split around the digits of its content length."""

    before: bytes
    after: bytes
    headers: T
    """The parsed headers."""
    id: bytes | None = None
    """The value of the header x-request-id, if there is one."""

    def body_in(self, data: bytes) -> bytes | None:
        """The body if the data is exactly one complete request with this head, else None."""
        if not data.startswith(self.before):
            return None
        start = len(self.before)
        end = data.find(b"\r", start, start + 12)
        digits = data[start:end]
        if end < 0 or not digits.isdigit() or not data.startswith(self.after, end):
            return None
        body = data[end + len(self.after) :]
        return body if len(body) == int(digits) else None


def head_of(data: bytes, body: bytes, headers: T) -> CachedHead[T] | None:
    """The head of a request that arrived in one chunk; None if it cannot be reused safely."""
    head = data[: len(data) - len(body)]
    if not body or len(head) > MAX_HEAD_BYTES:
        return None
    lengths = list(LENGTH.finditer(head))
    # Exactly one content length and one end of head: otherwise equal bytes could be split into head and body
    # differently.
    if len(lengths) != 1 or not head.startswith(b"POST ") or head.find(END) != len(head) - len(END):
        return None
    if not data.endswith(body) or int(lengths[0][1]) != len(body):
        return None
    id = CALLERS_ID.search(head)
    first, last = lengths[0].span(1)
    return CachedHead(head[:first], head[last:], headers, None if id is None else id[1].strip())
