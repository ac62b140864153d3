"""Import of a graph from a file or from standard input."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TextIO

from ugs.errors import InvalidJSON, InvalidSyntax, StorageIOError
from ugs.exchange import LOG, format_for, format_named
from ugs.exchange.base import NODE, Item
from ugs.values import to_text
from ugs_gateway.cli.checkpoints import Checkpoint
from ugs_gateway.cli.clients import ChangeResult, GraphClient, Record
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.operations.log_transfer import import_log
from ugs_gateway.cli.operations.queries import STANDARD_INPUT
from ugs_gateway.cli.output.progress import Progress
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.cli.output.streams import BadContent, say

BATCH_ITEMS = 400
BATCH_BYTES = 400_000
"""Keeps a batch below the request limit of a gateway."""
MAX_WARNINGS = 5
CONFLICTS = ("error", "skip", "replace")


async def import_(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Add the nodes and edges of a file, lot by lot, each all or nothing; `-` reads standard input.

    The format is told by the file's name or by --format: json, ndjson, csv, graphml, cypher, or log for a whole
    history into an empty store. --on-conflict says what happens to ids that exist: error, skip or replace. --prefix
    stands before every id, for files whose ids are numbers. An import that was interrupted goes on where it stopped:
    start it again.
    """
    file = arguments.words["file"]
    name = arguments.options.get("format") or format_for(file)
    if name == LOG:
        with open_bytes(file) as lines:
            return await import_log(file, lines, client)
    lots = BatchImport(
        file, client, on_conflict=parse_choice(arguments.options.get("on-conflict", "error"), CONFLICTS, "on-conflict")
    )
    format = format_named(name)
    with open_text(file) as text:
        items = add_prefix(format.read(text), arguments.options.get("prefix", ""))
        answer = await lots.run(items, text)
    if not any(lots.counts.values()) and lots.seen == 0 and file != STANDARD_INPUT:
        check_empty(file, name)
    return answer


EMPTY = {
    "json": r'"(nodes|edges)"\s*:',
    "graphml": r"<(\w+:)?graph[\s/>]",
    "csv": r"\A\s*\Z|\A\W*(kind|id)\b",
    "ndjson": r"\A\s*\Z",
    "cypher": r"\A(\s|//[^\n]*)*\Z",
}
"""The text that a file of each format contains even if its graph is empty."""


def check_empty(file: str, format: str) -> None:
    """Refuse a file without nodes and edges, unless it is a valid file of an empty graph."""
    with open_text(file) as text:
        if not re.search(EMPTY[format], text.read(1 << 16)):
            raise InvalidSyntax(f"{file} holds no nodes and no edges: it is no graph in the format {format}")


@contextmanager
def open_bytes(file: str) -> Iterator[BinaryIO]:
    """A file or standard input, as bytes."""
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
def open_text(file: str) -> Iterator[TextIO]:
    """A file or standard input as text, with unchanged line ends."""
    with open_bytes(file) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        try:
            yield text
        except UnicodeDecodeError as error:
            wrong = InvalidSyntax(f"{file} is not UTF-8 text: {error.reason} at byte {error.start}")
            raise BadContent(wrong) from error
        except (InvalidSyntax, InvalidJSON) as error:
            raise BadContent(error) from error
        finally:
            text.detach()


def add_prefix(items: Iterable[Item], prefix: str) -> Iterator[Item]:
    """The items with a prefix before all their ids."""
    for item in items:
        named = {key: prefix + item.record[key] for key in ("id", "from", "to") if item.record.get(key) is not None}
        yield Item(item.kind, {**item.record, **named}) if prefix else item


class BatchImport:
    """Imports items in batches, and saves its progress."""

    purpose, things = "import", "nodes and edges"
    doing, did = "importing", "imported"
    counted: ClassVar[tuple[str, ...]] = ("nodes", "edges", "events")

    @property
    def max_items(self) -> int:
        """The maximum number of items per batch."""
        return BATCH_ITEMS

    def __init__(self, file: str, client: GraphClient, **work: Any) -> None:
        self.file, self.port, self.work = file, client, work
        self.counts = dict.fromkeys(self.counted, 0)
        self.warnings: list[Record] = []
        self.seen = 0
        """How many items there were."""
        self.checkpoint = None if file == STANDARD_INPUT else _checkpoint(file, self.purpose, into=client.name, **work)
        self.size = 0 if self.checkpoint is None else int(self.checkpoint.work["size"])

    async def run(self, items: Iterator[Item], text: TextIO) -> Answer:
        """Import all items; those of an interrupted import are skipped."""
        done = self._skip_imported(items)
        progress = Progress(f"{self.doing} {Path(self.file).name}", unit="bytes")
        try:
            for lot in split_batches(items, self.max_items):
                await self._import_batch(lot, done)
                done += len(lot)
                self.seen = done
                if self.checkpoint is not None:
                    self.checkpoint.save(items=done, counts=self.counts)
                    progress(min(text.buffer.tell(), self.size), self.size)
        finally:
            progress.end()
        if self.checkpoint is not None:
            self.checkpoint.delete()
        return Answer("success", {"file": self.file, **self.counts}, warnings=self._first_warnings())

    def _skip_imported(self, items: Iterator[Item]) -> int:
        done = int(self.checkpoint.done.get("items", 0)) if self.checkpoint else 0
        if done and self.checkpoint is not None:
            self.counts = self.checkpoint.done["counts"]
            say(f"going on after {done} {self.things}, which were {self.did} before")
        return sum(1 for _ in islice(items, done))

    async def _import_batch(self, lot: list[Item], place: int) -> None:
        # Only once, even if we die before the checkpoint is written.
        done = await self.send(lot, f"{self.purpose}-{self.checkpoint.id}-{place}" if self.checkpoint else None)
        for kind in self.counts:
            self.counts[kind] += done.value[kind]
        self.warnings += done.warnings

    async def send(self, lot: list[Item], key: str | None) -> ChangeResult:
        """Send a batch, at most once because of its idempotency key."""
        graph: dict[str, list[Any]] = {"nodes": [], "edges": []}
        for item in lot:
            graph["nodes" if item.kind == NODE else "edges"].append(item.record)
        return await self.port.import_graph(graph, key=key, **self.work)

    def _first_warnings(self) -> tuple[Record, ...]:
        left = len(self.warnings) - MAX_WARNINGS
        more = [{"code": "W000", "message": f"and {left} more warnings"}] if left > 0 else []
        return (*self.warnings[:MAX_WARNINGS], *more)


def _checkpoint(file: str, purpose: str, **work: Any) -> Checkpoint:
    try:
        status = Path(file).stat()
    except OSError as error:
        raise StorageIOError(f"Cannot read {file}: {error.strerror}", path=file) from error
    return Checkpoint(file, purpose, size=status.st_size, changed=status.st_mtime_ns, **work)


def split_batches(items: Iterator[Item], max_items: int) -> Iterator[list[Item]]:
    """The items in batches that fit into one request."""
    lot: list[Item] = []
    size = 0
    for item in items:
        length = len(to_text(item.record))
        if lot and (len(lot) >= max_items or size + length > BATCH_BYTES):
            yield lot
            lot, size = [], 0
        lot.append(item)
        size += length
    if lot:
        yield lot
