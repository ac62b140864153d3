"""Combines bulk statements, because a round trip to the server costs more than most of them.

Statements for different tables become one statement with CTEs. All parts see the data from before the statement, which
is correct as long as each table occurs once; a second statement for the same table starts a new combination.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from ugs_backends.sql.postgresql.array_codec import pack_texts, rewrite_to_texts
from ugs_backends.sql.write.bulk_writes import BulkStatement

BATCH_THRESHOLD = 5_000
"""Maximum of rows per statement; larger bulks are sent separately and in pieces."""
_MARK = re.compile(r"\$(\d+)")


def combine_bulks(bulks: Sequence[BulkStatement]) -> Iterator[tuple[str, list[Sequence[Any]]]]:
    """Combine bulk statements into as few statements as possible."""
    group: list[BulkStatement] = []
    for bulk in bulks:
        many = len(bulk.columns[0]) > BATCH_THRESHOLD
        if group and (many or any(bulk.table == other.table for other in group)):
            yield _combine_group(group)
            group = []
        if many:
            yield from _split_bulk(bulk)
        else:
            group.append(bulk)
    if group:
        yield _combine_group(group)


def _split_bulk(bulk: BulkStatement) -> Iterator[tuple[str, list[Sequence[Any]]]]:
    for start in range(0, len(bulk.columns[0]), BATCH_THRESHOLD):
        yield pack_columns(bulk.text, [column[start : start + BATCH_THRESHOLD] for column in bulk.columns])


def _combine_group(group: list[BulkStatement]) -> tuple[str, list[Sequence[Any]]]:
    text = combine_texts(tuple([bulk.text for bulk in group]), tuple([len(bulk.columns) for bulk in group]))
    return pack_columns(text, [column for bulk in group for column in bulk.columns])


def pack_columns(text: str, columns: list[Sequence[Any]]) -> tuple[str, list[Sequence[Any]]]:
    """The statement with its columns packed as texts, where all of them can be."""
    texts = pack_texts(columns)
    return (text, columns) if texts is None else (taking_texts(text), [*texts])


taking_texts = lru_cache(maxsize=1024)(rewrite_to_texts)


@lru_cache(maxsize=1024)
def combine_texts(texts: tuple[str, ...], widths: tuple[int, ...]) -> str:
    """Combine statements with CTEs and renumber their parameters."""
    parts, first = [], 0
    for text, width in zip(texts, widths, strict=True):
        parts.append(_renumber(text, first))
        first += width
    named = ", ".join(f"w{number} AS ({part})" for number, part in enumerate(parts[:-1]))
    return parts[-1] if not named else f"WITH {named} {parts[-1]}"


def _renumber(text: str, first: int) -> str:
    return _MARK.sub(lambda mark: f"${int(mark[1]) + first}", text)
