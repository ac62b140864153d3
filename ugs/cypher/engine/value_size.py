"""Approximate size of values in memory and as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ugs.cypher.values.entities import Element, Path
from ugs.cypher.values.point import Point

LIST_BYTES, ITEM_BYTES, MAP_BYTES, ENTRY_BYTES, TEXT_BYTES = 64, 8, 232, 100, 64
NUMBER_BYTES = 32
POINT_CHARS = 100
SMALL_TEXT = 256
"""Shorter texts are counted wherever they occur."""


def text_bytes(text: str) -> int:
    """Size of a text: one to four bytes a character."""
    return TEXT_BYTES + (len(text) if text.isascii() else 4 * len(text))


class RetainedSize:
    """Total size of retained values; shared values are counted once."""

    def __init__(self) -> None:
        self._known: set[int] = set()

    def add_rows(self, rows: Iterable[list[Any]]) -> int:
        return sum([self.add_all(row[1:]) for row in rows])

    def add_all(self, values: Iterable[Any]) -> int:
        total, waiting, known = 0, list(values), self._known
        while waiting:
            value = waiting.pop()
            kind = type(value)
            if kind is str:
                if len(value) > SMALL_TEXT:
                    if id(value) in known:
                        continue
                    known.add(id(value))
                total += text_bytes(value)
            elif kind is list or kind is dict:
                if id(value) in known:
                    continue
                known.add(id(value))
                if kind is list:
                    total += LIST_BYTES + ITEM_BYTES * len(value)
                    waiting += value
                else:
                    total += MAP_BYTES + ENTRY_BYTES * len(value)
                    waiting += value.values()
            elif kind is Path:
                total += ITEM_BYTES * (2 * len(value) + 1)
            elif value is not None and kind is not bool:
                total += NUMBER_BYTES
        return total


def answer_bytes(value: Any) -> int:
    """Approximate length of a value in the result text."""
    kind = type(value)
    if kind is str:
        return len(value) + 2
    if kind is list:
        return 2 + sum(map(answer_bytes, value))
    if kind is dict:
        return 2 + sum([len(key) + 4 + answer_bytes(item) for key, item in value.items()])
    if isinstance(value, Element):
        return 64 + value.stored_chars
    if kind is Path:
        return 32 + sum(map(answer_bytes, value.elements))
    return POINT_CHARS if kind is Point else 8
