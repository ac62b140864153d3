"""Reading notes, and the facts that they state, from a file: a note a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from gateway.cli.answers import Answer
from gateway.cli.operations.importing import Lots, opened_text
from gateway.cli.ports import Done, Port
from gateway.cli.ports.http import Refused
from gateway.cli.usage import Asked
from ugs.errors import UgsError
from ugs.exchange.items import Item, misread
from ugs.facts.asking import SHARED
from ugs.facts.ingesting import MOST_NOTES
from ugs.facts.lines import note_of

AMONG_OTHERS = re.compile(r"notes\[(\d+)\]\.")
"""How an error names one of several notes."""


async def ingest(asked: Asked, port: Port) -> Answer:
    """Keep the notes of a file with the facts they state, lot by lot, each all or nothing; `-` reads standard input.

    A line is a JSON object with text and, if wanted, source, id, quotes and structured, which holds entities
    (canonical, kind, aliases) and relations (subject, predicate, object with entity or value, valid_from, valid_to).
    Names and predicates must occur in the note or in one of its quotes, unless --unsupported. An ingestion that was
    interrupted goes on where it stopped: start it again.
    """
    file = asked.words["file"]
    notes = Notes(file, port, scope=asked.options.get("scope", SHARED), supported=not asked.flag("unsupported"))
    with opened_text(file) as text:
        return await notes.take(read(text), text)


def read(text: TextIO) -> Iterator[Item]:
    """The notes of the lines, each under the number of its line; empty lines are passed over."""
    for number, line in enumerate(text, 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise misread(f"line {number}", error) from error
            with naming_lines([str(number)]):
                note_of(record)
            yield Item(str(number), record)


class Notes(Lots):
    """Takes notes in, a lot at a time."""

    purpose, things = "ingest", "notes"
    counted = ("notes", "facts", "created")

    @property
    def most(self) -> int:
        """So many notes a gateway takes at once."""
        return MOST_NOTES

    async def send(self, lot: list[Item], key: str | None) -> Done:
        with naming_lines([item.kind for item in lot]):
            return await self.port.ingest([item.record for item in lot], key=key, **self.work)


@contextmanager
def naming_lines(lines: Sequence[str]) -> Iterator[None]:
    """Refusals inside say which line they are about, where they are about one."""
    try:
        yield
    except (UgsError, Refused) as error:
        path = str(error.details.get("path", ""))
        among = AMONG_OTHERS.match(path)
        if path and (among or len(lines) == 1):
            line = lines[int(among[1]) if among else 0]
            error.message = f"line {line}: {error.message.replace(among[0] if among else '', '')}"
        raise
