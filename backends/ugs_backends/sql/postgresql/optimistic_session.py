"""Optimistic write sessions: commands are decided without the write lock, and one statement checks and commits.

Decisions rest on the head of the log as last seen by this process. The committing statement takes the write lock and
fails if the log has moved; the group is then decided again with the lock held from the start. Without other writers,
which is the usual case, a group costs two round trips, and one if it only adds elements: their ids are assumed to be
free, which the committing statement checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from ugs.changes import Writes
from ugs.errors import Conflict, UniqueViolation
from ugs.events import Event, Head
from ugs.reads.filters import EVERYTHING, Compare, Everything, Where
from ugs.reads.plan import WHOLE, Order, Page
from ugs.tables import Format, Kind, Row, Table
from ugs_backends.sql.compiler.conditions import Place
from ugs_backends.sql.compiler.statements import list_columns
from ugs_backends.sql.dialect import Dialect, quote_identifier
from ugs_backends.sql.native_session import NativeSession, is_storable_key
from ugs_backends.sql.postgresql.connection import PostgresqlLink, get_channel, get_listeners_lock, get_log_lock
from ugs_backends.sql.postgresql.errors import WRONG_ASSUMPTION, build_assumption_conflict
from ugs_backends.sql.postgresql.formats import are_uuids
from ugs_backends.sql.postgresql.statement_batch import combine_bulks, pack_columns
from ugs_backends.sql.row_codec import decode_head
from ugs_backends.sql.session import StoreContext
from ugs_backends.sql.write.bulk_writes import BulkStatement

MAX_KEPT, MAX_ROWS = 64, 64
"""Maximum of cached results per table, and of rows per result."""

FOLLOW = "SELECT events_append(($1::int8[])[1], ($2::int8[])[1], {taken})"
"""Takes the write lock; raises unless the log is at the first position and no key that was assumed free is taken; sends
a notification with the second position if another connection listens.
"""
FOLLOWS = (
    "SELECT 1 FROM pg_proc WHERE proname = 'events_append' AND pronargs = 3 "
    "AND pronamespace = current_schema()::regnamespace"
)

Question = tuple[Where, tuple[Order, ...]]


class LogHeadCache(Struct):
    """The head of the log and query results after this process's last write; invalid once another process writes."""

    head: Head | None = None
    answers: dict[Table, dict[Question, list[Row]]] = {}
    seen: int = 0
    """The last position that this process has written."""
    announced: int = 0
    """The last position that this process wrote or is writing; its notification is ignored."""

    def forget(self) -> None:
        self.head, self.answers, self.announced = None, {}, 0

    def keep(self, table: Table, question: Question, rows: list[Row]) -> None:
        """Cache a short result until its table is written to."""
        if len(rows) <= MAX_ROWS:
            kept = self.answers.setdefault(table, {})
            kept[question] = rows
            if len(kept) > MAX_KEPT:
                del kept[next(iter(kept))]

    def invalidate(self, position: int | None) -> None:
        """Invalidate the cache on a notification beyond the known head, or without a position."""
        if self.head is None or position is None or position > self.head.position:
            self.forget()

    def advance(self, events: Sequence[Event], tables: Iterable[Table]) -> None:
        """Update the cache after our own commit."""
        last = events[-1]
        self.head = decode_head((last.position, last.timestamp, last.crc))
        self.seen = last.position
        for table in tables:
            self.answers.pop(table, None)


class OptimisticSession(NativeSession):
    """Reads without a transaction, and writes everything at its end."""

    def __init__(
        self, link: PostgresqlLink, shape: StoreContext, standing: LogHeadCache, presuming: bool = True
    ) -> None:
        super().__init__(link, shape)
        self.standing, self.presuming = standing, presuming
        self._own = self.sender = link
        """The connection for a single-statement commit; it may be shared with others."""
        self._presumed: dict[Table, list[Any]] = {}
        self._before: Head | None = None
        self._appended: list[tuple[Sequence[Event], Writes]] = []

    async def head(self) -> Head:
        if self.standing.head is None:
            self.standing.head = await super().head()
        self._before = self.standing.head
        return self._before

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        if page is not WHOLE or not is_kept(where):
            return await super().fetch(table, where, order, page)
        question = (where, tuple(order))
        found = self.standing.answers.get(table, {}).pop(question, None)
        if found is None:
            found = await super().fetch(table, where, order)
        self.standing.keep(table, question, found)
        return list(found)

    async def find_many(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        return (await self.find_keys({table: keys}))[table]

    async def find_keys(self, wanted: Mapping[Table, Sequence[Any]]) -> dict[Table, list[Row]]:
        """Look up rows of several tables with one statement."""
        plain = tuple(table for table in wanted if is_plain(table))
        found = {
            table: await super(OptimisticSession, self).find_many(table, wanted[table])
            for table in wanted.keys() - set(plain)
        }
        if plain:
            text, keys = build_lookup(self.shape.dialect, plain, wanted)
            (lists,) = await self.link.rows(text, keys)
            found |= {table: self.shape.readers[table.name](rows) for table, rows in zip(plain, lists, strict=True)}
        return found

    def assume_missing(self, wanted: Mapping[Table, Sequence[Any]]) -> bool:
        if not self.presuming or not all(map(is_plain, wanted)):
            return False
        for table, keys in wanted.items():
            self._presumed.setdefault(table, []).extend(_filter_storable(self.shape.dialect, table, keys))
        return True

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        await self._fetch_previous(writes)
        self._appended.append((events, writes))

    async def clear(self, tables: Iterable[Table]) -> None:
        raise NotImplementedError("a session for decisions only appends")

    async def finish(self) -> None:
        """Commit the appended events and rows if the log has not moved since the decisions."""
        if not self._appended:
            await self._verify()
            return
        events = [event for some, _ in self._appended for event in some]
        bulks = [bulk for some, writes in self._appended for bulk in self.shape.writer.bulks(some, writes)]
        before = (self._before or await self.head()).position
        self.standing.announced = last = events[-1].position if events else before
        await self._write(bulks, self._check(before, last))
        if events:
            self.standing.advance(events, (table for _, writes in self._appended for table in writes))

    async def _write(self, bulks: Sequence[BulkStatement], check: BulkStatement) -> None:
        try:
            await self._send(bulks, check)
        except UniqueViolation as error:
            # Possibly a key that was assumed free; any other violation will recur in the retry.
            raise (build_assumption_conflict() if self._presumed else error) from error

    async def _send(self, bulks: Sequence[BulkStatement], check: BulkStatement) -> None:
        """Send one statement where possible; a transaction of several uses its own connection."""
        statements = list(combine_bulks([*bulks, check]))
        if len(statements) == 1:
            await self.sender.commit_one(*statements[0])
        else:
            await self._own.commit_all(bulks, check)

    def _check(self, before: int, last: int) -> BulkStatement:
        """The check of the log's position and of the keys that were assumed free."""
        presumed = {
            table: keys for table, keys in self._presumed.items() if keys and not self._is_inserted(table, keys)
        }
        return BulkStatement(
            "", build_follow_check(self.shape.dialect, tuple(presumed)), [[before], [last], *presumed.values()]
        )

    def _is_inserted(self, table: Table, keys: Sequence[Any]) -> bool:
        """Whether rows with all these keys are inserted: then the primary key rejects one that is taken."""
        some = (writes[table].inserts for _, writes in self._appended if table in writes)
        return {table.key_of(row) for rows in some for row in rows}.issuperset(keys)

    async def _verify(self) -> None:
        """Verify the head and the assumed keys for a group that writes nothing: refusals, too, need current data."""
        if self._before is not None and await super().head() != self._before:
            raise Conflict("Another gateway has written meanwhile. Try again.")
        if self._presumed and any((await self.find_keys(self._presumed)).values()):
            raise build_assumption_conflict()


def is_kept(where: Where) -> bool:
    """Whether results of a condition are cached; only texts, since 1 and True are equal as dict keys."""
    return isinstance(where, Everything) or (isinstance(where, Compare) and type(where.value) is str)


def is_plain(table: Table) -> bool:
    """Whether rows of a table can be returned as an array of records."""
    return len(table.key) == 1 and all(field.kind is not Kind.VECTOR for field in table.fields)


def build_lookup(
    dialect: Dialect, tables: tuple[Table, ...], wanted: Mapping[Table, Sequence[Any]]
) -> tuple[str, list[Any]]:
    """The statement that looks up rows of several tables by key, with its parameters."""
    keys = [_filter_storable(dialect, table, wanted[table]) for table in tables]
    return pack_columns(build_array_query(dialect, tables), keys)


def _filter_storable(dialect: Dialect, table: Table, keys: Sequence[Any]) -> Sequence[Any]:
    """The keys that the column can hold."""
    column = dialect.column_type(table.field(table.key[0]))
    if column in (Kind.TEXT, Format.UUID) and set(map(type, keys)) == {str}:
        if column is Format.UUID:
            storable = are_uuids(keys)
        else:
            whole = "".join(keys)
            storable = whole.isascii() and "\x00" not in whole
        if storable:
            return keys
    return [key for key in keys if is_storable_key(dialect, table, (key,))]


@lru_cache(maxsize=256)
def build_array_query(dialect: Dialect, tables: tuple[Table, ...]) -> str:
    """The statement that returns an array of rows for each table."""
    lists = (_build_key_list(dialect, Place(table, "t"), number) for number, table in enumerate(tables, 1))
    return f"SELECT {', '.join(lists)}"


@lru_cache(maxsize=256)
def build_follow_check(dialect: Dialect, tables: tuple[Table, ...]) -> str:
    """The statement that checks a group which assumed keys of these tables to be free."""
    # count(*) instead of EXISTS, for which the planner would expect an early match and scan the whole table.
    parts = [
        f"(SELECT count(*) > 0 FROM {_build_key_source(dialect, Place(table, 't'), place)})"
        for place, table in enumerate(tables, 3)
    ]
    return FOLLOW.format(taken=" OR ".join(parts) or "false")


def _build_key_source(dialect: Dialect, place: Place, number: int) -> str:
    """FROM and WHERE for the rows with one of the keys in a parameter."""
    key = place.table.field(place.table.key[0])
    kind = dialect.types[dialect.column_type(key)]
    return f"{quote_identifier(place.table.name)} t WHERE {place.column(key.name)} = ANY(${number}::{kind}[])"


def _build_key_list(dialect: Dialect, place: Place, number: int) -> str:
    order, source = place.column(place.table.key[0]), _build_key_source(dialect, place, number)
    return f"ARRAY(SELECT ROW({list_columns(dialect, place)}) FROM {source} ORDER BY {order})"


def follow_function(schema: str) -> str:
    """The definition of the function in `FOLLOW`, which reads the log's current state after taking the lock."""
    return (
        "CREATE OR REPLACE FUNCTION events_append(expected int8, last int8, taken bool) RETURNS void "
        "LANGUAGE plpgsql AS $$ BEGIN "
        f"PERFORM pg_advisory_xact_lock({get_log_lock(schema)}); "
        "IF coalesce((SELECT max(position) FROM events), 0) <> expected THEN "
        "RAISE EXCEPTION 'another gateway has written meanwhile' USING ERRCODE = '40001'; END IF; "
        f"IF taken THEN RAISE EXCEPTION 'presumed to be free' USING ERRCODE = '{WRONG_ASSUMPTION}'; END IF; "
        # Locks of the same connection do not conflict: a free lock means that no other connection listens, and none
        # can start before this commits. Waking a listener costs more than storing a node.
        f"IF NOT pg_try_advisory_xact_lock({get_listeners_lock(schema)}) THEN "
        f"PERFORM pg_notify('{get_channel(schema)}', last::text); END IF; END $$"
    )
