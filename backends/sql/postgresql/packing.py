"""Many values as one text, cut apart again by the server: an array is dear to send, a text is not.

The driver looks closely at every element of an array, which costs more than storing it. Texts of ours hold hardly ever
the two control characters that stand between values and for nothing; a column that does is sent as an array.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

BETWEEN, NOTHING = "\x1f", "\x1e"
_ARRAY = re.compile(r"\$(\d+)::([a-z0-9]+)\[\]")
_SENT = frozenset({str, int, float, bool, type(None)})


def packed(columns: Sequence[Sequence[Any]]) -> list[str] | None:
    """Each column as one text; None where one of them could not be cut apart again."""
    texts = []
    for column in columns:
        text = _joined(column) if column and type(column[0]) is str else _others(column)
        if not text:  # it would be no value at all
            return None
        texts.append(text)
    return texts


def _joined(column: Sequence[Any]) -> str | None:
    """Texts as one, if nothing in them looks like what stands between them."""
    try:
        text = BETWEEN.join(column)
    except TypeError:
        return _others(column)
    return text if text.count(BETWEEN) == len(column) - 1 and NOTHING not in text else None


def _others(column: Sequence[Any]) -> str | None:
    """Values of other kinds, or of several, as one text."""
    kinds = set(map(type, column))
    if not kinds <= _SENT:
        return None
    if len(kinds) == 1 and str not in kinds:
        return BETWEEN.join(_written(column, *kinds))
    text = BETWEEN.join([NOTHING if value is None else str(value) for value in column])
    clear = text.count(BETWEEN) == len(column) - 1 and text.count(NOTHING) == column.count(None)
    return text if clear else None


def _written(column: Sequence[Any], kind: type) -> Iterable[str]:
    """Values of one kind as texts. Many are the same, and writing a number takes longer than finding it again."""
    if kind is float and 0.0 not in (seen := set(column)):  # two zeros are equal and not the same
        known = {value: repr(value) for value in seen}
        return map(known.__getitem__, column)
    if kind is int and column.count(column[0]) == len(column):  # moments and versions of one group
        return [str(column[0])] * len(column)
    return [NOTHING] * len(column) if kind is type(None) else map(str, column)


def unpacking(text: str) -> str:
    """A statement that takes texts where it took arrays."""
    return _ARRAY.sub(lambda found: unpacked(f"${found[1]}", found[2]), text)


def unpacked(mark: str, kind: str) -> str:
    """The array in a text."""
    array = f"string_to_array({mark}::text, E'\\x1f', E'\\x1e')"
    return array if kind == "text" else f"{array}::{kind}[]"
