"""Conditions as Cypher that means exactly the same, or a little more.

Where Neo4j and the reference (`ugs.reads.where.matcher`) could differ, the Cypher lets too many rows through and says
so (`exact=False`); the caller then finishes with the matcher. Cypher's third truth value counts as false wherever it
ends, so only `NOT` has to turn it into one of the two.
"""

from __future__ import annotations

from collections.abc import Mapping

from backends.neo4j import columns, properties
from backends.neo4j.conditions import ALWAYS, NEVER, UNDECIDED, Condition, Parameters, joined, negated
from backends.neo4j.layout import TERMS, Layout
from backends.neo4j.terms import stored_word
from ugs.reads.where import All, Any_, Compare, Everything, Has, Linked, Not, Property, Where

Layouts = Mapping[str, Layout]


class Filters:
    """Writes the conditions of one statement."""

    def __init__(self, layouts: Layouts, parameters: Parameters) -> None:
        self.layouts = layouts
        self.parameters = parameters

    def condition(self, layout: Layout, n: str, where: Where) -> Condition:
        """The condition on the node `n` that holds a row of the table."""
        if isinstance(where, Compare):
            return columns.compare(self.parameters, layout, n, where)
        if isinstance(where, Property):
            return properties.compare(self.parameters, layout, n, where)
        if isinstance(where, Has):
            return self._has(layout, n, where)
        if isinstance(where, Linked):
            return self._linked(layout, n, where)
        return self._composite(layout, n, where)

    def _composite(self, layout: Layout, n: str, where: Where) -> Condition:
        if isinstance(where, Everything):
            return ALWAYS
        if isinstance(where, Not):
            return negated(self.condition(layout, n, where.part))
        if isinstance(where, All):
            return joined("AND", [self.condition(layout, n, part) for part in where.parts], ALWAYS)
        if isinstance(where, Any_):
            return joined("OR", [self.condition(layout, n, part) for part in where.parts], NEVER)
        raise TypeError(f"{type(where).__name__} is not a condition")

    def _has(self, layout: Layout, n: str, where: Has) -> Condition:
        if layout.table.words is None:
            return NEVER
        return Condition(f"{self.parameters.add(stored_word(where.word))} IN {n}.{TERMS}")

    def _linked(self, layout: Layout, n: str, where: Linked) -> Condition:
        relation = layout.table.relations[where.relation]
        other = self.layouts[relation.table]
        m = self.parameters.variable()
        inner = self.condition(other, m, where.where)
        if not inner.exact:
            return UNDECIDED
        tie = f"{m}.{other.columns[relation.remote]} = {n}.{layout.columns[relation.local]}"
        return Condition(f"EXISTS {{ MATCH ({m}:{other.label}) WHERE {tie} AND {inner.text} }}")
