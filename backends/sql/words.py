"""How the words of rows are kept beside them: here a row for each word, found by the word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from backends.sql.writes import Beside, Side
from ugs.catalog import Kind, Table

if TYPE_CHECKING:
    from backends.sql.dialect import Dialect
    from backends.sql.layout import Layout

WORD, WEIGHT = ("word", Kind.TEXT), ("weight", Kind.REAL)


class WordRows:
    """A row for each word of a row."""

    come_in_order: ClassVar[bool] = True
    """Rows that have a word are found in the order of their keys, so that the first of many are found at once. Where
    they are not, rows that have several words are found by all of them together."""

    def name(self, table: Table) -> str:
        """The table of a table's words."""
        return f"{table.name}__words"

    def made(self, table: Table, layout: Layout) -> Iterator[str]:
        """The statements that make it."""
        owner = layout.owner(table)
        yield layout.side_table(self.name(table), [WORD, *owner], [WEIGHT])

    def side(self, dialect: Dialect, table: Table) -> Beside:
        """What writes it."""
        assert table.words is not None
        return Side(dialect, table, self.name(table), (WORD, WEIGHT), table.words)

    def has(self, alias: str, mark: str, *more: str) -> str:
        """Whether a row of it tells of a word; of several where they are not found in order."""
        return f"{alias}.word = {mark}"

    def weight(self, alias: str, mark: str) -> str:
        """The weight of that word in such a row."""
        return f"{alias}.weight"

    def gathered(self, key: str, found: str) -> str:
        """Whether a row is one of those that a query finds, which are few: they are gathered first."""
        return f"{key} IN ({found})"
