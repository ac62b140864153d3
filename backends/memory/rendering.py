"""Answers written straight from the rows in memory: related rows become text where they are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.memory.reading import Reader
from ugs.catalog import Row
from ugs.reads.plan import Read, Rows
from ugs.reads.rendering import NULL, BareWriter, Body, Many, One, Parts, Rendering, bare_writer, page_writer

KEPT = 1_000
Related = Callable[[Any], str]
"""Writes what a value leads to."""


class Renderer:
    """Writes answers to plans."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._writers: dict[Body, BareWriter] = {}

    def text(self, plan: Read, rendering: Rendering) -> str:
        """The answer to a plan, equal to what the rendering makes of its rows."""
        rows, root = self.reader.page(plan), rendering.root
        if isinstance(root, Parts):
            return self._page(root, plan)(rows, plan, [])
        write, related = self._row(root, plan)
        return write(rows.items[0], related, None) if rows.items else NULL

    def _row(self, body: Body, read: Read) -> tuple[BareWriter, list[Related]]:
        """What writes a row, and what writes the rows related to it."""
        related = [self._related(piece, read) for piece in body.pieces if isinstance(piece, One | Many)]
        return self._writer(body, read), related

    def _writer(self, body: Body, read: Read) -> BareWriter:
        found = self._writers.get(body)
        if found is None:
            if len(self._writers) >= KEPT:
                self._writers.clear()
            ties = {name: read.table.relations[nested.relation].local for name, nested in read.nest.items()}
            found = self._writers[body] = bare_writer(body, ties)
        return found

    def _page(self, parts: Parts, read: Read) -> Callable[[Rows, Read, list[Any]], str]:
        def writer(body: Body) -> Callable[[Any, Read, list[Any], Any], str]:
            write, related = self._row(body, read)
            return lambda item, read, late, cursor: write(item, related, cursor)

        return page_writer(parts, writer, _itself)

    def _related(self, piece: One | Many, read: Read) -> Related:
        """Writes what is related, once for each value that ties it."""
        nested = read.nest[piece.name]
        _, follow = self.reader.follower(read.table, nested, lambda plan: _itself)
        write = self._many(piece, nested.read) if isinstance(piece, Many) else self._one(piece, nested.read)
        known: dict[Any, str] = {}

        def related(tie: Any) -> str:
            text = known.get(tie)
            if text is None:
                text = known[tie] = write(follow(tie))
            return text

        return related

    def _many(self, piece: Many, read: Read) -> Callable[[Rows], str]:
        page = self._page(piece.parts, read)
        return lambda rows: page(rows, read, [])

    def _one(self, piece: One, read: Read) -> Callable[[Rows], str]:
        write, related = self._row(piece.body, read)
        return lambda rows: write(rows.items[0], related, None) if rows.items else NULL


def _itself(row: Row) -> Any:
    return row
