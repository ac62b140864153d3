"""Answers written straight from the rows in memory: related rows become text where they are found.

What writes a rendering is made once and kept; before each answer it forgets what it found for the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from backends.memory.reading import Reader
from ugs.catalog import Row
from ugs.reads.plan import WHOLE, Nested, Order, Read, Rows
from ugs.reads.rendering import (
    NULL,
    BareWriter,
    Body,
    ItemsWriter,
    Many,
    One,
    Parts,
    Rendering,
    bare_writer,
    page_writer,
)
from ugs.reads.where import EVERYTHING

KEPT = 1_000
Related = Callable[[Any], str]
"""Writes what a value leads to."""
Start = Callable[[], None]
"""Looks at the tables anew, and forgets what was found."""


class Prepared(Struct):
    """What writes plans of one rendering that nest the same reads in the same order."""

    nest: Mapping[str, Nested]
    order: tuple[Order, ...]
    write: Callable[[Rows, Read], str]
    starts: list[Start]


class Renderer:
    """Writes answers to plans."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._kept: dict[Rendering, Prepared] = {}
        self._writers: dict[tuple[Body, tuple[Order, ...] | None], BareWriter] = {}

    def text(self, plan: Read, rendering: Rendering) -> str:
        """The answer to a plan, equal to what the rendering makes of its rows."""
        kept = self._kept.get(rendering)
        if kept is None or kept.order != plan.order or (kept.nest is not plan.nest and (kept.nest or plan.nest)):
            kept = self._prepared(plan, rendering)
        for start in kept.starts:
            start()
        return kept.write(self.reader.page(plan), plan)

    def _prepared(self, plan: Read, rendering: Rendering) -> Prepared:
        starts: list[Start] = []
        root = rendering.root
        write = self._page(root, plan, starts) if isinstance(root, Parts) else self._one(root, plan, starts)
        if len(self._kept) >= KEPT:
            self._kept.clear()
        kept = self._kept[rendering] = Prepared(plan.nest, plan.order, write, starts)
        return kept

    def _one(self, body: Body, read: Read, starts: list[Start]) -> Callable[[Rows, Read], str]:
        write = self._rows(body, read, starts)
        return lambda rows, plan: write(rows.items) if rows.items else NULL

    def _page(self, parts: Parts, read: Read, starts: list[Start]) -> Callable[[Rows, Read], str]:
        def writer(body: Body) -> ItemsWriter:
            write = self._rows(body, read, starts)
            return lambda rows, plan, late, cursor: write(rows.items)

        page = page_writer(parts, writer, _itself)
        return lambda rows, plan: page(rows, plan, [])

    def _rows(self, body: Body, read: Read, starts: list[Start]) -> Callable[[Any], str]:
        """What writes rows, with the rows related to them."""
        write, related = self._writer(body, read, read.order), self._all_related(body, read, starts)
        return lambda rows: write(rows, related)

    def _writer(self, body: Body, read: Read, order: tuple[Order, ...] | None) -> BareWriter:
        """What writes rows of a body; it depends on nothing that variables can change but their order."""
        found = self._writers.get((body, order))
        if found is None:
            if len(self._writers) >= KEPT:
                self._writers.clear()
            ties = {name: read.table.relations[nested.relation].local for name, nested in read.nest.items()}
            found = self._writers[body, order] = bare_writer(body, ties, order)
        return found

    def _all_related(self, body: Body, read: Read, starts: list[Start]) -> list[Related]:
        return [self._related(piece, read, starts) for piece in body.pieces if isinstance(piece, One | Many)]

    def _related(self, piece: One | Many, read: Read, starts: list[Start]) -> Related:
        """Writes what is related, once for each value that ties it."""
        nested = read.nest[piece.name]
        if isinstance(piece, One) and self._is_by_key(read, nested):
            return self._by_key(piece, read, nested, starts)
        inner = nested.read
        write = (
            self._page(piece.parts, inner, starts) if isinstance(piece, Many) else self._one(piece.body, inner, starts)
        )
        known: dict[Any, str] = {}
        follow: Callable[[Any], Rows]

        def start() -> None:
            nonlocal follow
            known.clear()
            _, follow = self.reader.follower(read.table, nested, lambda plan: _itself)

        def related(tie: Any) -> str:
            text = known.get(tie)
            if text is None:
                text = known[tie] = write(follow(tie), inner)
            return text

        starts.append(start)
        return related

    def _is_by_key(self, read: Read, nested: Nested) -> bool:
        inner = nested.read
        by_key = inner.table.key == (read.table.relations[nested.relation].remote,)
        return by_key and inner.page is WHOLE and inner.where is EVERYTHING and not inner.total

    def _by_key(self, piece: One, read: Read, nested: Nested, starts: list[Start]) -> Related:
        """The one row whose key ties it, looked up as it is."""
        name = read.table.relations[nested.relation].table
        write, inner = self._writer(piece.body, nested.read, None), self._all_related(piece.body, nested.read, starts)
        known: dict[Any, str] = {}
        get: Callable[[Any], Row | None]

        def start() -> None:
            nonlocal get
            known.clear()
            get = self.reader.tables[name].rows.get

        def related(tie: Any) -> str:
            text = known.get(tie)
            if text is None:
                row = get(tie)
                text = known[tie] = NULL if row is None else write(row, inner)
            return text

        starts.append(start)
        return related


def _itself(row: Row) -> Any:
    return row
