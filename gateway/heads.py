"""Heads of requests known again: clients begin every request of a connection with the same bytes but for a length.

Taking headers apart costs more than many an answer. Bytes that were taken apart once mean the same the next time, as
long as they stand at the beginning of a request; only the length of the body has to be read anew.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")
LENGTH = re.compile(rb"\r\ncontent-length: ?([0-9]{1,11})(?=\r\n)", re.IGNORECASE)
CALLERS_ID = re.compile(rb"\r\nx-request-id: ?([^\r\n]*)(?=\r\n)", re.IGNORECASE)
END = b"\r\n\r\n"


class Head(Struct, Generic[T], frozen=True):
    """Everything in front of a body, cut where its length stands."""

    before: bytes
    after: bytes
    told: T
    """What the headers say."""
    id: bytes | None = None
    """The request id among them."""

    def body_in(self, data: bytes) -> bytes | None:
        """The body, if the data is one whole request with this head."""
        if not data.startswith(self.before):
            return None
        start = len(self.before)
        end = data.find(b"\r", start, start + 12)
        digits = data[start:end]
        if end < 0 or not digits.isdigit() or not data.startswith(self.after, end):
            return None
        body = data[end + len(self.after) :]
        return body if len(body) == int(digits) else None


def head_of(data: bytes, body: bytes, told: T) -> Head[T] | None:
    """The head of a request that arrived in one piece, if it can be known again."""
    head = data[: len(data) - len(body)]
    lengths = list(LENGTH.finditer(head))
    if not body or len(lengths) != 1 or not head.startswith(b"POST ") or head.find(END) != len(head) - len(END):
        return None
    if not data.endswith(body) or int(lengths[0][1]) != len(body):
        return None
    id = CALLERS_ID.search(head)
    first, last = lengths[0].span(1)
    return Head(head[:first], head[last:], told, None if id is None else id[1].strip())
