"""A whole plan as one statement: each relation is a `COLLECT` subquery inside the row of its parent.

A row travels as a flat list: its columns, then for each nested read the list of its rows and, when asked, their total.
A plan with any part that Neo4j would not answer exactly is left to the executor of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from backends.neo4j import ordering
from backends.neo4j.columns import NotComparable
from backends.neo4j.conditions import Parameters
from backends.neo4j.counting import counted, layout_of, named
from backends.neo4j.fetches import sources
from backends.neo4j.filters import Filters, Layouts
from backends.neo4j.layout import Layout
from backends.neo4j.shown import Shown
from backends.neo4j.writing import places, without_extra
from ugs.reads.plan import WHOLE, Found, Read, Rows, full_order

Values = list[Any]
Reading = Callable[..., Rows]
"""Turns lists of values, and a total when there is one, into rows."""


class PlanStatement(Struct, frozen=True):
    """Cypher for a plan, and how to read what it returns."""

    text: str
    parameters: dict[str, Any]
    decode: Callable[[list[Values]], Rows]


class Plans:
    """Writes plans as statements."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts

    def statement(self, plan: Read, shown: Shown | None = None) -> PlanStatement | None:
        """The statement, or None when the plan is not for Neo4j alone; columns that are not shown do not come."""
        if plan.page.per is not None:
            return None
        parameters = Parameters()
        try:
            text = _Writer(self.layouts, parameters).root(plan, shown)
        except NotComparable:
            return None
        read_rows = self._reader(plan)
        return PlanStatement(text, parameters.values, lambda answer: read_rows(*answer[0]))

    def _reader(self, read: Read) -> Reading:
        """A function that turns returned lists into the rows of a read."""
        layout, page = layout_of(self.layouts, read.table), read.page
        width = len(layout.columns)
        steps = self._steps(read, width)

        def found(values: Values) -> Found:
            nest = {name: rows_at(values) for name, rows_at in steps}
            return Found(layout.row(values[:width]), nest)

        def rows(lists: list[Values], total: int | None = None) -> Rows:
            kept, more = without_extra(lists, page)
            return Rows([found(values) for values in kept], more, total)

        return rows

    def _steps(self, read: Read, width: int) -> list[tuple[str, Callable[[Values], Rows]]]:
        """For each nested read: its name, and how to find its rows in the list of the parent."""
        return [
            (name, _rows_at(at, nested.read.total, self._reader(nested.read)))
            for (name, nested), at in zip(read.nest.items(), places(read, width), strict=True)
        ]


def _rows_at(at: int, counted: bool, rows: Reading) -> Callable[[Values], Rows]:
    if counted:
        return lambda values: rows(values[at], values[at + 1])
    return lambda values: rows(values[at])


class _Writer:
    """Writes one plan."""

    def __init__(self, layouts: Layouts, parameters: Parameters) -> None:
        self.layouts = layouts
        self.parameters = parameters
        self.filters = Filters(layouts, parameters)

    def root(self, plan: Read, shown: Shown | None) -> str:
        layout, n = layout_of(self.layouts, plan.table), self.parameters.variable()
        source, test = sources(self.parameters, layout, n, plan.where), self._test(layout, n, plan)
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
        self, layout: Layout, n: str, read: Read, found: str, shown: Shown | None, tied: Sequence[str] = ()
    ) -> str:
        """The rows found, cut to the page and one more where that is told, each with what hangs on it."""
        page, order = read.page, full_order(read.table, read.order)
        if not ordering.is_native(layout, order):
            raise NotComparable
        way = ordering.turned(order) if page.backward else order
        tests = ordering.present(layout, n, order)
        if page.after is not None:
            place = ordering.stored_place(layout, order, page.after)
            tests.append(ordering.behind(self.parameters, layout, n, way, place))
        sort = ordering.order_by(layout, n, way, [*tied, *ordering.fixed_fields(layout, read.where)])
        beyond = 1 if shown is None or shown.further else 0
        limit = "" if page.limit is None else f" LIMIT {self.parameters.add(page.limit + beyond)}"
        if layout.counted:
            # What is counted can be compared only once it has a name.
            found = f"{found} WITH {counted(self.layouts, self.parameters, layout, n)} WHERE true"
        kept, returned = named(layout, n), self._list(layout, n, read, shown)
        # The cut comes before the subqueries; saying the order again is free and makes it certain.
        return f"{found} AND {' AND '.join(tests)} WITH {kept} ORDER BY {sort}{limit} RETURN {returned} ORDER BY {sort}"

    def _list(self, layout: Layout, n: str, read: Read, shown: Shown | None) -> str:
        return f"[{', '.join(self._values(layout, n, read, shown))}] AS row"

    def _values(self, layout: Layout, n: str, read: Read, shown: Shown | None) -> list[str]:
        wanted = layout.columns if shown is None else shown.columns(read, layout.columns)
        values = [layout.at(n, name) for name in wanted]
        for name, nested in read.nest.items():
            relation = layout.table.relations[nested.relation]
            tie = f"{n}.{layout.columns[relation.local]}"
            values += self._children(nested.read, relation.remote, tie, None if shown is None else shown.nest[name])
        return values

    def _children(self, read: Read, remote: str, tie: str, shown: Shown | None) -> list[str]:
        """The related rows, and their number when asked."""
        layout, m = layout_of(self.layouts, read.table), self.parameters.variable()
        test = self._test(layout, m, read)
        found = f"MATCH ({m}:{layout.label}) WHERE {m}.{layout.columns[remote]} = {tie} AND {test}"
        if layout.table.key == (remote,) and read.page == WHOLE and not layout.counted:
            # Of a row that is found by its key there is no other: nothing to sort, nothing to cut.
            items = f"{found} RETURN {self._list(layout, m, read, shown)}"
        else:
            items = self._page(layout, m, read, found, shown, tied=[remote])
        counted = [f"COUNT {{ {found} RETURN {m} }}"] if read.total else []
        return [f"COLLECT {{ {items} }}", *counted]
