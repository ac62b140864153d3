"""One fetch as one statement: which rows, in what order, which part of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from backends.neo4j import ordering, parts
from backends.neo4j.columns import NotComparable, equal_value
from backends.neo4j.conditions import Condition, Parameters, in_chunks
from backends.neo4j.filters import Filters, Layouts
from backends.neo4j.layout import Layout
from backends.neo4j.terms import lucene_query, wanted_terms
from ugs.catalog import Table
from ugs.reads.plan import Order, Page, full_order
from ugs.reads.searched import Told
from ugs.reads.where import Compare, Op, Where, conditions


class Statement(Struct, frozen=True):
    """Cypher with its parameters, and what is left to do in Python with the rows it gives."""

    text: str
    parameters: dict[str, Any]
    exact: bool = True
    """False: rows that do not meet the condition are among them."""
    paged: bool = True
    """False: order and page are still to be made."""
    reversed: bool = False
    """True: the rows come from the last to the first."""


def sources(parameters: Parameters, layout: Layout, n: str, where: Where) -> str:
    """Where the rows come from: the index of terms when the condition asks for some, else the table's label."""
    terms = wanted_terms(layout.table, where)
    if not terms or _names_rows(layout, where):
        return f"MATCH ({n}:{layout.label})"
    index, query = parameters.add(layout.terms_index), parameters.add(lucene_query(terms))
    return f"CALL db.index.fulltext.queryNodes({index}, {query}) YIELD node AS {n}"


def _names_rows(layout: Layout, where: Where) -> bool:
    """Whether the condition gives keys or ties, which find rows faster than terms."""
    leading = {layout.table.key[0], *(index.fields[0] for index in layout.table.indexes)}
    if layout.vertex is not None:
        leading.discard(layout.vertex.label)
    return any(
        isinstance(part, Compare) and part.op in (Op.EQ, Op.IN) and part.field in leading for part in conditions(where)
    )


class Fetches:
    """Writes the statements of a store's reads."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts

    def fetch(self, table: Table, where: Where, order: Sequence[Order], page: Page) -> Statement:
        """The rows of a fetch, as far as Neo4j gives them exactly."""
        layout, parameters = self.layouts[table.name], Parameters()
        whole = full_order(table, tuple(order))
        condition = self.condition(parameters, layout, "n", where)
        if condition.exact and ordering.is_native(layout, whole):
            try:
                return self._paged(parameters, layout, where, condition, whole, page)
            except NotComparable:
                pass
        source, end = sources(parameters, layout, "n", where), in_chunks("n", layout.selected("n"))
        text = f"{source} WHERE {condition.text} {end}"
        return Statement(text, parameters.values, condition.exact, paged=False)

    def condition(self, parameters: Parameters, layout: Layout, n: str, where: Where) -> Condition:
        return Filters(self.layouts, parameters).condition(layout, n, where)

    def _paged(
        self,
        parameters: Parameters,
        layout: Layout,
        where: Where,
        condition: Condition,
        order: tuple[Order, ...],
        page: Page,
    ) -> Statement:
        tests = [*ordering.present(layout, "n", order), condition.text]
        way = ordering.turned(order) if page.backward else order
        if page.after is not None:
            place = ordering.stored_place(layout, order, page.after)
            tests.append(ordering.behind(parameters, layout, "n", way, place))
        found = f"{sources(parameters, layout, 'n', where)} WHERE {' AND '.join(tests)}"
        sort = ordering.order_by(layout, "n", way, ordering.fixed_fields(layout, where))
        text = _cut(parameters, layout, found, sort, page, ties_of(layout, where, page))
        return Statement(text, parameters.values, reversed=page.backward)

    def count(self, table: Table, where: Where) -> Statement:
        """How many rows, when Neo4j can tell exactly."""
        layout, parameters = self.layouts[table.name], Parameters()
        condition = self.condition(parameters, layout, "n", where)
        text = f"{sources(parameters, layout, 'n', where)} WHERE {condition.text} RETURN count(n)"
        return Statement(text, parameters.values, condition.exact)

    def ties(self, told: Told, remote: str, most: int) -> Statement:
        """What ties other rows to those that are told elsewhere, as one list; nothing when there are too many."""
        layout, parameters = self.layouts[told.target.name], Parameters()
        condition, column = self.condition(parameters, layout, "n", told.link.where), f"n.{layout.columns[remote]}"
        found = parts.found(layout, told.test.field, condition)
        some = f"WITH n WHERE {column} IS NOT NULL WITH DISTINCT {column} AS tie LIMIT {parameters.add(most + 1)}"
        listed = f"CASE WHEN size(ties) > {parameters.add(most)} THEN null ELSE ties END"
        text = f"{found} {some} WITH collect(tie) AS ties RETURN {listed}"
        return Statement(text, parameters.values, condition.exact and len(told.test.value) >= parts.TRIGRAM)

    def group(self, table: Table, by: str, where: Where) -> Statement:
        """How many rows for each value of a column."""
        layout, parameters = self.layouts[table.name], Parameters()
        condition = self.condition(parameters, layout, "n", where)
        source = sources(parameters, layout, "n", where)
        text = f"{source} WHERE {condition.text} RETURN n.{layout.columns[by]}, count(n)"
        return Statement(text, parameters.values, condition.exact)


def ties_of(layout: Layout, where: Where, page: Page) -> list[Any] | None:
    """The values that `page.per` may have, when the condition lists them all."""
    for part in conditions(where):
        if isinstance(part, Compare) and part.op is Op.IN and part.field == page.per and None not in part.value:
            values = (equal_value(layout.kinds[part.field], value) for value in part.value)
            return list(dict.fromkeys(value for value in values if value is not None))
    return None


def _cut(parameters: Parameters, layout: Layout, found: str, sort: str, page: Page, ties: list[Any] | None) -> str:
    """The rows found, sorted and cut to the page."""
    end = in_chunks("n", layout.selected("n"))
    if page.limit is None:
        return f"{found} WITH n ORDER BY {sort} {end}"
    limit = parameters.add(page.limit)
    if page.per is None:
        return f"{found} WITH n ORDER BY {sort} LIMIT {limit} {end}"
    group = f"n.{layout.columns[page.per]}"
    if ties is not None:  # one look into the index for each, instead of sorting all
        each = f"{found} AND {group} = tie RETURN n ORDER BY {group}, {sort} LIMIT {limit}"
        return f"UNWIND {parameters.add(ties)} AS tie CALL (tie) {{ {each} }} WITH n ORDER BY {sort} {end}"
    return (
        f"{found} WITH n ORDER BY {sort} WITH {group} AS tie, collect(n)[..{limit}] AS kept "
        f"UNWIND kept AS n WITH n ORDER BY {sort} {end}"
    )
