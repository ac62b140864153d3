"""The storage port: what a store must do, what it may do better, and nothing about what is stored.

A store keeps the event log and the rows of the catalog's tables, both in one transaction, and answers `fetch`.
Everything else has a default here or in `ugs.reads`, so a complete store is a handful of methods; overriding a
default makes an answer faster and never different, which the conformance kit proves with native paths on and off.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from msgspec import Struct

from ugs.catalog import Catalog, Row, Table
from ugs.changes import Writes
from ugs.events import Event, Head
from ugs.reads.levels import execute_by_levels
from ugs.reads.near import Near, Scored, nearest_of
from ugs.reads.pattern import Match, Pattern, Question
from ugs.reads.plan import WHOLE, Order, Page, Read, Rows
from ugs.reads.rendering import Late, Rendering
from ugs.reads.weighed import Heavy, Weighed
from ugs.reads.where import EVERYTHING, Op, Property, Where, all_of, eq, in_
from ugs.values import from_text

SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between two looks at the log where a store cannot tell by itself that it has moved."""


class Capabilities(Struct, frozen=True):
    """Declared facts about a store. They change speed, never answers."""

    durable: bool = False
    concurrent_writers: bool = False
    """Several processes may open the store at once."""
    native: frozenset[str] = frozenset()
    """Which optional methods are the store's own: read, nearest, path, watch, snapshot, group, …"""


class EventQuery(Struct, frozen=True):
    """Which part of the log: positions in (after, until], newest first when `newest`."""

    after: int = 0
    until: int | None = None
    limit: int | None = None
    element: str | None = None
    types: frozenset[str] | None = None
    newest: bool = False


class Session(ABC):
    """One transaction. A write session is the only one of its store, also across processes."""

    near: ClassVar[bool] = False
    """Asking costs next to nothing, so a search asks when it needs to know, not for much in advance."""

    orders_joins: ClassVar[bool] = False
    """`match` finds the best order by itself, so nobody need count rows to give it a good one."""
    matches_alone: ClassVar[bool] = False
    """`match` answers patterns of a single spot, too: in the order of the key, groups by the first of their rows."""
    answers_unless: ClassVar[bool] = False
    """`match` sees in the same moment whether a vertex has the key of `Pattern.unless`."""

    @abstractmethod
    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        """Rows that meet the condition, in the order made total by the key, cut to the page."""

    @abstractmethod
    async def events(self, query: EventQuery) -> list[Event]:
        """Events of the log, oldest first, or newest first when asked."""

    @abstractmethod
    async def head(self) -> Head:
        """Where the log ends now."""

    @abstractmethod
    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        """Log the events (positions continue the head) and store the rows: deletes, then updates, then inserts.

        Events may be empty (rebuilding from the log), and so may the writes. A session reads before it appends:
        whether its later reads see its own appends is up to the store.
        """

    @abstractmethod
    async def clear(self, tables: Iterable[Table]) -> None:
        """Remove all rows of these tables, and leave the log alone."""

    def at_hand(self, table: Table) -> Mapping[Any, Row] | None:
        """All rows of a table by key, where the store holds them in memory anyway; else None, and `find` is asked."""
        return None

    async def find(self, table: Table, key: Any) -> Row | None:
        """The row with this key."""
        rows = await self.fetch(table, key_is(table, key))
        return rows[0] if rows else None

    async def find_many(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        """The rows with these keys that exist, in key order."""
        if len(table.key) == 1:
            return await self.fetch(table, in_(table.key[0], keys))
        found = [await self.find(table, key) for key in sorted(set(keys))]
        return [row for row in found if row is not None]

    async def find_keys(self, wanted: Mapping[Table, Sequence[Any]]) -> dict[Table, list[Row]]:
        """As `find_many`, of several tables."""
        return {table: await self.find_many(table, keys) for table, keys in wanted.items()}

    def presume_absent(self, wanted: Mapping[Table, Sequence[Any]]) -> bool:
        """Whether decisions may take it that no rows have these keys, which is so nearly always.

        A session that says yes looks before it ends: where a row is there after all, it stores nothing and raises a
        `Conflict` to try again `at_once`, and does not say yes the next time.
        """
        return False

    async def filled(self, tables: Sequence[Table]) -> list[Table]:
        """Those of the tables that may have rows: whoever reads everything need not ask for the others."""
        return list(tables)

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

    async def keys(self, table: Table, field: str) -> dict[str, int]:
        """The keys that occur in a JSON object column, and in how many rows."""
        counts: dict[str, int] = {}
        for row in await self.fetch(table):
            for key in from_text(getattr(row, field)):
                counts[key] = counts.get(key, 0) + 1
        return counts

    async def nearest(self, table: Table, near: Near) -> list[Scored]:
        """The rows whose vector is most like the one given."""
        return nearest_of(await self.fetch(table, near.where), table, near)

    async def heaviest(self, table: Table, asked: Weighed) -> list[Heavy] | None:
        """The rows in which some words weigh most; None leaves it to the kernel, which looks at all that have them."""
        return None

    async def replay(self, catalog: Catalog, events: Sequence[Event]) -> bool:
        """Log events that already have their place and let them act on the tables; False leaves it to the kernel."""
        return False

    async def has_key(self, table: Table, field: str, key: str) -> bool:
        """Whether a key occurs in a JSON object column of any row."""
        return bool(await self.fetch(table, Property(field, key, Op.EXISTS), page=Page(limit=1)))

    async def about(self, table: Table, where: Where = EVERYTHING) -> int:
        """About how many rows meet the condition, for planning: a store may guess where counting is dear."""
        return await self.count(table, where)

    async def match(self, pattern: Pattern) -> list[Match] | None:
        """All matches of a pattern, in any order; None leaves it to the kernel, which goes step by step."""
        return None

    async def match_again(self, question: Question, texts: Sequence[str]) -> list[Match] | None:
        """As `match`, with these texts; a store may keep what it has made of the question."""
        return await self.match(question.filled(texts))

    def match_statements(self, pattern: Pattern) -> list[str]:
        """The statements that `match` would send, for people; none where the kernel goes step by step."""
        return []

    async def read(self, plan: Read) -> Rows:
        """The answer to a whole plan."""
        return await execute_by_levels(self, plan)

    async def render(self, plan: Read, rendering: Rendering, late: Late) -> bytes:
        """The answer to a plan as text, in UTF-8: that is how it came from a database and how it goes out."""
        return rendering.write(await self.read(plan), plan, late).encode()

    def statements(self, plan: Read) -> list[str]:
        """The statements that `read` would send for a plan, for people; none where the store needs none."""
        return []


class Storage(ABC):
    """A place that keeps a log and tables; opened once, used by sessions."""

    scheme: ClassVar[str]
    capabilities: ClassVar[Capabilities] = Capabilities()
    warnings: Sequence[str] = ()
    """What a person should know about how the store opened (repaired tails, rebuilt snapshots)."""

    @abstractmethod
    async def open(self, catalog: Catalog) -> None:
        """Make the store ready for these tables, creating or migrating what is missing."""

    @abstractmethod
    async def close(self) -> None:
        """Release everything; the store can be opened again."""

    @abstractmethod
    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        """A transaction: leaving normally commits, an exception rolls back."""

    def deciding(self) -> AbstractAsyncContextManager[Session]:
        """A write session for one group of decisions: it reads, then appends once, and that is all.

        A store may let it begin without a lock and refuse with `Conflict` at its end when somebody else was faster.
        """
        return self.session(write=True)

    def glance(self) -> AbstractAsyncContextManager[Session]:
        """A session for one question; a store that needs no transaction around it may save that."""
        return self.session()

    def at_hand(self, table: Table) -> Mapping[Any, Row] | None:
        """All rows of a table by key as they are from moment to moment, where the store holds them in memory."""
        return None

    async def read(self, plan: Read) -> Rows:
        """The answer to one plan; a store that needs no transaction around it may save that."""
        async with self.session() as session:
            return await session.read(plan)

    async def render(self, plan: Read, rendering: Rendering, late: Late) -> bytes:
        """The answer to one plan as text; a store may write it itself, and answer several at once."""
        return rendering.write(await self.read(plan), plan, late).encode()

    def render_now(self, plan: Read, rendering: Rendering, late: Late) -> bytes | None:
        """The same from the state of this very moment, where nothing has to be waited for; else None."""
        return None

    def written_by(self, plan: Read, rendering: Rendering) -> list[str]:
        """The statements with which a store writes an answer itself, for people; none where it does not."""
        return []

    async def watch(self, after: int) -> AsyncIterator[int]:
        """Yield the log's end whenever it has moved beyond `after`, also by other processes (default: polling)."""
        pause = SHORTEST_PAUSE
        while True:
            async with self.session() as session:
                position = (await session.head()).position
            if position > after:
                yield position
                after, pause = position, SHORTEST_PAUSE
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)

    async def snapshot(self) -> dict[str, Any] | None:
        """Write a snapshot the store's own way and answer its five fields; None leaves it to the kernel."""
        return None

    async def take_stock(self) -> None:
        """Much has come in at once: a store may count what it has, so that it finds its way through it quickly."""
        return None

    async def wipe(self) -> None:
        """Forget everything, the log included. For tests and for `copy --overwrite`."""
        raise NotImplementedError

    async def drop(self) -> None:
        """As `wipe`, and leave nothing behind on a shared server; then the store must be opened again."""
        await self.wipe()

    def apart(self, name: str) -> Storage | None:
        """A store of its own in the same database, not opened yet, that shares nothing with this one.

        The name is at most 24 small letters, digits and `_`. None: the store has no way to keep two of them.
        """
        return None

    def describe(self) -> str:
        """The store in words, without secrets."""
        return self.scheme


def key_is(table: Table, key: Any) -> Where:
    """The condition that a row has this key."""
    if len(table.key) == 1:
        return eq(table.key[0], key)
    return all_of(*(eq(name, part) for name, part in zip(table.key, key, strict=True)))
