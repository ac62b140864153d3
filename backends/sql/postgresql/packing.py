"""Many values as one text, cut apart again by the server: an array is dear to send, a text is not.

The driver looks closely at every element of an array, which costs more than storing it. Texts of ours hold hardly ever
the two control characters that stand between values and for nothing; a column that does is sent as an array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

BETWEEN, NOTHING = "\x1f", "\x1e"
_ARRAY = re.compile(r"\$(\d+)::([a-z0-9]+)\[\]")
_SENT = frozenset({str, int, float, bool, type(None)})


def packed(column: Sequence[Any]) -> str | None:
    """The values as one text; None where it could not be cut apart again."""
    kinds = set(map(type, column))
    if not kinds <= _SENT:
        return None
    if kinds == {str}:
        text = BETWEEN.join(column)
    else:
        text = BETWEEN.join([NOTHING if value is None else str(value) for value in column])
    return text if _is_clear(text, column, type(None) in kinds) else None


def _is_clear(text: str, column: Sequence[Any], nothings: bool) -> bool:
    """Whether nothing in the values looks like what stands between them."""
    missing = sum(value is None for value in column) if nothings else 0
    return bool(text) and text.count(BETWEEN) == len(column) - 1 and text.count(NOTHING) == missing


def unpacking(text: str) -> str:
    """A statement that takes texts where it took arrays."""
    return _ARRAY.sub(lambda found: unpacked(f"${found[1]}", found[2]), text)


def unpacked(mark: str, kind: str) -> str:
    """The array in a text."""
    array = f"string_to_array({mark}::text, E'\\x1f', E'\\x1e')"
    return array if kind == "text" else f"{array}::{kind}[]"
