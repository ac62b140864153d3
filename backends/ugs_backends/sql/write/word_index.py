"""The full-text index as a side table with one record per word and row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from ugs.tables import Kind, Table
from ugs_backends.sql.write.bulk_writes import SideTableWriter, SideWriter

if TYPE_CHECKING:
    from ugs_backends.sql.dialect import Dialect
    from ugs_backends.sql.layout import Layout

WORD, WEIGHT = ("word", Kind.TEXT), ("weight", Kind.REAL)


class WordRows:
    """A word table with the key (word, key of the row)."""

    come_in_order: ClassVar[bool] = True
    """Rows with a word are read in key order, so that the first of many are cheap. Where this is False, several words
    are looked up together.
    """

    def name(self, table: Table) -> str:
        """The name of the word table."""
        return f"{table.name}__words"

    def build_create(self, table: Table, layout: Layout) -> Iterator[str]:
        """The statements that create it."""
        owner = layout.owner(table)
        yield layout.side_table(self.name(table), [WORD, *owner], [WEIGHT])

    def build_writer(self, dialect: Dialect, table: Table) -> SideWriter:
        """Its writer."""
        assert table.words is not None
        return SideTableWriter(dialect, table, self.name(table), (WORD, WEIGHT), table.words)

    def has(self, alias: str, mark: str, *more: str) -> str:
        """The condition that a record is of a word; of several words where `come_in_order` is False."""
        return f"{alias}.word = {mark}"

    def weight(self, alias: str, mark: str) -> str:
        """The weight of the word in such a record."""
        return f"{alias}.weight"

    def gather(self, key: str, found: str) -> str:
        """Whether a key is in the result of a query that finds few rows, which is evaluated first."""
        return f"{key} IN ({found})"
