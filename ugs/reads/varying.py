"""Reads of one shape: what they share is written once by a store, what they differ in are a few values.

A read becomes the same read with holes, and the values that belong into them. Two reads with equal shapes can be
answered by one prepared statement, alone or together (`ugs.reads.sharing`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from ugs.catalog import Kind, Table
from ugs.reads.plan import Nested, Page, Read
from ugs.reads.where import All, Compare, Everything, Op, Where
from ugs.values import MIN_INT

Fits = Callable[[Kind, Any], bool]
"""Whether a store compares a column of this kind with this value exactly as it is."""
HOLES = (str, int)


class Varying(Struct):
    """The values in which reads of one shape differ, and the shape itself."""

    fits: Fits
    shape: list[Any] = msgspec.field(default_factory=list)
    values: list[Any] = msgspec.field(default_factory=list)

    def hole(self, value: Any) -> Any:
        """A value of the same type that stands for this one."""
        self.values.append(value)
        self.shape.append(type(value))
        return hole(len(self.values) - 1, value)

    def where(self, where: Where, table: Table) -> Where | None:
        """The condition with holes; None where its values decide more than values."""
        if isinstance(where, Everything):
            return where
        if isinstance(where, All):
            parts = [self.where(part, table) for part in where.parts]
            self.shape.append(len(parts))
            return None if None in parts else All(tuple(part for part in parts if part is not None))
        if not isinstance(where, Compare) or where.op is not Op.EQ or type(where.value) not in HOLES:
            return None
        if not self.fits(table.field(where.field).kind, where.value):
            return None
        self.shape.append(where.field)
        return Compare(where.field, Op.EQ, self.hole(where.value))

    def read(self, read: Read) -> Read | None:
        """The read with holes, and those related to it."""
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
        """The page with holes."""
        self.shape.append((page.limit, page.after is None, page.backward, page.per))
        if page.after is None:
            return page
        if any(type(value) not in HOLES for value in page.after):
            return None
        return msgspec.structs.replace(page, after=tuple(self.hole(value) for value in page.after))

    @property
    def holes(self) -> dict[Any, int]:
        """Which value each hole stands for."""
        return {hole(number, value): number for number, value in enumerate(self.values)}


def hole(number: int, value: Any) -> Any:
    """What stands for a value while its statement is written: nothing that a catalog or a client would write."""
    return f"\ue000{number}" if isinstance(value, str) else MIN_INT + number
