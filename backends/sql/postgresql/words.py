"""The words of rows as arrays, found by an index of PostgreSQL's own for such things.

A row for each of ten words is ten rows to store and ten places in an index to find. An inverted index takes an array at
once: it notes what is new in a list, sorts that in when it has become long, and whoever looks for a word looks there
as well. Rows that have several words are found many times faster, too. What it cannot do is to begin with the first
of many rows, see `finding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from backends.sql.dialect import Dialect, quoted
from backends.sql.names import short
from backends.sql.words import WordRows
from backends.sql.writes import Beside, Bulk, key_columns
from ugs.catalog import Kind, Row, Table

if TYPE_CHECKING:
    from backends.sql.layout import Layout

BETWEEN = "\x1d"
"""Stands between the words of a row while they are sent; in a word there is nothing of the kind."""
NOTED = 64
"""Kilobytes of new words that an index only notes: whoever searches reads all of them, and whoever fills the list
sorts it in, which takes some milliseconds."""
FEW = 64
"""Rows of one kind that have so few words have nearly always the same weights, which are written once."""
WORDS, WEIGHTS = ("words", Kind.TEXT), ("weights", Kind.TEXT)


class WordArrays(WordRows):
    """An array of words for each row that has any, and another one of their weights, or only one weight for all."""

    come_in_order: ClassVar[bool] = False

    def name(self, table: Table) -> str:
        return f"{table.name}__terms"

    def made(self, table: Table, layout: Layout) -> Iterator[str]:
        name = self.name(table)
        types = {"words": 'text[] COLLATE "C"', "weights": "float8[]"}
        yield layout.side_table(name, layout.owner(table), [WORDS, WEIGHTS], types)
        yield (
            f"CREATE INDEX IF NOT EXISTS {quoted(short(f'{name}_by_word'))} ON {quoted(name)} USING gin (words) "
            f"WITH (gin_pending_list_limit = {NOTED})"
        )

    def side(self, dialect: Dialect, table: Table) -> Beside:
        return _Arrays(dialect, table, self.name(table))

    def has(self, alias: str, mark: str, *more: str) -> str:
        return f"{alias}.words @> ARRAY[{', '.join((mark, *more))}]::text[]"

    def weight(self, alias: str, mark: str) -> str:
        # Content has one weight for all its words, of which there may be thousands.
        at = f"CASE cardinality({alias}.weights) WHEN 1 THEN 1 ELSE array_position({alias}.words, {mark}::text) END"
        return f"{alias}.weights[{at}]"

    def gathered(self, key: str, found: str) -> str:
        # The planner does not know the words, and would rather walk through all rows in their order than gather these.
        return f"{key} = ANY(ARRAY({found}))"


class _Arrays(Beside):
    """Writes the arrays of one table."""

    def __init__(self, dialect: Dialect, table: Table, name: str) -> None:
        assert table.words is not None
        self.name = name
        self._words, self._key_of = table.words, table.key_of
        key = [(table.field(part).stored_as, table.field(part).kind) for part in table.key]
        self._width = len(key)
        self.insert = _inserting(dialect, name, key)
        same = ", ".join(quoted(column) for column, _ in key)
        self.replace = (
            f"{self.insert} ON CONFLICT ({same}) DO UPDATE SET words = excluded.words, weights = excluded.weights"
        )
        self.delete = dialect.delete_many(name, key)

    def bulks(self, pairs: Iterable[tuple[Row | None, Row | None]]) -> tuple[Bulk, Bulk]:
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
        delete = Bulk(self.name, self.delete, key_columns(gone, self._width))
        return delete, Bulk(self.name, insert, self._columns(new) if new else [])

    def _columns(self, new: Sequence[tuple[Any, Mapping[str, float]]]) -> list[Sequence[Any]]:
        keys, words = zip(*new, strict=True)
        texts = [BETWEEN.join(each) for each in words]
        if BETWEEN.join(texts).count(BETWEEN) != sum(map(len, words)) - 1:
            raise ValueError(f"a word of {self.name} holds a control character; the catalog promises that none does")
        return [*key_columns([*keys], self._width), texts, [weights_of(each) for each in words]]


def weights_of(words: Mapping[str, float]) -> str:
    """The weights of a row's words as PostgreSQL writes an array."""
    weights = tuple(words.values())
    return _written(weights) if len(weights) <= FEW else written(weights)


def written(weights: tuple[float, ...]) -> str:
    """The same, or only one where all are alike."""
    some = weights[:1] if len({*weights}) == 1 else weights
    return "{" + ",".join(map(repr, map(float, some))) + "}"


_written = lru_cache(maxsize=1024)(written)


def _inserting(dialect: Dialect, name: str, key: Sequence[tuple[str, Kind]]) -> str:
    """As any insert, but that texts become arrays."""
    columns = ", ".join(quoted(column) for column, _ in (*key, WORDS, WEIGHTS))
    marks = [f"unnest(${place}::{dialect.types[kind]}[])" for place, (_, kind) in enumerate((*key, WORDS, WEIGHTS), 1)]
    *plain, words, weights = marks
    arrays = f"string_to_array({words}, E'\\x1d'), {weights}::float8[]"
    return f"INSERT INTO {quoted(name)} ({columns}) SELECT {', '.join(plain)}, {arrays}"
