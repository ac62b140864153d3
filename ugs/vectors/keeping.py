"""Keeping vectors in step with the log.

Writing costs nothing for vectors: they are made when somebody searches. A marker says up to which position of the
log the vectors of a table are right; what the log says after it names the rows whose vectors are to be made anew.
Work is done in short write sessions, so that writers wait for one batch at most; where it stops, it goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from msgspec.structs import replace

from ugs.catalog import Catalog, Row
from ugs.changes import TableWrites
from ugs.reads.near import Vector
from ugs.reads.plan import Page, full_order, place_of
from ugs.reads.where import in_
from ugs.storage import EventQuery, Session, Storage
from ugs.vectors.changes import touched_keys
from ugs.vectors.embedders import Embedder
from ugs.vectors.model import EMBEDDED, PROGRESS, Embedded, Embedding, Progress
from ugs.vectors.texts import TEXTS

BATCH = 250
"""Rows embedded in one write session: some tens of milliseconds."""
EVENTS_AT_ONCE = 1_000
FEW = 64
"""So many events behind the log a search looks at the rows themselves, which is cheaper than to write first."""


async def keep_up(storage: Storage, catalog: Catalog, embedder: Embedder) -> None:
    """Make the vectors of all tables right for the end of the log, or nearly."""
    for each in EMBEDDED:
        async with storage.session() as session:
            behind = await events_behind(session, each, embedder)
        if behind is None:
            await _make_all(storage, each, embedder)
        if behind is None or behind > FEW:
            while await _catch_up(storage, catalog, each, embedder):
                pass


async def events_behind(session: Session, each: Embedded, embedder: Embedder) -> int | None:
    """How many events the vectors of a table do not know yet; None when they are not there at all."""
    marker = await progress_of(session, each, embedder)
    return None if marker is None else (await session.head()).position - marker.position


async def progress_of(session: Session, each: Embedded, embedder: Embedder) -> Progress | None:
    """The marker of a table, if its vectors are this embedder's."""
    marker: Progress | None = await session.find(PROGRESS, each.vectors.name)
    return marker if marker is not None and marker.embedder == made_by(embedder) else None


def made_by(embedder: Embedder) -> str:
    """What vectors depend on beside the rows: who embeds the texts, and how those are made."""
    return f"{embedder.name} of texts {TEXTS}"


async def _make_all(storage: Storage, each: Embedded, embedder: Embedder) -> None:
    """Embed every row, page by page; the log from where it stood at the beginning then says what changed meanwhile."""
    async with storage.session(write=True) as session:
        start, old = (await session.head()).position, await session.find(PROGRESS, each.vectors.name)
        await session.clear([each.vectors])
        await _mark(session, old, None)
    after: tuple[Any, ...] | None = None
    while True:
        async with storage.session(write=True) as session:
            rows = await session.fetch(each.table, page=Page(limit=BATCH, after=after))
            await _store(session, each, embedder, [each.table.key_of(row) for row in rows], rows)
        if len(rows) < BATCH:
            break
        after = place_of(rows[-1], full_order(each.table, ()))
    async with storage.session(write=True) as session:
        marker = Progress(each.vectors.name, made_by(embedder), start)
        await _mark(session, await session.find(PROGRESS, marker.name), marker)


async def _catch_up(storage: Storage, catalog: Catalog, each: Embedded, embedder: Embedder) -> bool:
    """Take the next events into account; whether there may be more."""
    async with storage.session(write=True) as session:
        marker = await progress_of(session, each, embedder)
        if marker is None:  # another process has begun anew, with another embedder
            return False
        events = await session.events(EventQuery(after=marker.position, limit=EVENTS_AT_ONCE))
        if not events:
            return False
        keys = touched_keys(each.table, events, catalog.rules.reduce)
        if keys is not None:
            rows = await session.find_many(each.table, sorted(keys)) if keys else []
            await _store(session, each, embedder, keys, rows)
            await _mark(session, marker, replace(marker, position=events[-1].position))
    if keys is None:
        await _make_all(storage, each, embedder)
    return True


async def _mark(session: Session, old: Progress | None, new: Progress | None) -> None:
    """Say how far the vectors of a table are."""
    writes = TableWrites(before={} if old is None else {old.name: old})
    if new is not None:
        (writes.inserts if old is None else writes.updates).append(new)
    elif old is not None:
        writes.deletes.append(old.name)
    await session.append((), {PROGRESS: writes})


async def _store(
    session: Session, each: Embedded, embedder: Embedder, keys: Collection[Any], rows: Sequence[Row]
) -> None:
    """Put the vectors of these rows in place of whatever stands there for these keys."""
    made = await embed_rows(each, embedder, rows)
    old = {each.vectors.key_of(row): row for row in await _stored(session, each, keys)}
    new = {each.vectors.key_of(row): row for row in made}
    gone = [key for key in old if key not in new]
    writes = TableWrites(
        inserts=[row for key, row in new.items() if key not in old],
        updates=[row for key, row in new.items() if key in old and old[key] != row],
        deletes=gone,
        before={key: row for key, row in old.items() if key in gone or new[key] != row},
    )
    if writes.inserts or writes.updates or writes.deletes:
        await session.append((), {each.vectors: writes})


async def _stored(session: Session, each: Embedded, keys: Collection[Any]) -> list[Row]:
    return await session.fetch(each.vectors, in_("id", sorted(keys))) if keys else []


async def embed_rows(each: Embedded, embedder: Embedder, rows: Sequence[Row]) -> list[Embedding]:
    """The vectors of all passages of these rows."""
    passages = [(each.table.key_of(row), part, text) for row in rows for part, text in enumerate(each.texts(row))]
    vectors = await embed_texts(embedder, [text for _, _, text in passages])
    return [
        Embedding(id, part, vector)
        for (id, part, _), vector in zip(passages, vectors, strict=True)
        if vector is not None
    ]


async def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[Vector | None]:
    """The vectors of texts, made in a thread, since that may take a while."""
    return await asyncio.to_thread(embedder.embed, texts) if texts else []
