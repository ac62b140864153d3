"""Export of the event log to a file, and its import into an empty store."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ugs.errors import StorageIOError
from ugs.support.atomic_file import replace
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.operations.queries import STANDARD_INPUT
from ugs_gateway.cli.output.progress import Progress
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.cli.output.streams import UsageError, say, standard_output

if TYPE_CHECKING:
    from ugs.events import Event
    from ugs.system import System


async def export_log(file: str, client: GraphClient) -> Answer | None:
    """Write every event as a line; an interrupted file is continued after its last complete line."""
    if file == STANDARD_INPUT:
        with standard_output():
            await _write(client, sys.stdout.buffer, 0)
        return None
    with partial_log_file(file) as out:
        events = await write_log(client, out)
    return Answer("success", {"file": file, "format": "log", "events": events, "digest": await client.digest()})


@contextmanager
def partial_log_file(file: str) -> Iterator[BinaryIO]:
    """The partial file, opened for appending; renamed to the target at the end. Only its owner may read it: the log
    holds private facts too."""
    part = Path(f"{file}.part")
    try:
        part.touch(mode=0o600)
        with part.open("r+b") as out:
            yield out
        replace(part, file)
    except OSError as error:
        raise StorageIOError(f"Cannot write {file}: {error.strerror}", path=file) from error


async def write_log(client: GraphClient, out: BinaryIO) -> int:
    """Write all events that a partial file does not have yet; returns how many it then has."""
    before = await _count_matching_lines(client, out)
    if before:
        say(f"going on after event {before}")
    return before + await _write(client, out, before)


async def _count_matching_lines(client: GraphClient, out: BinaryIO) -> int:
    """How many complete lines of a partial file belong to this log: all or none. Positions the file behind them."""
    count, size, last = 0, 0, b""
    for line in out:
        if line.endswith(b"\n"):
            count, size, last = count + 1, size + len(line), line
    if count and await _line_at(client, count) != last:
        count = size = 0  # of another log
    out.seek(size)
    out.truncate()
    return count


async def _line_at(client: GraphClient, position: int) -> bytes | None:
    async with aclosing(client.log(position - 1)) as log:
        async for lines in log:
            return lines[0]
    return None


async def _write(client: GraphClient, out: BinaryIO, after: int) -> int:
    last = await client.history(1, None)
    total = int(last[0]["seq"]) if last else 0
    progress, done = Progress("exporting"), 0
    async with aclosing(client.log(after)) as log:
        async for lines in log:
            out.writelines(lines)
            done += len(lines)
            progress(after + done, total)
    progress.end()
    out.flush()
    return done


async def import_log(file: str, lines: BinaryIO, client: GraphClient) -> Answer:
    """Replay every line into a store that is empty or holds the beginning of the log."""
    return Answer("success", {"file": file, **await replay_file(file, lines, store_of(client))})


def store_of(client: GraphClient) -> System:
    """The system of a local store; a gateway takes no log."""
    from ugs.system import System

    system = getattr(client, "system", None)
    if not isinstance(system, System):
        raise UsageError("a log is read into a store, not into a gateway: give --store")
    return system


async def replay_file(
    file: str, lines: BinaryIO, system: System, wanted: Callable[[Event], bool] = lambda event: True
) -> dict[str, Any]:
    """Replay the lines up to the first event that is not wanted; returns what the store then holds."""
    from ugs.exchange.event_log import import_events, read_events
    from ugs.log.replay import position_of

    before = after = await position_of(system.storage)
    if before:
        say(f"going on after event {before}, which the store already has")
    told, size = Progress(f"importing {Path(file).name}", unit="bytes"), size_of(file)
    events = takewhile(wanted, read_events(lines, system.catalog))
    try:
        async for after in import_events(system.storage, system.catalog, events):
            told(lines.tell(), size) if size else say(f"imported {after} events")
    finally:
        told.end()
    return {"events": after, "imported": after - before, "digest": await system.digest()}


def size_of(file: str) -> int:
    """The size of a file in bytes; 0 for standard input."""
    return 0 if file == STANDARD_INPUT else os.path.getsize(file)
