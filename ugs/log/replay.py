"""Replay of a log into a store, and the state digest that verifies the result.

The digest is one hash over all rows of all derived tables, in key order, in canonical JSON. Two stores with the same
log have the same digest, whatever the backend.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from hashlib import sha256

from ugs.catalog import Catalog
from ugs.errors import DigestMismatch, HistoryGone, UgsError
from ugs.events import Event, Head
from ugs.reads.filters import EVERYTHING, Where
from ugs.reads.plan import Page, full_order, place_of
from ugs.storage import EventQuery, Session, Storage
from ugs.support.time_slice import TimeSlice
from ugs.tables import Kind, Row, Table
from ugs.unit_of_work import UnitOfWork
from ugs.values import JsonText, to_text, whole

CHUNK, CHUNK_BYTES = 2_000, 4 << 20
"""At most so many events, and about so many bytes of their data, are read at once."""
MIN_EVENTS = 16

Progress = Callable[[int, int], None]
"""Called with the number of events done and the total."""


async def replay_into(session: Session, catalog: Catalog, events: Sequence[Event]) -> None:
    """Append events of another store's log and apply their changes; natively if the store can (`Session.replay`)."""
    if await session.replay(catalog, events):
        return
    uow = UnitOfWork(session, catalog, Head(), 0)
    await catalog.rules.prepare(uow, events)
    for event in events:
        await uow.act(await _versioned(event, uow, catalog))
    await session.append(events, uow.writes())


async def _versioned(event: Event, uow: UnitOfWork, catalog: Catalog) -> Event:
    if event.version is not None or event.element is None or not catalog.rules.counts(event.type):
        return event
    rows = {name: await uow.find(catalog[name], event.element) for name in ("nodes", "edges", "tombstones")}
    return catalog.versioned(event, lambda table, key: rows.get(table.name))


async def log_of(
    storage: Storage, after: int = 0, until: int | None = None, chunk: int = CHUNK
) -> AsyncIterator[list[Event]]:
    """The log in chunks, oldest first."""
    limit = chunk
    while until is None or after < until:
        query = EventQuery(after=after, until=until, limit=limit, max_bytes=CHUNK_BYTES)
        async with storage.session() as session:
            events = await session.events(query)
        if (events and events[0].position != after + 1) or (not events and until is not None):
            raise HistoryGone(after + 1, events[0].position if events else None)
        if not events:
            return
        yield events
        after = events[-1].position
        # Where events are large, a store is not made to look at many more than it returns.
        limit = min(chunk, 2 * limit if len(events) == limit else max(MIN_EVENTS, 2 * len(events)))


async def copy_log(
    source: Storage,
    target: Storage,
    catalog: Catalog,
    until: int | None = None,
    progress: Progress | None = None,
    chunk: int = CHUNK,
    check: Callable[[Sequence[Event]], None] | None = None,
) -> int:
    """Replay the source's log into the target, continuing at the target's end; returns the number of events copied.

    Yields to the event loop between chunks, so that other requests are served and an expired one can be cancelled.
    `check` is called with every chunk.
    """
    time = TimeSlice()
    end, start = await position_of(source), await position_of(target)
    end = end if until is None else min(end, until)
    await _check_same_past(source, target, start)
    done = start
    async for events in log_of(source, start, end, chunk):
        await time.pause()
        if check is not None:
            check(events)
        async with target.session(write=True) as session:
            await replay_into(session, catalog, events)
        done = events[-1].position
        if progress is not None:
            progress(done, end)
    return done - start


async def analyze_after_load(storage: Storage) -> None:
    """Let a store update its statistics after a bulk load. Errors are ignored: the data is complete without them."""
    with suppress(UgsError):
        await storage.analyze()


async def _check_same_past(source: Storage, target: Storage, position: int) -> None:
    """Raise unless the target's last event equals the source's event there: the target must be a prefix of this log."""
    if position == 0:
        return
    ours, theirs = await event_at(source, position), await event_at(target, position)
    if ours != theirs:
        raise DigestMismatch(
            f"the target holds {position} events that are not the beginning of this log; "
            "copy into an empty store instead",
            position=position,
        )


async def position_of(storage: Storage) -> int:
    """The position of a store's last event."""
    async with storage.session() as session:
        return (await session.head()).position


async def event_at(storage: Storage, position: int) -> Event | None:
    """The event at a log position."""
    async with storage.session() as session:
        events = await session.events(EventQuery(after=position - 1, until=position))
    return events[0] if events else None


async def state_digest(session: Session, catalog: Catalog) -> str:
    """One hash over all rows of all derived tables; a table that came later counts from its first row on."""
    digest = sha256()
    tables = sorted((table for table in catalog if table.derived), key=lambda table: table.name)
    filled = await session.non_empty(tables)
    for table in tables:
        named = not table.added_later
        if named:
            digest.update(f"{table.name}\n".encode())
        if table not in filled:
            continue
        async for rows in pages_of(session, table):
            if not named:
                digest.update(f"{table.name}\n".encode())
                named = True
            digest.update("".join(f"{row_text(table, row)}\n" for row in rows).encode())
    return digest.hexdigest()


async def pages_of(
    session: Session, table: Table, where: Where = EVERYTHING, limit: int = CHUNK
) -> AsyncIterator[list[Row]]:
    """All rows of a table that meet a condition, in key order, in chunks (keyset pagination)."""
    after = None
    while rows := await session.fetch(table, where, page=Page(limit=limit, after=after)):
        yield rows
        if len(rows) < limit:
            return
        after = place_of(rows[-1], full_order(table, ()))


def row_text(table: Table, row: Row) -> JsonText:
    """A row in canonical JSON; whole numbers in REAL columns are normalised, since stores return int or float."""
    values = [getattr(row, field.name) for field in table.fields]
    return to_text([whole(v) if f.kind is Kind.REAL else v for f, v in zip(table.fields, values, strict=True)])
