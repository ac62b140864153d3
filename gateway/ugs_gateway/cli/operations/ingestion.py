"""Ingestion of notes and the facts they state from a file, one note per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from ugs.errors import UgsError
from ugs.exchange.base import Item, invalid_json
from ugs.facts.commands.ingestion import MAX_NOTES
from ugs.facts.note_json import note_of
from ugs.facts.reader import SHARED
from ugs_gateway.cli.clients import ChangeResult, GraphClient
from ugs_gateway.cli.clients.http import GatewayError
from ugs_gateway.cli.input.arguments import ParsedArguments
from ugs_gateway.cli.operations.import_file import BatchImport, open_text
from ugs_gateway.cli.output.results import Answer

NOTE_PATH = re.compile(r"notes\[(\d+)\]\.")
"""How an error names one of several notes."""


async def ingest(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Keep the notes of a file with the facts they state, lot by lot, each all or nothing; `-` reads standard input.

    A line is a JSON object with text and, if wanted, source, id, quotes and structured, which holds entities
    (canonical, kind, aliases) and relations (subject, predicate, object with entity or value, valid_from, valid_to).
    Names and predicates must occur in the note or in one of its quotes, unless --unsupported. An ingestion that was
    interrupted goes on where it stopped: start it again.
    """
    file = arguments.words["file"]
    notes = NoteImport(
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


class NoteImport(BatchImport):
    """Imports notes in batches."""

    purpose, things = "ingest", "notes"
    counted = ("notes", "facts", "created")

    @property
    def max_items(self) -> int:
        """The maximum number of notes per request."""
        return MAX_NOTES

    async def send(self, lot: list[Item], key: str | None) -> ChangeResult:
        with naming_lines([item.kind for item in lot]):
            return await self.port.ingest([item.record for item in lot], key=key, **self.work)


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
