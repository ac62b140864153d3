"""Index terms: a row's words and its JSON scalars, stored as a list of texts that a full-text index keeps whole.

The index only finds candidates. Words are decided by the list itself (`$word IN n._terms` is exact and sees the
transaction's own writes), properties by their values. A term beyond 32,766 bytes would not fail a write but stop the
whole database, so long words are stored as a digest; scalars always are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from ugs.catalog import Kind, Row, Table
from ugs.reads.where import Has, Op, Property, Where, conditions
from ugs.values import comparable, from_text, whole

LONGEST_WORD = 1_000
MOST_CHOICES = 100
WORD_MARK, SCALAR_MARK = "#", "="
SCALARS = frozenset({"boolean", "number", "string", "null"})


def stored_word(word: str) -> str:
    """A word as it stands in the list."""
    if 0 < len(word) <= LONGEST_WORD and word[0] not in (WORD_MARK, SCALAR_MARK):
        return word
    return WORD_MARK + _digest(word, 32)


def scalar_term(field: str, key: str, value: Any) -> str | None:
    """The term of a scalar under a key of a JSON object; None for composites, which are not looked up."""
    kind, plain = comparable(value)
    if kind not in SCALARS:
        return None
    # 1 and 1.0 are one value; `whole` gives both the same face.
    text = repr(whole(plain)) if kind == "number" else str(plain)
    return SCALAR_MARK + _digest(f"{field}\0{key}\0{kind}\0{text}", 8)


def _digest(text: str, size: int) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=size).hexdigest()


def indexed_fields(table: Table) -> list[str]:
    """JSON columns whose scalars are looked up by an index."""
    return [field.name for field in table.fields if field.kind is Kind.JSON and field.indexed]


def has_terms(table: Table) -> bool:
    return table.words is not None or bool(indexed_fields(table))


def terms_of(table: Table, row: Row) -> list[str]:
    """All terms of a row, ready to store."""
    words = [stored_word(word) for word in table.words(row)] if table.words else []
    return words + [term for field in indexed_fields(table) for term in _scalar_terms(row, field)]


def _scalar_terms(row: Row, field: str) -> Iterator[str]:
    text = getattr(row, field)
    if text is None or text == "{}":
        return
    values = from_text(text)
    for key, value in values.items() if isinstance(values, dict) else ():
        if (term := scalar_term(field, key, value)) is not None:
            yield term


def wanted_terms(table: Table, where: Where) -> list[list[str]]:
    """Groups of terms: a row that meets the condition has at least one of each group."""
    groups = (_wanted(table, part) for part in conditions(where))
    return [group for group in groups if group]


def _wanted(table: Table, part: Where) -> list[str]:
    if isinstance(part, Has) and table.words is not None:
        return [stored_word(part.word)]
    if not isinstance(part, Property) or part.field not in indexed_fields(table):
        return []
    if part.op is Op.EQ:
        return _all_terms(part, [part.value])
    return _all_terms(part, part.value) if part.op is Op.IN and len(part.value) <= MOST_CHOICES else []


def _all_terms(part: Property, values: Sequence[Any]) -> list[str]:
    terms = [scalar_term(part.field, part.key, value) for value in values]
    return [] if None in terms else [term for term in terms if term is not None]


def lucene_query(groups: Iterable[Iterable[str]]) -> str:
    """A query for rows that have a term of each group: quoted, so that nothing in them is syntax."""
    return " ".join("+(" + " ".join(map(_quoted, group)) + ")" for group in groups)


def _quoted(term: str) -> str:
    return '"' + term.replace("\\", "\\\\").replace('"', '\\"') + '"'
