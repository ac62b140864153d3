"""Values and addresses: what may be stored, how it is written down, and how `@(id)` refers to it.

One rule holds on every store, because each of them would bend a value in its own way otherwise: integers fit
64 bits, floats are finite, text has neither NUL nor lone surrogates, nesting is at most 32 deep. Whatever breaks
the rule is refused, never coerced. Stored JSON is canonical text (sorted keys, no spaces), the same bytes everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any, NewType

import msgspec
from msgspec import Struct

from ugs.errors import InvalidJSON, InvalidSyntax, LimitExceeded
from ugs.identity import ID_LENGTH, Scope, scope_of

JsonText = NewType("JsonText", str)
"""Canonical JSON as text: sorted keys, no spaces."""

Json = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict."""

MAX_DEPTH = 32
MAX_KEY = 256
MOST_PASSED = 4_096
MAX_INT = 2**63 - 1
MIN_INT = -(2**63)
MAX_PROPERTIES = 1_000
MAX_PROPERTIES_BYTES = 1 << 20
MAX_DATA_BYTES = 16 << 20

EMPTY_OBJECT = JsonText("{}")
NULL = JsonText("null")
FORBIDDEN_TEXT = re.compile("[\x00\ud800-\udfff]")
ADDRESS = re.compile(r"@\(((?:(?:user|project|scratch):)?[a-zA-Z_][a-zA-Z0-9_-]*)(?::([1-9][0-9]*))?\)")

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode


class Address(Struct, frozen=True):
    """A reference to a node or an edge, symbolic until somebody resolves it."""

    id: str
    version: int | None = None

    @property
    def scope(self) -> Scope:
        return scope_of(self.id)

    def __str__(self) -> str:
        return f"@({self.id})" if self.version is None else f"@({self.id}:{self.version})"


def parse_address(text: object) -> Address | None:
    """The address a text stands for, or None when the whole text is not one."""
    match = ADDRESS.fullmatch(text) if isinstance(text, str) else None
    if match is None or len(match[1]) > ID_LENGTH:
        return None
    return Address(match[1], int(match[2]) if match[2] else None)


def find_addresses(value: Json, path: str = "") -> Iterator[tuple[str, Address]]:
    """Every address inside a value, with the path that leads to it."""
    if isinstance(value, str):
        address = parse_address(value)
        if address is not None:
            yield path, address
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_addresses(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from find_addresses(item, f"{path}.{key}" if path else key)


def to_text(value: Json) -> JsonText:
    """Canonical JSON of a value that has passed `check_value`."""
    return JsonText(_encode(value).decode())


def from_text(text: str | bytes) -> Json:
    """The value behind stored JSON text."""
    return _decode(text)


def parse_json(text: str | bytes) -> Json:
    """The value of JSON from outside, or E006 with the place of the mistake."""
    try:
        value = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidJSON(f"Not valid JSON: {error}") from error
    check_value(value)
    return value


def check_value(value: object, where: str = "value", depth: int = 0) -> None:
    """Refuse what some store could not keep exactly."""
    if not is_plain(value, MAX_DEPTH):
        _check_closely(value, where, 0)


def is_plain(value: Any, depth: int) -> bool:
    """Whether the value is plainly one that every store keeps; if not, a closer look finds the place or clears it."""
    if type(value) is dict:
        return (value.keys() <= _passed or all(map(_is_key, value))) and _are_fine(value.values(), depth)
    return _are_fine(value if type(value) is list else (value,), depth)


def is_plain_text(raw: bytes, most_depth: int) -> bool:
    """Whether JSON holds nothing that a store could not keep, told by its text alone: it is short and ASCII, without
    escapes, empty names, long numbers or exponents, and has no more brackets than it may be deep."""
    return (
        len(raw) <= MAX_KEY
        and raw.isascii()
        and b"\\" not in raw
        and b'""' not in raw
        and raw.count(b"{") + raw.count(b"[") <= most_depth
        and LONG_NUMBER not in (digits := raw.translate(_AS_ZEROS))
        and EXPONENT not in digits
    )


def _are_fine(values: Iterable[Any], depth: int) -> bool:
    # Every value that is ever written comes by here, hence so little is called.
    for value in values:
        kind = type(value)
        if kind is str:
            if "\x00" in value or not (value.isascii() or FORBIDDEN_TEXT.search(value) is None):
                return False
        elif kind is int:
            if not MIN_INT <= value <= MAX_INT:
                return False
        elif kind is float:
            if not -inf < value < inf:
                return False
        elif kind is dict or kind is list:
            if depth == 1 or not is_plain(value, depth - 1):
                return False
        elif kind is not bool and value is not None:
            return False
    return True


_AS_ZEROS = bytes.maketrans(b"123456789E", b"000000000e")
LONG_NUMBER, EXPONENT = b"0" * 18, b"0e"
"""What stands for too many digits, and for a number with an exponent, where every digit is a zero."""

_passed: set[str] = set()
"""Keys and types that were found to be fine: most elements call their properties like others do."""


def _is_key(key: object) -> bool:
    fine = type(key) is str and 0 < len(key) <= MAX_KEY and _is_text(key)
    if fine and len(_passed) < MOST_PASSED:
        _passed.add(str(key))
    return fine


def _is_text(value: str) -> bool:
    return value.isascii() and "\x00" not in value


def _check_closely(value: object, where: str, depth: int) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _check_text(value, where)
    elif isinstance(value, int):
        if not MIN_INT <= value <= MAX_INT:
            raise InvalidJSON(f"{where}: {shown(value)} does not fit a 64-bit integer", path=where)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidJSON(f"{where}: {value} is not a finite number", path=where)
    else:
        _check_composite(value, where, depth + 1)


def _check_text(value: str, where: str) -> None:
    if _is_text(value):
        return
    bad = FORBIDDEN_TEXT.search(value)
    if bad is not None:
        kind = "a NUL character" if bad[0] == "\x00" else "a lone surrogate"
        raise InvalidJSON(f"{where}: text contains {kind}", path=where)


def _check_composite(value: object, where: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidJSON(f"{where[:80]}: nested deeper than {MAX_DEPTH}", path=where[:80])
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_closely(item, f"{where}[{index}]", depth)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_key(key, where)
            _check_closely(item, f"{where}.{key}", depth)
    else:
        raise InvalidJSON(f"{where}: {type(value).__name__} is not a JSON value", path=where)


def check_key(key: object, where: str = "properties") -> str:
    """A key is text of reasonable length; what it says is the caller's business."""
    if not isinstance(key, str):
        raise InvalidJSON(f"{where}: keys must be text, got {type(key).__name__}", path=where)
    if not key or len(key) > MAX_KEY:
        raise InvalidJSON(f"{where}: a key has between 1 and {MAX_KEY} characters", path=where)
    _check_text(key, f"{where} key")
    return key


def properties_text(properties: object, what: str = "properties") -> JsonText:
    """Checked, canonical text of a property map."""
    if not isinstance(properties, dict):
        raise InvalidJSON(f"{what} must be an object, got {type(properties).__name__}")
    if len(properties) > MAX_PROPERTIES:
        raise LimitExceeded(f"{what}: more than {MAX_PROPERTIES} keys", limit=MAX_PROPERTIES)
    return _bounded_text(properties, what, MAX_PROPERTIES_BYTES)


def data_text(data: object) -> JsonText | None:
    """Checked, canonical text of a node's payload; None stays None."""
    return None if data is None else _bounded_text(data, "data", MAX_DATA_BYTES)


def _bounded_text(value: object, what: str, most: int) -> JsonText:
    if not is_plain(value, MAX_DEPTH):
        _check_closely(value, what, 0)
    text = to_text(value)
    if len(text) > most:
        raise LimitExceeded(f"{what} takes {len(text)} characters, the limit is {most}", limit=most)
    return text


def plain_texts(values: Sequence[Any], most: int) -> list[JsonText] | None:
    """The canonical texts of many values; None where one of them is not plain, or too long."""
    if not all([is_plain(value, MAX_DEPTH) for value in values]):
        return None
    texts = [JsonText(_encode(value).decode()) for value in values]
    return texts if max(map(len, texts), default=0) <= most else None


def plain_properties(properties: Any) -> JsonText | None:
    """What `properties_text` says of a plain map; None where a closer look is needed."""
    fits = type(properties) is dict and len(properties) <= MAX_PROPERTIES
    return _plain_text(properties, MAX_PROPERTIES_BYTES) if fits else None


def plain_data(data: Any) -> JsonText | None:
    """What `data_text` says of a plain payload, and `null` for none; None where a closer look is needed."""
    return NULL if data is None else _plain_text(data, MAX_DATA_BYTES)


def _plain_text(value: Any, most: int) -> JsonText | None:
    text = to_text(value) if is_plain(value, MAX_DEPTH) else None
    return text if text is not None and len(text) <= most else None


def check_type(value: object) -> str | None:
    """A type annotation is text or nothing."""
    if value is None or (type(value) is str and value in _passed):
        return value
    if not isinstance(value, str) or not value or len(value) > MAX_KEY:
        raise InvalidSyntax(f"type must be text of 1 to {MAX_KEY} characters, got {str(value)[:80]!r}")
    _check_text(value, "type")
    _is_key(value)  # thousands of elements have this type: it is checked once
    return value


def check_weight(value: object) -> int | float:
    """A weight is a number that a 64-bit float keeps exactly; whole numbers stay whole."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidSyntax(f"weight must be a number, got {str(value)[:80]!r}")
    if not -(2**1023) < value < 2**1023 or not math.isfinite(value) or float(value) != value:
        raise InvalidSyntax(f"weight {shown(value)} cannot be kept exactly as a 64-bit float")
    return whole(value)


def shown(number: int | float) -> str:
    """A number for a message; Python refuses to print enormous integers."""
    if isinstance(number, int) and number.bit_length() > 128:
        return f"an integer of {number.bit_length()} bits"
    return str(number)


def whole(value: int | float) -> int | float:
    """1.0 is written 1 and 2^60 is written as the float it is kept as, so that a weight looks the same everywhere."""
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def same_value(left: Json, right: Json) -> bool:
    """Equality on every store: numbers by value, booleans are no numbers, composites by content."""
    return comparable(left) == comparable(right)


def comparable(value: Json) -> tuple[str, Any]:
    """A hashable stand-in that is equal exactly when two values are the same."""
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, int | float):
        return "number", value
    if isinstance(value, str):
        return "string", value
    if value is None:
        return "null", None
    if isinstance(value, list):
        return "list", tuple(comparable(item) for item in value)
    return "map", frozenset((key, comparable(item)) for key, item in value.items())
