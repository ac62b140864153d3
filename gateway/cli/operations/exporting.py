"""Writing a graph to a file or to standard output."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from gateway.cli.answers import Answer
from gateway.cli.checkpoints import Checkpoint
from gateway.cli.operations.asking import STANDARD_INPUT
from gateway.cli.operations.finding import scope_named
from gateway.cli.operations.moving_logs import export_log
from gateway.cli.outcome import say, standard_output
from gateway.cli.ports import Port
from gateway.cli.progress import Progress
from gateway.cli.usage import Asked
from ugs.errors import StorageIOError
from ugs.exchange import LOG, format_for, format_named
from ugs.exchange.items import EDGE, NODE, Digest, Format, Item, Survey
from ugs.replacing import replace

KEEP_EVERY = 2_000
"""Items between two checkpoints."""


async def export(asked: Asked, port: Port) -> Answer | None:
    """Write all nodes and edges to a file, as a stream; without a file, or with `-`, to standard output.

    The format is told by the file's name or by --format: json, ndjson, csv, graphml, cypher, or log for the whole
    history. The digest in the answer is the same for every format and every store with the same content. An export to a
    file that was interrupted goes on where it stopped: start it again.
    """
    file = asked.words.get("file", STANDARD_INPUT)
    name = asked.options.get("format") or ("json" if file == STANDARD_INPUT else format_for(file))
    if name == LOG:
        return await export_log(file, port)
    scope = asked.options.get("scope")
    within = None if scope is None else scope_named(scope)
    export = Export(format_named(name), port, within, await position_of(port))
    if file == STANDARD_INPUT:
        with standard_output():
            await export.write(sys.stdout)
            sys.stdout.flush()
    else:
        await export.write_file(file)
    if port.at is None and export.position != await position_of(port):
        say(f"warning: the graph changed meanwhile; `--at {export.position}` exports one moment of it")
    if file == STANDARD_INPUT:
        say(f"exported {export.nodes} nodes and {export.edges} edges, digest {export.digest}")
        return None
    counts = {"nodes": export.nodes, "edges": export.edges}
    return Answer("success", {"file": file, "format": name, **counts, "digest": str(export.digest)})


async def position_of(port: Port) -> int:
    """Where the log of a graph ends."""
    last = await port.history(1, None)
    return int(last[0]["seq"]) if last else 0


class Export:
    """Items of a port on their way into a file."""

    def __init__(self, format: Format, port: Port, scope: str | None, position: int) -> None:
        self.format = format
        self.port = port
        self.scope = scope
        self.position = position
        """Where the log ended when we began."""
        self.nodes = self.edges = 0
        self.digest = Digest()

    async def items(self) -> AsyncIterator[Item]:
        """All nodes by id, then all edges by id."""
        async for page in self.port.nodes(scope=self.scope):
            for node in page:
                yield Item(NODE, node)
        async for page in self.port.edges(scope=self.scope):
            for edge in page:
                yield Item(EDGE, edge)

    async def write(self, out: TextIO, checkpoint: Checkpoint | None = None) -> None:
        """Write everything; what a checkpoint says is written already is only counted."""
        done = {} if checkpoint is None else checkpoint.done
        writer = self.format.writer(out, await self._survey(), done.get("nodes", 0), done.get("edges", 0))
        if not done:
            writer.begin()
        counts = await self.port.stats()
        total = counts["nodes"] + counts["edges"]
        progress = Progress("exporting", unit="nodes and edges")
        try:
            async for item in self.items():
                self._count(item)
                if self.nodes + self.edges > done.get("nodes", 0) + done.get("edges", 0):
                    writer.write(item)
                if (self.nodes + self.edges) % KEEP_EVERY == 0:
                    self._keep(out, checkpoint)
                    progress(self.nodes + self.edges, total)
        finally:
            progress.end()
        writer.end()

    async def _survey(self) -> Survey:
        survey = Survey() if self.format.survey is None else self.format.survey()
        if self.format.survey is not None:
            async for item in self.items():
                survey.see(item)
        return survey

    def _count(self, item: Item) -> None:
        self.digest.add(item)
        self.nodes += item.kind == NODE
        self.edges += item.kind == EDGE

    def _keep(self, out: TextIO, checkpoint: Checkpoint | None) -> None:
        if checkpoint is not None:
            out.flush()
            checkpoint.keep(nodes=self.nodes, edges=self.edges, bytes=out.tell())

    async def write_file(self, file: str) -> None:
        """Write to a part beside the file, which takes its place when it is complete."""
        work = {"format": self.format.name, "scope": self.scope, "from": self.port.name, "position": self.position}
        checkpoint = Checkpoint(file, "export", at=str(self.port.at), **work)
        with part_of(file, checkpoint) as out:
            await self.write(out, checkpoint)


@contextmanager
def part_of(file: str, checkpoint: Checkpoint) -> Iterator[TextIO]:
    """The part of a file that is written so far, and at the end the file itself."""
    part = Path(f"{file}.part")
    try:
        if not part.exists():
            checkpoint.done = {}
        with part.open("r+" if checkpoint.done else "w", encoding="utf-8", newline="") as out:
            if checkpoint.done:
                say(f"going on after {checkpoint.done['nodes'] + checkpoint.done['edges']} nodes and edges")
                out.seek(checkpoint.done["bytes"])
                out.truncate()
            yield out
        replace(part, file)
    except OSError as error:
        raise StorageIOError(f"Cannot write {file}: {error.strerror}", path=file) from error
    checkpoint.forget()
