"""Maintenance of the vector tables.

Writes do not compute vectors: a search brings them up to date. A marker row holds the log position up to which the
vectors of a table are current; the events after it name the rows to embed again. The work is done in short write
sessions, so that writers wait for one batch at most, and resumes where it stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from msgspec.structs import replace

from ugs.catalog import Catalog
from ugs.changes import TableWrites
from ugs.reads.filters import in_
from ugs.reads.plan import Page, full_order, place_of
from ugs.reads.vector_search import Vector
from ugs.storage import EventQuery, Session, Storage
from ugs.tables import Row
from ugs.vectors.embedders import Embedder
from ugs.vectors.model import EMBEDDED, PROGRESS, EmbeddedTable, Embedding, Progress
from ugs.vectors.texts import EXTRACTION_VERSION
from ugs.vectors.touched_rows import touched_keys

BATCH_ROWS = 250
"""Rows embedded per write session: some tens of milliseconds."""
CHUNK_EVENTS = 1_000
CATCH_UP_THRESHOLD = 64
"""Up to this many events behind, a search embeds the changed rows itself, which costs less than writing first."""


async def keep_up(storage: Storage, catalog: Catalog, embedder: Embedder) -> None:
    """Bring the vectors of all tables up to the end of the log, or to within the threshold."""
    for each in EMBEDDED:
        async with storage.session() as session:
            behind = await events_behind(session, each, embedder)
        if behind is None:
            await _embed_all(storage, each, embedder)
        if behind is None or behind > CATCH_UP_THRESHOLD:
            while await _catch_up(storage, catalog, each, embedder):
                pass


async def events_behind(session: Session, each: EmbeddedTable, embedder: Embedder) -> int | None:
    """The number of events after the marker of a table; None if it has no vectors of this embedder."""
    marker = await progress_of(session, each, embedder)
    return None if marker is None else (await session.head()).position - marker.position


async def progress_of(session: Session, each: EmbeddedTable, embedder: Embedder) -> Progress | None:
    """The marker of a table, if its vectors are from this embedder."""
    marker: Progress | None = await session.find(PROGRESS, each.vectors.name)
    return marker if marker is not None and marker.embedder == vector_space(embedder) else None


def vector_space(embedder: Embedder) -> str:
    """The identity of a vector space: the embedder's name and the version of the text extraction."""
    return f"{embedder.name} of texts {EXTRACTION_VERSION}"


async def _embed_all(storage: Storage, each: EmbeddedTable, embedder: Embedder) -> None:
    """Embed every row, page by page. Starts the marker at the log position read first, so that changes made meanwhile
    are caught up.
    """
    async with storage.session(write=True) as session:
        start, old = (await session.head()).position, await session.find(PROGRESS, each.vectors.name)
        await session.clear([each.vectors])
        await _mark(session, old, None)
    after: tuple[Any, ...] | None = None
    while True:
        async with storage.session(write=True) as session:
            rows = await session.fetch(each.table, page=Page(limit=BATCH_ROWS, after=after))
            await _store(session, each, embedder, [each.table.key_of(row) for row in rows], rows)
        if len(rows) < BATCH_ROWS:
            break
        after = place_of(rows[-1], full_order(each.table, ()))
    async with storage.session(write=True) as session:
        marker = Progress(each.vectors.name, vector_space(embedder), start)
        await _mark(session, await session.find(PROGRESS, marker.name), marker)


async def _catch_up(storage: Storage, catalog: Catalog, each: EmbeddedTable, embedder: Embedder) -> bool:
    """Process the next chunk of events; returns whether there may be more."""
    async with storage.session(write=True) as session:
        marker = await progress_of(session, each, embedder)
        if marker is None:  # another process has begun anew, with another embedder
            return False
        events = await session.events(EventQuery(after=marker.position, limit=CHUNK_EVENTS))
        if not events:
            return False
        keys = touched_keys(each.table, events, catalog.rules.reduce)
        if keys is not None:
            rows = await session.find_many(each.table, sorted(keys)) if keys else []
            await _store(session, each, embedder, keys, rows)
            await _mark(session, marker, replace(marker, position=events[-1].position))
    if keys is None:
        await _embed_all(storage, each, embedder)
    return True


async def _mark(session: Session, old: Progress | None, new: Progress | None) -> None:
    """Write the marker of a table."""
    writes = TableWrites(before={} if old is None else {old.name: old})
    if new is not None:
        (writes.inserts if old is None else writes.updates).append(new)
    elif old is not None:
        writes.deletes.append(old.name)
    await session.append((), {PROGRESS: writes})


async def _store(
    session: Session, each: EmbeddedTable, embedder: Embedder, keys: Collection[Any], rows: Sequence[Row]
) -> None:
    """Replace the vectors of these keys by those of these rows."""
    made = await embed_rows(each, embedder, rows)
    old = {each.vectors.key_of(row): row for row in await _read_stored(session, each, keys)}
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


async def _read_stored(session: Session, each: EmbeddedTable, keys: Collection[Any]) -> list[Row]:
    return await session.fetch(each.vectors, in_("id", sorted(keys))) if keys else []


async def embed_rows(each: EmbeddedTable, embedder: Embedder, rows: Sequence[Row]) -> list[Embedding]:
    """The vectors of all passages of these rows."""
    passages = [(each.table.key_of(row), part, text) for row in rows for part, text in enumerate(each.texts(row))]
    vectors = await embed_texts(embedder, [text for _, _, text in passages])
    return [
        Embedding(id, part, vector)
        for (id, part, _), vector in zip(passages, vectors, strict=True)
        if vector is not None
    ]


async def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[Vector | None]:
    """The vectors of texts, computed in a worker thread because it may take long."""
    return await asyncio.to_thread(embedder.embed, texts) if texts else []
