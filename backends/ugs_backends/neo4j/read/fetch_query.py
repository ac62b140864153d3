"""Compiles a fetch to one statement: condition, order and page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ugs.reads.aggregation import Value
from ugs.reads.filters import Compare, Op, Where, conditions
from ugs.reads.plan import Order, Page, full_order
from ugs.reads.substring_hints import LinkedSubstring
from ugs.tables import Table
from ugs.values import from_text
from ugs_backends.neo4j.cypher_fragments import CHUNK_ROWS, Condition, Parameters, return_in_chunks
from ugs_backends.neo4j.indexes import text_index
from ugs_backends.neo4j.indexes.fulltext_terms import build_lucene_query, find_term_groups
from ugs_backends.neo4j.layout import Layout, is_native_key
from ugs_backends.neo4j.read import order_by
from ugs_backends.neo4j.read.column_filters import NotComparable, coerce_equal
from ugs_backends.neo4j.read.filters import Filters, Layouts


class Statement(Struct, frozen=True):
    """Cypher with its parameters, and what is left to do in Python with the result."""

    text: str
    parameters: dict[str, Any]
    exact: bool = True
    """False: the result may contain rows that do not meet the condition."""
    paged: bool = True
    """False: ordering and paging are left to do."""
    reversed: bool = False
    """True: the rows are in reverse order."""


def build_source(parameters: Parameters, layout: Layout, n: str, where: Where) -> str:
    """The source of rows: the term index if the condition has terms, else the table's label."""
    terms = find_term_groups(layout.table, where)
    if not terms or _names_rows(layout, where):
        return f"MATCH ({n}:{layout.label})"
    index, query = parameters.add(layout.terms_index), parameters.add(build_lucene_query(terms))
    return f"CALL db.index.fulltext.queryNodes({index}, {query}) YIELD node AS {n}"


def _names_rows(layout: Layout, where: Where) -> bool:
    """Whether the condition fixes a key or an indexed column, which is faster than terms."""
    leading = {layout.table.key[0], *(index.fields[0] for index in layout.table.indexes)}
    if layout.vertex is not None:
        leading.discard(layout.vertex.label)
    return any(
        isinstance(part, Compare) and part.op in (Op.EQ, Op.IN) and part.field in leading for part in conditions(where)
    )


class Fetches:
    """Builds the read statements of a store."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts

    def fetch(self, table: Table, where: Where, order: Sequence[Order], page: Page) -> Statement:
        """The statement of a fetch, with order and page where Neo4j does them exactly."""
        layout, parameters = self.layouts[table.name], Parameters()
        whole = full_order(table, tuple(order))
        condition = self.condition(parameters, layout, "n", where)
        if condition.exact and order_by.is_native(layout, whole):
            try:
                return self._build_page(parameters, layout, where, condition, whole, page)
            except NotComparable:
                pass
        source, end = build_source(parameters, layout, "n", where), return_in_chunks("n", layout.select_columns("n"))
        text = f"{source} WHERE {condition.text} {end}"
        return Statement(text, parameters.values, condition.exact, paged=False)

    def condition(self, parameters: Parameters, layout: Layout, n: str, where: Where) -> Condition:
        return Filters(self.layouts, parameters).condition(layout, n, where)

    def _build_page(
        self,
        parameters: Parameters,
        layout: Layout,
        where: Where,
        condition: Condition,
        order: tuple[Order, ...],
        page: Page,
    ) -> Statement:
        tests = [*order_by.build_presence_conditions(layout, "n", order), condition.text]
        way = order_by.reverse_order(order) if page.backward else order
        if page.after is not None:
            place = order_by.encode_place(layout, order, page.after)
            tests.append(order_by.build_cursor_condition(parameters, layout, "n", way, place))
        found = f"{build_source(parameters, layout, 'n', where)} WHERE {' AND '.join(tests)}"
        sort = order_by.build_order_by(layout, "n", way, order_by.list_fixed_fields(layout, where))
        text = _build_cut(parameters, layout, found, sort, page, list_tie_values(layout, where, page))
        return Statement(text, parameters.values, reversed=page.backward)

    def count(self, table: Table, where: Where) -> Statement:
        """The statement that counts rows; not exact where the condition is not."""
        layout, parameters = self.layouts[table.name], Parameters()
        condition = self.condition(parameters, layout, "n", where)
        text = f"{build_source(parameters, layout, 'n', where)} WHERE {condition.text} RETURN count(n)"
        return Statement(text, parameters.values, condition.exact)

    def find_tie_values(self, linked: LinkedSubstring, remote: str, most: int) -> Statement:
        """The relation's values of the rows that match a substring, as one list; null if there are too many."""
        layout, parameters = self.layouts[linked.target.name], Parameters()
        condition, column = self.condition(parameters, layout, "n", linked.link.where), f"n.{layout.columns[remote]}"
        found = text_index.find_by_text(layout, linked.test.field, condition)
        some = f"WITH n WHERE {column} IS NOT NULL WITH DISTINCT {column} AS tie LIMIT {parameters.add(most + 1)}"
        listed = f"CASE WHEN size(ties) > {parameters.add(most)} THEN null ELSE ties END"
        text = f"{found} {some} WITH collect(tie) AS ties RETURN {listed}"
        return Statement(text, parameters.values, condition.exact and len(linked.test.value) >= text_index.TRIGRAM)

    def group(self, table: Table, by: str, where: Where) -> Statement:
        """The statement that counts rows per value of a column."""
        layout, parameters = self.layouts[table.name], Parameters()
        condition = self.condition(parameters, layout, "n", where)
        source = build_source(parameters, layout, "n", where)
        text = f"{source} WHERE {condition.text} RETURN n.{layout.columns[by]}, count(n)"
        return Statement(text, parameters.values, condition.exact)

    def count_combinations(self, table: Table, values: Sequence[Value], where: Where) -> Statement:
        """The statement that counts how often values occur together, in chunks; each list ends with the count.

        Keys without a native property are read from the JSON text of the row (`decode_combination`).
        """
        layout, parameters = self.layouts[table.name], Parameters()
        condition = self.condition(parameters, layout, "n", where)
        columns = [_select_value(parameters, layout, value) for value in values]
        named = ", ".join(f"{column} AS v{number}" for number, column in enumerate(columns))
        listed = ", ".join([*(f"v{number}" for number in range(len(columns))), "times"])
        text = (
            f"{build_source(parameters, layout, 'n', where)} WHERE {condition.text} "
            f"WITH {named}{', ' if named else ''}count(n) AS times WITH collect([{listed}]) AS found "
            f"UNWIND range(0, size(found) - 1, {CHUNK_ROWS}) AS at RETURN found[at..at + {CHUNK_ROWS}]"
        )
        return Statement(text, parameters.values, condition.exact)


def _select_value(parameters: Parameters, layout: Layout, value: Value) -> str:
    if value.key is not None and _is_native(layout, value):
        return f"n[{parameters.add(value.key)}]"
    return f"n.{layout.columns[value.field]}"


def _is_native(layout: Layout, value: Value) -> bool:
    """Whether the key is a native property; its value is then missing only where it is none (a list or an object)."""
    return (
        value.key is not None
        and layout.vertex is not None
        and layout.vertex.properties == value.field
        and is_native_key(layout, value.key)
    )


def decode_combination(layout: Layout, values: Sequence[Value], found: Sequence[Any]) -> list[Any]:
    """The values of one combination that `count_combinations` returned."""
    return [_decode_value(layout, value, one) for value, one in zip(values, found, strict=True)]


def _decode_value(layout: Layout, value: Value, found: Any) -> Any:
    if value.key is None:
        return layout.decode_value(value.field, found)
    if _is_native(layout, value) or found is None:
        return found
    properties = from_text(found)
    return properties.get(value.key) if isinstance(properties, dict) else None


def list_tie_values(layout: Layout, where: Where, page: Page) -> list[Any] | None:
    """The values of the column `page.per`, if the condition lists them all."""
    for part in conditions(where):
        if isinstance(part, Compare) and part.op is Op.IN and part.field == page.per and None not in part.value:
            values = (coerce_equal(layout.kinds[part.field], value) for value in part.value)
            return list(dict.fromkeys(value for value in values if value is not None))
    return None


def _build_cut(
    parameters: Parameters, layout: Layout, found: str, sort: str, page: Page, ties: list[Any] | None
) -> str:
    """Sort the rows found and cut them to the page."""
    end = return_in_chunks("n", layout.select_columns("n"))
    if page.limit is None:
        return f"{found} WITH n ORDER BY {sort} {end}"
    limit = parameters.add(page.limit)
    if page.per is None:
        return f"{found} WITH n ORDER BY {sort} LIMIT {limit} {end}"
    group = f"n.{layout.columns[page.per]}"
    if ties is not None:  # one index look-up per value, instead of sorting all rows
        each = f"{found} AND {group} = tie RETURN n ORDER BY {group}, {sort} LIMIT {limit}"
        return f"UNWIND {parameters.add(ties)} AS tie CALL (tie) {{ {each} }} WITH n ORDER BY {sort} {end}"
    return (
        f"{found} WITH n ORDER BY {sort} WITH {group} AS tie, collect(n)[..{limit}] AS kept "
        f"UNWIND kept AS n WITH n ORDER BY {sort} {end}"
    )
