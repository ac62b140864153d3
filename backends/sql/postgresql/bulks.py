"""Bulk statements sent together: a round trip to the server costs more than most of them.

Statements for different tables become one with a WITH in front. They all see the data as it was before, which is
right as long as each table occurs once, so a second statement for the same table starts the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from backends.sql.postgresql.packing import packed, unpacking
from backends.sql.writes import Bulk

MANY = 5_000
"""Rows sent with one statement; larger bulks go alone and in pieces."""
_MARK = re.compile(r"\$(\d+)")


def combined(bulks: Sequence[Bulk]) -> Iterator[tuple[str, list[Sequence[Any]]]]:
    """Statements with the columns of their rows, in as few pieces as possible."""
    group: list[Bulk] = []
    for bulk in bulks:
        many = len(bulk.columns[0]) > MANY
        if group and (many or any(bulk.table == other.table for other in group)):
            yield _together(group)
            group = []
        if many:
            yield from _in_pieces(bulk)
        else:
            group.append(bulk)
    if group:
        yield _together(group)


def _in_pieces(bulk: Bulk) -> Iterator[tuple[str, list[Sequence[Any]]]]:
    for start in range(0, len(bulk.columns[0]), MANY):
        yield sent(bulk.text, [column[start : start + MANY] for column in bulk.columns])


def _together(group: list[Bulk]) -> tuple[str, list[Sequence[Any]]]:
    text = one_text(tuple([bulk.text for bulk in group]), tuple([len(bulk.columns) for bulk in group]))
    return sent(text, [column for bulk in group for column in bulk.columns])


def sent(text: str, columns: list[Sequence[Any]]) -> tuple[str, list[Sequence[Any]]]:
    """The statement with its columns as texts, where every one of them can be a text."""
    texts = packed(columns)
    return (text, columns) if texts is None else (taking_texts(text), [*texts])


taking_texts = lru_cache(maxsize=1024)(unpacking)


@lru_cache(maxsize=1024)
def one_text(texts: tuple[str, ...], widths: tuple[int, ...]) -> str:
    """Several statements as one, their parameters numbered on."""
    parts, first = [], 0
    for text, width in zip(texts, widths, strict=True):
        parts.append(_numbered_from(text, first))
        first += width
    named = ", ".join(f"w{number} AS ({part})" for number, part in enumerate(parts[:-1]))
    return parts[-1] if not named else f"WITH {named} {parts[-1]}"


def _numbered_from(text: str, first: int) -> str:
    return _MARK.sub(lambda mark: f"${int(mark[1]) + first}", text)
