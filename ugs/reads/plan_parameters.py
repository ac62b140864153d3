"""Parameterised plans: a read is split into its shape, with placeholders ("holes"), and the values that fill them.

Reads with equal shapes can use one prepared statement, alone or in a batch (`ugs.reads.batching_loader`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ugs.reads.filters import All, Compare, Everything, Linked, Op, Where
from ugs.reads.plan import Nested, Page, Read
from ugs.tables import Kind, Table
from ugs.values import MIN_INT

Fits = Callable[[Kind, Any], bool]
"""Whether a store can compare a column of this kind with this value as a plain parameter, without conversion."""
HOLES = (str, int)


class PlanParameters(Struct):
    """Collects the parameter values of a read and its shape."""

    fits: Fits
    tables: Mapping[str, Table] = {}
    """The tables that conditions on related rows are about; without them such conditions cannot be parameterised."""
    shape: list[Any] = msgspec.field(default_factory=list)
    values: list[Any] = msgspec.field(default_factory=list)

    def hole(self, value: Any) -> Any:
        """Record a parameter value; returns a placeholder of the same type."""
        self.values.append(value)
        self.shape.append(type(value))
        return hole(len(self.values) - 1, value)

    def where(self, where: Where, table: Table) -> Where | None:
        """The condition with placeholders; None if it cannot be parameterised (its values affect the statement)."""
        if isinstance(where, Everything):
            self.shape.append(Everything)
            return where
        if isinstance(where, All):
            parts = [self.where(part, table) for part in where.parts]
            self.shape.append(len(parts))
            return None if None in parts else All(tuple(part for part in parts if part is not None))
        if isinstance(where, Linked) and self.tables:
            self.shape += (Linked, where.relation)
            inner = self.where(where.where, self.tables[table.relations[where.relation].table])
            return None if inner is None else Linked(where.relation, inner)
        if not isinstance(where, Compare):
            self.shape.append(type(where))
            return where.parameterised(self.hole)
        if where.op is not Op.EQ or type(where.value) not in HOLES:
            return None
        if not self.fits(table.field(where.field).kind, where.value):
            return None
        self.shape.append(where.field)
        return Compare(where.field, Op.EQ, self.hole(where.value))

    def read(self, read: Read) -> Read | None:
        """The read, including nested ones, with placeholders; None if it cannot be parameterised."""
        if read.aggregates:
            return None
        self.shape += (read.table, read.order, read.total)
        where, page = self.where(read.where, read.table), self.page(read.page)
        if where is None or page is None:
            return None
        nest = {}
        for name, nested in read.nest.items():
            self.shape += (name, nested.relation)
            inner = self.read(nested.read)
            if inner is None:
                return None
            nest[name] = Nested(nested.relation, inner)
        self.shape.append(None)
        return Read(read.table, where, read.order, page, nest, read.total)

    def page(self, page: Page) -> Page | None:
        """The page with placeholders in its cursor; None if it cannot be parameterised."""
        self.shape.append((page.limit, page.after is None, page.backward, page.per))
        if page.after is None:
            return page
        if any(type(value) not in HOLES for value in page.after):
            return None
        return msgspec.structs.replace(page, after=tuple(self.hole(value) for value in page.after))

    @property
    def holes(self) -> dict[Any, int]:
        """The index of the value of each placeholder."""
        return {hole(number, value): number for number, value in enumerate(self.values)}


def hole(number: int, value: Any) -> Any:
    """The placeholder of a value while its statement is compiled; unlikely to occur as a real value."""
    return f"\ue000{number}" if isinstance(value, str) else MIN_INT + number
