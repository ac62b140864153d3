"""Groups of commands decided without a lock: one statement reads, one writes, and that one is the transaction.

A decision rests on the log's end as it was last seen here. The statement that writes takes the writers' lock and
refuses when the log does not end there any more; then the group is decided again, behind the lock from the start.
While nobody else writes, which is nearly always, a group costs two round trips, and one where it only adds: that the
ids of new elements are free is presumed, and looked at by the statement that writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from backends.sql.conditions import Place
from backends.sql.dialect import quoted
from backends.sql.native import NativeSession, is_storable_key
from backends.sql.postgresql.bulks import combined, sent
from backends.sql.postgresql.errors import PRESUMED, presumed_wrongly
from backends.sql.postgresql.link import PostgresqlLink, channel_of, listeners_lock, log_lock
from backends.sql.rows import head_from
from backends.sql.session import Shape
from backends.sql.statements import columns_of
from backends.sql.writes import Bulk
from ugs.catalog import Kind, Row, Table
from ugs.changes import Writes
from ugs.errors import Conflict, UniqueViolation
from ugs.events import Event, Head
from ugs.reads.plan import WHOLE, Order, Page
from ugs.reads.where import EVERYTHING, Compare, Everything, Where

MOST_KEPT, MOST_ROWS = 64, 64
"""So many answers about a table are kept from group to group, if they have no more rows than this."""

FOLLOW = "SELECT events_append(($1::int8[])[1], ($2::int8[])[1], {taken})"
"""Takes the writers' lock, and refuses unless the log ends at the first position and nothing is taken that was presumed
to be free; announces the second position if anybody else listens."""
FOLLOWS = (
    "SELECT 1 FROM pg_proc WHERE proname = 'events_append' AND pronargs = 3 "
    "AND pronamespace = current_schema()::regnamespace"
)

Question = tuple[Where, tuple[Order, ...]]


class Standing(Struct):
    """What a process knows about its store after its own last write; worth nothing once somebody else has written."""

    head: Head | None = None
    answers: dict[Table, dict[Question, list[Row]]] = {}
    announced: int = 0
    """The last position that is, or was, written here: word of it is no news."""

    def forget(self) -> None:
        self.head, self.answers, self.announced = None, {}, 0

    def keep(self, table: Table, question: Question, rows: list[Row]) -> None:
        """Keep a short answer until something is written to its table."""
        if len(rows) <= MOST_ROWS:
            kept = self.answers.setdefault(table, {})
            kept[question] = rows
            if len(kept) > MOST_KEPT:
                del kept[next(iter(kept))]

    def heard(self, position: int | None) -> None:
        """A commit was announced, with the end of the log if that has moved."""
        if self.head is None or position is None or position > self.head.position:
            self.forget()

    def wrote(self, events: Sequence[Event], tables: Iterable[Table]) -> None:
        """Our own write was committed."""
        last = events[-1]
        self.head = head_from((last.position, last.timestamp, last.crc))
        for table in tables:
            self.answers.pop(table, None)


class DecidingSession(NativeSession):
    """Reads statement by statement, and writes everything at its end."""

    def __init__(self, link: PostgresqlLink, shape: Shape, standing: Standing, presuming: bool = True) -> None:
        super().__init__(link, shape)
        self.standing, self.presuming = standing, presuming
        self._own = self.sender = link
        """Where a statement that is a transaction by itself is sent; others may use that connection, too."""
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
        """Rows of several tables from one statement."""
        plain = tuple(table for table in wanted if is_plain(table))
        found = {
            table: await super(DecidingSession, self).find_many(table, wanted[table])
            for table in wanted.keys() - set(plain)
        }
        if plain:
            text, keys = asked_for(plain, wanted)
            (lists,) = await self.link.rows(text, keys)
            found |= {table: self.shape.readers[table.name](rows) for table, rows in zip(plain, lists, strict=True)}
        return found

    def presume_absent(self, wanted: Mapping[Table, Sequence[Any]]) -> bool:
        if not self.presuming or not all(map(is_plain, wanted)):
            return False
        for table, keys in wanted.items():
            self._presumed.setdefault(table, []).extend(_storable(table, keys))
        return True

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        await self._complete(writes)
        self._appended.append((events, writes))

    async def clear(self, tables: Iterable[Table]) -> None:
        raise NotImplementedError("a session for decisions only appends")

    async def finish(self) -> None:
        """Write what was appended, if the log still ends where the decisions saw it end."""
        if not self._appended:
            await self._look_again()
            return
        events = [event for some, _ in self._appended for event in some]
        bulks = [bulk for some, writes in self._appended for bulk in self.shape.writer.bulks(some, writes)]
        before = (self._before or await self.head()).position
        self.standing.announced = last = events[-1].position if events else before
        await self._write(bulks, self._check(before, last))
        if events:
            self.standing.wrote(events, (table for _, writes in self._appended for table in writes))

    async def _write(self, bulks: Sequence[Bulk], check: Bulk) -> None:
        try:
            await self._sent(bulks, check)
        except UniqueViolation as error:
            # Perhaps of a key that was presumed to be free; if it is something else, it will be so again.
            raise (presumed_wrongly() if self._presumed else error) from error

    async def _sent(self, bulks: Sequence[Bulk], check: Bulk) -> None:
        """As one statement where that is possible; a transaction of several has a connection to itself."""
        statements = list(combined([*bulks, check]))
        if len(statements) == 1:
            await self.sender.commit_one(*statements[0])
        else:
            await self._own.commit_all(bulks, check)

    def _check(self, before: int, last: int) -> Bulk:
        """What must be so for the group to be stored."""
        presumed = {
            table: keys for table, keys in self._presumed.items() if keys and not self._is_inserted(table, keys)
        }
        return Bulk("", following(tuple(presumed)), [[before], [last], *presumed.values()])

    def _is_inserted(self, table: Table, keys: Sequence[Any]) -> bool:
        """Whether rows with all of these keys are to be stored: then the store itself refuses one that is taken."""
        some = (writes[table].inserts for _, writes in self._appended if table in writes)
        return {table.key_of(row) for rows in some for row in rows}.issuperset(keys)

    async def _look_again(self) -> None:
        """Refusals, too, must rest on what is so now, and not on what was kept or presumed."""
        if self._before is not None and await super().head() != self._before:
            raise Conflict("Another gateway has written meanwhile. Try again.")
        if self._presumed and any((await self.find_keys(self._presumed)).values()):
            raise presumed_wrongly()


def is_kept(where: Where) -> bool:
    """Whether a condition is worth keeping the answer to; only texts, since 1 and true would pass for one another."""
    return isinstance(where, Everything) or (isinstance(where, Compare) and type(where.value) is str)


def is_plain(table: Table) -> bool:
    """Whether rows of a table can come as parts of another row."""
    return len(table.key) == 1 and all(field.kind is not Kind.VECTOR for field in table.fields)


def asked_for(tables: tuple[Table, ...], wanted: Mapping[Table, Sequence[Any]]) -> tuple[str, list[Any]]:
    """The statement for rows of several tables by their keys, and those keys."""
    keys = [_storable(table, wanted[table]) for table in tables]
    return sent(several(tables), keys)


def _storable(table: Table, keys: Sequence[Any]) -> Sequence[Any]:
    """The keys that a row could have at all."""
    if table.field(table.key[0]).kind is Kind.TEXT and set(map(type, keys)) == {str}:
        whole = "".join(keys)
        if whole.isascii() and "\x00" not in whole:
            return keys
    return [key for key in keys if is_storable_key(table, (key,))]


@lru_cache(maxsize=256)
def several(tables: tuple[Table, ...]) -> str:
    """A list of rows for each table."""
    lists = (_listed(Place(table, "t"), number) for number, table in enumerate(tables, 1))
    return f"SELECT {', '.join(lists)}"


@lru_cache(maxsize=256)
def following(tables: tuple[Table, ...]) -> str:
    """The check at the end of a group that presumed ids of these tables to be free."""
    # Counted, not merely looked for: the planner would expect to find one soon, and walk over the whole table.
    parts = [f"(SELECT count(*) > 0 FROM {_having(Place(table, 't'), place)})" for place, table in enumerate(tables, 3)]
    return FOLLOW.format(taken=" OR ".join(parts) or "false")


def _having(place: Place, number: int) -> str:
    """The rows of a table that have one of the keys in a parameter."""
    key = place.table.field(place.table.key[0])
    kind = {Kind.INTEGER: "int8", Kind.REAL: "float8", Kind.BOOLEAN: "bool"}.get(key.kind, "text")
    return f"{quoted(place.table.name)} t WHERE {place.column(key.name)} = ANY(${number}::{kind}[])"


def _listed(place: Place, number: int) -> str:
    order = place.column(place.table.key[0])
    return f"ARRAY(SELECT ROW({columns_of(place)}) FROM {_having(place, number)} ORDER BY {order})"


def follow_function(schema: str) -> str:
    """Defines what `FOLLOW` calls. It looks at the log as it is once the lock is taken, not as the statement saw it."""
    return (
        "CREATE OR REPLACE FUNCTION events_append(expected int8, last int8, taken bool) RETURNS void "
        "LANGUAGE plpgsql AS $$ BEGIN "
        f"PERFORM pg_advisory_xact_lock({log_lock(schema)}); "
        "IF coalesce((SELECT max(position) FROM events), 0) <> expected THEN "
        "RAISE EXCEPTION 'another gateway has written meanwhile' USING ERRCODE = '40001'; END IF; "
        f"IF taken THEN RAISE EXCEPTION 'presumed to be free' USING ERRCODE = '{PRESUMED}'; END IF; "
        # A connection does not stand in its own way: that the lock is free means that nobody else listens, and nobody
        # can begin to before this is committed. To wake a listener costs more than storing a node.
        f"IF NOT pg_try_advisory_xact_lock({listeners_lock(schema)}) THEN "
        f"PERFORM pg_notify('{channel_of(schema)}', last::text); END IF; END $$"
    )
