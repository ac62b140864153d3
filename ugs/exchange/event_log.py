"""The event log as a file of JSON lines: the whole store in the order of its changes.

A store that imports all lines has the same state digest. A store that already holds the beginning continues behind it;
one that holds other events refuses.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice

import msgspec

from ugs.catalog import Catalog
from ugs.errors import DigestMismatch, WALCorrupt
from ugs.events import GENESIS_CRC, Event, encode_without_crc, from_line, line_crc, to_line
from ugs.log.replay import CHUNK, event_at, log_of, position_of, replay_into
from ugs.storage import Storage
from ugs.support.shape_errors import describe_shape_error


async def export_lines(storage: Storage, after: int = 0, until: int | None = None) -> AsyncIterator[list[bytes]]:
    """The events between two positions as lines, a chunk at a time."""
    async for events in log_of(storage, after, until):
        yield [to_line(event) + b"\n" for event in events]


def read_events(lines: Iterable[bytes], catalog: Catalog) -> Iterator[Event]:
    """Parse the events of a file; a damaged, missing or reordered line is refused with its number."""
    previous, offset, end = GENESIS_CRC, 0, 0
    for number, line in enumerate(lines, 1):
        offset, end = end, end + len(line)
        try:
            event = from_line(line.rstrip(b"\r\n"), number, catalog.rules.element_of)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            why = describe_shape_error(error)
            raise WALCorrupt(
                f"line {number} (byte {offset}) is not an event: {why}", line=number, offset=offset
            ) from error
        if event.position != number or (event.crc and event.crc != line_crc(encode_without_crc(event), previous)):
            told = f"line {number} (byte {offset}) is damaged, or a line before it is missing"
            raise WALCorrupt(told, line=number, offset=offset)
        previous = event.crc or previous
        yield event


async def import_events(storage: Storage, catalog: Catalog, events: Iterator[Event]) -> AsyncIterator[int]:
    """Replay events into a store, a chunk at a time; yields the position after each."""
    have = await position_of(storage)
    await _check_prefix(storage, have, list(islice(events, have)))
    while chunk := list(islice(events, CHUNK)):
        async with storage.session(write=True) as session:
            await replay_into(session, catalog, chunk)
        yield chunk[-1].position


async def _check_prefix(storage: Storage, have: int, known: list[Event]) -> None:
    """Refuse if the events that the store holds are not the beginning of the file."""
    if have and (len(known) < have or await event_at(storage, have) != known[-1]):
        raise DigestMismatch(
            f"the store holds {have} events that are not the beginning of this log; import into an empty store",
            position=have,
        )
