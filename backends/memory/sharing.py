"""Sharing: equal texts of many rows become one object, which is most of the memory a graph needs.

An edge names its nodes by ids that the node rows hold already, and thousands of rows have one type. Rows are
frozen and not yet seen by anyone when they are stored, and an equal text in place of another changes no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import intern
from typing import TYPE_CHECKING

from msgspec.structs import force_setattr

from ugs.catalog import Catalog, Kind, Row, Table

if TYPE_CHECKING:
    from backends.memory.tables import MemoryTable


def sharer(table: Table, catalog: Catalog, tables: dict[str, MemoryTable]) -> Callable[[Row], None]:
    """A function that lets a new row of this table share what it can."""
    references = [
        (relation.local, relation.table)
        for relation in table.relations.values()
        if catalog.target(relation).key == (relation.remote,) and relation.local not in table.key
    ]
    labels = [table.shape.label] if table.shape else []
    numbers = [field.name for field in table.fields if field.kind is Kind.INTEGER and field.name not in table.key]
    latest = dict.fromkeys(numbers, 0)

    def share(row: Row) -> None:
        for field, other in references:
            found = tables[other].rows.get(getattr(row, field))
            if found is not None:
                force_setattr(row, field, tables[other].key_of(found))
        for field in labels:
            label = getattr(row, field)
            if label is not None:
                force_setattr(row, field, intern(label))
        for field in numbers:
            # Rows written in the same millisecond share their moment; a number of its own costs 32 bytes.
            number = getattr(row, field)
            if number == latest[field]:
                force_setattr(row, field, latest[field])
            else:
                latest[field] = number

    return share
