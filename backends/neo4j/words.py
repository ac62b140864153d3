"""Derived words: stored as a list of texts, looked up in a full-text index that keeps each whole.

The list itself decides (`$word IN n._words` is exact and sees the transaction's own writes); the index only finds
candidates. A term beyond 32,766 bytes does not fail a write but stops the whole database, so long words are stored
as a digest.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from ugs.catalog import Row, Table

LONGEST = 1_000


def stored_word(word: str) -> str:
    """A word as it stands in the list."""
    if 0 < len(word) <= LONGEST:
        return word
    return "\x00" + blake2b(word.encode(errors="surrogatepass"), digest_size=32).hexdigest()


def stored_words(table: Table, row: Row) -> list[str]:
    """The words of a row, ready to store."""
    return [stored_word(word) for word in table.words(row)] if table.words else []


def lucene_query(words: Iterable[str]) -> str:
    """A query for rows that have all these stored words: quoted, so that nothing in them is syntax."""
    return " ".join("+" + _quoted(word) for word in words)


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
