"""Pages of rows in the order of a property, by the index of encoded properties instead of a sort of all rows.

Rows whose property has an order are walked in the index, joined with their table; rows without such a value, which
stand together before or behind them, are walked by their key. Each part is cut to the page, and the second one is read
only as far as the first leaves room:

    WITH f AS (…first part… LIMIT n), g AS (SELECT * FROM (…second part… LIMIT n) p LIMIT n - (SELECT count(*) FROM f))
    SELECT * FROM f UNION ALL SELECT * FROM g

Where rows without a value come first, finding them may look at every row; a condition on the property that only values
with an order meet spares that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from ugs.reads.filters import Op, Property, Where, all_of, conditions
from ugs.reads.plan import Order, Page
from ugs.reads.sort_keys import LAST, NUMBER, SortKey
from ugs.tables import Table
from ugs_backends.sql.compiler.conditions import TRUE, Place, quote_columns
from ugs_backends.sql.compiler.property_codec import COMPOSITE, find_kind_end
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.table_names import name_properties_table

if TYPE_CHECKING:
    from ugs_backends.sql.compiler.statements import Select

ORDERED_OPS = frozenset({Op.LT, Op.LE, Op.GT, Op.GE, Op.STARTS, Op.CONTAINS, Op.ENDS})
"""Comparisons that only numbers and texts meet."""


class WalkedPlace(Place, frozen=True):
    """A row whose sort key and key are read from the index."""

    sort_key: str = ""
    key_column: str = ""

    def column(self, name: str) -> str:
        if name == self.table.counted[0].name:
            return self.sort_key
        return self.key_column if name == self.table.key[0] else super().column(name)


def find_walked_key(table: Table, walk: Sequence[Order], page: Page) -> SortKey | None:
    """The property by whose index a page can be read; None where the order is another one."""
    if len(table.counted) != 1 or len(walk) != 2 or page.limit is None or page.per:
        return None
    (key,) = table.counted
    return key if isinstance(key, SortKey) and walk[0].field == key.name and len(table.key) == 1 else None


class PropertyWalk:
    """Builds the source of one page."""

    def __init__(
        self, select: Select, table: Table, key: SortKey, where: Where, walk: Sequence[Order], page: Page, limit: int
    ) -> None:
        self.select, self.table, self.key, self.where = select, table, key, where
        self.walk, self.page, self.limit = walk, page, limit
        self.column = quote_columns(table)[key.name]
        self.rows = quote_identifier(table.name)
        self.side = quote_identifier(name_properties_table(table, table.field(key.field)))
        # Not `k`, by which statements for many requests call the values of one.
        self.head = select.dialect.head("v.value")
        self.id = quote_columns(table)[table.key[0]]
        self.tie = f"v.{self.id} = s.{self.id}"

    def source(self) -> str:
        """A subquery for the rows of the page, in any order, and no more than twice as many others."""
        own = {part.op for part in conditions(self.where) if self._is_own(part)}
        if own & ORDERED_OPS:
            return f"({self._build_valued()})"
        parts = [self._build_valued, self._build_missing]
        if Op.EXISTS in own:  # both parts can say so by being joined with the index
            self.where = all_of(
                *(part for part in conditions(self.where) if not (self._is_own(part) and part.op is Op.EXISTS))
            )
            parts = [self._build_valued, self._build_unordered]
        if (self.key.missing == LAST) is self.walk[0].descending:
            parts.reverse()
        first, second = (part() for part in parts)
        rest = f"SELECT * FROM ({second}) p LIMIT ({self.limit} - (SELECT count(*) FROM f))"
        return f"(WITH f AS ({first}), g AS ({rest}) SELECT * FROM f UNION ALL SELECT * FROM g)"

    def _is_own(self, where: Where) -> TypeGuard[Property]:
        return isinstance(where, Property) and (where.field, where.key) == (self.key.field, self.key.key)

    def _build_valued(self) -> str:
        """The rows whose property has an order."""
        place = WalkedPlace(self.table, "s", sort_key=self.head, key_column=f"v.{self.id}")
        start = f"SELECT s.*, {self.head} AS {self.column} FROM {self.side} v JOIN {self.rows} s ON {self.tie}"
        key = f"v.key = {self.select.parameters.bind(self.key.key)}"
        ordered = f"({self.head} < '{COMPOSITE}' OR {self.head} >= '{NUMBER}') AND {self.head} < '{LAST}'"
        return f"{start} WHERE {key} AND {ordered}{self._build_start(place)} AND {self._build_end(place, self.walk)}"

    def _build_start(self, place: Place) -> str:
        """Where the index is entered; implied by the condition of the cursor, which an index may not serve."""
        if self.page.after is None:
            return ""
        op = Op.LE if self.walk[0].descending else Op.GE
        field = self.table.field(self.key.name)
        column = place.column(self.key.name)
        return f" AND {self.select.conditions.comparison(field, column, op, self.page.after[0])}"

    def _build_missing(self) -> str:
        """The rows without a value that has an order."""
        key = f"v.key = {self.select.parameters.bind(self.key.key)}"
        valued = f"SELECT 1 FROM {self.side} v WHERE {key} AND {self.tie} AND NOT {self._compare_unordered()}"
        start = f"SELECT s.*, '{self.key.missing}' AS {self.column} FROM {self.rows} s"
        return f"{start} WHERE NOT EXISTS ({valued}) AND {self._build_end(self._place_missing(), self.walk[1:])}"

    def _build_unordered(self) -> str:
        """The rows whose property is there without an order."""
        start = f"SELECT s.*, '{self.key.missing}' AS {self.column} FROM {self.side} v JOIN {self.rows} s ON {self.tie}"
        key = f"v.key = {self.select.parameters.bind(self.key.key)}"
        end = self._build_end(self._place_missing(), self.walk[1:])
        return f"{start} WHERE {key} AND {self._compare_unordered()} AND {end}"

    def _place_missing(self) -> WalkedPlace:
        return WalkedPlace(self.table, "s", sort_key=f"'{self.key.missing}'", key_column=f"s.{self.id}")

    def _compare_unordered(self) -> str:
        """Whether an encoded value has no order: a list, an object or null."""
        composite = f"({self.head} >= '{COMPOSITE}' AND {self.head} < '{find_kind_end(COMPOSITE)}')"
        return f"({composite} OR {self.head} >= '{LAST}')"

    def _build_end(self, place: Place, order: Sequence[Order]) -> str:
        """The condition of the rows and the cursor, order and limit."""
        condition = self.select.conditions.text(self.where, Place(self.table, "s"))
        if self.page.after is not None:
            beyond = self.select.build_cursor_condition(place, list(zip(self.walk, self.page.after, strict=True)))
            condition = beyond if condition == TRUE else f"{condition} AND {beyond}"
        return f"{condition} ORDER BY {self.select.order(place, order)} LIMIT {self.limit}"
