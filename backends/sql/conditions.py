"""Conditions of the filter algebra as SQL that is exactly as true as `ugs.reads.where.matcher`.

The algebra is two-valued and SQL is not: a comparison with NULL is neither true nor false. At the top of a WHERE both
mean "no", so comparisons stay bare there and can use indexes; under a `Not` each is made to answer yes or no.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from msgspec import Struct

from backends.sql.dialect import Parameters, Searched, quoted, tie_index
from backends.sql.encoding import HEAD
from backends.sql.fitting import ALWAYS, NEVER, Fitted, fitted, prefix_end
from backends.sql.names import properties_name
from backends.sql.properties import property_tests
from ugs.catalog import Catalog, Field, Kind, Table
from ugs.reads.where import All, Any_, Compare, Everything, Has, Linked, Not, Op, Property, Where
from ugs.values import FORBIDDEN_TEXT

TRUE, FALSE = "1=1", "1=0"
_SYMBOLS = {Op.EQ: "=", Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">="}


class FoundThere(Where, frozen=True):
    """As `Linked` at the top of a condition, where few rows over there meet theirs: they are found first."""

    relation: str
    where: Where


class Way(Enum):
    """How rows that have some words are found, at the top of a condition."""

    EITHER = 0
    FIRST = 1
    """They are few, and gathered before anything else."""
    LAST = 2
    """They are many, and met on a walk: each row that meets everything else is looked at."""


class HasAll(Where, frozen=True):
    """As many `Has`, where words are found together."""

    words: tuple[str, ...]
    way: Way = Way.EITHER


class KeyIn(Where, frozen=True):
    """The row's key is one of these tuples: what is left of a condition that was decided beforehand."""

    keys: tuple[tuple[Any, ...], ...]


@lru_cache(maxsize=512)
def stored_columns(table: Table) -> dict[str, str]:
    """The quoted column of each field."""
    return {field.name: quoted(field.stored_as) for field in table.fields}


class Place(Struct, frozen=True):
    """The table a condition is about, under the name the statement gives it."""

    table: Table
    alias: str
    exact: bool = False
    """Whether NULL must be avoided because a `Not` stands above."""
    tied: bool = False
    """Whether its rows are looked up one by one, so that no index is of use to a condition on them."""

    def column(self, name: str) -> str:
        return f"{self.alias}.{stored_columns(self.table)[name]}"

    def key(self) -> str:
        """The key of the row, as one value or as a row of values."""
        columns = ", ".join(self.column(name) for name in self.table.key)
        return columns if len(self.table.key) == 1 else f"({columns})"


class Conditions:
    """Writes conditions into one statement."""

    def __init__(self, catalog: Catalog, parameters: Parameters) -> None:
        self.catalog = catalog
        self.parameters = parameters
        self.dialect = parameters.dialect
        self._aliases = 0

    def alias(self) -> str:
        """A table name that is not yet used in the statement."""
        self._aliases += 1
        return f"x{self._aliases}"

    def text(self, where: Where, place: Place) -> str:
        """The condition in SQL."""
        if isinstance(where, Compare):
            return self._compare(where, place)
        if isinstance(where, All | Any_):
            return self._composite(where, place)
        if isinstance(where, Property):
            return self._property(where, place)
        if isinstance(where, Not):
            return f"NOT ({self.text(where.part, Place(place.table, place.alias, True, place.tied))})"
        return self._about_other_rows(where, place)

    def _about_other_rows(self, where: Where, place: Place) -> str:
        if isinstance(where, Everything):
            return TRUE
        if isinstance(where, Has):
            return self._has(HasAll((where.word,)), place)
        if isinstance(where, HasAll):
            return self._has(where, place)
        if isinstance(where, Linked):
            return self._linked(where, place)
        if isinstance(where, KeyIn):
            return self._key_in(where, place)
        if isinstance(where, FoundThere):
            return self._found_there(where, place)
        raise TypeError(f"no SQL for {type(where).__name__}")

    def _composite(self, where: All | Any_, place: Place) -> str:
        every = isinstance(where, All)
        if not where.parts:
            return TRUE if every else FALSE
        parts = self._together(where.parts) if every else where.parts
        return joined([self.text(part, place) for part in parts], " AND " if every else " OR ")

    def _together(self, parts: Sequence[Where]) -> Sequence[Where]:
        """Parts that must all hold, with words that are found together as one."""
        words = tuple(part.word for part in parts if isinstance(part, Has))
        if len(words) < 2 or self.dialect.words.come_in_order:
            return parts
        return [HasAll(words), *(part for part in parts if not isinstance(part, Has))]

    # ── columns ──────────────────────────────────────────────────────────────

    def _compare(self, where: Compare, place: Place) -> str:
        field = place.table.field(where.field)
        column, op, value = place.column(where.field), where.op, where.value
        if op is Op.NE:
            return f"NOT ({self._compare(Compare(where.field, Op.EQ, value), Place(place.table, place.alias, True))})"
        if op is Op.EXISTS or (op is Op.EQ and value is None):
            return f"{column} IS {'NOT ' if op is Op.EXISTS else ''}NULL"
        if op is Op.IN:
            return self._in(field, column, value, place.exact)
        if op is Op.CONTAINS and field.searched:
            return self._contains(field, column, value, place)
        return self.comparison(field, column, op, value, place.exact)

    def _contains(self, field: Field, column: str, part: Any, place: Place) -> str:
        """The rows that an index finds, where there is one, and among them those that really have the part."""
        narrowed = ""
        if not (place.exact or place.tied) and isinstance(fitted(field.kind, Op.CONTAINS, part), Fitted):
            searched = Searched(place.table, field, column, place.key())
            narrowed = self.dialect.narrowed(searched, part, self.parameters)
        exactly = self.comparison(field, column, Op.CONTAINS, part, place.exact)
        return f"({narrowed} AND {exactly})" if narrowed else exactly

    def comparison(self, field: Field, column: str, op: Op, value: Any, exact: bool = False) -> str:
        """A column compared with something that is not None."""
        if field.kind is Kind.BOOLEAN:
            return _boolean(column, op, value)
        test = fitted(field.kind, op, value)
        if test is NEVER:
            return FALSE
        if test is ALWAYS:
            return f"{column} IS NOT NULL" if field.nullable else TRUE
        assert isinstance(test, Fitted)
        text = self.operation(column, test.op, test.value)
        return f"({column} IS NOT NULL AND {text})" if exact and field.nullable else text

    def operation(self, column: str, op: Op, value: Any) -> str:
        """A comparison that is the same in the database."""
        if op in _SYMBOLS:
            return f"{column} {_SYMBOLS[op]} {self.parameters.bind(value)}"
        if op is Op.STARTS:
            return self._starts(column, value)
        if op is Op.CONTAINS:
            return self.dialect.contains(column, self.parameters.bind(value))
        return self.dialect.ends(column, value, self.parameters) if value else f"{column} = {column}"

    def _starts(self, column: str, prefix: str) -> str:
        # A range of texts, so that an index answers it.
        end = prefix_end(prefix)
        lower = f"{column} >= {self.parameters.bind(prefix)}"
        return lower if end is None else f"({lower} AND {column} < {self.parameters.bind(end)})"

    def _in(self, field: Field, column: str, values: Any, exact: bool) -> str:
        wanted = sorted({test.value for test in _equalities(field, values)})
        if field.kind is Kind.BOOLEAN:
            parts = [_boolean(column, Op.EQ, value) for value in wanted]
        else:
            parts = [self.dialect.member(column, field.kind, wanted, self.parameters)] if wanted else []
        if exact and field.nullable and parts:
            parts = [f"({column} IS NOT NULL AND {joined(parts, ' OR ')})"]
        if any(value is None for value in values):
            parts.append(f"{column} IS NULL")
        return joined(parts, " OR ") if parts else FALSE

    # ── properties ───────────────────────────────────────────────────────────

    def _property(self, where: Property, place: Place) -> str:
        if where.op is Op.NE:
            return f"NOT ({self._property(Property(where.field, where.key, Op.EQ, where.value), place)})"
        tests = property_tests(where)
        if tests is None:
            return FALSE
        side, alias = properties_name(place.table, place.table.field(where.field)), self.alias()
        start = f"SELECT {_key_columns(place.table, alias)} FROM {quoted(side)} {alias}"
        key = f"{alias}.key = {self.parameters.bind(where.key)}"
        parts = [key, *(self._encoded(op, value, f"{alias}.value") for op, value in tests)]
        return f"{place.key()} IN ({start} WHERE {' AND '.join(parts)})"

    def _encoded(self, op: Op, value: Any, column: str) -> str:
        if op in (Op.CONTAINS, Op.ENDS):
            return self.operation(f"substr({column}, 2)", op, value)
        if not self.dialect.limits_index_entries:
            return self._encoded_as(op, value, column)
        # The beginnings of two texts are never in the opposite order of the texts, and they are indexed.
        loose = {Op.LT: Op.LE, Op.GT: Op.GE}.get(op, op)
        head = sorted({text[:HEAD] for text in value}) if op is Op.IN else value[:HEAD]
        whole = self._encoded_as(op, value, column)
        return f"{whole} AND {self._encoded_as(loose, head, self.dialect.head(column))}"

    def _encoded_as(self, op: Op, value: Any, column: str) -> str:
        if op is Op.IN:
            return self.dialect.member(column, Kind.TEXT, value, self.parameters)
        return self.operation(column, op, value)

    # ── other rows ───────────────────────────────────────────────────────────

    def _has(self, where: HasAll, place: Place) -> str:
        words, table, alias = self.dialect.words, place.table, self.alias()
        if not can_have(table, where.words):
            return FALSE
        key, source = _key_columns(table, alias), f"{quoted(words.name(table))} {alias}"
        has = words.has(alias, *map(self.parameters.bind, where.words))
        if where.way is Way.LAST:
            # Not as a condition on rows elsewhere: a planner would find those first.
            return f"(SELECT {has} FROM {source} WHERE {key} = {place.key()})"
        found = f"SELECT {key} FROM {source} WHERE {has}"
        return words.gathered(place.key(), found) if where.way is Way.FIRST else f"{place.key()} IN ({found})"

    def counted_words(self, table: Table, asked: Sequence[str], limit: str = "") -> str:
        """How many rows have some words, up to a limit: there is one beside for each of them."""
        words = self.dialect.words
        has = words.has("w", *map(self.parameters.bind, asked))
        return f"SELECT count(*) FROM (SELECT 1 FROM {quoted(words.name(table))} w WHERE {has}{limit}) w"

    def _linked(self, where: Linked, place: Place) -> str:
        relation = place.table.relations[where.relation]
        other = Place(self.catalog.target(relation), self.alias(), tied=True)
        tie = f"{other.column(relation.remote)} = {place.column(relation.local)}"
        index = tie_index(self.dialect, other.table, relation.remote)
        start = f"SELECT 1 FROM {quoted(other.table.name)} {other.alias}{index} WHERE {tie}"
        return f"EXISTS ({start} AND {self.text(where.where, other)})"

    def _found_there(self, where: FoundThere, place: Place) -> str:
        relation = place.table.relations[where.relation]
        other = Place(self.catalog.target(relation), self.alias())
        there = f"SELECT {other.column(relation.remote)} FROM {quoted(other.table.name)} {other.alias}"
        return f"{place.column(relation.local)} IN ({there} WHERE {self.text(where.where, other)})"

    def _key_in(self, where: KeyIn, place: Place) -> str:
        fields = [place.table.field(name) for name in place.table.key]
        if not where.keys:
            return FALSE
        if len(fields) == 1:
            values = [key[0] for key in where.keys]
            return self.dialect.member(place.key(), fields[0].kind, values, self.parameters)
        columns = [place.column(name) for name in place.table.key]
        return joined([self._key_equals(columns, key) for key in where.keys], " OR ")

    def _key_equals(self, columns: list[str], key: tuple[Any, ...]) -> str:
        parts = [self.operation(column, Op.EQ, value) for column, value in zip(columns, key, strict=True)]
        return joined(parts, " AND ")


def can_have(table: Table, words: Sequence[str]) -> bool:
    """Whether there can be rows with such words at all."""
    return table.words is not None and not any(map(FORBIDDEN_TEXT.search, words))


def joined(parts: list[str], joint: str) -> str:
    """Many conditions as one, in brackets of a hundred because parsers limit how deep a chain goes."""
    while len(parts) > 100:
        parts = [joined(parts[start : start + 100], joint) for start in range(0, len(parts), 100)]
    return f"({joint.join(parts)})"


def _key_columns(table: Table, alias: str) -> str:
    return ", ".join(f"{alias}.{quoted(table.field(name).stored_as)}" for name in table.key)


def _equalities(field: Field, values: Any) -> Iterator[Fitted]:
    for value in values:
        test = NEVER if value is None else fitted(field.kind, Op.EQ, value)
        if isinstance(test, Fitted):
            yield test


_BOOLEANS = {
    Op.EQ: lambda have, want: have == want,
    Op.LT: lambda have, want: have < want,
    Op.LE: lambda have, want: have <= want,
    Op.GT: lambda have, want: have > want,
    Op.GE: lambda have, want: have >= want,
}


def _boolean(column: str, op: Op, value: Any) -> str:
    """There are only two values to try."""
    if op not in _BOOLEANS or not isinstance(value, int | float):
        return FALSE
    holds = [have for have in (False, True) if _BOOLEANS[op](have, value)]
    if len(holds) == 2:
        return f"{column} IS NOT NULL"
    return FALSE if not holds else f"({column} IS {'TRUE' if holds[0] else 'FALSE'})"
