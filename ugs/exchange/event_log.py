"""The log itself as a file of lines: everything a store has, in the order it happened, with nothing lost.

A store that takes the lines in becomes the same store: the state digest is equal. One that already holds the beginning
goes on behind it; one that holds something else is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice

import msgspec

from ugs.catalog import Catalog
from ugs.errors import DigestMismatch, WALCorrupt
from ugs.events import GENESIS_CRC, Event, from_line, line_crc, to_line, unsealed_line
from ugs.replay import CHUNK, event_at, log_of, position_of, replay_into
from ugs.storage import Storage


async def written_lines(storage: Storage, after: int = 0, until: int | None = None) -> AsyncIterator[list[bytes]]:
    """The log between two positions, as lines, a chunk at a time."""
    async for events in log_of(storage, after, until):
        yield [to_line(event) + b"\n" for event in events]


def read_events(lines: Iterable[bytes], catalog: Catalog) -> Iterator[Event]:
    """The events of a file; a damaged, lost or swapped line is refused with its number."""
    previous = GENESIS_CRC
    for number, line in enumerate(lines, 1):
        try:
            event = from_line(line.rstrip(b"\r\n"), number, catalog.rules.element_of)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise WALCorrupt(f"line {number} is not an event: {error}", line=number) from error
        if event.position != number or (event.crc and event.crc != line_crc(unsealed_line(event), previous)):
            raise WALCorrupt(f"line {number} is damaged, or a line before it is missing", line=number)
        previous = event.crc or previous
        yield event


async def take_in(storage: Storage, catalog: Catalog, events: Iterator[Event]) -> AsyncIterator[int]:
    """Replay events into a store, a chunk at a time; tells the position after each."""
    have = await position_of(storage)
    await _check_beginning(storage, have, list(islice(events, have)))
    while chunk := list(islice(events, CHUNK)):
        async with storage.session(write=True) as session:
            await replay_into(session, catalog, chunk)
        yield chunk[-1].position


async def _check_beginning(storage: Storage, have: int, known: list[Event]) -> None:
    """What the store holds must be the beginning of the file."""
    if have and (len(known) < have or await event_at(storage, have) != known[-1]):
        raise DigestMismatch(
            f"the store holds {have} events that are not the beginning of this log; import into an empty store",
            position=have,
        )
