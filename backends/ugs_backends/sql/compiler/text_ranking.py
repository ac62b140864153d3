"""Full-text ranking in the word tables: rows by the summed weights of words, of which only the page is read."""

from __future__ import annotations

from ugs.catalog import Catalog
from ugs.reads.filters import EVERYTHING, Where, conditions
from ugs.reads.text_ranking import RankedQuery, Sought
from ugs.tables import Table
from ugs_backends.sql.compiler.conditions import HeldAt, Place, quote_columns
from ugs_backends.sql.compiler.statements import BoundStatement, Select, build_limit, list_columns
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.session import StoreContext

MAX_JOINED_WORDS = 4
"""Number of words per join; further words are joined to the result in a separate subquery."""


def is_rankable(catalog: Catalog, table: Table, asked: RankedQuery) -> bool:
    """Whether the word tables of all words share the key of the ranked rows."""
    return len(table.row_key) == 1 and all(_is_beside(catalog, table, word.beside) for word in asked.words)


def _is_beside(catalog: Catalog, table: Table, name: str | None) -> bool:
    if name is None:
        return True
    relation = table.relations[name]
    return (relation.local,) == table.row_key and (relation.remote,) == catalog.target(relation).row_key


def build_ranking_query(shape: StoreContext, table: Table, asked: RankedQuery, where: Where) -> BoundStatement:
    """The statement for rows and their summed weights; every part of the condition must be decidable in SQL."""
    return _RankingQuery(shape, table).statement(asked, where)


class _RankingQuery:
    """Builds the statement from left to right, as placeholders are numbered in that order."""

    def __init__(self, shape: StoreContext, table: Table) -> None:
        self.shape, self.table = shape, table
        self.select: Select = shape.select()
        self.bind = self.select.parameters.bind
        self.key = quote_identifier(table.field(table.row_key[0]).stored_as)
        self.held: Where = EVERYTHING
        """That versions held at a position, where the table holds versions."""

    def statement(self, asked: RankedQuery, where: Where) -> BoundStatement:
        place, page = Place(self.table, "t"), build_limit(asked.limit)
        key = place.column(self.table.row_key[0])
        self.held = next((part for part in conditions(where) if isinstance(part, HeldAt)), EVERYTHING)
        found = f"SELECT f.* FROM ({self._find_rows(asked.words)}) f{self._build_cursor_condition(asked)}"
        if where in (EVERYTHING, self.held):
            found += f" ORDER BY f.weight DESC, f.{self.key}{page}"
        condition = self.select.conditions.text(where, place)
        columns = list_columns(self.shape.dialect, place)
        text = (
            f"SELECT {columns}, s.weight FROM ({found}) s JOIN {quote_identifier(self.table.name)} t "
            f"ON {key} = s.{self.key} WHERE {condition} ORDER BY s.weight DESC, {key}{page}"
        )
        return text, self.select.parameters.values

    def _find_rows(self, words: tuple[Sought, ...]) -> str:
        """A query for the keys of the rows with all words, and their summed weights."""
        last, before = words[-MAX_JOINED_WORDS:], words[:-MAX_JOINED_WORDS]
        names = [f"w{number}" for number in range(len(last))]
        parts = [f"{name}.weight * {self.bind(word.worth)}" for name, word in zip(names, last, strict=True)]
        # The rarest word comes first, the others are looked up for the remaining rows.
        sources = [f"({self._find_rows(before)}{self.shape.dialect.fence}) b"] if before else []
        sources += [f"{self._find_word(word)} {name}" for name, word in zip(names, last, strict=True)]
        first, total = ("b", ["b.weight", *parts]) if before else ("w0", parts)
        alike = [f" ON {name}.{self.key} = {first}.{self.key}" for name in names[0 if before else 1 :]]
        joins = (f" {self.shape.dialect.join} {source}{tie}" for source, tie in zip(sources[1:], alike, strict=True))
        return f"SELECT {first}.{self.key}, {' + '.join(total)} AS weight FROM {sources[0]}{''.join(joins)}"

    def _find_word(self, word: Sought) -> str:
        """A query for the keys of the rows with a word, and its weight."""
        parts = [self._join_word(table, word.word) for table in self._join_words(word)]
        if len(parts) == 1:
            return f"({parts[0]})"
        both = " UNION ALL ".join(parts)
        return f"(SELECT {self.key}, sum(weight) AS weight FROM ({both}) b GROUP BY {self.key})"

    def _join_words(self, word: Sought) -> list[Table]:
        own = [self.table] if word.own else []
        return own if word.beside is None else [*own, self.shape.catalog.target(self.table.relations[word.beside])]

    def _join_word(self, table: Table, word: str) -> str:
        key, words, mark = (
            quote_identifier(table.field(table.row_key[0]).stored_as),
            self.shape.dialect.words,
            self.bind(word),
        )
        weight = f"{words.weight('w', mark)} AS weight"
        source = quote_identifier(words.name(table))
        has = words.has("w", mark)
        if self.held is EVERYTHING:
            return f"SELECT w.{key} AS {self.key}, {weight} FROM {source} w WHERE {has}"
        version = Place(table, "v")
        tie = " AND ".join(f"{version.column(name)} = w.{quote_columns(table)[name]}" for name in table.key)
        held = self.select.conditions.text(self.held, version)
        joined = f"{source} w {self.shape.dialect.join} {quote_identifier(table.name)} v ON {tie}"
        return f"SELECT w.{key} AS {self.key}, {weight} FROM {joined} WHERE {has} AND {held}"

    def _build_cursor_condition(self, asked: RankedQuery) -> str:
        """The condition for rows strictly behind the cursor."""
        if asked.after is None:
            return ""
        weight, key = asked.after
        less = f"f.weight < {self.bind(weight)}"
        return f" WHERE {less} OR (f.weight = {self.bind(weight)} AND f.{self.key} > {self.bind(key)})"
