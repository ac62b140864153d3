"""The whole history as a file: out of a store that is open here, and into one that is empty."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gateway.cli.answers import Answer
from gateway.cli.operations.asking import STANDARD_INPUT
from gateway.cli.outcome import Misused, say
from gateway.cli.ports import Port
from gateway.cli.progress import Progress
from ugs.errors import StorageIOError
from ugs.exchange.event_log import read_events, take_in, written_lines
from ugs.replay import position_of
from ugs.system import System


def system_of(port: Port) -> System:
    """The system behind a port on a store."""
    system = getattr(port, "system", None)
    if not isinstance(system, System):
        raise Misused("a log is read from or written into a store, not a gateway: give --store")
    return system


async def export_log(file: str, port: Port) -> Answer | None:
    """Write every event as a line."""
    system = system_of(port)
    if file == STANDARD_INPUT:
        await _write(system, sys.stdout.buffer)
        return None
    with opened_for_writing(file) as out:
        events = await _write(system, out)
    return Answer("success", {"file": file, "format": "log", "events": events, "digest": await system.digest()})


@contextmanager
def opened_for_writing(file: str) -> Iterator[BinaryIO]:
    """A file to be filled."""
    try:
        with Path(file).open("wb") as out:
            yield out
    except OSError as error:
        raise StorageIOError(f"Cannot write {file}: {error.strerror}", path=file) from error


async def _write(system: System, out: BinaryIO) -> int:
    total = await position_of(system.storage)
    progress, done = Progress("exporting"), 0
    async for lines in written_lines(system.storage):
        out.writelines(lines)
        done += len(lines)
        progress(done, total)
    progress.end()
    out.flush()
    return done


async def import_log(file: str, lines: BinaryIO, port: Port) -> Answer:
    """Replay every line into a store that is empty, or holds the beginning of the log."""
    system = system_of(port)
    before = after = await position_of(system.storage)
    if before:
        say(f"going on after event {before}, which the store already has")
    async for position in take_in(system.storage, system.catalog, read_events(lines, system.catalog)):
        after = position
        say(f"imported {after} events")
    return Answer(
        "success", {"file": file, "events": after, "imported": after - before, "digest": await system.digest()}
    )
