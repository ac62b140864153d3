"""Ingestion of notes and the facts they state from a file, one note per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, TextIO

from ugs.errors import InvalidJSON, InvalidSyntax, UgsError
from ugs.exchange.base import Item, invalid_json
from ugs.facts.commands.ingestion import MAX_NOTES
from ugs.facts.importers import IMPORTERS, RefusedRow, Row
from ugs.facts.note_json import note_of
from ugs.facts.reader import SHARED
from ugs_gateway.cli.clients import ChangeResult, GraphClient, Record
from ugs_gateway.cli.clients.http import GatewayError
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.input.graphiti_server import is_server, parse_source, read_server
from ugs_gateway.cli.operations.import_file import MAX_WARNINGS, BatchImport, open_text, split_batches
from ugs_gateway.cli.output.results import Answer
from ugs_gateway.cli.output.streams import BadContent

NOTES = "notes"
"""Our own format: a note per line."""
GRAPHITI = "graphiti"
"""The format that is read from its server, too."""
MAX_REFUSALS = 100
"""How many refused rows are listed; all are counted."""
NOTE_PATH = re.compile(r"notes\[(\d+)\]\.")
"""How an error names one of several notes."""


async def ingest(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Keep the notes of a file with the facts they state, lot by lot, each all or nothing; `-` reads standard input.

    A line is a JSON object with text and, if wanted, source, id, quotes and structured, which holds entities
    (canonical, kind, aliases) and relations (subject, predicate, object with entity or value, valid_from, valid_to).
    Names and predicates must occur in the note or in one of its quotes, unless --unsupported. With --propose the facts
    are proposals, which no read shows before somebody approves them (`ugs proposals`). An ingestion that was
    interrupted goes on where it stopped: start it again.

    --format reads the memory of another program: mcp-memory, mem0, graphiti, chatgpt, claude, or
    markdown for a folder; graphiti also from its server, with the server's neo4j:// URL instead of a file. Rows
    that cannot be kept are listed, and the others are kept; what was imported before adds nothing.
    """
    file = arguments.words["file"]
    format = parse_choice(arguments.options.get("format", NOTES), (NOTES, *IMPORTERS), "format")
    if format != NOTES:
        if arguments.flag("propose"):
            raise InvalidSyntax(f"--propose goes with the format {NOTES}, not with {format}")
        scope = arguments.options.get("scope", SHARED)
        if format == GRAPHITI and is_server(file):
            source = parse_source(file)
            return await import_memory(str(source), read_server(source), client, scope)
        return await import_memory(file, IMPORTERS[format](Path(file)), client, scope)
    kind = ProposalImport if arguments.flag("propose") else NoteImport
    notes = kind(
        file, client, scope=arguments.options.get("scope", SHARED), supported=not arguments.flag("unsupported")
    )
    with open_text(file) as text:
        return await notes.run(read_notes(text), text)


def read_notes(text: TextIO) -> Iterator[Item]:
    """The notes of the lines, each with its line number; empty lines are skipped."""
    for number, line in enumerate(text, 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise invalid_json(f"line {number}", error) from error
            with naming_lines([str(number)]):
                note_of(record)
            yield Item(str(number), record)


async def import_memory(file: str, found: Iterator[Row], client: GraphClient, scope: str) -> Answer:
    """Keep the notes of another program's memory in lots; a row that is refused stops no other."""
    counts = dict.fromkeys(NoteImport.counted, 0)
    refused: list[Record] = []
    warnings: list[Record] = []
    rows = 0

    def accepted() -> Iterator[Item]:
        nonlocal rows
        for row in found:
            rows += 1
            if isinstance(row, RefusedRow):
                refused.append({"at": row.place, "reason": row.reason})
            else:
                yield Item(row.place, row.record)

    try:
        for lot in split_batches(accepted(), MAX_NOTES):
            done = await _ingest_what_can_be(lot, client, scope, refused)
            if done is not None:
                warnings += done.warnings
                for kind in counts:
                    counts[kind] += done.value[kind]
    except (InvalidSyntax, InvalidJSON) as error:
        raise BadContent(error) from error
    shown = {"refused": len(refused), "refusals": refused[:MAX_REFUSALS]}
    return Answer("success", {"file": file, "rows": rows, **counts, **shown}, warnings=tuple(warnings[:MAX_WARNINGS]))


async def _ingest_what_can_be(
    lot: list[Item], client: GraphClient, scope: str, refused: list[Record]
) -> ChangeResult | None:
    """Ingest a lot without the notes that the store refuses, each of which is noted; None if nothing is left."""
    while lot:
        try:
            return await client.ingest(
                [item.record for item in lot], scope=scope, supported=False, key=None, skip_known=True
            )
        except (UgsError, GatewayError) as error:
            at = _refused_note(str(error.details.get("path", "")), lot)
            if at is None:
                raise
            refused.append({"at": lot[at].kind, "reason": NOTE_PATH.sub("", error.message)})
            lot = lot[:at] + lot[at + 1 :]
    return None


def _refused_note(path: str, lot: list[Item]) -> int | None:
    """Which note of a lot an error is about, by the path in its details."""
    found = NOTE_PATH.match(path)
    if found is not None:
        return int(found[1])
    return 0 if path and len(lot) == 1 else None


class NoteImport(BatchImport):
    """Imports notes in batches."""

    purpose, things = "ingest", "notes"
    doing, did = "ingesting", "ingested"
    counted: ClassVar[tuple[str, ...]] = ("notes", "facts", "created")

    @property
    def max_items(self) -> int:
        """The maximum number of notes per request."""
        return MAX_NOTES

    async def send(self, lot: list[Item], key: str | None) -> ChangeResult:
        with naming_lines([item.kind for item in lot]):
            return await self.port.ingest([item.record for item in lot], key=key, **self.work)


class ProposalImport(NoteImport):
    """Imports notes in batches, and what they state as proposals."""

    purpose, doing, did = "propose", "proposing", "proposed"
    counted = ("notes", "proposals")

    async def send(self, lot: list[Item], key: str | None) -> ChangeResult:
        with naming_lines([item.kind for item in lot]):
            return await self.port.propose([item.record for item in lot], key=key, **self.work)


@contextmanager
def naming_lines(lines: Sequence[str]) -> Iterator[None]:
    """Errors inside name the line they concern, where they concern one."""
    try:
        yield
    except (UgsError, GatewayError) as error:
        path = str(error.details.get("path", ""))
        among = NOTE_PATH.match(path)
        if path and (among or len(lines) == 1):
            line = lines[int(among[1]) if among else 0]
            error.message = f"line {line}: {error.message.replace(among[0] if among else '', '')}"
        raise
