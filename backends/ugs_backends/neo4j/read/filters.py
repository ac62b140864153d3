"""Compiles filter conditions to Cypher, exactly or as a superset.

Where Neo4j and the reference (`ugs.reads.filters.matcher`) could differ, the Cypher accepts too many rows and is marked
(`exact=False`); the caller then applies the matcher. Null counts as false at the top of a condition, so only `NOT` must
convert it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ugs.reads.filters import All, Any_, Compare, Everything, Has, Linked, Not, Property, Where
from ugs_backends.neo4j.cypher_fragments import ALWAYS, NEVER, UNDECIDED, Condition, Parameters, join_conditions, negate
from ugs_backends.neo4j.indexes.fulltext_terms import to_word_term
from ugs_backends.neo4j.layout import TERMS, Layout
from ugs_backends.neo4j.read import column_filters, property_filters

Layouts = Mapping[str, Layout]


class Filters:
    """Compiles the conditions of one statement."""

    def __init__(self, layouts: Layouts, parameters: Parameters) -> None:
        self.layouts = layouts
        self.parameters = parameters

    def condition(self, layout: Layout, n: str, where: Where) -> Condition:
        """The condition on the node `n` of a row."""
        if isinstance(where, Compare):
            return column_filters.compare(self.parameters, layout, n, where)
        if isinstance(where, Property):
            return property_filters.compare(self.parameters, layout, n, where)
        if isinstance(where, Has):
            return self._has(layout, n, where)
        if isinstance(where, Linked):
            return self._linked(layout, n, where)
        return self._composite(layout, n, where)

    def _composite(self, layout: Layout, n: str, where: Where) -> Condition:
        if isinstance(where, Everything):
            return ALWAYS
        if isinstance(where, Not):
            return negate(self.condition(layout, n, where.part))
        if isinstance(where, All):
            return join_conditions("AND", [self.condition(layout, n, part) for part in where.parts], ALWAYS)
        if isinstance(where, Any_):
            return join_conditions("OR", [self.condition(layout, n, part) for part in where.parts], NEVER)
        raise TypeError(f"{type(where).__name__} is not a condition")

    def _has(self, layout: Layout, n: str, where: Has) -> Condition:
        if layout.table.words is None:
            return NEVER
        return Condition(f"{self.parameters.add(to_word_term(where.word))} IN {n}.{TERMS}")

    def _linked(self, layout: Layout, n: str, where: Linked) -> Condition:
        relation = layout.table.relations[where.relation]
        other = self.layouts[relation.table]
        m = self.parameters.create_variable()
        inner = self.condition(other, m, where.where)
        if not inner.exact:
            return UNDECIDED
        tie = f"{m}.{other.columns[relation.remote]} = {n}.{layout.columns[relation.local]}"
        return Condition(f"EXISTS {{ MATCH ({m}:{other.label}) WHERE {tie} AND {inner.text} }}")
