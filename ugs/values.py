"""Values and addresses: which values may be stored, their canonical encoding, and the reference syntax `@(id)`.

One rule holds on every store, because each store would otherwise coerce values in its own way: integers fit 64 bits,
floats are finite, text has neither NUL nor lone surrogates, nesting is at most 32 deep. Values that break the rule are
rejected, never coerced. Stored JSON is canonical text (sorted keys, no spaces), the same bytes on every store.
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
from ugs.support.shape_errors import describe_shape_error

JsonText = NewType("JsonText", str)
"""Canonical JSON as text: sorted keys, no spaces."""

Json = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict."""

MAX_DEPTH = 32
MAX_KEY = 256
MAX_CACHED_TEXT_CHARS = 4_096
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
    """A reference to a node or an edge, optionally at a version; symbolic until resolved."""

    id: str
    version: int | None = None

    @property
    def scope(self) -> Scope:
        return scope_of(self.id)

    def __str__(self) -> str:
        return f"@({self.id})" if self.version is None else f"@({self.id}:{self.version})"


VERSION_DIGITS = 18
"""Longer version numbers cannot exist; the bound also keeps `int()` cheap."""


def parse_address(text: object) -> Address | None:
    """Parse a text as an address; None unless the whole text is one."""
    match = ADDRESS.fullmatch(text) if isinstance(text, str) else None
    if match is None or len(match[1]) > ID_LENGTH or len(match[2] or "") > VERSION_DIGITS:
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
    """Decode stored JSON text."""
    return _decode(text)


def parse_json(text: str | bytes, max_depth: int = MAX_DEPTH) -> Json:
    """Decode and check JSON from a client; raises E006 with the position of the error."""
    try:
        value = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidJSON(f"Not valid JSON: {describe_shape_error(error)}") from error
    check_value(value, max_depth=max_depth)
    return value


def check_value(value: object, where: str = "value", max_depth: int = MAX_DEPTH) -> None:
    """Raise E006 for a value that some store could not keep exactly, or that is nested deeper than `max_depth`."""
    if not is_plain(value, max_depth):
        _check_with_path(value, where, max_depth)


def is_plain(value: Any, depth: int) -> bool:
    """Fast check that every store can keep the value. If False, `_check_with_path` decides and names the place."""
    if type(value) is dict:
        return (value.keys() <= _passed or all(map(_is_key, value))) and _are_valid(value.values(), depth)
    return _are_valid(value if type(value) is list else (value,), depth)


def is_plain_text(raw: bytes, max_depth: int) -> bool:
    """Whether JSON passes `check_value`, judged from its text without decoding it. Conservative: True only for short
    ASCII without escapes, empty strings, long numbers or exponents, and with at most `max_depth` brackets."""
    return (
        len(raw) <= MAX_KEY
        and raw.isascii()
        and b"\\" not in raw
        and b'""' not in raw
        and raw.count(b"{") + raw.count(b"[") <= max_depth
        and LONG_NUMBER not in (digits := raw.translate(_AS_ZEROS))
        and EXPONENT not in digits
    )


def _are_valid(values: Iterable[Any], depth: int) -> bool:
    # Hot path of every write, hence one loop with exact type checks and few calls.
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
"""Patterns of too many digits and of an exponent, in text whose digits are all replaced by zero."""

_passed: set[str] = set()
"""Cache of valid property keys and types (at most `MAX_CACHED_TEXT_CHARS`): most elements use the same few names."""


def _is_key(key: object) -> bool:
    fine = type(key) is str and 0 < len(key) <= MAX_KEY and _is_text(key)
    if fine and len(_passed) < MAX_CACHED_TEXT_CHARS:
        _passed.add(str(key))
    return fine


def _is_text(value: str) -> bool:
    return value.isascii() and "\x00" not in value


def _check_with_path(value: object, where: str, levels: int) -> None:
    """Full check that raises with the path of the fault; `levels` is how many levels of nesting remain."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _check_text(value, where)
    elif isinstance(value, int):
        if not MIN_INT <= value <= MAX_INT:
            raise InvalidJSON(f"{where}: {format_number(value)} does not fit a 64-bit integer", path=where)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidJSON(f"{where}: {value} is not a finite number", path=where)
    else:
        _check_composite(value, where, levels)


def _check_text(value: str, where: str) -> None:
    if _is_text(value):
        return
    bad = FORBIDDEN_TEXT.search(value)
    if bad is not None:
        kind = "a NUL character" if bad[0] == "\x00" else "a lone surrogate"
        raise InvalidJSON(f"{where}: text contains {kind}", path=where)


def _check_composite(value: object, where: str, levels: int) -> None:
    if levels == 0:
        raise InvalidJSON(f"{where[:80]}: nested deeper than {MAX_DEPTH}", path=where[:80])
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_with_path(item, f"{where}[{index}]", levels - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_key(key, where)
            _check_with_path(item, f"{where}.{key}", levels - 1)
    else:
        raise InvalidJSON(f"{where}: {type(value).__name__} is not a JSON value", path=where)


def check_key(key: object, where: str = "properties") -> str:
    """Check that a key is text of 1 to `MAX_KEY` characters that every store keeps; returns it."""
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


def _bounded_text(value: object, what: str, max_chars: int) -> JsonText:
    if not is_plain(value, MAX_DEPTH):
        _check_with_path(value, what, MAX_DEPTH)
    text = to_text(value)
    if len(text) > max_chars:
        raise LimitExceeded(f"{what} takes {len(text)} characters, the limit is {max_chars}", limit=max_chars)
    return text


def encode_plain_values(values: Sequence[Any], max_chars: int) -> list[JsonText] | None:
    """The canonical texts of many values; None if one of them is not plain or too long."""
    if not all([is_plain(value, MAX_DEPTH) for value in values]):
        return None
    texts = [JsonText(_encode(value).decode()) for value in values]
    return texts if max(map(len, texts), default=0) <= max_chars else None


def plain_properties(properties: Any) -> JsonText | None:
    """As `properties_text` for a plain map; None where the full check is needed."""
    fits = type(properties) is dict and len(properties) <= MAX_PROPERTIES
    return _plain_text(properties, MAX_PROPERTIES_BYTES) if fits else None


def plain_data(data: Any) -> JsonText | None:
    """As `data_text` for a plain payload, `null` for none; None where the full check is needed."""
    return NULL if data is None else _plain_text(data, MAX_DATA_BYTES)


def _plain_text(value: Any, max_chars: int) -> JsonText | None:
    text = to_text(value) if is_plain(value, MAX_DEPTH) else None
    return text if text is not None and len(text) <= max_chars else None


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
        raise InvalidSyntax(f"weight {format_number(value)} cannot be kept exactly as a 64-bit float")
    return whole(value)


def format_number(number: int | float) -> str:
    """A number for a message; Python refuses to print enormous integers."""
    if isinstance(number, int) and number.bit_length() > 128:
        return f"an integer of {number.bit_length()} bits"
    return str(number)


def whole(value: int | float) -> int | float:
    """Normalise a weight: whole numbers below 2^53 become integers, all others floats, so that every store's digest and
    output agree."""
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def same_value(left: Json, right: Json) -> bool:
    """Reference equality of values: numbers by value, booleans are not numbers, composites by content."""
    return comparable(left) == comparable(right)


def comparable(value: Json) -> tuple[str, Any]:
    """A hashable key that is equal exactly for values that `same_value` calls equal."""
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
