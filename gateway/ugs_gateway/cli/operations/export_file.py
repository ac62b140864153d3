"""Export of a graph to a file or to standard output."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ugs.errors import StorageIOError
from ugs.exchange import LOG, format_for, format_named
from ugs.exchange.base import EDGE, NODE, Digest, Format, Item, Survey
from ugs.support.atomic_file import replace
from ugs_gateway.cli.checkpoints import Checkpoint
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments
from ugs_gateway.cli.operations.log_transfer import export_log
from ugs_gateway.cli.operations.queries import STANDARD_INPUT
from ugs_gateway.cli.operations.search import scope_named
from ugs_gateway.cli.output.progress import Progress
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.cli.output.streams import say, standard_output

CHECKPOINT_ITEMS = 2_000
"""Items between two checkpoints."""


async def export(arguments: ParsedArguments, client: GraphClient) -> Answer | None:
    """Write all nodes and edges to a file, as a stream; without a file, or with `-`, to standard output.

    The format is told by the file's name or by --format: json, ndjson, csv, graphml, cypher, or log for the whole
    history. The digest in the answer is the same for every format and every store with the same content. An export to a
    file that was interrupted goes on where it stopped: start it again.
    """
    file = arguments.words.get("file", STANDARD_INPUT)
    name = arguments.options.get("format") or ("json" if file == STANDARD_INPUT else format_for(file))
    if name == LOG:
        return await export_log(file, client)
    scope = arguments.options.get("scope")
    within = None if scope is None else scope_named(scope)
    export = Export(format_named(name), client, within, await position_of(client))
    if file == STANDARD_INPUT:
        with standard_output():
            await export.write(sys.stdout)
            sys.stdout.flush()
    else:
        await export.write_file(file)
    if client.at is None and export.position != await position_of(client):
        say(f"warning: the graph changed meanwhile; `--at {export.position}` exports one moment of it")
    if file == STANDARD_INPUT:
        say(f"exported {export.nodes} nodes and {export.edges} edges, digest {export.digest}")
        return None
    counts = {"nodes": export.nodes, "edges": export.edges}
    return Answer("success", {"file": file, "format": name, **counts, "digest": str(export.digest)})


async def position_of(client: GraphClient) -> int:
    """The last log position of a graph."""
    last = await client.history(1, None)
    return int(last[0]["seq"]) if last else 0


class Export:
    """One export from a client to a file."""

    def __init__(self, format: Format, client: GraphClient, scope: str | None, position: int) -> None:
        self.format = format
        self.port = client
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
        """Write everything; items that the checkpoint counts as written are only added to the digest."""
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
                if (self.nodes + self.edges) % CHECKPOINT_ITEMS == 0:
                    self._keep(out, checkpoint)
                    progress(self.nodes + self.edges, total)
        finally:
            progress.end()
        writer.end()

    async def _survey(self) -> Survey:
        survey = Survey() if self.format.survey is None else self.format.survey()
        if self.format.survey is not None:
            async for item in self.items():
                survey.inspect(item)
        return survey

    def _count(self, item: Item) -> None:
        self.digest.add(item)
        self.nodes += item.kind == NODE
        self.edges += item.kind == EDGE

    def _keep(self, out: TextIO, checkpoint: Checkpoint | None) -> None:
        if checkpoint is not None:
            out.flush()
            checkpoint.save(nodes=self.nodes, edges=self.edges, bytes=out.tell())

    async def write_file(self, file: str) -> None:
        """Write to a partial file that replaces the target when it is complete."""
        work = {"format": self.format.name, "scope": self.scope, "from": self.port.name, "position": self.position}
        checkpoint = Checkpoint(file, "export", at=str(self.port.at), **work)
        with partial_file(file, checkpoint) as out:
            await self.write(out, checkpoint)


@contextmanager
def partial_file(file: str, checkpoint: Checkpoint) -> Iterator[TextIO]:
    """The partial file, which only its owner may read, opened for appending; renamed to the target at the end."""
    part = Path(f"{file}.part")
    try:
        if not part.exists():
            checkpoint.done = {}
        part.touch(mode=0o600)
        with part.open("r+" if checkpoint.done else "w", encoding="utf-8", newline="") as out:
            if checkpoint.done:
                say(f"going on after {checkpoint.done['nodes'] + checkpoint.done['edges']} nodes and edges")
                out.seek(checkpoint.done["bytes"])
                out.truncate()
            yield out
        replace(part, file)
    except OSError as error:
        raise StorageIOError(f"Cannot write {file}: {error.strerror}", path=file) from error
    checkpoint.delete()
