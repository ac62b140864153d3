"""Compiles filter conditions to SQL with exactly the meaning of `ugs.reads.filters.matcher`.

The filter algebra is two-valued and SQL is three-valued: a comparison with NULL is neither true nor false. At the top
of a WHERE clause NULL counts as false, so comparisons stay bare and can use indexes; under a `Not` NULL is excluded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.reads.filters import All, Any_, Compare, Everything, Has, Linked, Not, Op, Property, Where, conditions
from ugs.tables import Field, Kind, Table
from ugs.values import FORBIDDEN_TEXT
from ugs_backends.sql.compiler.comparison_coercion import (
    ALWAYS,
    NEVER,
    CoercedComparison,
    coerce_comparison,
    find_prefix_end,
)
from ugs_backends.sql.compiler.property_codec import INDEXED_PREFIX_LENGTH
from ugs_backends.sql.compiler.property_filters import compile_property_tests
from ugs_backends.sql.dialect import Parameters, SearchedColumn, find_tie_index, quote_identifier
from ugs_backends.sql.table_names import name_properties_table

TRUE, FALSE = "1=1", "1=0"
_SYMBOLS = {Op.EQ: "=", Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">="}


class RelatedRowCondition(Where, frozen=True):
    """Like `Linked` at the top of a condition, for few matching related rows: these are looked up first."""

    relation: str
    where: Where


class HeldAt(Where, frozen=True):
    """The row is the version that held at a log position; for tables of versions."""

    position: int
    since: str
    """The column of the first position at which a version held."""
    until: str
    """The column of the first position at which it did not any more."""

    def parameterised(self, hole: Callable[[Any], Any]) -> HeldAt:
        return HeldAt(hole(self.position), self.since, self.until)


class WordAccess(Enum):
    """The access path of a word condition at the top of a filter."""

    EITHER = 0
    FIRST = 1
    """Few rows match: collect them before anything else."""
    LAST = 2
    """Many rows match: test each row that meets the other conditions."""


class HasAll(Where, frozen=True):
    """Several `Has` conditions, looked up together."""

    words: tuple[str, ...]
    way: WordAccess = WordAccess.EITHER


class KeyIn(Where, frozen=True):
    """The row's key is one of these tuples: the result of a condition that was evaluated beforehand."""

    keys: tuple[tuple[Any, ...], ...]


@lru_cache(maxsize=512)
def quote_columns(table: Table) -> dict[str, str]:
    """The quoted column of each field."""
    return {field.name: quote_identifier(field.stored_as) for field in (*table.fields, *table.hidden)}


class Place(Struct, frozen=True):
    """The table that a condition refers to, with its alias in the statement."""

    table: Table
    alias: str
    exact: bool = False
    """Whether the result must not be NULL, because of an enclosing `Not`."""
    tied: bool = False
    """Whether rows are looked up one by one through a relation, so that conditions cannot use an index."""

    def column(self, name: str) -> str:
        return f"{self.alias}.{quote_columns(self.table)[name]}"

    def key(self) -> str:
        """The key as one column or as a row value."""
        columns = ", ".join(self.column(name) for name in self.table.key)
        return columns if len(self.table.key) == 1 else f"({columns})"


class Conditions:
    """Compiles the conditions of one statement."""

    def __init__(self, catalog: Catalog, parameters: Parameters) -> None:
        self.catalog = catalog
        self.parameters = parameters
        self.dialect = parameters.dialect
        self._aliases = 0

    def alias(self) -> str:
        """A new table alias."""
        self._aliases += 1
        return f"x{self._aliases}"

    def text(self, where: Where, place: Place) -> str:
        """The condition in SQL."""
        if isinstance(where, Compare):
            return self._compare(where, place)
        if isinstance(where, All | Any_):
            return self._compile_composite(where, place)
        if isinstance(where, Property):
            return self._compile_property(where, place)
        if isinstance(where, Not):
            return f"NOT ({self.text(where.part, Place(place.table, place.alias, True, place.tied))})"
        return self._compile_related(where, place)

    def _compile_related(self, where: Where, place: Place) -> str:
        if isinstance(where, Everything):
            return TRUE
        if isinstance(where, HeldAt):
            return self._compile_position(where, place)
        if isinstance(where, Has):
            return self._compile_words(HasAll((where.word,)), place)
        if isinstance(where, HasAll):
            return self._compile_words(where, place)
        if isinstance(where, Linked):
            return self._compile_linked(where, place)
        if isinstance(where, KeyIn):
            return self._compile_key_list(where, place)
        if isinstance(where, RelatedRowCondition):
            return self._compile_related_rows(where, place)
        raise TypeError(f"no SQL for {type(where).__name__}")

    def _compile_position(self, where: HeldAt, place: Place) -> str:
        since = f"{place.column(where.since)} <= {self.parameters.bind(where.position)}"
        return f"({since} AND {place.column(where.until)} > {self.parameters.bind(where.position)})"

    def same_position(self, where: Where, place: Place) -> str:
        """The condition that other rows held at the position which a condition names; empty where it names none."""
        held = next((part for part in conditions(where) if isinstance(part, HeldAt)), None)
        return "" if held is None else f" AND {self._compile_position(held, place)}"

    def _compile_composite(self, where: All | Any_, place: Place) -> str:
        every = isinstance(where, All)
        if not where.parts:
            return TRUE if every else FALSE
        parts = self._merge_words(where.parts) if every else where.parts
        return join_conditions([self.text(part, place) for part in parts], " AND " if every else " OR ")

    def _merge_words(self, parts: Sequence[Where]) -> Sequence[Where]:
        """The parts of a conjunction, with the words merged into one `HasAll` where they are looked up together."""
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
            return self._compile_list(field, column, value, place.exact)
        if op is Op.CONTAINS and field.searched:
            return self._compile_contains(field, column, value, place)
        return self.comparison(field, column, op, value, place.exact)

    def _compile_contains(self, field: Field, column: str, part: Any, place: Place) -> str:
        """A substring test, preceded by the weaker condition of the substring index where there is one."""
        narrowed = ""
        if not (place.exact or place.tied) and isinstance(
            coerce_comparison(field.kind, Op.CONTAINS, part), CoercedComparison
        ):
            searched = SearchedColumn(place.table, field, column, place.key())
            narrowed = self.dialect.narrow(searched, part, self.parameters)
        exactly = self.comparison(field, column, Op.CONTAINS, part, place.exact)
        return f"({narrowed} AND {exactly})" if narrowed else exactly

    def comparison(self, field: Field, column: str, op: Op, value: Any, exact: bool = False) -> str:
        """A comparison of a column with a value that is not None."""
        if field.kind is Kind.BOOLEAN:
            return _compare_boolean(column, op, value)
        test = self.dialect.coerce(field, op, value)
        if test is NEVER:
            return FALSE
        if test is ALWAYS:
            return f"{column} IS NOT NULL" if field.nullable else TRUE
        assert isinstance(test, CoercedComparison)
        text = self.operation(self.dialect.comparable(field, column, test), test.op, test.value)
        return f"({column} IS NOT NULL AND {text})" if exact and field.nullable else text

    def operation(self, column: str, op: Op, value: Any) -> str:
        """A comparison whose value the column's type can hold."""
        if op in _SYMBOLS:
            return f"{column} {_SYMBOLS[op]} {self.parameters.bind(value)}"
        if op is Op.STARTS:
            return self._compile_prefix(column, value)
        if op is Op.CONTAINS:
            return self.dialect.contains(column, self.parameters.bind(value))
        return self.dialect.ends(column, value, self.parameters) if value else f"{column} = {column}"

    def _compile_prefix(self, column: str, prefix: str) -> str:
        # A range of texts, so that an index can be used.
        end = find_prefix_end(prefix)
        lower = f"{column} >= {self.parameters.bind(prefix)}"
        return lower if end is None else f"({lower} AND {column} < {self.parameters.bind(end)})"

    def _compile_list(self, field: Field, column: str, values: Any, exact: bool) -> str:
        wanted = sorted({test.value for test in self._build_equalities(field, values)})
        if field.kind is Kind.BOOLEAN:
            parts = [_compare_boolean(column, Op.EQ, value) for value in wanted]
        else:
            parts = (
                [self.dialect.member(column, self.dialect.column_type(field), wanted, self.parameters)]
                if wanted
                else []
            )
        if exact and field.nullable and parts:
            parts = [f"({column} IS NOT NULL AND {join_conditions(parts, ' OR ')})"]
        if any(value is None for value in values):
            parts.append(f"{column} IS NULL")
        return join_conditions(parts, " OR ") if parts else FALSE

    def _build_equalities(self, field: Field, values: Any) -> Iterator[CoercedComparison]:
        for value in values:
            test = NEVER if value is None else self.dialect.coerce(field, Op.EQ, value)
            if isinstance(test, CoercedComparison):
                yield test

    # ── properties ───────────────────────────────────────────────────────────

    def _compile_property(self, where: Property, place: Place) -> str:
        if where.op is Op.NE:
            return f"NOT ({self._compile_property(Property(where.field, where.key, Op.EQ, where.value), place)})"
        tests = compile_property_tests(where)
        if tests is None:
            return FALSE
        side, alias = name_properties_table(place.table, place.table.field(where.field)), self.alias()
        start = f"SELECT {_key_columns(place.table, alias)} FROM {quote_identifier(side)} {alias}"
        key = f"{alias}.key = {self.parameters.bind(where.key)}"
        parts = [key, *(self._compile_encoded(op, value, f"{alias}.value") for op, value in tests)]
        return f"{place.key()} IN ({start} WHERE {' AND '.join(parts)})"

    def _compile_encoded(self, op: Op, value: Any, column: str) -> str:
        if op in (Op.CONTAINS, Op.ENDS):
            return self.operation(f"substr({column}, 2)", op, value)
        # Only prefixes are indexed. The order of prefixes never contradicts that of the texts, so this weaker
        # condition may be added for the index.
        loose = {Op.LT: Op.LE, Op.GT: Op.GE}.get(op, op)
        head = (
            sorted({text[:INDEXED_PREFIX_LENGTH] for text in value}) if op is Op.IN else value[:INDEXED_PREFIX_LENGTH]
        )
        whole = self._compile_encoded_as(op, value, column)
        return f"{whole} AND {self._compile_encoded_as(loose, head, self.dialect.head(column))}"

    def _compile_encoded_as(self, op: Op, value: Any, column: str) -> str:
        if op is Op.IN:
            return self.dialect.member(column, Kind.TEXT, value, self.parameters)
        return self.operation(column, op, value)

    # ── other rows ───────────────────────────────────────────────────────────

    def _compile_words(self, where: HasAll, place: Place) -> str:
        words, table, alias = self.dialect.words, place.table, self.alias()
        if not can_have(table, where.words):
            return FALSE
        key, source = _key_columns(table, alias), f"{quote_identifier(words.name(table))} {alias}"
        has = words.has(alias, *map(self.parameters.bind, where.words))
        if where.way is WordAccess.LAST:
            # A scalar subquery, because a planner would evaluate a semi-join with the word table first.
            return f"(SELECT {has} FROM {source} WHERE {key} = {place.key()})"
        found = f"SELECT {key} FROM {source} WHERE {has}"
        return words.gather(place.key(), found) if where.way is WordAccess.FIRST else f"{place.key()} IN ({found})"

    def count_words(self, table: Table, asked: Sequence[str], limit: str = "") -> str:
        """A query for the number of rows with some words, up to a limit; counts in the word table alone."""
        words = self.dialect.words
        has = words.has("w", *map(self.parameters.bind, asked))
        return f"SELECT count(*) FROM (SELECT 1 FROM {quote_identifier(words.name(table))} w WHERE {has}{limit}) w"

    def _compile_linked(self, where: Linked, place: Place) -> str:
        relation = place.table.relations[where.relation]
        other = Place(self.catalog.target(relation), self.alias(), tied=True)
        tie = f"{other.column(relation.remote)} = {place.column(relation.local)}"
        index = find_tie_index(self.dialect, other.table, relation.remote)
        start = f"SELECT 1 FROM {quote_identifier(other.table.name)} {other.alias}{index} WHERE {tie}"
        return f"EXISTS ({start} AND {self.text(where.where, other)})"

    def _compile_related_rows(self, where: RelatedRowCondition, place: Place) -> str:
        relation = place.table.relations[where.relation]
        other = Place(self.catalog.target(relation), self.alias())
        there = f"SELECT {other.column(relation.remote)} FROM {quote_identifier(other.table.name)} {other.alias}"
        return f"{place.column(relation.local)} IN ({there} WHERE {self.text(where.where, other)})"

    def _compile_key_list(self, where: KeyIn, place: Place) -> str:
        fields = [place.table.field(name) for name in place.table.row_key]
        if not where.keys:
            return FALSE
        if len(fields) == 1:
            values = [key[0] for key in where.keys]
            return self.dialect.member(
                place.column(fields[0].name), self.dialect.column_type(fields[0]), values, self.parameters
            )
        columns = [place.column(name) for name in place.table.row_key]
        return join_conditions([self._compile_key(columns, key) for key in where.keys], " OR ")

    def _compile_key(self, columns: list[str], key: tuple[Any, ...]) -> str:
        parts = [self.operation(column, Op.EQ, value) for column, value in zip(columns, key, strict=True)]
        return join_conditions(parts, " AND ")


def can_have(table: Table, words: Sequence[str]) -> bool:
    """Whether rows of the table can have such words."""
    return table.words is not None and not any(map(FORBIDDEN_TEXT.search, words))


def join_conditions(parts: list[str], joint: str) -> str:
    """Join conditions, nested in groups of a hundred because parsers limit the depth of a chain."""
    while len(parts) > 100:
        parts = [join_conditions(parts[start : start + 100], joint) for start in range(0, len(parts), 100)]
    return f"({joint.join(parts)})"


def _key_columns(table: Table, alias: str) -> str:
    return ", ".join(f"{alias}.{quote_identifier(table.field(name).stored_as)}" for name in table.key)


_BOOLEANS = {
    Op.EQ: lambda have, want: have == want,
    Op.LT: lambda have, want: have < want,
    Op.LE: lambda have, want: have <= want,
    Op.GT: lambda have, want: have > want,
    Op.GE: lambda have, want: have >= want,
}


def _compare_boolean(column: str, op: Op, value: Any) -> str:
    """A comparison with a boolean column, decided by trying both values."""
    if op not in _BOOLEANS or not isinstance(value, int | float):
        return FALSE
    holds = [have for have in (False, True) if _BOOLEANS[op](have, value)]
    if len(holds) == 2:
        return f"{column} IS NOT NULL"
    return FALSE if not holds else f"({column} IS {'TRUE' if holds[0] else 'FALSE'})"
