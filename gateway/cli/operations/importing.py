"""Reading a graph from a file or from standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TextIO

from gateway.cli.answers import Answer
from gateway.cli.checkpoints import Checkpoint
from gateway.cli.operations.asking import STANDARD_INPUT
from gateway.cli.operations.moving_logs import import_log
from gateway.cli.outcome import say
from gateway.cli.ports import Done, Port, Record
from gateway.cli.progress import Progress
from gateway.cli.usage import Asked, one_of
from ugs.errors import InvalidSyntax, StorageIOError
from ugs.exchange import LOG, format_for, format_named
from ugs.exchange.items import NODE, Item
from ugs.values import to_text

ITEMS_AT_ONCE = 400
BYTES_AT_ONCE = 400_000
"""A lot stays below what a gateway takes in one request."""
WARNINGS_TOLD = 5
CONFLICTS = ("error", "skip", "replace")


async def import_(asked: Asked, port: Port) -> Answer:
    """Add the nodes and edges of a file, lot by lot, each all or nothing; `-` reads standard input.

    The format is told by the file's name or by --format: json, ndjson, csv, graphml, cypher, or log for a whole
    history into an empty store. --on-conflict says what happens to ids that exist: error, skip or replace. --prefix
    stands before every id, for files whose ids are numbers. An import that was interrupted goes on where it stopped:
    start it again.
    """
    file = asked.words["file"]
    name = asked.options.get("format") or format_for(file)
    if name == LOG:
        with opened_bytes(file) as lines:
            return await import_log(file, lines, port)
    lots = Lots(file, port, on_conflict=one_of(asked.options.get("on-conflict", "error"), CONFLICTS, "on-conflict"))
    with opened_text(file) as text:
        items = prefixed(format_named(name).read(text), asked.options.get("prefix", ""))
        return await lots.take(items, text)


@contextmanager
def opened_bytes(file: str) -> Iterator[BinaryIO]:
    """The bytes of a file, or of standard input."""
    if file == STANDARD_INPUT:
        yield getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode("utf-8", "surrogateescape"))
        return
    try:
        opened = open(file, "rb")  # noqa: SIM115 - closed below, told apart from errors inside
    except OSError as error:
        raise StorageIOError(f"Cannot read {file}: {error.strerror}", path=file) from error
    with opened:
        yield opened


@contextmanager
def opened_text(file: str) -> Iterator[TextIO]:
    """The text of a file, with its line ends as they are."""
    with opened_bytes(file) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        try:
            yield text
        except UnicodeDecodeError as error:
            raise InvalidSyntax(f"{file} is not UTF-8 text: {error.reason} at byte {error.start}") from error
        finally:
            text.detach()


def prefixed(items: Iterable[Item], prefix: str) -> Iterator[Item]:
    """Items with a text before all their ids."""
    for item in items:
        named = {key: prefix + item.record[key] for key in ("id", "from", "to") if item.record.get(key) is not None}
        yield Item(item.kind, {**item.record, **named}) if prefix else item


class Lots:
    """Takes items in, a lot at a time, and remembers how far it came."""

    purpose, things = "import", "nodes and edges"
    counted: ClassVar[tuple[str, ...]] = ("nodes", "edges", "events")

    @property
    def most(self) -> int:
        """So many items make a lot."""
        return ITEMS_AT_ONCE

    def __init__(self, file: str, port: Port, **work: Any) -> None:
        self.file, self.port, self.work = file, port, work
        self.counts = dict.fromkeys(self.counted, 0)
        self.warnings: list[Record] = []
        self.checkpoint = None if file == STANDARD_INPUT else _checkpoint(file, self.purpose, into=port.name, **work)
        self.size = 0 if self.checkpoint is None else int(self.checkpoint.work["size"])

    async def take(self, items: Iterator[Item], text: TextIO) -> Answer:
        """Import all items; those of an interrupted import are passed over."""
        done = self._passed_over(items)
        progress = Progress(f"{self.purpose}ing {Path(self.file).name}", unit="bytes")
        try:
            for lot in lots_of(items, self.most):
                await self._take_lot(lot, done)
                done += len(lot)
                if self.checkpoint is not None:
                    self.checkpoint.keep(items=done, counts=self.counts)
                    progress(min(text.buffer.tell(), self.size), self.size)
        finally:
            progress.end()
        if self.checkpoint is not None:
            self.checkpoint.forget()
        return Answer("success", {"file": self.file, **self.counts}, warnings=self._told())

    def _passed_over(self, items: Iterator[Item]) -> int:
        done = int(self.checkpoint.done.get("items", 0)) if self.checkpoint else 0
        if done and self.checkpoint is not None:
            self.counts = self.checkpoint.done["counts"]
            say(f"going on after {done} {self.things}, which were {self.purpose}ed before")
        return sum(1 for _ in islice(items, done))

    async def _take_lot(self, lot: list[Item], place: int) -> None:
        # Only once, even if we die before the checkpoint is written.
        done = await self.send(lot, f"{self.purpose}-{self.checkpoint.id}-{place}" if self.checkpoint else None)
        for kind in self.counts:
            self.counts[kind] += done.value[kind]
        self.warnings += done.warnings

    async def send(self, lot: list[Item], key: str | None) -> Done:
        """Hand a lot over, once under its key."""
        graph: dict[str, list[Any]] = {"nodes": [], "edges": []}
        for item in lot:
            graph["nodes" if item.kind == NODE else "edges"].append(item.record)
        return await self.port.import_graph(graph, key=key, **self.work)

    def _told(self) -> tuple[Record, ...]:
        left = len(self.warnings) - WARNINGS_TOLD
        more = [{"code": "W000", "message": f"and {left} more warnings"}] if left > 0 else []
        return (*self.warnings[:WARNINGS_TOLD], *more)


def _checkpoint(file: str, purpose: str, **work: Any) -> Checkpoint:
    try:
        status = Path(file).stat()
    except OSError as error:
        raise StorageIOError(f"Cannot read {file}: {error.strerror}", path=file) from error
    return Checkpoint(file, purpose, size=status.st_size, changed=status.st_mtime_ns, **work)


def lots_of(items: Iterator[Item], most: int) -> Iterator[list[Item]]:
    """Items in lots that are small enough for one request."""
    lot: list[Item] = []
    size = 0
    for item in items:
        length = len(to_text(item.record))
        if lot and (len(lot) >= most or size + length > BYTES_AT_ONCE):
            yield lot
            lot, size = [], 0
        lot.append(item)
        size += length
    if lot:
        yield lot
