"""The rows in which some words weigh most, found where the words are kept: only rows of the page are read."""

from __future__ import annotations

from backends.sql.conditions import TRUE, Place
from backends.sql.dialect import quoted
from backends.sql.session import Shape
from backends.sql.statements import Bound, Select, columns_of, limit_of
from ugs.catalog import Catalog, Table
from ugs.reads.weighed import Sought, Weighed
from ugs.reads.where import Where

JOINED = 4
"""Words that are looked for by one join; the next ones among the rows that are left."""


def is_weighable(catalog: Catalog, table: Table, asked: Weighed) -> bool:
    """Whether all words are kept under the keys of the rows that are looked for."""
    return len(table.key) == 1 and all(_is_beside(catalog, table, word.beside) for word in asked.words)


def _is_beside(catalog: Catalog, table: Table, name: str | None) -> bool:
    if name is None:
        return True
    relation = table.relations[name]
    return (relation.local,) == table.key and (relation.remote,) == catalog.target(relation).key


def weighed_statement(shape: Shape, table: Table, asked: Weighed, where: Where) -> Bound:
    """A statement for rows and their sums; the condition has nothing left to be decided beforehand."""
    return _Weighing(shape, table).statement(asked, where)


class _Weighing:
    """One such statement while it is written, from left to right."""

    def __init__(self, shape: Shape, table: Table) -> None:
        self.shape, self.table = shape, table
        self.select: Select = shape.select()
        self.bind = self.select.parameters.bind
        self.key = quoted(table.field(table.key[0]).stored_as)

    def statement(self, asked: Weighed, where: Where) -> Bound:
        place, page = Place(self.table, "t"), limit_of(asked.limit)
        found = f"SELECT f.* FROM ({self._found(asked.words)}) f{self._beyond(asked)}"
        condition = self.select.conditions.text(where, place)
        if condition == TRUE:
            found += f" ORDER BY f.weight DESC, f.{self.key}{page}"
        text = (
            f"SELECT {columns_of(place)}, s.weight FROM ({found}) s JOIN {quoted(self.table.name)} t "
            f"ON {place.key()} = s.{self.key} WHERE {condition} ORDER BY s.weight DESC, {place.key()}{page}"
        )
        return text, self.select.parameters.values

    def _found(self, words: tuple[Sought, ...]) -> str:
        """Keys of the rows that have all words, with the sums."""
        last, before = words[-JOINED:], words[:-JOINED]
        names = [f"w{number}" for number in range(len(last))]
        parts = [f"{name}.weight * {self.bind(word.worth)}" for name, word in zip(names, last, strict=True)]
        # One after the other, the rarest first: what follows is looked up for the rows that are left.
        sources = [f"({self._found(before)}{self.shape.dialect.fence}) b"] if before else []
        sources += [f"{self._standing(word)} {name}" for name, word in zip(names, last, strict=True)]
        first, total = ("b", ["b.weight", *parts]) if before else ("w0", parts)
        alike = [f" ON {name}.{self.key} = {first}.{self.key}" for name in names[0 if before else 1 :]]
        joins = (f" {self.shape.dialect.join} {source}{tie}" for source, tie in zip(sources[1:], alike, strict=True))
        return f"SELECT {first}.{self.key}, {' + '.join(total)} AS weight FROM {sources[0]}{''.join(joins)}"

    def _standing(self, word: Sought) -> str:
        """Keys of the rows that have a word, with its weight."""
        parts = [self._in(table, word.word) for table in self._tables(word)]
        if len(parts) == 1:
            return f"({parts[0]})"
        both = " UNION ALL ".join(parts)
        return f"(SELECT {self.key}, sum(weight) AS weight FROM ({both}) b GROUP BY {self.key})"

    def _tables(self, word: Sought) -> list[Table]:
        own = [self.table] if word.own else []
        return own if word.beside is None else [*own, self.shape.catalog.target(self.table.relations[word.beside])]

    def _in(self, table: Table, word: str) -> str:
        key, words, mark = quoted(table.field(table.key[0]).stored_as), self.shape.dialect.words, self.bind(word)
        weight = f"{words.weight('w', mark)} AS weight"
        return f"SELECT w.{key} AS {self.key}, {weight} FROM {quoted(words.name(table))} w WHERE {words.has('w', mark)}"

    def _beyond(self, asked: Weighed) -> str:
        """Strictly behind the row after which the page starts."""
        if asked.after is None:
            return ""
        weight, key = asked.after
        less = f"f.weight < {self.bind(weight)}"
        return f" WHERE {less} OR (f.weight = {self.bind(weight)} AND f.{self.key} > {self.bind(key)})"
