"""Substring conditions on related rows, which a store with a substring index may evaluate first.

For a rare substring it is fastest to use the index and then go to the rows it belongs to. For a common substring and a
small page it is faster to scan the rows in order.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.reads.filters import Compare, Linked, Op, Where, all_of, conditions
from ugs.tables import Table

BASE_ROWS = 2_000
"""Number of rows that are always cheap to collect and sort."""
ROWS_PER_RESULT = 10
"""Additional rows per row of the page: a larger page would need a longer scan."""


class LinkedSubstring(Struct, frozen=True):
    """A condition on related rows, and the conjunct of it that a substring index can answer."""

    link: Linked
    target: Table
    test: Compare


def find_linked_substrings(catalog: Catalog, table: Table, where: Where) -> Iterator[LinkedSubstring]:
    """The conjuncts of a condition that require a substring in an indexed field of a related row."""
    for link in conditions(where):
        if isinstance(link, Linked):
            target = catalog.target(table.relations[link.relation])
            for test in conditions(link.where):
                if isinstance(test, Compare) and test.op is Op.CONTAINS and target.field(test.field).searched:
                    yield LinkedSubstring(link, target, test)


def max_index_hits(limit: int) -> int:
    """Maximum number of index hits for which collecting all of them is faster than a scan for `limit` rows."""
    return BASE_ROWS + ROWS_PER_RESULT * limit


def replace_link(where: Where, linked: LinkedSubstring, found: Where) -> Where:
    """The condition with the link replaced by another condition."""
    return all_of(found, *(part for part in conditions(where) if part is not linked.link))
