"""Reads of one table as SQL: rows, counts and groups, with total orders and keyset pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from backends.sql.conditions import TRUE, Conditions, Place, can_have, joined
from backends.sql.counting import Counting
from backends.sql.dialect import Dialect, Parameters, quoted
from backends.sql.fitting import Fitted, fitted
from backends.sql.names import EVENTS
from ugs.catalog import Catalog, Kind, Table
from ugs.reads.plan import Order, Page, full_order
from ugs.reads.where import Has, Op, Where

Bound = tuple[str, list[Any]]
"""A statement and the values of its parameters."""


class Select:
    """One reading statement while it is written."""

    def __init__(self, catalog: Catalog, dialect: Dialect, parameters: Parameters | None = None) -> None:
        self.dialect = dialect
        self.parameters = parameters or Parameters(dialect)
        self.conditions = Conditions(catalog, self.parameters)

    def fetch(self, table: Table, where: Where, order: Sequence[Order], page: Page) -> Bound:
        """Rows of a table, cut to a page. A backward page comes in the order of the walk, last row first."""
        walk = walking_order(table, tuple(order), page)
        place = Place(table, "t")
        columns, source = columns_of(place), self.source(table, where)
        condition = self.condition(place, where, walk, page)
        if page.per and page.limit is not None:
            return self._fetch_per(place, f"{source} t WHERE {condition}", walk, page), self.parameters.values
        text = f"SELECT {columns} FROM {source} t WHERE {condition} ORDER BY {self.order(place, walk)}"
        return text + limit_of(page.limit), self.parameters.values

    def _fetch_per(self, place: Place, found: str, walk: Sequence[Order], page: Page) -> str:
        group, order = place.column(page.per or ""), self.order(place, walk)
        number = f"row_number() OVER (PARTITION BY {group} ORDER BY {order}) AS place"
        numbered = f"SELECT t.*, {number} FROM {found}"
        return (
            f"SELECT {columns_of(place)} FROM ({numbered}) t WHERE t.place <= {int(page.limit or 0)} ORDER BY {order}"
        )

    def count(self, table: Table, where: Where) -> Bound:
        """How many rows meet the condition."""
        if isinstance(where, Has) and can_have(table, (where.word,)):
            return self.conditions.counted_words(table, (where.word,)), self.parameters.values
        condition = self.conditions.text(where, Place(table, "t"))
        return f"SELECT count(*) FROM {quoted(table.name)} t WHERE {condition}", self.parameters.values

    def count_each(self, table: Table, wheres: Sequence[Where]) -> Bound:
        """How many rows meet each of the conditions."""
        counts = ", ".join(f"({self.count(table, where)[0]})" for where in wheres)
        return f"SELECT {counts}", self.parameters.values

    def count_since(self, table: Table, position: int) -> Bound:
        """Where the log ends, and how many rows there are, unless it ends at this position."""
        counted = f"(SELECT count(*) FROM {quoted(table.name)})"
        count = f"CASE WHEN head.position = {self.parameters.bind(position)} THEN NULL ELSE {counted} END"
        head = f"(SELECT coalesce(max(position), 0) AS position FROM {EVENTS}) head"
        return f"SELECT head.position, {count} FROM {head}", self.parameters.values

    def some(self, table: Table, where: Where, most: int) -> Bound:
        """So many of the rows that meet the condition, only to know that they are there."""
        condition = self.conditions.text(where, Place(table, "t"))
        return f"SELECT 1 FROM {quoted(table.name)} t WHERE {condition}{limit_of(most)}", self.parameters.values

    def group(self, table: Table, by: str, where: Where) -> Bound:
        """How many rows each value of a column has."""
        place = Place(table, "t")
        condition = self.conditions.text(where, place)
        column = place.column(by)
        text = f"SELECT {column}, count(*) FROM {quoted(table.name)} t WHERE {condition} GROUP BY {column}"
        return text, self.parameters.values

    def source(self, table: Table, where: Where) -> str:
        """What rows that meet a condition are read from; written in front of it, as it stands in the statement."""
        return Counting(self.conditions, table, where).source() if table.counted else quoted(table.name)

    def condition(self, place: Place, where: Where, walk: Sequence[Order], page: Page) -> str:
        """What a row of the page must meet, the place after which it starts included."""
        condition = self.conditions.text(where, place)
        if page.after is None:
            return condition
        beyond = self._beyond(place, list(zip(walk, page.after, strict=True)))
        return beyond if condition == TRUE else f"{condition} AND {beyond}"

    def order(self, place: Place, walk: Sequence[Order]) -> str:
        """The columns to sort by."""
        return ", ".join(
            place.column(part.field) + self.dialect.direction(part.descending, place.table.field(part.field).nullable)
            for part in walk
        )

    # ── keyset pages ─────────────────────────────────────────────────────────

    def _beyond(self, place: Place, steps: list[tuple[Order, Any]]) -> str:
        """Strictly behind a place in the walk."""
        if _is_plain(place.table, steps):
            return self._beyond_row(place, steps)
        (part, value), rest = steps[0], steps[1:]
        behind = self._behind(place, part, value)
        if not rest:
            return behind
        return joined([behind, joined([self._level(place, part, value), self._beyond(place, rest)], " AND ")], " OR ")

    def _beyond_row(self, place: Place, steps: list[tuple[Order, Any]]) -> str:
        """The comparison of whole rows, which an index on the columns answers."""
        columns = ", ".join(place.column(part.field) for part, _ in steps)
        marks = ", ".join(self.parameters.bind(value) for _, value in steps)
        sign = "<" if steps[0][0].descending else ">"
        return f"{columns} {sign} {marks}" if len(steps) == 1 else f"({columns}) {sign} ({marks})"

    def _behind(self, place: Place, part: Order, value: Any) -> str:
        field, column = place.table.field(part.field), place.column(part.field)
        if value is None:
            return "1=0" if part.descending else f"{column} IS NOT NULL"
        if not part.descending:
            return self.conditions.comparison(field, column, Op.GT, value)
        less = self.conditions.comparison(field, column, Op.LT, value)
        return joined([less, f"{column} IS NULL"], " OR ") if field.nullable else less

    def _level(self, place: Place, part: Order, value: Any) -> str:
        field, column = place.table.field(part.field), place.column(part.field)
        return f"{column} IS NULL" if value is None else self.conditions.comparison(field, column, Op.EQ, value)


def _is_plain(table: Table, steps: list[tuple[Order, Any]]) -> bool:
    """One direction, nothing missing, and values the columns can hold: then rows compare as wholes."""
    return len({part.descending for part, _ in steps}) == 1 and all(
        not (field := table.field(part.field)).nullable
        and type(value) is _PLAIN.get(field.kind)
        and fitted(field.kind, Op.GT, value) == Fitted(Op.GT, value)
        for part, value in steps
    )


_PLAIN: dict[Kind, type] = {Kind.TEXT: str, Kind.JSON: str, Kind.INTEGER: int, Kind.REAL: float}


def walking_order(table: Table, order: tuple[Order, ...], page: Page) -> tuple[Order, ...]:
    """The total order in the direction in which the page is walked."""
    whole = full_order(table, order)
    return tuple(Order(part.field, not part.descending) for part in whole) if page.backward else whole


@lru_cache(maxsize=512)
def columns_of(place: Place) -> str:
    """All columns in the order of the row's fields."""
    return ", ".join(place.column(name) for name in place.table.names)


def limit_of(limit: int | None) -> str:
    # Written out rather than bound: a planner that knows the limit walks the index instead of sorting.
    return "" if limit is None else f" LIMIT {int(limit)}"
