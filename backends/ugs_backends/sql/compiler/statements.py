"""Compiles reads of one table to SQL: rows, counts and groups, with total orders and keyset pagination."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ugs.catalog import Catalog
from ugs.reads.filters import Has, Op, Where
from ugs.reads.plan import Order, Page, full_order
from ugs.tables import Kind, Table
from ugs_backends.sql.compiler.conditions import TRUE, Conditions, Place, can_have, join_conditions
from ugs_backends.sql.compiler.count_columns import CountColumns
from ugs_backends.sql.compiler.property_order import PropertyWalk, find_walked_key
from ugs_backends.sql.dialect import Dialect, Parameters, quote_identifier
from ugs_backends.sql.table_names import EVENTS

BoundStatement = tuple[str, list[Any]]
"""A statement and the values of its parameters."""


class Select:
    """Builds one SELECT statement."""

    def __init__(self, catalog: Catalog, dialect: Dialect, parameters: Parameters | None = None) -> None:
        self.dialect = dialect
        self.parameters = parameters or Parameters(dialect)
        self.conditions = Conditions(catalog, self.parameters)

    def fetch(self, table: Table, where: Where, order: Sequence[Order], page: Page) -> BoundStatement:
        """A page of rows. A backward page is in reverse order, last row first."""
        walk = build_walking_order(table, tuple(order), page)
        place = Place(table, "t")
        columns = list_columns(self.dialect, place)
        source, condition = self.page_source(place, where, walk, page, page.limit)
        if page.per and page.limit is not None:
            return self._fetch_per(place, f"{source} t WHERE {condition}", walk, page), self.parameters.values
        text = f"SELECT {columns} FROM {source} t WHERE {condition} ORDER BY {self.order(place, walk)}"
        return text + build_limit(page.limit), self.parameters.values

    def _fetch_per(self, place: Place, found: str, walk: Sequence[Order], page: Page) -> str:
        group, order = place.column(page.per or ""), self.order(place, walk)
        number = f"row_number() OVER (PARTITION BY {group} ORDER BY {order}) AS place"
        columns, numbered = list_columns(self.dialect, place), f"SELECT t.*, {number} FROM {found}"
        return f"SELECT {columns} FROM ({numbered}) t WHERE t.place <= {int(page.limit or 0)} ORDER BY {order}"

    def held(self, table: Table, held: Where) -> str:
        """The condition on versions under the alias `t` that they held."""
        return self.conditions.text(held, Place(table, "t"))

    def count(self, table: Table, where: Where) -> BoundStatement:
        """The number of rows that meet the condition."""
        if isinstance(where, Has) and can_have(table, (where.word,)):
            return self.conditions.count_words(table, (where.word,)), self.parameters.values
        condition = self.conditions.text(where, Place(table, "t"))
        return f"SELECT count(*) FROM {quote_identifier(table.name)} t WHERE {condition}", self.parameters.values

    def count_each(self, table: Table, wheres: Sequence[Where]) -> BoundStatement:
        """The number of rows that meet each of the conditions."""
        counts = ", ".join(f"({self.count(table, where)[0]})" for where in wheres)
        return f"SELECT {counts}", self.parameters.values

    def count_since(self, table: Table, position: int) -> BoundStatement:
        """The position of the log, and the number of rows unless the log is still at this position."""
        counted = f"(SELECT count(*) FROM {quote_identifier(table.name)})"
        count = f"CASE WHEN head.position = {self.parameters.bind(position)} THEN NULL ELSE {counted} END"
        head = f"(SELECT coalesce(max(position), 0) AS position FROM {EVENTS}) head"
        return f"SELECT head.position, {count} FROM {head}", self.parameters.values

    def some(self, table: Table, where: Where, max_rows: int) -> BoundStatement:
        """A constant for each row that meets the condition, at most `most`: a bounded existence check."""
        condition = self.conditions.text(where, Place(table, "t"))
        return (
            f"SELECT 1 FROM {quote_identifier(table.name)} t WHERE {condition}{build_limit(max_rows)}",
            self.parameters.values,
        )

    def group(self, table: Table, by: str, where: Where) -> BoundStatement:
        """The number of rows per value of a column."""
        place = Place(table, "t")
        condition = self.conditions.text(where, place)
        column = place.column(by)
        text = f"SELECT {column}, count(*) FROM {quote_identifier(table.name)} t WHERE {condition} GROUP BY {column}"
        return text, self.parameters.values

    def source(self, table: Table, where: Where) -> str:
        """The FROM source, with count columns if any; must be built before WHERE, so that placeholders are in order."""
        return CountColumns(self.conditions, table, where).source() if table.counted else quote_identifier(table.name)

    def page_source(
        self, place: Place, where: Where, walk: Sequence[Order], page: Page, limit: int | None
    ) -> tuple[str, str]:
        """The FROM source of a page of at most `limit` rows, and the condition that is left to test.

        In the order of a property the source is the page alone, read from an index."""
        key = find_walked_key(place.table, walk, page)
        if key is not None and limit is not None:
            return PropertyWalk(self, place.table, key, where, walk, page, limit).source(), TRUE
        source = self.source(place.table, where)
        return source, self.condition(place, where, walk, page)

    def condition(self, place: Place, where: Where, walk: Sequence[Order], page: Page) -> str:
        """The WHERE condition of a page, including its start behind the cursor."""
        condition = self.conditions.text(where, place)
        if page.after is None:
            return condition
        beyond = self.build_cursor_condition(place, list(zip(walk, page.after, strict=True)))
        return beyond if condition == TRUE else f"{condition} AND {beyond}"

    def order(self, place: Place, walk: Sequence[Order]) -> str:
        """The ORDER BY list."""
        return ", ".join(
            place.column(part.field) + self.dialect.direction(part.descending, place.table.field(part.field).nullable)
            for part in walk
        )

    # ── keyset pagination ────────────────────────────────────────────────────

    def build_cursor_condition(self, place: Place, steps: list[tuple[Order, Any]]) -> str:
        """The condition for rows strictly behind a cursor."""
        if _is_plain(self.dialect, place.table, steps):
            return self._build_row_comparison(place, steps)
        (part, value), rest = steps[0], steps[1:]
        behind = self._build_step(place, part, value)
        if not rest:
            return behind
        return join_conditions(
            [
                behind,
                join_conditions(
                    [self._build_equality(place, part, value), self.build_cursor_condition(place, rest)], " AND "
                ),
            ],
            " OR ",
        )

    def _build_row_comparison(self, place: Place, steps: list[tuple[Order, Any]]) -> str:
        """The condition as a row value comparison, which an index on the columns supports."""
        columns = ", ".join(place.column(part.field) for part, _ in steps)
        marks = ", ".join(self.parameters.bind(value) for _, value in steps)
        sign = "<" if steps[0][0].descending else ">"
        return f"{columns} {sign} {marks}" if len(steps) == 1 else f"({columns}) {sign} ({marks})"

    def _build_step(self, place: Place, part: Order, value: Any) -> str:
        field, column = place.table.field(part.field), place.column(part.field)
        if value is None:
            return "1=0" if part.descending else f"{column} IS NOT NULL"
        if not part.descending:
            return self.conditions.comparison(field, column, Op.GT, value)
        less = self.conditions.comparison(field, column, Op.LT, value)
        return join_conditions([less, f"{column} IS NULL"], " OR ") if field.nullable else less

    def _build_equality(self, place: Place, part: Order, value: Any) -> str:
        field, column = place.table.field(part.field), place.column(part.field)
        return f"{column} IS NULL" if value is None else self.conditions.comparison(field, column, Op.EQ, value)


def _is_plain(dialect: Dialect, table: Table, steps: list[tuple[Order, Any]]) -> bool:
    """Whether row values can be compared: one direction, no nullable columns, and values of the columns' types."""
    return len({part.descending for part, _ in steps}) == 1 and all(
        not (field := table.field(part.field)).nullable
        and type(value) is _PLAIN.get(field.kind)
        and dialect.compares(field, Op.GT, value)
        for part, value in steps
    )


_PLAIN: dict[Kind, type] = {Kind.TEXT: str, Kind.JSON: str, Kind.INTEGER: int, Kind.REAL: float}


def build_walking_order(table: Table, order: tuple[Order, ...], page: Page) -> tuple[Order, ...]:
    """The total order in the direction in which the page is read."""
    whole = full_order(table, order)
    return tuple(Order(part.field, not part.descending) for part in whole) if page.backward else whole


@lru_cache(maxsize=512)
def list_columns(dialect: Dialect, place: Place) -> str:
    """All columns, in the order of the row's fields."""
    return ", ".join(dialect.selected(field, place.column(field.name)) for field in place.table.fields)


def build_limit(limit: int | None) -> str:
    # Inlined rather than bound: a planner that knows the limit reads the index instead of sorting.
    return "" if limit is None else f" LIMIT {int(limit)}"
