"""The full-text index as arrays of words with a GIN index.

With one record per word, a row of ten words needs ten records and ten index entries. A GIN index takes an array at
once: new entries go to a pending list, which searches read as well and which is merged when it is full. Searches for
several words are many times faster, too. It cannot return the first of many rows in key order; see
`compiler.access_path`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from ugs.tables import Kind, Row, Table
from ugs_backends.sql.dialect import ColumnType, Dialect, quote_identifier
from ugs_backends.sql.table_names import shorten
from ugs_backends.sql.write.bulk_writes import (
    BulkStatement,
    ColumnEncoder,
    SideWriter,
    list_key_columns,
    to_key_columns,
)
from ugs_backends.sql.write.word_index import WordRows

if TYPE_CHECKING:
    from ugs_backends.sql.layout import Layout

BETWEEN = "\x1d"
"""Separates the words of a row in transit; words never contain it."""
PENDING_LIST_KILOBYTES = 64
"""Kilobytes of the GIN pending list: every search reads it, and the write that fills it merges it, which takes some
milliseconds.
"""
CACHED_WEIGHTS_THRESHOLD = 64
"""Up to this many weights their text is cached: short rows of one kind nearly always have the same weights."""
WORDS, WEIGHTS = ("words", Kind.TEXT), ("weights", Kind.TEXT)


class WordArrays(WordRows):
    """One record per row with an array of words and an array of weights, or a single weight if all are equal."""

    come_in_order: ClassVar[bool] = False

    def name(self, table: Table) -> str:
        return f"{table.name}__terms"

    def build_create(self, table: Table, layout: Layout) -> Iterator[str]:
        name = self.name(table)
        types = {"words": 'text[] COLLATE "C"', "weights": "float8[]"}
        yield layout.side_table(name, layout.owner(table), [WORDS, WEIGHTS], types)
        yield (
            f"CREATE INDEX IF NOT EXISTS {quote_identifier(shorten(f'{name}_by_word'))} "
            f"ON {quote_identifier(name)} USING gin (words) "
            f"WITH (gin_pending_list_limit = {PENDING_LIST_KILOBYTES})"
        )

    def build_writer(self, dialect: Dialect, table: Table) -> SideWriter:
        return _Arrays(dialect, table, self.name(table))

    def has(self, alias: str, mark: str, *more: str) -> str:
        return f"{alias}.words @> ARRAY[{', '.join((mark, *more))}]::text[]"

    def weight(self, alias: str, mark: str) -> str:
        # A single weight stands for all words: content may have thousands of one weight.
        at = f"CASE cardinality({alias}.weights) WHEN 1 THEN 1 ELSE array_position({alias}.words, {mark}::text) END"
        return f"{alias}.weights[{at}]"

    def gather(self, key: str, found: str) -> str:
        # The planner cannot estimate the words and would scan all rows in order; an array forces the look-up first.
        return f"{key} = ANY(ARRAY({found}))"


class _Arrays(SideWriter):
    """The writer of the word arrays of one table."""

    def __init__(self, dialect: Dialect, table: Table, name: str) -> None:
        assert table.words is not None
        self.name = name
        self._words, self._key_of = table.words, table.key_of
        key = list_key_columns(dialect, table)
        self._width, self._encode = len(key), ColumnEncoder(dialect, key)
        self.insert = _build_insert(dialect, name, key)
        same = ", ".join(quote_identifier(column) for column, _ in key)
        self.replace = (
            f"{self.insert} ON CONFLICT ({same}) DO UPDATE SET words = excluded.words, weights = excluded.weights"
        )
        self.delete = dialect.delete_many(name, key)

    def bulks(self, pairs: Iterable[tuple[Row | None, Row | None]]) -> tuple[BulkStatement, BulkStatement]:
        gone: list[Any] = []
        new: list[tuple[Any, Mapping[str, float]]] = []
        insert = self.insert
        for before, after in pairs:
            now = {} if after is None else self._words(after)
            if before is not None:
                if self._words(before) == now:
                    continue
                insert = self.replace
                if not now:
                    gone.append(self._key_of(before))
            if now:
                new.append((self._key_of(after), now))
        delete = BulkStatement(self.name, self.delete, self._encode_keys(gone))
        return delete, BulkStatement(self.name, insert, self._columns(new) if new else [])

    def _columns(self, new: Sequence[tuple[Any, Mapping[str, float]]]) -> list[Sequence[Any]]:
        keys, words = zip(*new, strict=True)
        texts = [BETWEEN.join(each) for each in words]
        if BETWEEN.join(texts).count(BETWEEN) != sum(map(len, words)) - 1:
            raise ValueError(f"a word of {self.name} holds a control character; the catalog promises that none does")
        return [*self._encode_keys([*keys]), texts, [encode_weights(each) for each in words]]

    def _encode_keys(self, keys: list[Any]) -> list[Sequence[Any]]:
        return self._encode(to_key_columns(keys, self._width))


def encode_weights(words: Mapping[str, float]) -> str:
    """The weights of a row's words as a PostgreSQL array literal."""
    weights = tuple(words.values())
    return _cached_weights(weights) if len(weights) <= CACHED_WEIGHTS_THRESHOLD else format_weights(weights)


def format_weights(weights: tuple[float, ...]) -> str:
    """Format weights; a single one if all are equal."""
    some = weights[:1] if len({*weights}) == 1 else weights
    return "{" + ",".join(map(repr, map(float, some))) + "}"


_cached_weights = lru_cache(maxsize=1024)(format_weights)


def _build_insert(dialect: Dialect, name: str, key: Sequence[tuple[str, ColumnType]]) -> str:
    """An insert statement that splits texts into arrays."""
    columns = ", ".join(quote_identifier(column) for column, _ in (*key, WORDS, WEIGHTS))
    marks = [f"unnest(${place}::{dialect.types[kind]}[])" for place, (_, kind) in enumerate((*key, WORDS, WEIGHTS), 1)]
    *plain, words, weights = marks
    arrays = f"string_to_array({words}, E'\\x1d'), {weights}::float8[]"
    return f"INSERT INTO {quote_identifier(name)} ({columns}) SELECT {', '.join(plain)}, {arrays}"
