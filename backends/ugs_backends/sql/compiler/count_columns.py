"""Count columns: tables with the number of related rows, as subqueries to select from.

Counts are either looked up per row by an index, which is fast for few rows, or grouped and joined, which is fast for
many; only some planners execute the join well for few rows.
"""

from __future__ import annotations

from ugs.reads.filters import Everything, Where
from ugs.reads.sort_keys import LAST, MAX_SORT_CHARS, NUMBER, SortKey
from ugs.tables import Count, Relation, Table
from ugs_backends.sql.compiler.conditions import TRUE, Conditions, Place, quote_columns
from ugs_backends.sql.compiler.property_codec import COMPOSITE
from ugs_backends.sql.dialect import find_tie_index, quote_identifier
from ugs_backends.sql.table_names import name_properties_table


class CountColumns:
    """Builds the subquery for rows that meet a condition; the outer query must repeat the condition."""

    def __init__(self, conditions: Conditions, table: Table, where: Where) -> None:
        self.conditions, self.table, self.where = conditions, table, where
        self.joins: list[str] = []

    def source(self) -> str:
        names = quote_columns(self.table)
        counts = ", ".join(f"{self._compute(column)} AS {names[column.name]}" for column in self.table.counted)
        return f"(SELECT s.*, {counts} FROM {quote_identifier(self.table.name)} s{''.join(self.joins)})"

    def _compute(self, column: Count | SortKey) -> str:
        return self._look_up_sort_key(column) if isinstance(column, SortKey) else self._sum_counts(column)

    def _look_up_sort_key(self, key: SortKey) -> str:
        """The sort key of a row: the beginning of the encoded value, if it is of a kind that has an order."""
        side, alias = name_properties_table(self.table, self.table.field(key.field)), self.conditions.alias()
        columns = quote_columns(self.table)
        tie = " AND ".join(f"{alias}.{columns[name]} = s.{columns[name]}" for name in self.table.key)
        value = f"{alias}.value"
        ordered = f"({value} < '{COMPOSITE}' OR {value} >= '{NUMBER}') AND {value} < '{LAST}'"
        condition = f"{alias}.key = {self.conditions.parameters.bind(key.key)} AND {tie} AND {ordered}"
        found = f"SELECT substr({value}, 1, {MAX_SORT_CHARS}) FROM {quote_identifier(side)} {alias} WHERE {condition}"
        return f"coalesce(({found}), '{key.missing}')"

    def _sum_counts(self, count: Count) -> str:
        one = self._build_join if self.conditions.dialect.orders_joins else self._build_subquery
        related = self.conditions.catalog[count.of.name]
        return " + ".join(one(related, self.table.relations[name]) for name in count.relations)

    def _build_subquery(self, other: Table, relation: Relation) -> str:
        index = find_tie_index(self.conditions.dialect, other, relation.remote)
        tie = f"c.{quote_columns(other)[relation.remote]} = s.{quote_columns(self.table)[relation.local]}"
        return f"(SELECT count(*) FROM {quote_identifier(other.name)} c{index} WHERE {tie}{self._held(other)})"

    def _build_join(self, other: Table, relation: Relation) -> str:
        alias, tie = self.conditions.alias(), f"c.{quote_columns(other)[relation.remote]}"
        where = f" WHERE {TRUE}{self._restrict_to_related(tie, relation)}{self._held(other)}"
        counted = f"{quote_identifier(other.name)} c{where} GROUP BY {tie}"
        local = quote_columns(self.table)[relation.local]
        self.joins.append(
            f" LEFT JOIN (SELECT {tie} AS tie, count(*) AS n FROM {counted}) {alias} ON {alias}.tie = s.{local}"
        )
        return f"coalesce({alias}.n, 0)"

    def _restrict_to_related(self, tie: str, relation: Relation) -> str:
        """Restrict the counted rows to those related to matching rows."""
        if isinstance(self.where, Everything):
            return ""
        place = Place(self.table, self.conditions.alias())
        found = f"SELECT {place.column(relation.local)} FROM {quote_identifier(self.table.name)} {place.alias}"
        return f" AND {tie} IN ({found} WHERE {self.conditions.text(self.where, place)})"

    def _held(self, other: Table) -> str:
        """The condition that the counted rows held at the position of the counting ones."""
        return self.conditions.same_position(self.where, Place(other, "c"))
