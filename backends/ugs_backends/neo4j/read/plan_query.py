"""Compiles a whole plan to one statement: each relation is a `COLLECT` subquery in the row of its parent.

A row is returned as a flat list: its columns, then for each nested read the list of its rows and, if wanted, the total.
A plan with any part that Neo4j would not answer exactly is left to the kernel's level executor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from ugs.reads.plan import WHOLE, Read, ResultPage, ResultRow, full_order, has_aggregates
from ugs_backends.neo4j.cypher_fragments import Parameters
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.read import order_by
from ugs_backends.neo4j.read.column_filters import NotComparable
from ugs_backends.neo4j.read.count_columns import build_count_with, get_layout, name_counts
from ugs_backends.neo4j.read.fetch_query import build_source
from ugs_backends.neo4j.read.filters import Filters, Layouts
from ugs_backends.neo4j.read.projection import Projection
from ugs_backends.neo4j.read.response_renderer import drop_extra_row, list_places

Values = list[Any]
Reading = Callable[..., ResultPage]
"""Decodes lists of values, and a total if there is one, to a page."""


class PlanStatement(Struct, frozen=True):
    """Cypher for a plan, and the decoder of its result."""

    text: str
    parameters: dict[str, Any]
    decode: Callable[[list[Values]], ResultPage]


class Plans:
    """Compiles plans to statements."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts

    def statement(self, plan: Read, shown: Projection | None = None) -> PlanStatement | None:
        """The statement of a plan; None if Neo4j cannot answer it exactly. Columns that are not `shown` are omitted."""
        if plan.page.per is not None or has_aggregates(plan):
            return None
        parameters = Parameters()
        try:
            text = _Writer(self.layouts, parameters).root(plan, shown)
        except NotComparable:
            return None
        read_rows = self._reader(plan)
        return PlanStatement(text, parameters.values, lambda answer: read_rows(*answer[0]))

    def _reader(self, read: Read) -> Reading:
        """A function that decodes returned lists to the page of a read."""
        layout, page = get_layout(self.layouts, read.table), read.page
        width = len(layout.columns)
        steps = self._build_steps(read, width)

        def found(values: Values) -> ResultRow:
            nest = {name: rows_at(values) for name, rows_at in steps}
            return ResultRow(layout.row(values[:width]), nest)

        def rows(lists: list[Values], total: int | None = None) -> ResultPage:
            kept, more = drop_extra_row(lists, page)
            return ResultPage([found(values) for values in kept], more, total)

        return rows

    def _build_steps(self, read: Read, width: int) -> list[tuple[str, Callable[[Values], ResultPage]]]:
        """For each nested read: its name, and a function that decodes its page from the parent's list."""
        return [
            (name, _build_rows_decoder(at, nested.read.total, self._reader(nested.read)))
            for (name, nested), at in zip(read.nest.items(), list_places(read, width), strict=True)
        ]


def _build_rows_decoder(at: int, counted: bool, rows: Reading) -> Callable[[Values], ResultPage]:
    if counted:
        return lambda values: rows(values[at], values[at + 1])
    return lambda values: rows(values[at])


class _Writer:
    """Builds the statement of one plan."""

    def __init__(self, layouts: Layouts, parameters: Parameters) -> None:
        self.layouts = layouts
        self.parameters = parameters
        self.filters = Filters(layouts, parameters)

    def root(self, plan: Read, shown: Projection | None) -> str:
        layout, n = get_layout(self.layouts, plan.table), self.parameters.create_variable()
        source, test = build_source(self.parameters, layout, n, plan.where), self._test(layout, n, plan)
        found = f"{source} WHERE {test}"
        items = self._page(layout, n, plan, found, shown)
        if not plan.total:
            return f"RETURN COLLECT {{ {items} }}"
        return f"RETURN COLLECT {{ {items} }}, COUNT {{ {found} RETURN {n} }}"

    def _test(self, layout: Layout, n: str, read: Read) -> str:
        condition = self.filters.condition(layout, n, read.where)
        if not condition.exact:
            raise NotComparable
        return condition.text

    def _page(
        self, layout: Layout, n: str, read: Read, found: str, shown: Projection | None, tied: Sequence[str] = ()
    ) -> str:
        """The rows of a page, with an extra row where `hasMore` is wanted, each with its nested reads."""
        page, order = read.page, full_order(read.table, read.order)
        if not order_by.is_native(layout, order):
            raise NotComparable
        way = order_by.reverse_order(order) if page.backward else order
        tests = order_by.build_presence_conditions(layout, n, order)
        if page.after is not None:
            place = order_by.encode_place(layout, order, page.after)
            tests.append(order_by.build_cursor_condition(self.parameters, layout, n, way, place))
        sort = order_by.build_order_by(layout, n, way, [*tied, *order_by.list_fixed_fields(layout, read.where)])
        beyond = 1 if shown is None or shown.further else 0
        limit = "" if page.limit is None else f" LIMIT {self.parameters.add(page.limit + beyond)}"
        if layout.counted:
            # Counts can be compared only once they are bound to a name.
            found = f"{found} WITH {build_count_with(self.layouts, self.parameters, layout, n)} WHERE true"
        kept, returned = name_counts(layout, n), self._list(layout, n, read, shown)
        # The limit comes before the subqueries; the second ORDER BY is free and guarantees the order.
        return f"{found} AND {' AND '.join(tests)} WITH {kept} ORDER BY {sort}{limit} RETURN {returned} ORDER BY {sort}"

    def _list(self, layout: Layout, n: str, read: Read, shown: Projection | None) -> str:
        return f"[{', '.join(self._values(layout, n, read, shown))}] AS row"

    def _values(self, layout: Layout, n: str, read: Read, shown: Projection | None) -> list[str]:
        wanted = layout.columns if shown is None else shown.columns(read, layout.columns)
        values = [layout.at(n, name) for name in wanted]
        for name, nested in read.nest.items():
            relation = layout.table.relations[nested.relation]
            tie = f"{n}.{layout.columns[relation.local]}"
            values += self._children(nested.read, relation.remote, tie, None if shown is None else shown.nest[name])
        return values

    def _children(self, read: Read, remote: str, tie: str, shown: Projection | None) -> list[str]:
        """The related rows, and their total if wanted."""
        layout, m = get_layout(self.layouts, read.table), self.parameters.create_variable()
        test = self._test(layout, m, read)
        found = f"MATCH ({m}:{layout.label}) WHERE {m}.{layout.columns[remote]} = {tie} AND {test}"
        if layout.table.key == (remote,) and read.page == WHOLE and not layout.counted:
            # A look-up by key finds at most one row: nothing to sort or cut.
            items = f"{found} RETURN {self._list(layout, m, read, shown)}"
        else:
            items = self._page(layout, m, read, found, shown, tied=[remote])
        counted = [f"COUNT {{ {found} RETURN {m} }}"] if read.total else []
        return [f"COLLECT {{ {items} }}", *counted]
