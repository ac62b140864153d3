"""Replay: a log acts on a store again, and proof that the result is what it must be.

The state digest is one hash over all rows of all tables that the log decides, in key order, in canonical JSON. Two
stores with the same log have the same digest, whatever they are made of.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from hashlib import sha256

from ugs.catalog import Catalog, Kind, Row, Table
from ugs.desk import Desk
from ugs.errors import DigestMismatch, UgsError
from ugs.events import Event, Head
from ugs.reads.plan import Page, full_order, place_of
from ugs.reads.where import EVERYTHING, Where
from ugs.storage import EventQuery, Session, Storage
from ugs.values import JsonText, to_text, whole

CHUNK = 2_000

Progress = Callable[[int, int], None]
"""Told how many events are done, of how many."""


async def replay_into(session: Session, catalog: Catalog, events: Sequence[Event]) -> None:
    """Log events that already have their place in another store, and let them act on the tables."""
    if await session.replay(catalog, events):
        return
    desk = Desk(session, catalog, Head(), 0)
    await catalog.rules.prepare(desk, events)
    for event in events:
        await desk.act(await _versioned(event, desk, catalog))
    await session.append(events, desk.writes())


async def _versioned(event: Event, desk: Desk, catalog: Catalog) -> Event:
    if event.version is not None or event.element is None or not catalog.rules.counts(event.type):
        return event
    rows = {name: await desk.find(catalog[name], event.element) for name in ("nodes", "edges", "tombstones")}
    return catalog.versioned(event, lambda table, key: rows.get(table.name))


async def log_of(storage: Storage, after: int = 0, until: int | None = None) -> AsyncIterator[list[Event]]:
    """The log in chunks, oldest first."""
    while until is None or after < until:
        async with storage.session() as session:
            events = await session.events(EventQuery(after=after, until=until, limit=CHUNK))
        if not events:
            return
        yield events
        after = events[-1].position


async def copy_log(
    source: Storage,
    target: Storage,
    catalog: Catalog,
    until: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Bring the target up to the source, continuing where it stands; answers how many events were copied."""
    end, start = await position_of(source), await position_of(target)
    end = end if until is None else min(end, until)
    await _check_same_past(source, target, start)
    done = start
    async for events in log_of(source, start, end):
        async with target.session(write=True) as session:
            await replay_into(session, catalog, events)
        done = events[-1].position
        if progress is not None:
            progress(done, end)
    return done - start


async def took_stock(storage: Storage) -> None:
    """Let a store look at what it has got; what it has got is complete and right without that."""
    with suppress(UgsError):
        await storage.take_stock()


async def _check_same_past(source: Storage, target: Storage, position: int) -> None:
    """The last event both have must be the same one, or the target belongs to another log."""
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
    """How many events a store has."""
    async with storage.session() as session:
        return (await session.head()).position


async def event_at(storage: Storage, position: int) -> Event | None:
    """The event at a place in the log."""
    async with storage.session() as session:
        events = await session.events(EventQuery(after=position - 1, until=position))
    return events[0] if events else None


async def state_digest(session: Session, catalog: Catalog) -> str:
    """One hash for everything the log has decided."""
    digest = sha256()
    tables = sorted((table for table in catalog if table.derived), key=lambda table: table.name)
    filled = await session.filled(tables)
    for table in tables:
        digest.update(f"{table.name}\n".encode())
        if table not in filled:
            continue
        async for rows in pages_of(session, table):
            digest.update("".join(f"{row_text(table, row)}\n" for row in rows).encode())
    return digest.hexdigest()


async def pages_of(session: Session, table: Table, where: Where = EVERYTHING) -> AsyncIterator[list[Row]]:
    """All rows of a table that meet a condition, in key order, a chunk at a time."""
    after = None
    while rows := await session.fetch(table, where, page=Page(limit=CHUNK, after=after)):
        yield rows
        if len(rows) < CHUNK:
            return
        after = place_of(rows[-1], full_order(table, ()))


def row_text(table: Table, row: Row) -> JsonText:
    """A row in canonical JSON; whole weights look the same whichever number type kept them."""
    values = [getattr(row, field.name) for field in table.fields]
    return to_text([whole(v) if f.kind is Kind.REAL else v for f, v in zip(table.fields, values, strict=True)])
