"""Sends columns of values as one text each, which the server splits: cheaper than an array.

The driver checks every element of an array, which costs more than storing it. Two control characters, which hardly ever
occur in stored texts, separate values and mark NULL; if a column contains them, arrays are sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

BETWEEN, NOTHING = "\x1f", "\x1e"
_ARRAY = re.compile(r"\$(\d+)::([a-z0-9]+)\[\]")
_SENT = frozenset({str, int, float, bool, type(None)})


def pack_texts(columns: Sequence[Sequence[Any]]) -> list[str] | None:
    """Each column as one text; None if one of them could not be split unambiguously."""
    texts = []
    for column in columns:
        text = _join_texts(column) if column and type(column[0]) is str else _format_others(column)
        if not text:  # string_to_array of an empty text is an empty array
            return None
        texts.append(text)
    return texts


def _join_texts(column: Sequence[Any]) -> str | None:
    """Join texts; None if one of them contains a control character of this format."""
    try:
        text = BETWEEN.join(column)
    except TypeError:
        return _format_others(column)
    return text if text.count(BETWEEN) == len(column) - 1 and NOTHING not in text else None


def _format_others(column: Sequence[Any]) -> str | None:
    """Join values of other or mixed types."""
    kinds = set(map(type, column))
    if not kinds <= _SENT:
        return None
    if len(kinds) == 1 and str not in kinds:
        return BETWEEN.join(_format_values(column, *kinds))
    text = BETWEEN.join([NOTHING if value is None else str(value) for value in column])
    clear = text.count(BETWEEN) == len(column) - 1 and text.count(NOTHING) == column.count(None)
    return text if clear else None


def _format_values(column: Sequence[Any], kind: type) -> Iterable[str]:
    """Format values of one type; repeated numbers are formatted once."""
    if kind is float and 0.0 not in (seen := set(column)):  # 0.0 and -0.0 are equal but have different texts
        known = {value: repr(value) for value in seen}
        return map(known.__getitem__, column)
    if kind is int and column.count(column[0]) == len(column):  # timestamps and versions of one group
        return [str(column[0])] * len(column)
    return [NOTHING] * len(column) if kind is type(None) else map(str, column)


def rewrite_to_texts(text: str) -> str:
    """Rewrite a statement to take texts in place of arrays."""
    return _ARRAY.sub(lambda found: unpack_array(f"${found[1]}", found[2]), text)


def unpack_array(mark: str, kind: str) -> str:
    """The expression for the array in a text parameter."""
    array = f"string_to_array({mark}::text, E'\\x1f', E'\\x1e')"
    return array if kind == "text" else f"{array}::{kind}[]"
