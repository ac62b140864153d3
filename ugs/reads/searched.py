"""Parts of texts in other rows: what a store with an index for them may find first.

An index finds a rare part at once, and then the rows it tells of. A part that half of all texts have is found quicker
by walking through the rows, as soon as only the first of them are wanted.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ugs.catalog import Catalog, Table
from ugs.reads.where import Compare, Linked, Op, Where, all_of, conditions

FEW = 2_000
"""So many rows are gathered and sorted in no time."""
PER_WANTED = 10
"""The more are wanted, the more would have to be walked through."""


class Told(Struct, frozen=True):
    """A condition on other rows, and the part of it that an index may answer."""

    link: Linked
    target: Table
    test: Compare


def told_elsewhere(catalog: Catalog, table: Table, where: Where) -> Iterator[Told]:
    """Where a condition surely needs a part of a text in another row."""
    for link in conditions(where):
        if isinstance(link, Linked):
            target = catalog.target(table.relations[link.relation])
            for test in conditions(link.where):
                if isinstance(test, Compare) and test.op is Op.CONTAINS and target.field(test.field).searched:
                    yield Told(link, target, test)


def most_of(limit: int) -> int:
    """Of how many rows the first are wanted, so that gathering all is still the quicker way."""
    return FEW + PER_WANTED * limit


def put_in_place(where: Where, told: Told, found: Where) -> Where:
    """The condition with another one for what is told elsewhere."""
    return all_of(found, *(part for part in conditions(where) if part is not told.link))
