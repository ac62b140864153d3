"""Index terms: the words and JSON scalars of a row as a list of texts, in a full-text index with a keyword analyzer.

The index only finds candidates. Words are tested in the list itself (`$word IN n._terms` is exact and sees the
transaction's own writes), properties by their values. A term beyond 32,766 bytes would not fail the write but stop the
whole database, so long words are stored as a digest; scalars always are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from ugs.reads.filters import Has, Op, Property, Where, conditions
from ugs.tables import Kind, Row, Table
from ugs.values import comparable, from_text, whole

MAX_WORD_CHARS = 1_000
MAX_CHOICES = 100
WORD_MARK, SCALAR_MARK = "#", "="
SCALARS = frozenset({"boolean", "number", "string", "null"})


def to_word_term(word: str) -> str:
    """The term of a word."""
    if 0 < len(word) <= MAX_WORD_CHARS and word[0] not in (WORD_MARK, SCALAR_MARK):
        return word
    return WORD_MARK + _hash_text(word, 32)


def to_scalar_term(field: str, key: str, value: Any) -> str | None:
    """The term of a scalar property; None for lists and maps, which are not indexed."""
    kind, plain = comparable(value)
    if kind not in SCALARS:
        return None
    # 1 and 1.0 are equal; `whole` gives both the same text.
    text = repr(whole(plain)) if kind == "number" else str(plain)
    return SCALAR_MARK + _hash_text(f"{field}\0{key}\0{kind}\0{text}", 8)


def _hash_text(text: str, size: int) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=size).hexdigest()


def list_indexed_fields(table: Table) -> list[str]:
    """The JSON columns whose scalars are indexed."""
    return [field.name for field in table.fields if field.kind is Kind.JSON and field.indexed]


def has_terms(table: Table) -> bool:
    return table.words is not None or bool(list_indexed_fields(table))


def list_terms(table: Table, row: Row) -> list[str]:
    """All terms of a row."""
    words = [to_word_term(word) for word in table.words(row)] if table.words else []
    return words + [term for field in list_indexed_fields(table) for term in _list_scalar_terms(row, field)]


def _list_scalar_terms(row: Row, field: str) -> Iterator[str]:
    text = getattr(row, field)
    if text is None or text == "{}":
        return
    values = from_text(text)
    for key, value in values.items() if isinstance(values, dict) else ():
        if (term := to_scalar_term(field, key, value)) is not None:
            yield term


def find_term_groups(table: Table, where: Where) -> list[list[str]]:
    """Groups of terms: a row that meets the condition has at least one term of each group."""
    groups = (_find_groups(table, part) for part in conditions(where))
    return [group for group in groups if group]


def _find_groups(table: Table, part: Where) -> list[str]:
    if isinstance(part, Has) and table.words is not None:
        return [to_word_term(part.word)]
    if not isinstance(part, Property) or part.field not in list_indexed_fields(table):
        return []
    if part.op is Op.EQ:
        return _list_value_terms(part, [part.value])
    return _list_value_terms(part, part.value) if part.op is Op.IN and len(part.value) <= MAX_CHOICES else []


def _list_value_terms(part: Property, values: Sequence[Any]) -> list[str]:
    terms = [to_scalar_term(part.field, part.key, value) for value in values]
    return [] if None in terms else [term for term in terms if term is not None]


def build_lucene_query(groups: Iterable[Iterable[str]]) -> str:
    """The Lucene query for rows with a term of each group; terms are quoted, so they cannot be syntax."""
    return " ".join("+(" + " ".join(map(_quote_term, group)) + ")" for group in groups)


def _quote_term(term: str) -> str:
    return '"' + term.replace("\\", "\\\\").replace('"', '\\"') + '"'
