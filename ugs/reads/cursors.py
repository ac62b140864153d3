"""Opaque cursors: a position in an ordered list, encoded as text together with the order.

A cursor is rejected with another order than its own, because its values would mean something else there. If all fields
of the order are integers or identifiers, a cursor is the encoded name of the order followed by the plain values, which
a database can build by concatenation; otherwise it is Base64 of JSON.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec

from ugs.errors import InvalidSyntax
from ugs.reads.plan import Order, full_order, place_of
from ugs.support.bounded_cache import bounded_cache
from ugs.tables import Field, Kind, Row, Table
from ugs.values import FORBIDDEN_TEXT, MAX_INT, MIN_INT

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[Any]).decode
LONGEST = 4_096
JOINT = "."
"""Separator; occurs in no identifier, integer or URL-safe Base64."""


class Cursors:
    """Codec of the cursors of one order of a table."""

    def __init__(self, table: Table, order: tuple[Order, ...]) -> None:
        self.order = full_order(table, order)
        self.name = order_name(self.order)
        seen = table.counting(part.field for part in order)
        self.fields = [seen.field(part.field) for part in self.order]
        self.is_plain: bool = all(_is_plain_field(field) for field in self.fields)
        self.head = _packed(self.name.encode())
        self.of: Callable[[Row], str] = self._plainly() if self.is_plain else self._by_json

    def _plainly(self) -> Callable[[Row], str]:
        head = self.head + JOINT
        if len(self.fields) == 1:
            pick = attrgetter(self.fields[0].name)
            return lambda row: f"{head}{pick(row)}"
        values = attrgetter(*(field.name for field in self.fields))
        return lambda row: head + JOINT.join(map(str, values(row)))

    def _by_json(self, row: Row) -> str:
        return encode_cursor(self.name, place_of(row, self.order))

    def place(self, text: str) -> tuple[Any, ...]:
        """Decode a cursor; raises `InvalidSyntax` if it is malformed or belongs to another order."""
        if not self.is_plain:
            values = decode_cursor(text, self.name, len(self.order))
            if not all(map(_is_of, self.fields, values)):
                raise _no_cursor(text)
            return values
        head, *parts = text.split(JOINT)
        if len(text) > LONGEST or not parts:
            raise _no_cursor(text)
        if head != self.head or len(parts) != len(self.fields):
            raise _other_order()
        return tuple(_value(field, part, text) for field, part in zip(self.fields, parts, strict=True))


@bounded_cache(max_entries=1_024, max_bytes=4 << 20)
def cursors_for(table: Table, order: tuple[Order, ...]) -> Cursors:
    """The cursor codec of an order, cached."""
    return Cursors(table, order)


def _is_plain_field(field: Field) -> bool:
    return not field.nullable and (field.kind is Kind.INTEGER or (field.kind is Kind.TEXT and field.plain))


def _value(field: Field, part: str, text: str) -> Any:
    """Parse one value. Cursors are untrusted input: only values that the column can hold may reach a store."""
    if field.kind is Kind.INTEGER:
        digits = part.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 20 and MIN_INT <= int(part) <= MAX_INT):
            raise _no_cursor(text)
        return int(part)
    if not _is_plain(part):
        raise _no_cursor(text)
    return part


def order_name(order: tuple[Order, ...]) -> str:
    """The short form of an order that cursors contain."""
    return ",".join(f"-{part.field}" if part.descending else part.field for part in order)


def encode_cursor(order_text: str, values: tuple[Any, ...]) -> str:
    """Encode a place as JSON in Base64; whole floats are written as integers, so that all stores agree."""
    plain = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    return _packed(_encode([order_text, *plain]))


def cursor_of(row: Row, table: Table, order: tuple[Order, ...]) -> str:
    """The cursor that continues after a row."""
    return cursors_for(table, order).of(row)


def decode_cursor(text: str, order_text: str, size: int) -> tuple[Any, ...]:
    """Decode a JSON cursor; raises if it belongs to another order."""
    name, *values = _parts(text)
    if name != order_text or len(values) != size or not all(map(_is_plain, values)):
        raise _other_order()
    return tuple(values)


def _packed(body: bytes) -> str:
    return urlsafe_b64encode(body).decode().rstrip("=")


def _parts(text: str) -> list[Any]:
    try:
        if len(text) > LONGEST:
            raise ValueError("too long")
        parts = _decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, msgspec.DecodeError, UnicodeError) as error:
        raise _no_cursor(text) from error
    return parts or [""]


def _is_plain(value: Any) -> bool:
    """Whether any column can hold this value."""
    if isinstance(value, str):
        return FORBIDDEN_TEXT.search(value) is None
    if isinstance(value, int) and not isinstance(value, bool):
        return MIN_INT <= value <= MAX_INT
    return value is None or isinstance(value, float)


KINDS: dict[Kind, tuple[type, ...]] = {
    Kind.INTEGER: (int,),
    Kind.REAL: (int, float),
    Kind.BOOLEAN: (bool, int),
}
"""Python types of the values per kind of column; all others are text."""


def _is_of(field: Field, value: Any) -> bool:
    """Whether this column can hold the value; a forged cursor may contain anything."""
    return field.nullable if value is None else isinstance(value, KINDS.get(field.kind, (str,)))


def _no_cursor(text: str) -> InvalidSyntax:
    return InvalidSyntax(f"{text[:40]!r} is not a cursor; use one that a page gave you")


def _other_order() -> InvalidSyntax:
    return InvalidSyntax("The cursor belongs to another order of the rows; start again without it")
