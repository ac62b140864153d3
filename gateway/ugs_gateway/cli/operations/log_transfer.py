"""Export of the event log to a file, and its import into an empty store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import BinaryIO

from ugs.errors import StorageIOError
from ugs.support.atomic_file import replace
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.operations.queries import STANDARD_INPUT
from ugs_gateway.cli.output.progress import Progress
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.cli.output.streams import UsageError, say, standard_output


async def export_log(file: str, client: GraphClient) -> Answer | None:
    """Write every event as a line; an interrupted file is continued after its last complete line."""
    if file == STANDARD_INPUT:
        with standard_output():
            await _write(client, sys.stdout.buffer, 0)
        return None
    with partial_log_file(file) as out:
        before = await _count_matching_lines(client, out)
        if before:
            say(f"going on after event {before}")
        events = before + await _write(client, out, before)
    return Answer("success", {"file": file, "format": "log", "events": events, "digest": await client.digest()})


@contextmanager
def partial_log_file(file: str) -> Iterator[BinaryIO]:
    """The partial file, opened for appending; renamed to the target at the end."""
    part = Path(f"{file}.part")
    try:
        part.touch()
        with part.open("r+b") as out:
            yield out
        replace(part, file)
    except OSError as error:
        raise StorageIOError(f"Cannot write {file}: {error.strerror}", path=file) from error


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
    from ugs.exchange.event_log import import_events, read_events
    from ugs.log.replay import position_of
    from ugs.system import System

    system = getattr(client, "system", None)
    if not isinstance(system, System):
        raise UsageError("a log is imported into a store, not into a gateway: give --store")
    before = after = await position_of(system.storage)
    if before:
        say(f"going on after event {before}, which the store already has")
    told, size = Progress(f"importing {Path(file).name}", unit="bytes"), size_of(file)
    try:
        async for after in import_events(system.storage, system.catalog, read_events(lines, system.catalog)):
            told(lines.tell(), size) if size else say(f"imported {after} events")
    finally:
        told.end()
    return Answer(
        "success", {"file": file, "events": after, "imported": after - before, "digest": await system.digest()}
    )


def size_of(file: str) -> int:
    """The size of a file in bytes; 0 for standard input."""
    return 0 if file == STANDARD_INPUT else os.path.getsize(file)
