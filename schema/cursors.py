"""Cursors: where a page ended, as text that means nothing to clients and everything to us.

A cursor holds the values of the sort keys at a row, and the order they belong to: with another order it is refused
rather than misread. It stays valid when rows are inserted or deleted around it.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import msgspec

from ugs.catalog import Row, Table
from ugs.errors import InvalidSyntax
from ugs.reads.plan import Order, full_order, place_of
from ugs.values import MAX_INT, MIN_INT

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[Any]).decode
LONGEST = 4_096


def order_name(order: tuple[Order, ...]) -> str:
    """An order in short form, as cursors carry it."""
    return ",".join(f"-{part.field}" if part.descending else part.field for part in order)


def encode_cursor(order_text: str, values: tuple[Any, ...]) -> str:
    """A place as text; a whole number is written as one, however a store keeps it, so that all stores agree."""
    plain = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    return urlsafe_b64encode(_encode([order_text, *plain])).decode().rstrip("=")


def cursor_of(row: Row, table: Table, order: tuple[Order, ...]) -> str:
    """The cursor that continues after a row."""
    whole = full_order(table, order)
    return encode_cursor(order_name(whole), place_of(row, whole))


def decode_cursor(text: str, order_text: str, size: int) -> tuple[Any, ...]:
    """The values a cursor holds, if it was made for this order."""
    name, *values = _parts(text)
    if name != order_text or len(values) != size or not all(map(_is_plain, values)):
        raise InvalidSyntax("The cursor belongs to another order of the rows; start again without it")
    return tuple(values)


def place_from(text: str, table: Table, order: tuple[Order, ...]) -> tuple[Any, ...]:
    """The place in a table's order that a cursor stands for."""
    whole = full_order(table, order)
    return decode_cursor(text, order_name(whole), len(whole))


def _parts(text: str) -> list[Any]:
    try:
        if len(text) > LONGEST:
            raise ValueError("too long")
        parts = _decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, msgspec.DecodeError, UnicodeError) as error:
        raise InvalidSyntax(f"{text[:40]!r} is not a cursor; use one that a page gave you") from error
    return parts or [""]


def _is_plain(value: Any) -> bool:
    """Cursors come from outside: only what a column can hold may reach a store."""
    if isinstance(value, str):
        return "\x00" not in value and value.isprintable()
    if isinstance(value, int) and not isinstance(value, bool):
        return MIN_INT <= value <= MAX_INT
    return value is None or isinstance(value, float)
