"""The whole history as a file: out of a store or a gateway, and into a store that is empty."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import BinaryIO

from gateway.cli.answers import Answer
from gateway.cli.operations.asking import STANDARD_INPUT
from gateway.cli.outcome import Misused, say, standard_output
from gateway.cli.ports import Port
from gateway.cli.progress import Progress
from ugs.errors import StorageIOError
from ugs.replacing import replace


async def export_log(file: str, port: Port) -> Answer | None:
    """Write every event as a line; a file that was interrupted goes on behind its last whole line."""
    if file == STANDARD_INPUT:
        with standard_output():
            await _write(port, sys.stdout.buffer, 0)
        return None
    with part_of_log(file) as out:
        before = await _known(port, out)
        if before:
            say(f"going on after event {before}")
        events = before + await _write(port, out, before)
    return Answer("success", {"file": file, "format": "log", "events": events, "digest": await port.digest()})


@contextmanager
def part_of_log(file: str) -> Iterator[BinaryIO]:
    """The part of a file that is written so far, and at the end the file itself."""
    part = Path(f"{file}.part")
    try:
        part.touch()
        with part.open("r+b") as out:
            yield out
        replace(part, file)
    except OSError as error:
        raise StorageIOError(f"Cannot write {file}: {error.strerror}", path=file) from error


async def _known(port: Port, out: BinaryIO) -> int:
    """How many lines of a part belong to this log: all that are whole, or none. Writing goes on behind them."""
    count, size, last = 0, 0, b""
    for line in out:
        if line.endswith(b"\n"):
            count, size, last = count + 1, size + len(line), line
    if count and await _line_at(port, count) != last:
        count = size = 0  # of another log
    out.seek(size)
    out.truncate()
    return count


async def _line_at(port: Port, position: int) -> bytes | None:
    async with aclosing(port.log(position - 1)) as log:
        async for lines in log:
            return lines[0]
    return None


async def _write(port: Port, out: BinaryIO, after: int) -> int:
    last = await port.history(1, None)
    total = int(last[0]["seq"]) if last else 0
    progress, done = Progress("exporting"), 0
    async with aclosing(port.log(after)) as log:
        async for lines in log:
            out.writelines(lines)
            done += len(lines)
            progress(after + done, total)
    progress.end()
    out.flush()
    return done


async def import_log(file: str, lines: BinaryIO, port: Port) -> Answer:
    """Replay every line into a store that is empty, or holds the beginning of the log."""
    from ugs.exchange.event_log import read_events, take_in
    from ugs.replay import position_of
    from ugs.system import System

    system = getattr(port, "system", None)
    if not isinstance(system, System):
        raise Misused("a log is imported into a store, not into a gateway: give --store")
    before = after = await position_of(system.storage)
    if before:
        say(f"going on after event {before}, which the store already has")
    told, size = Progress(f"importing {Path(file).name}", unit="bytes"), size_of(file)
    try:
        async for after in take_in(system.storage, system.catalog, read_events(lines, system.catalog)):
            told(lines.tell(), size) if size else say(f"imported {after} events")
    finally:
        told.end()
    return Answer(
        "success", {"file": file, "events": after, "imported": after - before, "digest": await system.digest()}
    )


def size_of(file: str) -> int:
    """How many bytes a file has; 0 for standard input, of which nobody knows."""
    return 0 if file == STANDARD_INPUT else os.path.getsize(file)
