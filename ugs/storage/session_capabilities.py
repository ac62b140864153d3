"""The optional methods of a session, grouped by what a native implementation makes faster.

Each has a default built on `SessionCore`. docs/writing-a-backend.md lists what each buys and what happens without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ugs.catalog import Catalog
from ugs.events import Event
from ugs.reads.aggregation import Aggregation, Aggregator, Group
from ugs.reads.filters import EVERYTHING, Op, Property, Where, all_of, eq, in_
from ugs.reads.pattern import Match, Pattern, PreparedPattern
from ugs.reads.plan import Page
from ugs.reads.text_ranking import RankedQuery, RankedRow
from ugs.reads.vector_search import Near, Scored, nearest_of
from ugs.storage.session_core import SessionCore
from ugs.tables import Row, Table
from ugs.values import from_text


class PointReads(SessionCore):
    """Rows by key."""

    in_process: ClassVar[bool] = False
    """Calls do not leave the process, so callers need not batch them."""

    def rows_in_memory(self, table: Table) -> Mapping[Any, Row] | None:
        """All rows of a table by key, if the store holds them in memory; None makes callers use `find`."""
        return None

    async def find(self, table: Table, key: Any) -> Row | None:
        """The row with this key."""
        rows = await self.fetch(table, key_is(table, key))
        return rows[0] if rows else None

    async def find_many(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        """The rows with these keys that exist, in key order."""
        if len(table.row_key) == 1:
            return await self.fetch(table, in_(table.row_key[0], keys))
        found = [await self.find(table, key) for key in sorted(set(keys))]
        return [row for row in found if row is not None]

    async def find_keys(self, wanted: Mapping[Table, Sequence[Any]]) -> dict[Table, list[Row]]:
        """As `find_many`, of several tables."""
        return {table: await self.find_many(table, keys) for table, keys in wanted.items()}


class Counts(SessionCore):
    """Numbers of rows, and keys of JSON columns."""

    async def count(self, table: Table, where: Where = EVERYTHING) -> int:
        """How many rows meet the condition."""
        return len(await self.fetch(table, where))

    async def count_each(self, table: Table, wheres: Sequence[Where]) -> list[int]:
        """How many rows meet each of the conditions."""
        return [await self.count(table, where) for where in wheres]

    async def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        """How many rows there are for each value of a column."""
        counts: dict[Any, int] = {}
        for row in await self.fetch(table, where):
            value = getattr(row, by)
            counts[value] = counts.get(value, 0) + 1
        return counts

    async def aggregate(self, table: Table, aggregation: Aggregation, where: Where = EVERYTHING) -> list[Group]:
        """Counts, sums, minima and maxima of the rows that meet the condition, in groups (`ugs.reads.aggregation`)."""
        aggregator = Aggregator(aggregation)
        await aggregator.add_rows(await self.fetch(table, where))
        return aggregator.groups()

    async def keys(self, table: Table, field: str) -> dict[str, int]:
        """The keys that occur in a JSON object column, and in how many rows."""
        counts: dict[str, int] = {}
        for row in await self.fetch(table):
            for key in from_text(getattr(row, field)):
                counts[key] = counts.get(key, 0) + 1
        return counts

    async def has_key(self, table: Table, field: str, key: str) -> bool:
        """Whether a key occurs in a JSON object column of any row."""
        return bool(await self.fetch(table, Property(field, key, Op.EXISTS), page=Page(limit=1)))

    async def estimate_count(self, table: Table, where: Where = EVERYTHING) -> int:
        """An estimate of how many rows meet the condition, for planning; defaults to the exact count."""
        return await self.count(table, where)

    async def non_empty(self, tables: Sequence[Table]) -> list[Table]:
        """The tables that may have rows; a reader of everything skips the others."""
        return list(tables)


class Search(SessionCore):
    """The best rows by words or by likeness of vectors."""

    async def top_ranked(self, table: Table, asked: RankedQuery) -> list[RankedRow] | None:
        """The rows with the greatest weight of some words; None lets the kernel score all rows that have them."""
        return None

    async def nearest(self, table: Table, near: Near) -> list[Scored]:
        """The rows whose vector is most like the one given."""
        return nearest_of(await self.fetch(table, near.where), table, near)


class PatternMatching(SessionCore):
    """Graph patterns of openCypher."""

    orders_joins: ClassVar[bool] = False
    """`match` orders its joins itself, so the planner need not estimate counts for it."""
    matches_single_nodes: ClassVar[bool] = False
    """`match` also answers patterns of a single node, in key order; groups are ordered by their first row."""
    supports_unless: ClassVar[bool] = False
    """`match` checks in the same statement whether a node has the key of `Pattern.unless`."""

    async def match(self, pattern: Pattern) -> list[Match] | None:
        """All matches of a graph pattern, in any order; None lets the kernel expand it one relationship at a time."""
        return None

    async def match_prepared(self, question: PreparedPattern, texts: Sequence[str]) -> list[Match] | None:
        """As `match`, with values for the parameters of a prepared pattern; a store may cache its statement."""
        return await self.match(question.with_texts(texts))

    def explain_match(self, pattern: Pattern) -> list[str]:
        """The statements that `match` would send, for EXPLAIN; empty where the kernel expands the pattern."""
        return []


class BulkWrites(SessionCore):
    """New elements without look-ups, replay by the store, and former rows of versioned tables."""

    keeps_history: bool = False
    """Whether `append` wants every change of versioned tables with its position (`TableWrites.steps`)."""

    def assume_missing(self, wanted: Mapping[Table, Sequence[Any]]) -> bool:
        """Whether decisions may assume that no rows have these keys, so that a group of new elements needs no look-up.

        A session that answers True checks the assumption when it commits: if a row exists, it stores nothing and
        raises `Conflict` with `at_once`, and the group is decided again without the assumption.
        """
        return False

    async def replay(self, catalog: Catalog, events: Sequence[Event]) -> bool:
        """Append events that have a position already and apply them natively; False lets the kernel reduce them."""
        return False


def key_is(table: Table, key: Any) -> Where:
    """The condition that a row has this key."""
    if len(table.row_key) == 1:
        return eq(table.row_key[0], key)
    return all_of(*(eq(name, part) for name, part in zip(table.row_key, key, strict=True)))
