"""Tables that are seen with counts, as queries to read from.

A count is looked up for each row by an index, or all counts are grouped and joined: the first is quick for few rows
and the second for many, and only some planners find the way for few rows through a join.
"""

from __future__ import annotations

from backends.sql.conditions import Conditions, Place, stored_columns
from backends.sql.dialect import quoted, tie_index
from ugs.catalog import Count, Relation, Table
from ugs.reads.where import Everything, Where


class Counting:
    """Writes such a query for rows that meet a condition, which whoever reads from it says again."""

    def __init__(self, conditions: Conditions, table: Table, where: Where) -> None:
        self.conditions, self.table, self.where = conditions, table, where
        self.joins: list[str] = []

    def source(self) -> str:
        counts = ", ".join(f"{self._number(count)} AS {quoted(count.name)}" for count in self.table.counted)
        return f"(SELECT s.*, {counts} FROM {quoted(self.table.name)} s{''.join(self.joins)})"

    def _number(self, count: Count) -> str:
        one = self._joined if self.conditions.dialect.orders_joins else self._looked_up
        return " + ".join(one(count.of, self.table.relations[name]) for name in count.relations)

    def _looked_up(self, other: Table, relation: Relation) -> str:
        index = tie_index(self.conditions.dialect, other, relation.remote)
        tie = f"c.{stored_columns(other)[relation.remote]} = s.{stored_columns(self.table)[relation.local]}"
        return f"(SELECT count(*) FROM {quoted(other.name)} c{index} WHERE {tie})"

    def _joined(self, other: Table, relation: Relation) -> str:
        alias, tie = self.conditions.alias(), f"c.{stored_columns(other)[relation.remote]}"
        counted = f"{quoted(other.name)} c{self._among(tie, relation)} GROUP BY {tie}"
        local = stored_columns(self.table)[relation.local]
        self.joins.append(
            f" LEFT JOIN (SELECT {tie} AS tie, count(*) AS n FROM {counted}) {alias} ON {alias}.tie = s.{local}"
        )
        return f"coalesce({alias}.n, 0)"

    def _among(self, tie: str, relation: Relation) -> str:
        """Only what belongs to rows that meet the condition, where it leaves out any."""
        if isinstance(self.where, Everything):
            return ""
        place = Place(self.table, self.conditions.alias())
        found = f"SELECT {place.column(relation.local)} FROM {quoted(self.table.name)} {place.alias}"
        return f" WHERE {tie} IN ({found} WHERE {self.conditions.text(self.where, place)})"
