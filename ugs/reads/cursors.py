"""Opaque cursors: a place in an order as text, tied to that order.

A cursor that is used with another order than the one it was made for is refused, because its values would mean
something else there. Where an order has only numbers and identifiers, a cursor is its values behind the order's own
sign, which every store can write; any other value goes through JSON.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from ugs.catalog import Field, Kind, Row, Table
from ugs.errors import InvalidSyntax
from ugs.reads.plan import Order, full_order, place_of
from ugs.values import MAX_INT, MIN_INT

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[Any]).decode
LONGEST = 4_096
JOINT = "."
"""Stands in no identifier, in no number and in no Base64."""


class Cursors:
    """The cursors of one order of a table."""

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
        """The place that a cursor stands for, if it was made for this order."""
        if not self.is_plain:
            return decode_cursor(text, self.name, len(self.order))
        head, *parts = text.split(JOINT)
        if len(text) > LONGEST or not parts:
            raise _no_cursor(text)
        if head != self.head or len(parts) != len(self.fields):
            raise _other_order()
        return tuple(_value(field, part, text) for field, part in zip(self.fields, parts, strict=True))


@lru_cache(maxsize=1024)
def cursors_for(table: Table, order: tuple[Order, ...]) -> Cursors:
    """The cursors of an order, made once."""
    return Cursors(table, order)


def _is_plain_field(field: Field) -> bool:
    return not field.nullable and (field.kind is Kind.INTEGER or (field.kind is Kind.TEXT and field.plain))


def _value(field: Field, part: str, text: str) -> Any:
    """Cursors come from outside: only what a column can hold may reach a store."""
    if field.kind is Kind.INTEGER:
        digits = part.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 20 and MIN_INT <= int(part) <= MAX_INT):
            raise _no_cursor(text)
        return int(part)
    if not _is_plain(part):
        raise _no_cursor(text)
    return part


def order_name(order: tuple[Order, ...]) -> str:
    """An order in short form, as cursors carry it."""
    return ",".join(f"-{part.field}" if part.descending else part.field for part in order)


def encode_cursor(order_text: str, values: tuple[Any, ...]) -> str:
    """A place as text; a whole number is written as one, however a store keeps it, so that all stores agree."""
    plain = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    return _packed(_encode([order_text, *plain]))


def cursor_of(row: Row, table: Table, order: tuple[Order, ...]) -> str:
    """The cursor that continues after a row."""
    return cursors_for(table, order).of(row)


def decode_cursor(text: str, order_text: str, size: int) -> tuple[Any, ...]:
    """The values a cursor holds, if it was made for this order."""
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
    """Whether a column can hold this."""
    if isinstance(value, str):
        return "\x00" not in value and value.isprintable()
    if isinstance(value, int) and not isinstance(value, bool):
        return MIN_INT <= value <= MAX_INT
    return value is None or isinstance(value, float)


def _no_cursor(text: str) -> InvalidSyntax:
    return InvalidSyntax(f"{text[:40]!r} is not a cursor; use one that a page gave you")


def _other_order() -> InvalidSyntax:
    return InvalidSyntax("The cursor belongs to another order of the rows; start again without it")
