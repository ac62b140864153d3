"""Compiles an aggregation to one statement: a join for each property, one GROUP BY.

Properties come from the table of encoded values (`property_codec`), whose order is the order of values; only sums need
the numbers, which each dialect adds without rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ugs.reads.aggregation import Aggregation, Group, Value, build_sum, normalize_value
from ugs.reads.filters import Where
from ugs.reads.sort_keys import BOOLEAN, LAST, NUMBER, parse_number_text
from ugs.tables import Field, Kind, Table
from ugs.values import FORBIDDEN_TEXT
from ugs_backends.sql.compiler.conditions import Place
from ugs_backends.sql.compiler.property_codec import COMPOSITE, find_kind_end
from ugs_backends.sql.compiler.statements import BoundStatement, Select, build_limit
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.row_codec import Values, decode_value
from ugs_backends.sql.table_names import name_properties_table

NUMERIC = (Kind.INTEGER, Kind.REAL)


def is_compilable(table: Table, aggregation: Aggregation) -> bool:
    """Whether the database has an index of every JSON column that the aggregation looks into."""
    values = (*aggregation.by, *aggregation.sums, *aggregation.ranges)
    return all(value.key is None or table.field(value.field).indexed for value in values)


class AggregateQuery:
    """Builds the statement of one aggregation, and reads its result."""

    def __init__(self, select: Select, table: Table, aggregation: Aggregation) -> None:
        self.select, self.table, self.aggregation = select, table, aggregation
        self.place = Place(table, "t")
        self._joins: list[str] = []
        self._columns: dict[Value, str] = {}

    def statement(self, where: Where) -> BoundStatement:
        """The statement; each record has the keys, the count, then for each sum its count and total, and the ranges."""
        dialect, aggregation = self.select.dialect, self.aggregation
        keys = [self._column(value) for value in aggregation.by]
        parts = [*keys, "count(*)"]
        for value in aggregation.sums:
            parts += self._build_sum(value)
        for value in aggregation.ranges:
            column = self._column(value)
            parts += [f"min({column})", f"max({column})"]
        named = ", ".join(f"{part} AS c{number}" for number, part in enumerate(parts))
        condition = self.select.conditions.text(where, self.place)
        source = f"{quote_identifier(self.table.name)} t{''.join(self._joins)} WHERE {condition}"
        grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
        smallest_first = [f"c{number}{dialect.direction(False, True)}" for number in range(len(keys))]
        order = ", ".join([f"c{len(keys)} DESC", *smallest_first])
        text, values = f"SELECT {named} FROM {source}{grouped}", self.select.parameters.values
        if not aggregation.per_first or aggregation.limit is None:
            limit = build_limit(aggregation.limit) if keys else ""
            return f"SELECT * FROM ({text}) g ORDER BY {order}{limit}", values
        numbered = f"SELECT g.*, row_number() OVER (PARTITION BY c0 ORDER BY {order}) AS place FROM ({text}) g"
        return f"SELECT * FROM ({numbered}) g WHERE place <= {int(aggregation.limit)} ORDER BY {order}", values

    def _column(self, value: Value) -> str:
        """The column of a value; properties are joined when they are first asked for."""
        if value.key is None:
            return self.select.dialect.readable(self.table.field(value.field), self.place.column(value.field))
        known = self._columns.get(value)
        if known is None:
            known = self._columns[value] = f"{self._join(value)}.value"
        return known

    def _join(self, value: Value) -> str:
        alias, key = self.select.conditions.alias(), value.key or ""
        side = quote_identifier(name_properties_table(self.table, self.table.field(value.field)))
        stored = [quote_identifier(self.table.field(name).stored_as) for name in self.table.key]
        tie = " AND ".join(f"{alias}.{column} = t.{column}" for column in stored)
        # No stored key is empty or has characters that the database refuses.
        bound = self.select.parameters.bind("" if FORBIDDEN_TEXT.search(key) else key)
        column = f"{alias}.value"
        ordered = f"({column} < '{COMPOSITE}' OR {column} >= '{NUMBER}') AND {column} < '{LAST}'"
        self._joins.append(f" LEFT JOIN {side} {alias} ON {alias}.key = {bound} AND {tie} AND {ordered}")
        return alias

    def _build_sum(self, value: Value) -> list[str]:
        dialect, column = self.select.dialect, self._column(value)
        if value.key is None:
            if self.table.field(value.field).kind not in NUMERIC:
                return ["0", "NULL"]
            return [f"count({column})", dialect.sum_column(column)]
        is_number = f"{column} >= '{NUMBER}' AND {column} < '{find_kind_end(NUMBER)}'"
        key = f"{column.removesuffix('.value')}.key"
        total = dialect.sum_property(column, self.place.column(value.field), key, is_number)
        return [f"count(CASE WHEN {is_number} THEN 1 END)", total]

    def read(self, records: Sequence[Values]) -> list[Group]:
        """The groups of the statement's result."""
        return [self._read_group(record) for record in records]

    def _read_group(self, record: Values) -> Group:
        aggregation = self.aggregation
        at = len(aggregation.by)
        keys = tuple(self._decode(value, one) for value, one in zip(aggregation.by, record, strict=False))
        sums, ranges = {}, {}
        count = record[at]
        for value in aggregation.sums:
            sums[value] = build_sum(record[at + 1], Decimal(record[at + 2] or 0))
            at += 2
        for value in aggregation.ranges:
            ranges[value] = (self._decode(value, record[at + 1]), self._decode(value, record[at + 2]))
            at += 2
        return Group(keys, count, sums, ranges)

    def _decode(self, value: Value, found: Any) -> Any:
        field: Field = self.table.field(value.field)
        if value.key is None:
            return normalize_value(decode_value(field, found))
        return decode_property(found)


def decode_property(text: str | None) -> Any:
    """The boolean, number or text that `property_codec.encode_property` wrote."""
    if text is None:
        return None
    if text[0] == BOOLEAN:
        return text == "b1"
    return parse_number_text(text[1:]) if text[0] == NUMBER else text[1:]
